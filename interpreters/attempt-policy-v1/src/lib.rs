//! The component `attempt-policy-v1`.
#![cfg_attr(target_arch = "wasm32", no_std)]

shim::policy!(shim::attempt::Policy::V1);
