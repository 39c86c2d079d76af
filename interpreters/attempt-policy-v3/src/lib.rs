//! The component `attempt-policy-v3`.
#![cfg_attr(target_arch = "wasm32", no_std)]

shim_v3::policy!();
