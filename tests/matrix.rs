//! The table of the released interpreters, run through the sandbox, and the table of
//! their hashes.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::support::{MODULES, TestHome, root};

fn rows() -> Vec<Value> {
    let path = root().join("interpreters/attempt/tests/matrix.json");
    let rows: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    rows.as_array().unwrap().clone()
}

#[test]
fn every_row_that_an_observation_can_reach_reads_the_same_in_the_sandbox() {
    let rows = rows();
    assert_eq!(rows.len(), 21);
    let reachable: Vec<_> = rows
        .iter()
        .filter(|row| row["native_only"] == false)
        .collect();
    assert_eq!(reachable.len(), 17);
    let lines: Vec<_> = reachable
        .iter()
        .map(|row| {
            json!({
                "id": row["name"],
                "dialect": row["dialect"],
                "request": {"method": "POST", "path": "/v1/x"},
                "response": {
                    "status": row["status"],
                    "headers": row["headers"],
                    "body_utf8": row["body"],
                },
            })
        })
        .collect();
    let (home, _) = TestHome::importing(&lines);
    for version in ["v1", "v2"] {
        let label = format!("attempt-interpretation-{version}");
        let read = home.must(&["interpret", "all", "--interpreter", &label]);
        let readings: BTreeMap<String, Value> = read
            .lines()
            .into_iter()
            .map(|line| {
                let name = line["external_id"].as_str().unwrap().to_owned();
                (name, line["reading"].clone())
            })
            .collect();
        for row in &reachable {
            let name = row["name"].as_str().unwrap();
            let reading = &readings[name];
            let found = json!({
                "error_class": reading["error"]["class"],
                "generation_state": reading["generation_state"],
                "basis_kind": reading["basis"]["kind"],
                "provider_reason": reading["provider_reason"],
                "provider_reason_source": reading["provider_reason_source"],
            });
            assert_eq!(found, row["expected"][version], "{name} under {version}");
        }
    }
}

#[test]
fn a_new_home_holds_the_modules_whose_hashes_are_released() {
    let table = fs::read_to_string(root().join("interpreters/HASHES")).unwrap();
    let released: Vec<[String; 3]> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let columns: Vec<_> = line.split_whitespace().collect();
            [columns[0], columns[1], columns[2]].map(str::to_owned)
        })
        .collect();
    assert_eq!(u64::try_from(released.len()), Ok(MODULES));
    const { assert!(MODULES >= 9, "the table lacks modules") };
    let listed: Vec<[String; 3]> = TestHome::new()
        .must(&["module", "list"])
        .lines()
        .iter()
        .map(|module| {
            assert_eq!(module["source"], "released");
            assert_eq!(module["bytes"], "present");
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            [
                text(&module["module"]["label"]),
                text(&module["world"]),
                text(&module["module"]["sha256"]),
            ]
        })
        .collect();
    assert_eq!(listed, released);
}
