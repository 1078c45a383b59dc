//! An Rx or Tx queue as the lcore that polls it has it. An Rx queue that several lcores may poll has a half for
//! each of them.

mod rx;
mod tx;

pub use rx::{Give, Refill, RxQueue};
pub use tx::TxQueue;
