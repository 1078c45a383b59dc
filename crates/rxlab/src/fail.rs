//! What goes wrong on the command line: one line that says what, where, and what is allowed.

use std::fmt;

/// An error for the user; the program prints it and ends with code 2.
#[derive(Debug)]
pub(crate) struct Fail(String);

impl Fail {
    /// An error of one line.
    pub(crate) fn new(text: impl fmt::Display) -> Fail {
        Fail(text.to_string().split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// What clap says of a command line, without its hints.
    pub(crate) fn usage(error: &clap::Error) -> Fail {
        let text = error.render().to_string();
        let lines = text.lines().take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more"));
        let line = lines.collect::<Vec<_>>().join(" ");
        Fail::new(line.trim_start_matches("error: "))
    }
}

impl fmt::Display for Fail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fail {}
