//! What other programs know of the command line is what it is.

/// `rxlab schema --commands`, from which Python's functions are made.
const WRITTEN: &str = include_str!("../../../python/commands.json");

#[test]
fn python_knows_the_options_that_there_are() {
    assert!(rxlab::words() == WRITTEN, "python/commands.json is out of date: run make python-api");
}
