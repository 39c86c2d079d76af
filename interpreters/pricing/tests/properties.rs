//! What holds of all counts.

use pricing::{Amount, Usage};
use proptest::prelude::*;

use crate::common::{known, priced, usage};

/// Rates in ten-thousandths, in the order input, output, cached, write, reasoning.
fn rates() -> impl Strategy<Value = String> {
    proptest::array::uniform5(0_u32..100_000).prop_map(|rates| {
        let [input, output, cached, write, reasoning] =
            rates.map(|rate| format!("{}.{:04}", rate / 10_000, rate % 10_000));
        format!(
            r#""input":"{input}","output":"{output}","cached_input":"{cached}","cache_write":"{write}","reasoning":"{reasoning}""#
        )
    })
}

/// Counts that are known and do not contradict each other.
fn counts() -> impl Strategy<Value = Usage<'static>> {
    proptest::array::uniform5(0_u64..1 << 40).prop_map(
        |[fresh, cached, write, visible, reasoning]| {
            let (input, output) = (fresh + cached + write, visible + reasoning);
            usage([
                Some(input),
                Some(output),
                Some(cached),
                Some(write),
                Some(reasoning),
            ])
        },
    )
}

fn sum(one: Usage<'_>, other: Usage<'_>) -> Usage<'static> {
    let add = |one: Option<u64>, other: Option<u64>| Some(one.unwrap() + other.unwrap());
    usage([
        add(one.input, other.input),
        add(one.output, other.output),
        add(one.cached_input, other.cached_input),
        add(one.cache_write, other.cache_write),
        add(one.reasoning, other.reasoning),
    ])
}

/// An amount of at most ten digits behind the point, in its smallest parts.
fn parts(amount: &str) -> u128 {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
    format!("{whole}{fraction:0<10}").parse().unwrap()
}

proptest! {
    #[test]
    fn a_cost_is_additive_and_so_monotone(rates in rates(), one in counts(), other in counts()) {
        let (first, second) = (parts(&known(one, &rates)), parts(&known(other, &rates)));
        let both = parts(&known(sum(one, other), &rates));
        prop_assert_eq!(both, first + second);
        prop_assert!(both >= first.max(second));
    }

    #[test]
    fn a_lower_bound_is_no_more_than_the_amount(rates in rates(), whole in counts(), kept in any::<[bool; 5]>()) {
        let amount = parts(&known(whole, &rates));
        let [input, output, cached, write, reasoning] = kept;
        let fewer = usage([
            whole.input.filter(|_| input),
            whole.output.filter(|_| output),
            whole.cached_input.filter(|_| cached),
            whole.cache_write.filter(|_| write),
            whole.reasoning.filter(|_| reasoning),
        ]);
        match priced(fewer, &rates).unwrap().amount {
            Amount::Known(found) => prop_assert_eq!(parts(&found), amount),
            Amount::Unknown { lower_bound, why } => {
                prop_assert!(!why.is_empty() && why.len() <= 256);
                if let Some(bound) = lower_bound {
                    prop_assert!(parts(&bound) <= amount);
                }
            }
        }
    }

    #[test]
    fn a_count_beside_is_a_bound_too(rates in rates(), whole in counts()) {
        let amount = parts(&known(whole, &rates));
        let cache = whole.cached_input.unwrap() + whole.cache_write.unwrap();
        let diagnostics = [
            ("input", "lower_bound:cache_not_reported"),
            ("output", "lower_bound:part_not_reported"),
        ];
        let counted = Usage {
            input: whole.input.map(|input| input - cache),
            output: whole.output.map(|output| output - whole.reasoning.unwrap()),
            diagnostics: &diagnostics,
            ..Usage::default()
        };
        let Amount::Unknown { lower_bound, .. } = priced(counted, &rates).unwrap().amount else {
            panic!("it is known");
        };
        prop_assert!(parts(&lower_bound.unwrap()) <= amount);
    }

    #[test]
    fn any_bytes_give_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200), counts in any::<[Option<u64>; 5]>()) {
        let asked = crate::common::request(usage(counts));
        let refused = pricing::price(&asked, &bytes);
        prop_assert!(refused.is_err());
        // So do any counts, within the table or beyond it.
        let amount = priced(usage(counts), crate::common::MESSAGES);
        prop_assert!(amount.is_ok());
    }
}
