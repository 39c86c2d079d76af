//! Where each dialect keeps what a reading needs.

pub(crate) mod chat;
pub(crate) mod messages;
pub(crate) mod responses;
