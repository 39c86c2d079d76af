//! The component `attempt-policy-v1`.

shim::policy!(shim::attempt::Policy::V1);
