//! The other process: this test program again, told by its environment what to be.

use std::env;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use memory::Ps;

/// Which part the other process is to play.
pub(crate) const ROLE: &str = "RXLAB_TEST_ROLE";
/// More than are ever sent.
pub(crate) const ENDLESS: u64 = u64::MAX;
/// Whoever waits that long for the other one gives up with an error.
pub(crate) const PATIENCE: Ps = Ps::from_us(120_000_000);

/// The other process, and the socket that connects both.
pub(crate) struct Other {
    pub(crate) process: Child,
    pub(crate) socket: UnixStream,
}

impl Other {
    pub(crate) fn start(role: &str) -> Other {
        let (socket, theirs) = UnixStream::pair().unwrap();
        let process = Command::new(env::current_exe().unwrap())
            .args(["--exact", "other_process", "--ignored", "--nocapture"])
            .env(ROLE, role)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Other { process, socket }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.process.kill(); // a test that fails leaves nobody behind; one that has ended is not there
        let _ = self.process.wait();
    }
}

/// How a half ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All frames are through.
    Done,
    /// The other process is gone.
    Alone,
}
