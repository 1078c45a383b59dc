//! The socket file of a listener.
//!
//! Who binds holds a lock on the directory from the first look at the path until the socket listens. So a socket file
//! that refuses a connection has no listener, and none can come into being while it is replaced.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{Timespec, poll};
use rustix::fs::{FlockOperation, Mode, fchmod, flock};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};
use rustix::process::geteuid;

use crate::error::Error;

/// Connections that wait to be accepted.
const WAITING: i32 = 16;
/// Looks at a directory that another one has locked, and the time between two.
const LOOKS: u32 = 200;
const BETWEEN: Duration = Duration::from_millis(10);

/// A path that is listened at.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    /// Device and inode: what else may come to the path is left alone.
    file: (u64, u64),
}

/// A socket of this family, which other programs do not inherit.
pub(crate) fn socket() -> Result<OwnedFd, Errno> {
    socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
}

impl Place {
    /// A socket that listens at `path`, for the owner alone.
    pub(crate) fn bind(path: &Path) -> Result<(OwnedFd, Place), Error> {
        let address = SocketAddrUnix::new(path)
            .map_err(|_| Error::Path(format!("{}: not a path of a socket (up to 107 B)", path.display())))?;
        let _lock = lock(path)?;
        clear(path, &address)?;
        let socket = socket()?;
        fchmod(&socket, Mode::RUSR | Mode::WUSR)?; // the file gets the mode of the socket
        bind(&socket, &address).map_err(|e| told(path, &e.into()))?;
        listen(&socket, WAITING)?;
        Ok((socket, Place { path: path.to_owned(), file: id(path)? }))
    }
}

impl Drop for Place {
    /// Takes the file away, if it is still this one.
    fn drop(&mut self) {
        if let Ok(_lock) = lock(&self.path)
            && id(&self.path).is_ok_and(|file| file == self.file)
        {
            let _ = fs::remove_file(&self.path); // what is left refuses connections, and the next one replaces it
        }
    }
}

fn told(path: &Path, e: &io::Error) -> Error {
    Error::Path(format!("{}: {e}", path.display()))
}

fn id(path: &Path) -> Result<(u64, u64), Error> {
    let file = fs::symlink_metadata(path).map_err(|e| told(path, &e))?;
    Ok((file.dev(), file.ino()))
}

/// Locks the directory of `path` until the file is dropped.
fn lock(path: &Path) -> Result<File, Error> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let dir = File::open(parent).map_err(|e| told(parent, &e))?;
    for _ in 0..LOOKS {
        match flock(&dir, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(dir),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                let between = Timespec::try_from(BETWEEN).ok();
                let _ = poll(&mut [], between.as_ref()); // a signal only shortens it
            }
            Err(e) => return Err(told(parent, &e.into())),
        }
    }
    Err(Error::Path(format!("{}: another process has the directory locked", parent.display())))
}

/// Removes the file of a listener of ours that is gone.
fn clear(path: &Path, address: &SocketAddrUnix) -> Result<(), Error> {
    let file = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.map_err(|e| told(path, &e))?,
    };
    let refuse = |what: &str| Err(Error::Path(format!("{}: {what}", path.display())));
    if !file.file_type().is_socket() {
        return refuse("there is a file that is no socket; it was left alone");
    }
    if file.uid() != geteuid().as_raw() {
        return refuse("there is a socket of another user; it was left alone");
    }
    let probe = socket()?;
    rustix::io::ioctl_fionbio(&probe, true)?;
    match connect(&probe, address) {
        Err(Errno::CONNREFUSED) => fs::remove_file(path).map_err(|e| told(path, &e)),
        Ok(()) | Err(Errno::AGAIN) => refuse("a listener is alive there; allowed: another path"),
        Err(e) => Err(told(path, &e.into())),
    }
}
