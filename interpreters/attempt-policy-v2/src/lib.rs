//! The component `attempt-policy-v2`.
#![cfg_attr(target_arch = "wasm32", no_std)]

shim::policy!(shim::attempt::Policy::V2);
