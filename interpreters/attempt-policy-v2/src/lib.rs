//! The component `attempt-policy-v2`.

shim::policy!(shim::attempt::Policy::V2);
