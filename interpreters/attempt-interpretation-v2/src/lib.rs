//! The component `attempt-interpretation-v2`.

shim::interpreter!(shim::attempt::Interpreter::V2);
