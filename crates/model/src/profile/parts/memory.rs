//! Kinds of memory.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::number::Number;
use super::{ProfileError, built_in, read};

/// A kind of memory.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// `ddr4` and its like.
    pub name: String,
    /// The slowest and the fastest, transfers of a channel in a microsecond.
    pub mts: [f64; 2],
    /// Constants by their names in results.
    pub constants: BTreeMap<String, Number>,
}

impl Memory {
    /// A kind of memory.
    ///
    /// # Errors
    /// Names those there are.
    pub fn by_name(name: &str) -> Result<Memory, ProfileError> {
        let all: Vec<Memory> =
            built_in::MEMORY.iter().map(|(name, text)| read(name, text)).collect::<Result<_, _>>()?;
        let known = all.iter().map(|m| m.name.clone()).collect::<Vec<_>>().join(", ");
        let found = all.into_iter().find(|m| m.name == name);
        found.ok_or_else(|| ProfileError(format!("unknown memory `{name}`; allowed: {known}")))
    }
}
