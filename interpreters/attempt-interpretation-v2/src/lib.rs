//! The component `attempt-interpretation-v2`.
#![cfg_attr(target_arch = "wasm32", no_std)]

shim::interpreter!(shim::attempt::Interpreter::V2);
