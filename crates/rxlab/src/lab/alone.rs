//! Options without their command, as plans have them.

use clap::{Args, Parser};

use crate::fail::Fail;

/// A command line of nothing but `A`; of an option that is given twice, the last one counts.
#[derive(Parser)]
#[command(args_override_self = true)]
struct Alone<A: Args> {
    #[command(flatten)]
    options: A,
}

/// Reads options as a command line has them.
///
/// # Errors
/// In one line: the option that is not allowed.
pub(super) fn parse<A: Args>(words: &[String]) -> Result<A, Fail> {
    let words = std::iter::once("rxlab").chain(words.iter().map(String::as_str));
    Ok(Alone::try_parse_from(words).map_err(|e| Fail::usage(&e))?.options)
}
