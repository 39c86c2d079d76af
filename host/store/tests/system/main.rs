//! What only whole processes, other file systems and a tracer can show.
#![cfg(test)]

mod disk_full;
mod errors;
mod kill;
mod locking;
mod order;
mod permissions;
mod support;
