//! A port whose wire is a channel to another process (crate `ccnic`). It has no NIC core: the application's own lcores
//! copy frames into the memory of the link and out of it, a burst a call.
//!
//! A link comes and goes with the process on the other side. A thread of the port, the *keeper*, makes it; bursts use
//! it, one at a time.

mod end;
mod keeper;
mod line;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, park_timeout};
use std::time::Duration;

use crate::args::Wire;
use crate::error::Error;
use crate::limits::BURST;
use keeper::keep;
use line::Line;

pub use end::{ELSEWHERE, Lent, Piece, Room};
pub use keeper::Told;

/// A port over a channel.
pub struct ChannelPort {
    wire: Wire,
    told: Told,
    line: Arc<Line>,
    keeper: Mutex<Option<JoinHandle<()>>>,
}

impl ChannelPort {
    /// A stopped port.
    pub(crate) fn new(wire: Wire, told: Told) -> ChannelPort {
        ChannelPort { wire, told, line: Arc::default(), keeper: Mutex::default() }
    }

    /// Bytes of the longest frame: half a burst of buffers, and no more than a ring has descriptors.
    pub(crate) fn longest(&self) -> u32 {
        let ccnic::Config { bytes, ring, .. } = self.wire.config;
        bytes * ring.min(BURST as u32 / 2)
    }

    /// What bursts use.
    pub(crate) fn line(&self) -> &Line {
        &self.line
    }

    /// Links are made from now on.
    ///
    /// # Errors
    /// The system has no thread.
    pub(crate) fn start(&self) -> Result<(), Error> {
        let mut keeper = self.keeper.lock().unwrap_or_else(|broken| broken.into_inner());
        if keeper.is_none() {
            self.line.open();
            let (line, wire, told) = (self.line.clone(), self.wire.clone(), self.told);
            let thread = std::thread::Builder::new().name("rxlab-channel".into());
            let started = thread.spawn(move || keep(&line, &wire, told));
            *keeper = Some(started.map_err(|e| Error::Invalid(format!("no thread for a channel: {e}")))?);
        }
        Ok(())
    }

    /// Lends the buffers of the link to a mempool. Links are made from now on, and the first is waited for.
    ///
    /// # Errors
    /// There is none after so long, or a mempool has buffers of the port.
    pub(crate) fn lend(&self, patience_ms: u32) -> Result<Lent, Error> {
        self.start()?;
        let looks = (0..patience_ms).take_while(|_| !self.line.is_linked());
        looks.for_each(|_| park_timeout(Duration::from_millis(1)));
        if !self.line.is_linked() {
            let path = self.wire.path.display();
            return Err(Error::Invalid(format!("{path}: no link after {patience_ms} ms")));
        }
        let lent = self.line.lend();
        lent.ok_or_else(|| Error::Invalid("a mempool has buffers of the port; allowed: one at a time".into()))
    }

    /// Ends the link, and makes no other.
    pub(crate) fn stop(&self) {
        self.line.close();
        let keeper = self.keeper.lock().unwrap_or_else(|broken| broken.into_inner()).take();
        if let Some(keeper) = keeper {
            keeper.thread().unpark();
            let _ = keeper.join(); // one that panicked has said so
        }
        self.line.hang_up();
    }
}

impl Drop for ChannelPort {
    fn drop(&mut self) {
        self.stop();
    }
}
