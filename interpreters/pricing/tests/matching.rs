//! Which row applies.

use pricing::{Amount, Refusal, Request};

use crate::common::{request, usage};

/// A row with this price for a token of input.
fn row(price: u32, conditions: &str) -> String {
    format!(r#"{{"input":"{price}","output":"0",{conditions}}}"#)
}

fn asked<'a>() -> Request<'a> {
    request(usage([Some(1), Some(0), None, None, None]))
}

fn price(rows: &[String], asked: Request<'_>) -> Result<String, Refusal> {
    let table = format!(
        r#"{{"currency":"USD","unit":1,"prices":[{}]}}"#,
        rows.join(",")
    );
    Ok(match pricing::price(&asked, table.as_bytes())?.amount {
        Amount::Known(amount) => amount,
        Amount::Unknown { why, .. } => why,
    })
}

#[test]
fn the_most_specific_name_wins_wherever_it_stands() {
    let mut rows = vec![
        row(1, r#""models":["*"]"#),
        row(2, r#""models":["kestrel-*","other"]"#),
        row(3, r#""models":["kestrel-2*","k*"]"#),
        row(4, r#""models":["kestrel-2"]"#),
        row(5, r#""models":["kestrel-22"]"#),
    ];
    for _turn in 0..rows.len() {
        rows.rotate_left(1);
        let of = |model| {
            let model = Some(model);
            price(&rows, Request { model, ..asked() }).unwrap()
        };
        assert_eq!(of("kestrel-2"), "4");
        assert_eq!(of("kestrel-2-2026-01-01"), "3");
        assert_eq!(of("kestrel-3"), "2");
        assert_eq!(of("kite"), "3");
        assert_eq!(of("owl"), "1");
    }
}

#[test]
fn an_exact_name_wins_over_a_start_of_the_same_length() {
    let rows = [
        row(1, r#""models":["kestrel-*"]"#),
        row(2, r#""models":["kestrel-2"]"#),
    ];
    assert_eq!(price(&rows, asked()).unwrap(), "2");
}

#[test]
fn two_rows_that_apply_equally_well_are_refused_by_their_places() {
    let rows = [
        row(1, r#""models":["*"]"#),
        row(2, r#""models":["kestrel*"]"#),
        row(2, r#""models":["kestrel*"],"provider":"kestrel""#),
    ];
    let refusal = Refusal {
        code: "ambiguous_price",
        detail: "/prices/1 and /prices/2 apply equally well: expected one".to_owned(),
    };
    assert_eq!(price(&rows, asked()), Err(refusal));
    // Not where one of them does not apply, or a third is more specific.
    let provider = Some("merlin");
    assert_eq!(
        price(
            &rows,
            Request {
                provider,
                ..asked()
            }
        )
        .unwrap(),
        "2"
    );
    let more = [&rows[..], &[row(4, r#""models":["kestrel-2"]"#)]].concat();
    assert_eq!(price(&more, asked()).unwrap(), "4");
}

#[test]
fn provider_and_dialect_must_fit_where_a_row_names_them() {
    let rows = [row(
        1,
        r#""models":["*"],"provider":"kestrel","dialect":"openai.chat""#,
    )];
    assert_eq!(price(&rows, asked()).unwrap(), "1");
    let none = "no price for model \"kestrel-2\" of this provider, dialect and day";
    for other in [
        Request {
            provider: Some("merlin"),
            ..asked()
        },
        Request {
            provider: None,
            ..asked()
        },
        Request {
            dialect: "openai.responses",
            ..asked()
        },
    ] {
        assert_eq!(price(&rows, other).unwrap(), none);
    }
}

#[test]
fn a_row_counts_from_its_first_day_until_the_day_before_its_last() {
    let rows = [
        row(1, r#""models":["*"],"until":"2026-01-01""#),
        row(
            2,
            r#""models":["*"],"from":"2026-01-01","until":"2026-09-01""#,
        ),
        row(3, r#""models":["*"],"from":"2026-09-01""#),
    ];
    for (time, expected) in [
        ("1999-12-31T00:00:00Z", "1"),
        ("2025-12-31T23:59:59.999Z", "1"),
        ("2026-01-01T00:00:00.000Z", "2"),
        ("2026-08-31T23:59:60Z", "2"),
        ("2026-09-01T00:00:00.000Z", "3"),
    ] {
        assert_eq!(
            price(&rows, Request { time, ..asked() }).unwrap(),
            expected,
            "{time}"
        );
    }
}
