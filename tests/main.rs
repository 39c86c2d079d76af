//! Tests of the built binary, in processes of its own.

mod house;
