//! The component `text-check-v1`.
#![cfg_attr(target_arch = "wasm32", no_std)]

shim::check!();
