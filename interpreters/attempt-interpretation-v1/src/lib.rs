//! The component `attempt-interpretation-v1`.

shim::interpreter!(shim::attempt::Interpreter::V1);
