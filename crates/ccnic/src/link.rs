//! The socket of a link: it tells that the other side is gone, and carries signals to one that sleeps.
//!
//! A signal is a byte, and means only "look". An eventfd would do as well for two sides that trust each other. But
//! both would hold the same open file: a hostile one takes `O_NONBLOCK` off it and fills it up, and the next signal of
//! the honest side waits for ever. A socket's end is each side's own, and `MSG_DONTWAIT` belongs to the call.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use memory::native::clock::ticks;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};

/// How often a busy link's socket is looked at, in ticks: each 200 us to a millisecond, with a clock of 5 to 1 GHz.
const EVERY: u64 = 1_000_000;
/// Sends of a busy link between two looks at the clock, at most: a look takes some 10 ns (assumed; allowed: any).
const SENDS: u32 = 8;
/// Signals that are taken at once.
const SIGNALS: usize = 64;
/// The other side has closed its end, or has died.
const CLOSED: PollFlags = PollFlags::RDHUP.union(PollFlags::HUP).union(PollFlags::ERR);

/// This side's end.
#[derive(Debug)]
pub(crate) struct Link {
    socket: OwnedFd,
    gone: bool,
    /// Sends until the clock is read, of so many.
    left: u32,
    sends: u32,
    /// When the clock was read, and when the socket was looked at.
    read: u64,
    looked: u64,
    pub(crate) signals: u64,
    pub(crate) sleeps: u64,
}

impl Link {
    pub(crate) fn new(socket: OwnedFd) -> Link {
        Link { socket, gone: false, left: 1, sends: 1, read: 0, looked: 0, signals: 0, sleeps: 0 }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Whether the other side is known to be gone.
    #[inline(always)]
    pub(crate) fn is_gone(&self) -> bool {
        self.gone
    }

    /// A send is made. Reads the clock now and then, as long as sends come in quick succession: otherwise in each.
    #[inline(always)]
    pub(crate) fn sends(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            let last = self.read;
            self.fruitless();
            let rarely = self.read.wrapping_sub(last) >= EVERY;
            self.sends = if rarely { 1 } else { (2 * self.sends).min(SENDS) };
            self.left = self.sends;
        }
    }

    /// A call found nothing to do. The next one may come much later, so ticks are read in each: the first call after the
    /// end, or after a millisecond, tells of it. The system's clock would take longer than the rest of the call.
    #[inline(always)]
    pub(crate) fn fruitless(&mut self) {
        self.read = ticks();
        if self.read.wrapping_sub(self.looked) >= EVERY {
            self.looked = self.read;
            self.look();
        }
    }

    /// Looks at the socket; whether the other side is gone.
    #[cold]
    pub(crate) fn look(&mut self) -> bool {
        self.poll(PollFlags::empty(), Duration::ZERO);
        self.gone
    }

    /// Waits for what is asked for, or the end of the link; whether it came.
    fn poll(&mut self, wanted: PollFlags, patience: Duration) -> bool {
        let wait = Timespec::try_from(patience).ok(); // one that is too long for the system is for ever
        let mut fds = [PollFd::new(&self.socket, wanted | PollFlags::RDHUP)];
        if poll(&mut fds, wait.as_ref()).is_err() {
            return false; // interrupted: the caller looks again
        }
        let [fd] = &fds;
        let (came, closed) = (fd.revents().intersects(wanted), fd.revents().intersects(CLOSED));
        self.gone |= closed;
        came
    }

    /// Wakes the other side. Never waits: where signals fill the socket, it has one to come.
    #[cold]
    pub(crate) fn signal(&mut self) {
        self.signals += 1;
        if let Err(Errno::PIPE | Errno::CONNRESET) =
            send(&self.socket, &[1], SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
        {
            self.gone = true;
        }
    }

    /// Sleeps until a signal comes, the other side is gone, or the time is up; sometimes less.
    pub(crate) fn sleep(&mut self, patience: Duration) {
        self.sleeps += 1;
        if self.poll(PollFlags::IN, patience) {
            // What more there is wakes this side once too often, and no more than that.
            let _ = recv(&self.socket, &mut [0; SIGNALS], RecvFlags::DONTWAIT);
        }
    }
}

impl Link {
    /// The end is told at once, even while a process that was forked meanwhile still has a copy of the socket.
    pub(crate) fn end(&mut self) {
        self.gone = true;
        let _ = shutdown(&self.socket, Shutdown::Both); // one that is gone already needs none
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.end();
    }
}
