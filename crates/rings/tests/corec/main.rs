//! corec, rule by rule (corec §3): threads held anywhere in a burst, claims that come a round late, what the NIC sees,
//! and the printed listing, which breaks.

#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../common/mod.rs"]
mod common;

mod aba;
mod held;
mod listing;
mod listing_ring;
mod port;
mod seen;
