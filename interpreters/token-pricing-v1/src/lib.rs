//! The component `token-pricing-v1`.
#![cfg_attr(target_arch = "wasm32", no_std)]

shim_pricing::pricing!();
