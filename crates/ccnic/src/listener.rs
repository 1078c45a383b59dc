//! The side that others connect to.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use memory::native::send_file;
use memory::{Backing, Region};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, accept_with, recv, send};
use rustix::time::{ClockId, clock_gettime};

use crate::channel::{Channel, Role};
use crate::config::Config;
use crate::connect::PATIENCE;
use crate::error::Error;
use crate::hello::{Hello, compare, hello};
use crate::place::Place;

/// Connections that have said nothing yet. One more takes the place of the oldest.
const SILENT: usize = 64;

/// Waits for others to connect. Each connection has memory of its own, so a side that has died can return, and one that
/// was given up reaches nothing of a later one.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    /// Of connections, with the time when each came.
    silent: Vec<(OwnedFd, Duration)>,
    config: Config,
    _place: Place,
}

impl Listener {
    /// Listens at `path`, a socket for the owner alone. What a dead listener of this user left there is replaced.
    ///
    /// # Errors
    /// A size is not allowed; another listener is alive there; or there is a file that is no socket of this user.
    pub fn bind(path: impl AsRef<Path>, config: Config) -> Result<Listener, Error> {
        config.check()?;
        let (socket, place) = Place::bind(path.as_ref())?;
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(Listener { socket, silent: Vec::new(), config, _place: place })
    }

    /// Waits for the next link. One that says nothing holds nobody else up.
    ///
    /// # Errors
    /// Somebody connected who is configured otherwise, is no channel, or is gone; the next call waits for another one.
    pub fn accept(&mut self) -> Result<Channel, Error> {
        loop {
            if let Some(channel) = self.accept_within(Duration::MAX)? {
                return Ok(channel);
            }
        }
    }

    /// [`accept`](Self::accept) for `patience` at most; `None` where nobody came.
    ///
    /// # Errors
    /// As of [`accept`](Self::accept).
    pub fn accept_within(&mut self, patience: Duration) -> Result<Option<Channel>, Error> {
        let end = now().saturating_add(patience);
        loop {
            self.silent.retain(|(_, came)| now().saturating_sub(*came) < PATIENCE);
            self.take()?;
            if let Some(at) = self.first()? {
                let (socket, _) = self.silent.remove(at);
                if let Some(channel) = self.serve(socket)? {
                    return Ok(Some(channel));
                }
                continue;
            }
            let left = end.saturating_sub(now());
            if left.is_zero() {
                return Ok(None);
            }
            self.sleep(left)?;
        }
    }

    /// Takes all connections that there are.
    fn take(&mut self) -> Result<(), Error> {
        loop {
            match accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(socket) => {
                    if self.silent.len() == SILENT {
                        self.silent.remove(0);
                    }
                    self.silent.push((socket, now()));
                }
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// The first connection that has something to say, or has ended.
    fn first(&self) -> Result<Option<usize>, Error> {
        let mut fds: Vec<_> = self.silent.iter().map(|(s, _)| PollFd::new(s, PollFlags::IN)).collect();
        match poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(_) => Ok(fds.iter().position(|fd| !fd.revents().is_empty())),
            Err(Errno::INTR) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Until somebody connects, says something, has been silent for too long, or the time is up.
    fn sleep(&self, left: Duration) -> Result<(), Error> {
        let oldest =
            self.silent.first().map(|(_, came)| PATIENCE.saturating_sub(now().saturating_sub(*came)));
        let left = oldest.map_or(left, |oldest| oldest.min(left));
        let mut fds: Vec<_> = self.silent.iter().map(|(s, _)| PollFd::new(s, PollFlags::IN)).collect();
        fds.push(PollFd::new(&self.socket, PollFlags::IN));
        match poll(&mut fds, Timespec::try_from(left).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// The handshake with one that has something to say; `None` if that was nothing.
    fn serve(&self, socket: OwnedFd) -> Result<Option<Channel>, Error> {
        let ours = hello(&self.config);
        let mut theirs: Hello = [0; size_of::<Hello>()];
        let (_, got) = recv(&socket, &mut theirs, RecvFlags::DONTWAIT)?;
        if got == 0 {
            return Ok(None); // a look whether somebody listens
        }
        let said = send(&socket, &ours, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
        if got < theirs.len() {
            return Err(Error::Protocol(format!("a connection said {got} B; allowed: {}", theirs.len())));
        }
        compare(&self.config, &theirs)?;
        said?;
        let region = Region::shared(self.config.region(), Backing::Pages)?;
        let channel = Channel::new(region, socket, &self.config, Role::Listener)?;
        let Some(file) = channel.memory() else { return Err(Error::Config("memory of no file".into())) };
        send_file(channel.as_fd(), file)?;
        Ok(Some(channel))
    }
}

/// The system's monotonic clock: a listener has no memory to read it from.
fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
