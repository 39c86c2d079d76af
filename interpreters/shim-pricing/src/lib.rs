//! The world `pricing`, and the memory that a component runs on.
//!
//! It is a crate of its own because a crate more behind `shim` would change the
//! released bytes of the modules that are there.

#![no_std]

pub use ::pricing;
/// Has the allocator and the panic handler, which come with being linked.
pub use shim;

/// Makes the crate that calls it the component of the world `pricing` that this
/// workspace has.
#[macro_export]
macro_rules! pricing {
    () => {
        wit_bindgen::generate!({
            path: "../../wit/v1/pricing.wit",
            world: "pricing",
        });

        extern crate alloc;
        use alloc::vec::Vec;
        use exports::reread::pricing::pricer as wit;
        use $crate::pricing;

        struct Component;

        export!(Component);

        impl wit::Guest for Component {
            fn describe() -> wit::ModuleInfo {
                wit::ModuleInfo {
                    label: pricing::LABEL.into(),
                    summary: pricing::SUMMARY.into(),
                    supersedes: Vec::new(),
                }
            }

            fn price(request: wit::Request, table: Vec<u8>) -> Result<wit::Cost, wit::Refusal> {
                let diagnostics: Vec<(&str, &str)> = request
                    .usage
                    .diagnostics
                    .iter()
                    .map(|(component, word)| (component.as_str(), word.as_str()))
                    .collect();
                let asked = pricing::Request {
                    usage: pricing::Usage {
                        input: request.usage.input,
                        output: request.usage.output,
                        cached_input: request.usage.cached_input,
                        cache_write: request.usage.cache_write,
                        reasoning: request.usage.reasoning,
                        total: request.usage.total,
                        diagnostics: &diagnostics,
                    },
                    model: request.model.as_deref(),
                    provider: request.provider.as_deref(),
                    dialect: &request.dialect,
                    time: &request.time,
                };
                match pricing::price(&asked, &table) {
                    Ok(price) => Ok(wit::Cost {
                        amount: amount(price.amount),
                        currency: price.currency,
                    }),
                    Err(refusal) => Err(wit::Refusal {
                        code: refusal.code.into(),
                        detail: refusal.detail,
                    }),
                }
            }
        }

        fn amount(amount: pricing::Amount) -> wit::Amount {
            match amount {
                pricing::Amount::Known(amount) => wit::Amount::Known(amount),
                pricing::Amount::Unknown { lower_bound, why } => {
                    wit::Amount::Unknown(wit::UnknownAmount { lower_bound, why })
                }
            }
        }
    };
}
