//! How a side connects to a listener.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use memory::Region;
use memory::native::receive_file;
use rustix::fs::fstatfs;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendFlags, SocketAddrUnix, connect, recv, send};

use crate::channel::{Channel, Role};
use crate::config::Config;
use crate::error::Error;
use crate::hello::{Hello, compare, hello};
use crate::place::socket;

/// How long the other side may take for each step of the handshake.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// The file system of files in memory with ordinary pages (`TMPFS_MAGIC`).
const ORDINARY: u64 = 0x0102_1994;

impl Channel {
    /// Connects to the listener at `path`.
    ///
    /// # Errors
    /// Nobody listens there, does not answer, or is configured otherwise.
    pub fn connect(path: impl AsRef<Path>, config: Config) -> Result<Channel, Error> {
        config.check()?;
        let path = path.as_ref();
        let told = |e: Errno| Error::Path(format!("{}: {}", path.display(), std::io::Error::from(e)));
        let address = SocketAddrUnix::new(path).map_err(told)?;
        let socket = socket()?;
        set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
        retry_on_intr(|| connect(&socket, &address)).map_err(told)?;
        let region = shake(&socket, &config).map_err(|e| match e {
            Error::Io(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                Error::Protocol(format!("the listener says nothing for {} s", PATIENCE.as_secs()))
            }
            other => other,
        })?;
        Channel::new(region, socket, &config, Role::Connector)
    }
}

/// Both say hello, and the listener hands its region over.
fn shake(socket: &OwnedFd, config: &Config) -> Result<Region, Error> {
    let ours = hello(config);
    // A listener that compares first is gone by now: what it said is still there to be read.
    let _ = retry_on_intr(|| send(socket, &ours, SendFlags::NOSIGNAL));
    let mut theirs: Hello = [0; size_of::<Hello>()];
    let (_, got) = retry_on_intr(|| recv(socket, &mut theirs, RecvFlags::WAITALL))?;
    if got == 0 {
        return Err(Error::Gone);
    }
    if got < theirs.len() {
        return Err(Error::Protocol(format!("the listener said {got} B; allowed: {}", theirs.len())));
    }
    compare(config, &theirs)?;
    let file = receive_file(socket.as_fd())?;
    // Where the other side can take huge pages away, an access would kill this process.
    if fstatfs(&file)?.f_type as u64 != ORDINARY {
        return Err(Error::Protocol("the listener's memory has other than ordinary pages".into()));
    }
    Ok(Region::attach(file)?)
}
