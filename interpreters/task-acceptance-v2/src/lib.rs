//! The component `task-acceptance-v2`.
#![cfg_attr(target_arch = "wasm32", no_std)]

shim::acceptance!(shim::acceptance::Acceptance::V2);
