//! A run of rxbench, rxlookup or an end of a link: started, told when to begin, paused, ended, and never left behind.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{self, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::fail::Fail;

/// Lines of stderr that an error quotes.
const QUOTED: usize = 3;

/// A line of rxbench, rxlookup or an end of a link.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(crate) enum Event {
    /// Ports are up; measuring begins when told.
    Ready {
        /// Mean TSC cycles that timing adds to a timed span.
        timer_cycles: f64,
        /// TSC cycles of a second.
        tsc_hz: f64,
    },
    /// What a task measured.
    Sample(TaskSample),
    /// All samples are told; tasks go on.
    Measured,
    /// Tasks poll no more.
    Stopped(Claims),
    /// New tables are filled.
    Filled {
        /// Seconds that it took.
        seconds: f64,
        /// Bytes of DPDK's heap.
        bytes: u64,
    },
    /// They are not: there is no room.
    Full {
        /// What the library says.
        why: String,
    },
    /// What look-ups took.
    Lookups {
        /// Nanoseconds of one.
        ns: f64,
        /// How many there were.
        lookups: u64,
        /// How many found their rule.
        found: u64,
    },
    /// Ports are closed.
    End {
        /// Buffers that did not come back.
        buffers_left: u64,
    },
}

/// What its threads claimed of rings that they share, in all.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Claims {
    /// Batches.
    #[serde(default)]
    pub claims: u64,
    /// Another thread was faster.
    #[serde(default)]
    pub failed_claims: u64,
}

impl Claims {
    /// Of all tries, those that failed, percent; none without a try.
    pub(crate) fn failed_pct(self) -> Option<f64> {
        let tries = self.claims + self.failed_claims;
        (tries > 0).then(|| 100.0 * self.failed_claims as f64 / tries as f64)
    }
}

/// A sample of one task.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct TaskSample {
    /// Which task of the process.
    pub task: usize,
    /// Received frames, millions a second.
    pub rx_mpps: f64,
    /// Frames that are torn.
    pub bad: u64,
    /// Frames that did not arrive.
    pub lost: u64,
    /// Frames that one with a later number overtook.
    pub reordered: u64,
    /// Timed spans: round trips (ns) or bursts (TSC cycles).
    #[serde(default)]
    pub timed: u64,
    /// Their mean but for the longest in a hundred.
    #[serde(default)]
    pub mean: f64,
    /// Their median.
    #[serde(default)]
    pub p50: f64,
    /// Their 99th percentile.
    #[serde(default)]
    pub p99: f64,
    /// Their 99.9th percentile.
    #[serde(default)]
    pub p999: f64,
}

/// A process, killed where it is dropped.
pub(crate) struct Child {
    what: String,
    process: process::Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<VecDeque<String>>>,
}

impl Child {
    /// Starts `command`; errors call it `what`.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start(what: &str, command: &mut Command) -> Result<Child, Fail> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let mut process = command.spawn().map_err(|e| Fail::new(format!("{what}: {program}: {e}")))?;
        let stdin = process.stdin.take();
        let (send, lines) = mpsc::channel();
        if let Some(out) = process.stdout.take() {
            thread::spawn(move || {
                BufReader::new(out).lines().map_while(Result::ok).try_for_each(|l| send.send(l))
            });
        }
        let errors = process.stderr.take().map(|err| thread::spawn(|| last_lines(err)));
        Ok(Child { what: what.into(), process, stdin, lines, errors })
    }

    /// The next event.
    ///
    /// # Errors
    /// None came in time, or the process ended: then what it said last.
    pub(crate) fn event(&mut self, patience: Duration) -> Result<Event, Fail> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => serde_json::from_str(&line).map_err(|e| self.failed(&format!("`{line}`: {e}"))),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => {
                Err(self.failed(&format!("silent for {} s", patience.as_secs())))
            }
        }
    }

    /// Waits until it has made `path`, and has nothing to say before.
    ///
    /// # Errors
    /// It does not in time, or ended.
    pub(crate) fn wait_for(&mut self, path: &Path, patience: Duration) -> Result<(), Fail> {
        let look = Duration::from_millis(2);
        for _ in 0..patience.as_millis() / look.as_millis() {
            if path.exists() {
                return Ok(());
            }
            match self.lines.recv_timeout(look) {
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Ok(line) => return Err(self.failed(&format!("`{line}` before {}", path.display()))),
            }
        }
        Err(self.failed(&format!("no {} in {} s", path.display(), patience.as_secs())))
    }

    /// Begins, once it is ready; stops its tasks, once they are measured.
    ///
    /// # Errors
    /// The process ended.
    pub(crate) fn tell(&mut self) -> Result<(), Fail> {
        self.say("")
    }

    /// Writes it a line.
    ///
    /// # Errors
    /// The process ended.
    pub(crate) fn say(&mut self, line: &str) -> Result<(), Fail> {
        let told = self.stdin.as_mut().is_some_and(|stdin| writeln!(stdin, "{line}").is_ok());
        if told { Ok(()) } else { Err(self.ended()) }
    }

    /// Stops its tasks; what they had claimed.
    ///
    /// # Errors
    /// It does not stop in time, or ended.
    pub(crate) fn stop(&mut self, patience: Duration) -> Result<Claims, Fail> {
        self.tell()?;
        loop {
            if let Event::Stopped(claims) = self.event(patience)? {
                return Ok(claims);
            }
        }
    }

    /// Takes it off its CPUs, and lets it go on.
    ///
    /// # Errors
    /// The process is gone.
    pub(crate) fn pause(&self, paused: bool) -> Result<(), Fail> {
        let signal = if paused { Signal::STOP } else { Signal::CONT };
        kill_process(Pid::from_child(&self.process), signal).map_err(|e| self.failed(&e.to_string()))
    }

    /// Ends it in order, once stopped: the buffers that did not come back.
    ///
    /// # Errors
    /// It does not end in time, or not in order.
    pub(crate) fn end(mut self, patience: Duration) -> Result<u64, Fail> {
        self.stdin = None;
        let Event::End { buffers_left } = self.event(patience)? else {
            return Err(self.failed("goes on after its end"));
        };
        match self.lines.recv_timeout(patience) {
            Err(RecvTimeoutError::Disconnected) => {}
            Err(RecvTimeoutError::Timeout) => return Err(self.failed("does not end")),
            Ok(line) => return Err(self.failed(&format!("`{line}` after its end"))),
        }
        let status = self.process.wait().map_err(|e| self.failed(&e.to_string()))?;
        if status.success() { Ok(buffers_left) } else { Err(self.failed(&status.to_string())) }
    }

    fn failed(&self, how: &str) -> Fail {
        Fail::new(format!("{}: {how}", self.what))
    }

    /// Why it ended before its time.
    fn ended(&mut self) -> Fail {
        let status = self.kill();
        let said = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        let said = Vec::from(said).join("; ");
        self.failed(&if said.is_empty() { status } else { said })
    }

    /// Ends it whatever it does, even while it is paused.
    fn kill(&mut self) -> String {
        // Neither can fail but for a process that is gone already.
        let _ = self.process.kill();
        self.process.wait().map_or_else(|e| e.to_string(), |status| status.to_string())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

fn last_lines(from: impl Read) -> VecDeque<String> {
    let mut last = VecDeque::new();
    for line in BufReader::new(from).lines().map_while(Result::ok) {
        if last.len() == QUOTED {
            last.pop_front();
        }
        last.push_back(line);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn shell(script: &str) -> Child {
        Child::start("it", Command::new("sh").args(["-c", script])).unwrap()
    }

    #[test]
    fn a_run_in_order() {
        let mut child = shell(
            r#"echo '{"event":"ready","tsc_hz":1,"timer_cycles":2.5}'; read go
               echo '{"event":"measured"}'; read stop; echo '{"event":"stopped"}'
               while read more; do :; done; echo '{"event":"end","buffers_left":7}'"#,
        );
        assert!(matches!(child.event(PATIENCE), Ok(Event::Ready { timer_cycles: 2.5, tsc_hz: 1.0 })));
        child.pause(true).unwrap();
        child.pause(false).unwrap();
        child.tell().unwrap();
        assert!(matches!(child.event(PATIENCE), Ok(Event::Measured)));
        child.stop(PATIENCE).unwrap();
        assert_eq!(child.end(PATIENCE).unwrap(), 7);
    }

    #[test]
    fn what_goes_wrong_is_told_with_its_last_words() {
        let said = |script: &str| shell(script).event(PATIENCE).unwrap_err().to_string();
        assert_eq!(said("for i in 1 2 3 4; do echo $i >&2; done; exit 1"), "it: 2; 3; 4");
        assert_eq!(said("echo nonsense").split(':').nth(1), Some(" `nonsense`"));
        assert!(said("exit 3").contains("exit status: 3"));
        let silent = shell("sleep 60").event(Duration::from_millis(10)).unwrap_err().to_string();
        assert!(silent.contains("silent"), "{silent}");
    }

    #[test]
    fn it_is_waited_for_as_long_as_it_runs() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        shell(&format!("sleep 0.1; touch {}; sleep 60", path.display())).wait_for(&path, PATIENCE).unwrap();
        let nowhere = dir.path().join("none");
        assert!(
            shell("echo no >&2").wait_for(&nowhere, PATIENCE).unwrap_err().to_string().contains("it: no")
        );
        let late = shell("sleep 60").wait_for(&nowhere, Duration::from_millis(10)).unwrap_err();
        assert!(late.to_string().contains("none"), "{late}");
    }

    #[test]
    fn nothing_is_left_behind_even_if_paused() {
        let child = shell("sleep 60");
        let pid = Pid::from_child(&child.process);
        child.pause(true).unwrap();
        drop(child);
        assert!(rustix::process::test_kill_process(pid).is_err());
    }
}
