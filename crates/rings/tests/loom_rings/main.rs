//! Every ring with its NIC half in every interleaving: rings of 2, 3 frames, at most 3 threads.
//!
//! No frame is lost or comes twice, a queue's frames keep their order, no payload is read before it is
//! published or overwritten before it is read, every buffer is there at the end, and nobody waits for
//! ever. `RXLAB_LOOM_PREEMPTIONS` sets the bound; docs/verification.md says what the checker cannot see.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod ccnic;
mod ceio;
mod corec;
mod ddring;
mod dynamic;
mod oracle;
mod pool;
mod privring;
mod rxbisect;
mod sharing;
mod shring;
mod sides;
mod stopping;
mod tx;
mod weakened;

use std::sync::Arc;

use memory::checked::{Bounds, Orders, Scenario, explore};

/// All of them; the quick ones first.
const SCENARIOS: [Scenario; 49] = [
    privring::RING,
    privring::TOGETHER,
    privring::PASSED,
    tx::SINGLE,
    tx::SEGMENTS,
    tx::RESTARTED,
    pool::STACK,
    sides::EXCHANGED,
    sides::QUEUED,
    shring::SHARED,
    shring::TOGETHER,
    shring::DRAINED,
    shring::SWAPPED,
    rxbisect::COMBINED,
    rxbisect::FOREIGN,
    rxbisect::TOGETHER,
    rxbisect::HELD,
    rxbisect::DEDICATED,
    stopping::RESTARTED,
    stopping::LEFT,
    stopping::TOLD,
    dynamic::TURNED,
    dynamic::RESTARTED,
    dynamic::JUDGED,
    ddring::ALONE,
    ddring::DRAINED,
    ddring::LOCKED,
    ddring::REJOINED,
    ccnic::GROUPED,
    ccnic::CREDITED,
    ccnic::PADDED,
    ccnic::PACKED,
    ccnic::TOLD,
    ccnic::THERE_AND_BACK,
    ccnic::DENSE,
    ccnic::AT_ONCE,
    ccnic::AT_ONCE_CLEARED,
    ccnic::REGISTERED,
    ccnic::SENT,
    ccnic::SENT_SEGMENTS,
    ccnic::RESTARTED,
    ccnic::RESTARTED_CREDIT,
    ccnic::TX_RESTARTED,
    ceio::PHASES,
    ceio::KEPT,
    ceio::RESTARTED,
    corec::DRAINED,
    corec::CLAIMED,
    corec::REJOINED,
];

/// Runs one scenario with all orderings in force.
fn passes(Scenario { name, run }: Scenario) {
    match explore(Bounds::from_env(), &Arc::new(Orders::strong()), run) {
        Ok(explored) => println!("{name}: {explored}"),
        Err(error) => panic!("{name}: {error}"),
    }
}
