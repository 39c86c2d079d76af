//! The world `pricing`: what a module is given, and what it may say.

use std::fs;
use std::path::Path;

use model::pricing::{Amount, Cost};
use model::reading::{TokenCounts, Usage};
use runtime::{
    Contract, InvalidResult, Limits, LoadError, Pricing, RunError, World, compile, scan,
};

use crate::common::abi::{Value, none, some, text};
use crate::common::fixture::{Fixture, ok, refused};
use crate::common::{limits, priced, pricing, sandbox, types};

fn run(module: &Pricing) -> Result<Cost, RunError> {
    let outcome = module.price(&priced(&Usage::default()), b"{}");
    outcome.map(|outcome| outcome.value)
}

/// Runs a module that says this.
fn says(amount: Value, currency: &str) -> Result<Cost, RunError> {
    let mut fixture = Fixture::pricing();
    let cost = Value::Fields(vec![amount, text(currency)]);
    fixture.returns("price", &ok(cost));
    run(&pricing(&fixture))
}

fn known(amount: &str) -> Value {
    Value::Case(0, Some(Box::new(text(amount))))
}

fn unknown(lower_bound: Option<&str>, why: &str) -> Value {
    let bound = lower_bound.map_or(none(), |bound| some(text(bound)));
    Value::Case(1, Some(Box::new(Value::Fields(vec![bound, text(why)]))))
}

fn invalid(field: &str, expected: &str, found: &str) -> Result<Cost, RunError> {
    Err(RunError::InvalidResult(InvalidResult {
        field: field.to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    }))
}

#[test]
fn a_pricing_module_says_what_it_is_and_prices() {
    let fixture = Fixture::pricing();
    let scanned = scan(&fixture.build(), &Limits::P1).unwrap();
    assert_eq!(scanned.contract, Contract::PricingV0_0_1);
    let module = pricing(&fixture);
    let info = module.info();
    assert_eq!(info.label.as_str(), "fixture-pricing-v1");
    assert_eq!(info.supersedes, ["fixture-v0".parse().unwrap()]);
    assert_eq!(module.module().label, info.label);
    let expected = Cost {
        amount: Amount::Known("0.25".parse().unwrap()),
        currency: "USD".to_owned(),
    };
    let usage = Usage::default();
    let first = module.price(&priced(&usage), b"{}").unwrap();
    assert_eq!(first.value, expected);
    assert_eq!(module.price(&priced(&usage), b"{}").unwrap(), first);
}

#[test]
fn a_module_of_another_world_prices_nothing() {
    let compiled = compile(&Fixture::check().build()).unwrap();
    let error = sandbox(limits()).pricing(&compiled).unwrap_err();
    let expected = World::Pricing;
    let found = Contract::CheckV0_0_1;
    assert_eq!(error, LoadError::World { expected, found });
}

#[test]
fn other_types_than_those_of_the_contract_do_not_load() {
    let mut fixture = Fixture::pricing();
    fixture.retypes("price", types::outcome(types::plain_info()));
    let compiled = compile(&fixture.build()).unwrap();
    let error = sandbox(limits()).pricing(&compiled).unwrap_err();
    let LoadError::Types { function, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(function, "price");
}

#[test]
fn an_amount_that_is_not_known_comes_with_why_and_perhaps_a_bound() {
    let why = "é".repeat(128);
    for bound in [None, Some("0"), Some("17.000001")] {
        let expected = Cost {
            amount: Amount::Unknown {
                lower_bound: bound.map(|bound| bound.parse().unwrap()),
                why: why.clone(),
            },
            currency: "EUR".to_owned(),
        };
        assert_eq!(says(unknown(bound, &why), "EUR"), Ok(expected));
    }
}

#[test]
fn amounts_and_bounds_are_plain_decimals() {
    let expected = "a decimal number without sign, exponent, and zeros that say nothing, in at \
                    most 64 bytes";
    for number in ["", "-1", "+1", "1e3", "1.50", "01", ".5", "5.", "NaN", "1 "] {
        let found = format!("`{number}`");
        assert_eq!(
            says(known(number), "USD"),
            invalid("amount.known", expected, &found)
        );
        assert_eq!(
            says(unknown(Some(number), "why"), "USD"),
            invalid("amount.unknown.lower-bound", expected, &found)
        );
    }
    assert!(says(known(&"9".repeat(64)), "USD").is_ok());
    let long = "9".repeat(65);
    let found = format!("`{long}`");
    assert_eq!(
        says(known(&long), "USD"),
        invalid("amount.known", expected, &found)
    );
}

#[test]
fn a_reason_is_some_text_of_at_most_256_bytes() {
    const FIELD: &str = "amount.unknown.why";
    assert!(says(unknown(None, &"w".repeat(256)), "USD").is_ok());
    for (why, expected, found) in [
        ("", "at least one byte", "none"),
        ("two\nlines", "no control characters", "`two\\nlines`"),
        (&"w".repeat(257), "at most 256 bytes", "257 bytes"),
    ] {
        assert_eq!(
            says(unknown(None, why), "USD"),
            invalid(FIELD, expected, found)
        );
    }
}

#[test]
fn a_currency_is_three_upper_case_letters() {
    for currency in ["", "US", "USDT", "usd", "U D", "ÄÖ"] {
        let found = format!("`{currency}`");
        assert_eq!(
            says(known("1"), currency),
            invalid("currency", "three letters A-Z", &found)
        );
    }
}

#[test]
fn a_refusal_is_typed() {
    let mut fixture = Fixture::pricing();
    fixture.returns("price", &refused("table", "why"));
    let error = RunError::Refused {
        code: "table".to_owned(),
        detail: "why".to_owned(),
    };
    assert_eq!(run(&pricing(&fixture)), Err(error));
    fixture.returns("price", &refused("No Code", "why"));
    let refused = run(&pricing(&fixture)).unwrap_err();
    assert!(matches!(refused, RunError::InvalidResult(_)), "{refused}");
}

#[test]
fn a_trap_and_a_loop_end_the_run() {
    let mut fixture = Fixture::pricing();
    fixture.does("price", "unreachable");
    assert!(matches!(run(&pricing(&fixture)), Err(RunError::Trap(_))));
    fixture.does("price", "(loop br 0) unreachable");
    assert!(matches!(
        run(&pricing(&fixture)),
        Err(RunError::OutOfFuel { .. })
    ));
}

#[test]
fn too_much_input_is_refused_before_the_module_runs() {
    // 9 bytes of the model, 7 of the provider, 11 of the dialect, 5 of a diagnostic.
    let small = Limits {
        input_bytes: 35,
        ..limits()
    };
    let compiled = compile(&Fixture::pricing().build()).unwrap();
    let module = sandbox(small).pricing(&compiled).unwrap();
    let usage = Usage {
        diagnostics: vec![("in".to_owned(), "why".to_owned())],
        ..Usage::default()
    };
    let fits = module.price(&priced(&usage), b"{ }");
    assert!(fits.is_ok(), "{fits:?}");
    let error = RunError::InputTooLarge {
        found: 36,
        limit: 35,
    };
    let refused = module.price(&priced(&usage), b"{  }");
    assert_eq!(refused.unwrap_err(), error);
}

#[test]
fn the_released_module_reads_counts_names_time_and_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interpreters/released");
    let bytes = fs::read(folder.join("token-pricing-v1.wasm")).unwrap();
    let compiled = compile(&bytes).unwrap();
    let module = sandbox(Limits::P1).pricing(&compiled).unwrap();
    let mut usage = Usage {
        counts: TokenCounts {
            input: Some(279),
            output: Some(166),
            cached_input: Some(192),
            ..TokenCounts::default()
        },
        ..Usage::default()
    };
    let table = br#"{"currency":"USD","unit":1000000,"prices":[{"models":["kestrel-*"],
        "provider":"kestrel","dialect":"openai.chat","from":"2026-05-28","until":"2026-05-29",
        "input":"2.50","output":"10.00","cached_input":"1.25"}]}"#;
    let cost = module.price(&priced(&usage), table).unwrap().value;
    assert_eq!(cost.amount, Amount::Known("0.0021175".parse().unwrap()));
    let word = "lower_bound:cache_not_reported";
    usage.diagnostics = vec![("input".to_owned(), word.to_owned())];
    let cost = module.price(&priced(&usage), table).unwrap().value;
    let expected = Amount::Unknown {
        lower_bound: Some("0.0021175".parse().unwrap()),
        why: format!("input: {word}"),
    };
    assert_eq!(cost.amount, expected);
    let refused = module.price(&priced(&usage), b"[]").unwrap_err();
    let error = RunError::Refused {
        code: "table".to_owned(),
        detail: "the table: expected an object, found an array".to_owned(),
    };
    assert_eq!(refused, error);
}
