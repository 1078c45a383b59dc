//! A NIC's thread: what it receives from the host it reads, and sends it back in another buffer.

use std::cell::RefCell;
use std::rc::Rc;

use super::Setup;
use super::count::Log;
use super::ends::NicEnd;
use crate::engine::view::View;
use memory::{Memory, Ps};

/// A thread looks so often whether all is done.
const LOOK: Ps = Ps::from_us(100);

/// A thread, but for its end of the connection.
pub(super) struct Nic {
    burst: usize,
    log: Rc<RefCell<Log>>,
}

impl Nic {
    pub(super) fn new(setup: &Setup, log: Rc<RefCell<Log>>) -> Nic {
        Nic { burst: setup.tx_burst, log }
    }

    /// Until no host has anything under way, or the run ends.
    pub(super) fn run(self, m: &mut View, mut end: impl NicEnd) {
        while self.log.borrow().under_way > 0 && !m.stopped() {
            let turn = end.turn(m, self.burst);
            if turn.lost > 0 {
                self.log.borrow_mut().lost += turn.lost as u64;
            }
            if turn.taken == 0 {
                let until = m.now() + LOOK;
                m.idles(until.0);
            }
        }
    }
}
