//! Which sizes can be built, and the error that names one that cannot: the same for all interfaces.

use core::fmt;

use memory::LayoutError;

/// A size that cannot be built: one line that says what is wrong and what to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeError(String);

impl SizeError {
    pub(crate) fn new(what: impl Into<String>) -> SizeError {
        SizeError(what.into())
    }
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SizeError {}

impl From<LayoutError> for SizeError {
    fn from(e: LayoutError) -> SizeError {
        SizeError(e.to_string())
    }
}

/// The largest ring.
const RING: u32 = 1 << 20;
/// The most queues of a port, each with a host half.
pub const MOST_QUEUES: u32 = 4096;

/// Checks a ring of `n` entries, which errors call `what`.
pub(crate) fn ring_size(what: &str, n: u32) -> Result<(), SizeError> {
    if n.is_power_of_two() && (2..=RING).contains(&n) {
        return Ok(());
    }
    let near = n.clamp(2, RING).next_power_of_two();
    let near = if n > near / 2 && n < near && near > 2 {
        format!("{} or {near}", near / 2)
    } else {
        near.to_string()
    };
    Err(SizeError(format!("{what} is {n}; allowed: a power of two from 2 to {RING}, such as {near}")))
}

/// Checks a port of `n` queues.
pub(crate) fn queue_count(n: u32) -> Result<(), SizeError> {
    if (1..=MOST_QUEUES).contains(&n) {
        return Ok(());
    }
    Err(SizeError(format!("a port has {n} queues; allowed: 1 to {MOST_QUEUES}")))
}

/// Checks that `shared_by` cores share each ring of an interface, on a port of `queues`.
pub(crate) fn sharers(interface: &str, shared_by: u32, queues: u32) -> Result<(), SizeError> {
    if (1..=queues).contains(&shared_by) {
        return Ok(());
    }
    Err(SizeError(format!("{interface}: shared_by is {shared_by}; allowed: 1 to {queues}, the queues")))
}
