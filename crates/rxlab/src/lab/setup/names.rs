//! What options call by a name.

use apps::{Antagonist, Kind};
use packet::SteerBy;

use crate::fail::Fail;

/// What chooses a core, by its name.
///
/// # Errors
/// Names what is allowed.
pub(super) fn steer(name: &str) -> Result<SteerBy, Fail> {
    let found = SteerBy::ALL.into_iter().find(|s| s.name() == name);
    found.ok_or_else(|| Fail::new(format!("--steer: unknown `{name}`; allowed: rss, port")))
}

/// `stream:4`, `pagerank:8`.
///
/// # Errors
/// Names what is allowed.
pub(crate) fn antagonist(text: &str) -> Result<Antagonist, Fail> {
    text.parse().map_err(|e| Fail::new(format!("--antagonist {e}")))
}

/// An application by its name; errors name `others`, which the caller allows besides.
///
/// # Errors
/// Names the applications there are.
pub(crate) fn app(name: &str, others: &str) -> Result<Kind, Fail> {
    let known: Vec<_> = Kind::ALL.iter().map(|k| k.name()).collect();
    let found = Kind::ALL.into_iter().find(|k| k.name() == name);
    found.ok_or_else(|| {
        Fail::new(format!("--app: unknown application `{name}`; allowed: {others}{}", known.join(", ")))
    })
}
