//! How the other process is started.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Which part the other process is to play, and the socket's path.
pub(crate) const ROLE: &str = "RXLAB_TEST_ROLE";
pub(crate) const PLACE: &str = "RXLAB_TEST_PATH";
/// Whoever waits that long for the other one gives up with an error.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// What a listener says when it listens.
pub(crate) const READY: &str = "it listens";

/// The other process.
pub(crate) struct Other(Child);

impl Other {
    pub(crate) fn start(role: &str, path: &Path) -> Other {
        let process = Command::new(env::current_exe().unwrap())
            .args(["--exact", "other_process", "--ignored", "--nocapture"])
            .env(ROLE, role)
            .env(PLACE, path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Other(process)
    }

    /// Waits until it listens.
    pub(crate) fn listens(&mut self) {
        let lines = BufReader::new(self.0.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.contains(READY)), "it never listened");
    }

    /// Kills it, by its id. It may live on for a moment.
    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
    }

    /// Waits for its end; whether it ended well.
    pub(crate) fn ends(&mut self) -> bool {
        self.0.wait().unwrap().success()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill(); // a test that fails leaves nobody behind; one that has ended is not there
        let _ = self.0.wait();
    }
}
