//! The command line as a user meets it.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../common/mod.rs"]
mod common;

mod comparisons;
mod errors;
mod experiments;
mod flow;
mod output;
mod systems;

/// A small comparison: two cores, one placement, no search.
const SMALL: [&str; 8] = ["compare", "--cores", "2", "--placements", "1", "--no-search", "--rate", "20"];

fn small(more: &[&'static str]) -> Vec<&'static str> {
    SMALL.iter().chain(more).copied().collect()
}
