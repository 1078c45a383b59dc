//! The card's own buffer: frames wait here from the wire until their store has finished.

use std::collections::VecDeque;

use memory::Ps;

/// A finite buffer of bytes. A frame occupies its bytes until its store has finished, whether it is being
/// stored or waits for that. Its bytes are a ring: they come free in the order of arrival.
#[derive(Debug)]
pub(crate) struct Holding {
    /// Bytes in all.
    room: u64,
    /// Bytes of `frames`.
    held: u64,
    /// When each frame's store finishes, and its bytes. Frames that have left are taken out only when room is
    /// short.
    frames: VecDeque<(Ps, u32)>,
}

impl Holding {
    pub(crate) fn new(room: u32) -> Holding {
        Holding { room: u64::from(room), held: 0, frames: VecDeque::new() }
    }

    /// Whether a frame of `len` bytes that is complete at `at` finds room.
    pub(crate) fn admits(&mut self, at: Ps, len: u32) -> bool {
        self.held + u64::from(len) <= self.room || {
            self.leave(at);
            self.held + u64::from(len) <= self.room
        }
    }

    /// Frames leave whose store has finished by `at`.
    #[cold]
    fn leave(&mut self, at: Ps) {
        while let Some(&(until, bytes)) = self.frames.front()
            && until <= at
        {
            self.held -= u64::from(bytes);
            self.frames.pop_front();
        }
    }

    /// An admitted frame occupies `len` bytes until `until`.
    pub(crate) fn hold(&mut self, until: Ps, len: u32) {
        self.held += u64::from(len);
        self.frames.push_back((until, len));
    }

    /// Bytes of the frames that are held, and of those that have left since room was last short.
    pub(crate) fn held(&self) -> u64 {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_leave_when_their_store_has_finished() {
        let mut h = Holding::new(3000);
        assert!(h.admits(Ps(0), 1500));
        h.hold(Ps(100), 1500);
        assert!(h.admits(Ps(10), 1500));
        h.hold(Ps(200), 1500);
        assert!(!h.admits(Ps(99), 1), "two frames fill the buffer");
        assert!(h.admits(Ps(100), 1500), "the first has left at the instant its store finished");
        assert!(!h.admits(Ps(100), 1501));
        assert!(h.admits(Ps(200), 3000));
        assert_eq!(h.held(), 0);
    }

    #[test]
    fn a_frame_larger_than_the_buffer_never_fits() {
        assert!(!Holding::new(64).admits(Ps::ZERO, 65));
    }
}
