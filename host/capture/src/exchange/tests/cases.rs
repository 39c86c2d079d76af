//! The project's case files, written as lines of an exchange file.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::parse_line;

/// Returns the case as a line, with the body in the other form than the case has.
fn line_of(case: &Value) -> (String, Vec<u8>) {
    let mut response = json!({
        "status": case["transport"]["status"],
        "headers": case["transport"]["headers"],
    });
    let body = match (case["body_utf8"].as_str(), case["body_base64"].as_str()) {
        (Some(text), None) => {
            response["body_b64"] = json!(STANDARD.encode(text));
            text.as_bytes().to_vec()
        }
        (None, Some(text)) => {
            response["body_b64"] = json!(text);
            STANDARD.decode(text).unwrap()
        }
        _ => panic!("a case has one body"),
    };
    let line = json!({
        "id": case["id"],
        "dialect": case["dialect"],
        "request": {"method": "POST", "path": "/v1/test"},
        "response": response,
    });
    (line.to_string(), body)
}

fn check(case: &Value) {
    let (line, body) = line_of(case);
    let exchange = parse_line(line.as_bytes()).unwrap();
    assert_eq!(exchange.external_id.as_deref(), case["id"].as_str());
    assert_eq!(Some(exchange.dialect), case["dialect"].as_str());
    assert_eq!(
        exchange.status.map(u64::from),
        case["transport"]["status"].as_u64()
    );
    assert_eq!(exchange.response_body, Some(body));
    // Every header of the cases is on the allow-list.
    let headers = case["transport"]["headers"].as_array().unwrap();
    assert_eq!(exchange.headers.len(), headers.len());
    for ((name, value), given) in exchange.headers.iter().zip(headers) {
        assert_eq!((name.as_str(), value.as_str()), {
            (given[0].as_str().unwrap(), given[1].as_str().unwrap())
        });
    }
}

#[test]
fn every_case_is_a_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases");
    let Ok(entries) = fs::read_dir(&folder) else {
        println!("skipped all cases: {} is absent", folder.display());
        return;
    };
    let (mut checked, mut skipped) = (0, 0);
    for entry in entries {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            check(&serde_json::from_slice(&fs::read(&path).unwrap()).unwrap());
            checked += 1;
        } else {
            skipped += 1;
        }
    }
    println!("checked {checked} cases, skipped {skipped} other files");
    assert!(checked > 0);
}
