//! Tests of the artifacts.

mod listing;
mod obstacles;
mod putting;
mod support;
mod sweeping;
