//! The component `attempt-interpretation-v3`.
#![cfg_attr(target_arch = "wasm32", no_std)]

shim_v3::interpreter!();
