//! Two small algorithms that try a memory out before the rings that need them: a claim by
//! compare-and-swap on one ring (as COREC receives) and a lock with waiters (as shRing refills).
//!
//! Both count what contention costs: a memory in which nothing ever fails or waits does not
//! interleave its agents.

mod claim;
mod lock;

pub use claim::{CLAIM_FIELDS, Claimer, Claims, Producer};
pub use lock::{LOCK_FIELD, Lock};
