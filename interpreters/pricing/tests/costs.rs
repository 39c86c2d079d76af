//! Amounts that are known, to the last digit.

use pricing::{Amount, Price, Refusal, Usage};

use crate::common::{CHAT, MESSAGES, known, priced, usage};

#[test]
fn a_chat_with_cache_reads_costs_each_part_at_its_own_price() {
    // 87 fresh, 192 from the cache, 166 out.
    let counts = usage([Some(279), Some(166), Some(192), None, None]);
    assert_eq!(known(counts, CHAT), "0.0021175");
    let price = priced(counts, CHAT).unwrap();
    assert_eq!(price.currency, "USD");
}

#[test]
fn every_part_has_its_price() {
    let counts = usage([Some(1_000), Some(100), Some(300), Some(200), Some(40)]);
    let rates =
        r#""input":"1","output":"10","cached_input":"0.1","cache_write":"2","reasoning":"20""#;
    // 500 + 30 + 400 + 600 + 800.
    assert_eq!(known(counts, rates), "0.00233");
    // What has no price of its own costs what the whole does.
    assert_eq!(known(counts, r#""input":"1","output":"10""#), "0.002");
}

#[test]
fn tenths_add_up_to_tenths() {
    let counts = usage([Some(1_000_000), Some(1_000_000), None, None, None]);
    assert_eq!(known(counts, r#""input":"0.1","output":"0.2""#), "0.3");
    assert_eq!(known(counts, r#""input":"0.1","output":"0.9""#), "1");
    let smallest = r#""input":"0.000000000000000001","output":"0""#;
    let one = usage([Some(1), Some(0), None, None, None]);
    assert_eq!(known(one, smallest), "0.000000000000000000000001");
}

#[test]
fn nothing_used_costs_nothing_and_that_is_known() {
    let counts = usage([Some(0), Some(0), None, None, None]);
    assert_eq!(known(counts, MESSAGES), "0");
}

#[test]
fn the_largest_counts_are_exact() {
    let counts = usage([Some(u64::MAX), Some(u64::MAX), None, None, None]);
    let rates = r#""input":"2.50","output":"10.00""#;
    // (2^64 - 1) * 12.5 / 10^6.
    assert_eq!(known(counts, rates), "230584300921369.3951875");
}

#[test]
fn what_does_not_fit_is_refused() {
    let counts = usage([Some(u64::MAX), Some(0), None, None, None]);
    let refusal = Refusal {
        code: "overflow",
        detail: "the cost does not fit into 128 bits: expected lower prices".to_owned(),
    };
    let large = r#""input":"100000000000000000000","output":"0""#;
    assert_eq!(priced(counts, large), Err(refusal.clone()));
    // So is what only the common number of digits makes too large.
    let wide = r#""input":"1000000","output":"0.000000000000000001""#;
    assert_eq!(priced(counts, wide), Err(refusal));
}

#[test]
fn the_unit_is_a_power_of_ten() {
    let counts = usage([Some(7), Some(1), None, None, None]);
    for (unit, amount) in [
        ("1", "15"),
        ("1000", "0.015"),
        ("1000000000", "0.000000015"),
    ] {
        let table = format!(
            r#"{{"currency":"EUR","unit":{unit},"prices":[{{"models":["*"],"input":"2","output":"1"}}]}}"#
        );
        let price = pricing::price(&crate::common::request(counts), table.as_bytes()).unwrap();
        let expected = Price {
            amount: Amount::Known(amount.to_owned()),
            currency: "EUR".to_owned(),
        };
        assert_eq!(price, expected);
    }
}

#[test]
fn large_inputs_have_rates_of_their_own() {
    let rates = r#""input":"1","output":"10","above":{"tokens":100,"input":"2","output":"20"}"#;
    let of = |input| usage([Some(input), Some(1), None, None, None]);
    assert_eq!(known(of(100), rates), "0.00011");
    // All of the input, not only what is above.
    assert_eq!(known(of(101), rates), "0.000222");
}

#[test]
fn words_that_leave_the_counts_as_they_are_leave_the_amount() {
    let diagnostics = [
        ("cached_input", "null_value"),
        ("reasoning", "not_reported_with_reasoning_content"),
        ("reasoning", "zero_with_reasoning_content"),
        ("output", "reasoning_added_as_total_tells"),
    ];
    let counts = Usage {
        total: Some(30),
        diagnostics: &diagnostics,
        ..usage([Some(10), Some(20), None, None, None])
    };
    assert_eq!(known(counts, r#""input":"1","output":"2""#), "0.00005");
}
