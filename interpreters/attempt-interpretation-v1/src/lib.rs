//! The component `attempt-interpretation-v1`.
#![cfg_attr(target_arch = "wasm32", no_std)]

shim::interpreter!(shim::attempt::Interpreter::V1);
