//! The receive pipeline as the driver's control calls set it.

use nic::{Checks, Pipeline};
use packet::Rss;

use crate::error::Error;

/// Takes no frame before a start tells how long they may be, and leads all to the first queue.
pub(super) fn unset() -> Pipeline<Rss> {
    Pipeline::new(Rss::spread(1), Checks { max_frame: 0, checksums: false })
}

/// Whether every entry of the indirection table is a queue.
///
/// # Errors
/// An entry is none of so many queues.
pub(super) fn leads_to(rss: &Rss, queues: u16) -> Result<(), Error> {
    match rss.table().iter().find(|q| **q >= queues) {
        Some(q) => Err(Error::Invalid(format!(
            "RSS indirection table: queue {q}; allowed: 0 to {}",
            queues.saturating_sub(1)
        ))),
        None => Ok(()),
    }
}
