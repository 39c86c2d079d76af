//! Amounts that are not known: never 0, always with a reason.

use pricing::{Refusal, Request, Usage};

use crate::common::{CHAT, MESSAGES, known, least, request, table, unknown, usage};

#[test]
fn messages_without_cache_counts_cost_at_least_what_is_counted() {
    let diagnostics = [("input", "lower_bound:cache_not_reported")];
    let counts = Usage {
        diagnostics: &diagnostics,
        ..usage([Some(73), Some(220), None, None, None])
    };
    // What is counted is fresh: 73 * 3 + 220 * 15.
    let expected = least("0.003519", "input: lower_bound:cache_not_reported");
    assert_eq!(unknown(counts, MESSAGES), expected);
}

#[test]
fn a_split_that_is_not_reported_costs_at_least_the_cheaper_way() {
    let counts = usage([Some(1_000), Some(10), None, Some(0), None]);
    let why = "cached_input is not reported, and has a price of its own";
    assert_eq!(unknown(counts, MESSAGES), least("0.00045", why));
    let counts = usage([Some(1_000), Some(10), Some(100), None, None]);
    let why = "cache_write is not reported, and has a price of its own";
    // A write costs more, so the cheaper way is that there was none.
    assert_eq!(unknown(counts, MESSAGES), least("0.00288", why));
    let both = usage([Some(1_000), Some(10), None, None, None]);
    let why = "cached_input is not reported, and has a price of its own; cache_write is not \
               reported, and has a price of its own";
    assert_eq!(unknown(both, MESSAGES), least("0.00045", why));
}

#[test]
fn a_part_that_costs_the_same_need_not_be_reported() {
    let counts = usage([Some(1_000), Some(10), None, None, None]);
    let rates = r#""input":"2.5","output":"10","cached_input":"2.50","cache_write":"2.500","reasoning":"10.0""#;
    assert_eq!(known(counts, rates), "0.0026");
    // Nor does a part of nothing.
    let all_cached = usage([Some(8), Some(0), Some(8), None, None]);
    let rates =
        r#""input":"1","output":"1","cached_input":"0.5","cache_write":"2","reasoning":"3""#;
    assert_eq!(known(all_cached, rates), "0.000004");
}

#[test]
fn reasoning_matters_only_where_it_has_a_price_of_its_own() {
    let counts = usage([Some(10), Some(100), None, None, None]);
    let rates = |reasoning| format!(r#""input":"1","output":"2","reasoning":"{reasoning}""#);
    assert_eq!(known(counts, &rates("2")), "0.00021");
    let why = "reasoning is not reported, and has a price of its own";
    assert_eq!(unknown(counts, &rates("3")), least("0.00021", why));
    assert_eq!(unknown(counts, &rates("1")), least("0.00011", why));
    let diagnostics = [("reasoning", "zero_with_reasoning_content")];
    let zero = Usage {
        reasoning: Some(0),
        diagnostics: &diagnostics,
        ..counts
    };
    let why = "reasoning is reported as 0, and there is reasoning";
    assert_eq!(unknown(zero, &rates("1")), least("0.00011", why));
}

#[test]
fn without_input_or_output_what_is_known_is_the_bound() {
    let output = usage([None, Some(100), None, None, None]);
    assert_eq!(
        unknown(output, CHAT),
        least(
            "0.001",
            "input is not reported; cached_input is not reported, and has a price of its own"
        )
    );
    let input = usage([Some(100), None, Some(0), None, None]);
    assert_eq!(
        unknown(input, CHAT),
        least("0.00025", "output is not reported")
    );
    let parts = usage([None, None, Some(100), None, Some(7)]);
    let why = "input is not reported; output is not reported";
    assert_eq!(unknown(parts, CHAT), least("0.000195", why));
    let total = Usage {
        total: Some(9),
        ..Usage::default()
    };
    let rates = r#""input":"1","output":"1""#;
    assert_eq!(unknown(total, rates), least("", why));
}

#[test]
fn no_usage_costs_nothing_that_is_known() {
    let why = "the response reports no usage";
    assert_eq!(unknown(Usage::default(), CHAT), least("", why));
    let diagnostics = [("usage", "not_reported")];
    let said = Usage {
        diagnostics: &diagnostics,
        ..Usage::default()
    };
    assert_eq!(unknown(said, CHAT), least("", why));
}

#[test]
fn a_count_that_is_doubted_leaves_the_amount_open() {
    let rates = r#""input":"1","output":"2""#;
    for (word, bound) in [
        ("lower_bound:part_not_reported", "0.00005"),
        // A count that is there although it is invalid says nothing.
        ("invalid_value:boolean", "0.00001"),
        ("a_word_of_another_interpreter", "0.00001"),
    ] {
        let diagnostics = [("output", word)];
        let counts = Usage {
            diagnostics: &diagnostics,
            ..usage([Some(10), Some(20), None, None, None])
        };
        let why = format!("output: {word}");
        assert_eq!(unknown(counts, rates), least(bound, &why));
    }
    // More of a part may cost less, so a part that is too small leaves no bound.
    let diagnostics = [("cached_input", "lower_bound:of_a_part")];
    let counts = Usage {
        diagnostics: &diagnostics,
        ..usage([Some(10), Some(20), Some(2), None, None])
    };
    let expected = least("0.00004", "cached_input: lower_bound:of_a_part");
    assert_eq!(unknown(counts, rates), expected);
    let diagnostics = [("cached_input", "invalid_value:negative")];
    let counts = Usage {
        diagnostics: &diagnostics,
        ..usage([Some(10), Some(20), None, None, None])
    };
    let expected = least("0.00005", "cached_input: invalid_value:negative");
    assert_eq!(unknown(counts, rates), expected);
}

#[test]
fn counts_that_contradict_each_other_are_no_basis_whether_named_or_not() {
    let rates = r#""input":"1","output":"2","reasoning":"2""#;
    let cases = [
        (
            usage([Some(10), Some(20), Some(8), Some(3), None]),
            ("cached_input", "cache_components_exceed_input"),
            "0.00004",
        ),
        (
            // So is one part that is more than the whole.
            usage([Some(10), Some(20), None, Some(11), None]),
            ("cached_input", "cache_components_exceed_input"),
            "0.00004",
        ),
        (
            usage([Some(10), Some(20), None, None, Some(21)]),
            ("reasoning", "reasoning_exceeds_output"),
            "0.00001",
        ),
        (
            Usage {
                total: Some(31),
                ..usage([Some(10), Some(20), None, None, None])
            },
            ("total", "reported_total_differs_from_derived"),
            "0.00005",
        ),
        (
            // All of the smaller total may be of the cheapest kind.
            Usage {
                total: Some(29),
                ..usage([Some(10), Some(20), None, None, None])
            },
            ("total", "reported_total_differs_from_derived"),
            "0.000029",
        ),
    ];
    for (counts, (component, word), bound) in cases {
        let expected = least(bound, &format!("{component}: {word}"));
        assert_eq!(unknown(counts, rates), expected);
        let diagnostics = [(component, word)];
        let named = Usage {
            diagnostics: &diagnostics,
            ..counts
        };
        assert_eq!(unknown(named, rates), expected);
    }
}

#[test]
fn where_the_size_of_the_input_decides_the_rates_both_are_looked_at() {
    let rates = r#""input":"1","output":"10","above":{"tokens":100,"input":"2","output":"5"}"#;
    let output = usage([None, Some(10), None, None, None]);
    let why = "input is not reported";
    assert_eq!(unknown(output, rates), least("0.00005", why));
    let diagnostics = [("input", "lower_bound:cache_not_reported")];
    let of = |input| Usage {
        diagnostics: &diagnostics,
        ..usage([Some(input), Some(10), None, None, None])
    };
    let why = "input: lower_bound:cache_not_reported";
    assert_eq!(unknown(of(100), rates), least("0.0002", why));
    assert_eq!(unknown(of(101), rates), least("0.000252", why));
}

#[test]
fn a_model_without_a_price_is_named_and_has_no_bound() {
    let of = |model, rows: &str| {
        let table = format!(r#"{{"currency":"USD","unit":1,"prices":[{rows}]}}"#);
        let asked = Request {
            model,
            ..request(usage([Some(1), Some(1), None, None, None]))
        };
        match pricing::price(&asked, table.as_bytes()).unwrap().amount {
            pricing::Amount::Unknown { lower_bound, why } => (lower_bound, why),
            pricing::Amount::Known(amount) => panic!("{amount}"),
        }
    };
    let none = least("", "the response names no model");
    assert_eq!(of(None, ""), none);
    let expected = least("", "no price for model \"kestrel-9\"");
    assert_eq!(of(Some("kestrel-9"), ""), expected);
    let elsewhere = r#"{"models":["kestrel-9"],"provider":"merlin","input":"1","output":"1"}"#;
    let why = "no price for model \"kestrel-9\" of this provider, dialect and day";
    assert_eq!(of(Some("kestrel-9"), elsewhere), least("", why));
    // The provider's text is cut, and moves no cursor.
    let long = "é\u{1b}".repeat(60);
    let (_, why) = of(Some(&long), "");
    assert_eq!(why, format!("no price for model \"{}\"", "é?".repeat(21)));
}

#[test]
fn reasons_stay_within_256_bytes() {
    let words: Vec<String> = (0..9)
        .map(|each| format!("{each}{}", "w".repeat(200)))
        .collect();
    let diagnostics: Vec<(&str, &str)> =
        words.iter().map(|word| ("output", word.as_str())).collect();
    let counts = Usage {
        diagnostics: &diagnostics,
        ..usage([Some(1), Some(1), None, None, None])
    };
    let (_, why) = unknown(counts, CHAT);
    assert!(why.len() <= 256, "{}", why.len());
    assert!(why.ends_with("; …"), "{why}");
}

#[test]
fn a_time_that_is_none_is_refused() {
    for time in [
        "",
        "2026-06-15",
        "2026-02-29T00:00:00Z",
        "2026-06-15T24:00:00Z",
        "2026-06-15T12:00:00.000+00:00",
        "2026-06-15T12:00:00.Z",
    ] {
        let asked = Request {
            time,
            ..request(usage([Some(1), Some(1), None, None, None]))
        };
        let refusal = Refusal {
            code: "request",
            detail: "expected a time such as 2026-01-31T23:59:59.000Z, found another text"
                .to_owned(),
        };
        assert_eq!(
            pricing::price(&asked, table(CHAT).as_bytes()),
            Err(refusal),
            "{time}"
        );
    }
}
