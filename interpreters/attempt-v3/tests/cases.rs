//! Bodies that public clients misread, of our own making. Every asserted field
//! holds, also those of the cases that are a choice of policy.

use serde_json::Value;

use crate::common::cases;

#[test]
fn every_case_is_read_as_it_should_be() {
    let cases = cases();
    assert_eq!(cases.len(), 112);
    let mut asserted = 0;
    for (case, seen) in &cases {
        let id = case["id"].as_str().unwrap();
        let expected = case["expected"].as_object().unwrap();
        seen.read(|reading, _| {
            for (field, wanted) in expected {
                asserted += 1;
                match field.as_str() {
                    "generation_state" => assert_eq!(reading.state.as_str(), wanted, "{id}"),
                    "finish_reason" => assert_eq!(
                        reading.provider_reason.as_deref().unwrap_or_default(),
                        wanted.as_str().unwrap_or_default(),
                        "{id}"
                    ),
                    "output_text" => assert_eq!(
                        reading.output_text.as_deref().unwrap_or_default(),
                        wanted.as_str().unwrap_or_default(),
                        "{id}"
                    ),
                    "refusal" => {
                        assert_eq!(reading.refusal.as_deref(), wanted.as_str(), "{id}");
                    }
                    "tool_calls" => {
                        let found = u64::try_from(reading.tool_calls.len()).unwrap();
                        assert_eq!(Some(found), wanted.as_u64(), "{id}");
                    }
                    "error_class" => {
                        let class = reading.error.as_ref().map(|error| error.class.as_str());
                        assert_eq!(class, wanted.as_str(), "{id}");
                    }
                    "usage" => {
                        for (name, tokens) in wanted.as_object().unwrap() {
                            let component = match name.as_str() {
                                "input" => &reading.usage.input,
                                "output" => &reading.usage.output,
                                "cached_input" => &reading.usage.cached_input,
                                "reasoning" => &reading.usage.reasoning,
                                other => panic!("{id}: no component {other}"),
                            };
                            assert_eq!(component.tokens, tokens.as_u64(), "{id} {name}");
                        }
                    }
                    "choices" => {
                        let wanted = wanted.as_array().unwrap();
                        assert_eq!(reading.choices.len(), wanted.len(), "{id}");
                        for (found, wanted) in reading.choices.iter().zip(wanted) {
                            if let Value::String(state) = &wanted["generation_state"] {
                                assert_eq!(found.state.as_str(), state, "{id}");
                            }
                        }
                    }
                    other => panic!("{id}: no field {other}"),
                }
            }
        })
        .unwrap();
    }
    assert_eq!(asserted, 462);
}
