//! One sample: the processes of a case, and what the machine allowed right before and right after.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Serialize;

use crate::cmd::bench::child::{Child, Event, TaskSample};
use crate::cmd::bench::peer::{Case, Kind, Role};
use crate::cpus::limit::{self, Distance, Limit};
use crate::cpus::median;
use crate::fail::Fail;
use crate::show::caller;

/// Until ports are up or closed; rxbench itself gives up on a link after 10 s.
const SET_UP: Duration = Duration::from_secs(30);
/// MB of huge pages of a process at start.
pub(crate) const MEMORY_MB: u64 = 64;

/// How samples are taken.
#[derive(Debug)]
pub(crate) struct Stage {
    pub rxbench: PathBuf,
    pub driver: PathBuf,
    /// How ccnic links are configured.
    pub channel: String,
    pub cpus: [usize; 2],
    /// Samples of a run, of which the median counts, and their milliseconds.
    pub samples: u32,
    pub ms: u32,
    /// Frames are checked where rxbench writes them.
    pub check: bool,
    /// Pools are mixed.
    pub mixed: bool,
}

/// A figure and its tail.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Figure {
    /// Mpps (also share), median ns of a round trip, or TSC cycles per frame.
    pub value: f64,
    /// Of a round trip, ns.
    pub p99: Option<f64>,
    /// Of a round trip, ns.
    pub p999: Option<f64>,
}

/// What was measured, and between what limits.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Sample {
    pub figure: Figure,
    /// Frames that did not arrive: an interface may drop where its receiver is slow.
    pub lost: u64,
    /// Of the claims of a ring that lcores share, those that failed, percent.
    pub failed_claims_pct: Option<f64>,
    pub before: Limit,
    pub after: Limit,
}

impl Sample {
    /// Where the CPUs sat, if they did not move.
    pub(crate) fn distance(&self) -> Option<Distance> {
        Some(self.before.distance).filter(|d| *d == self.after.distance)
    }
}

impl Stage {
    /// Runs a case once.
    ///
    /// # Errors
    /// A process does not start, does not end, or does not keep the frames whole.
    pub(crate) fn sample(&self, case: &Case) -> Result<Sample, Fail> {
        let dir = tempfile::tempdir().map_err(|e| Fail::new(format!("a directory for sockets: {e}")))?;
        let cast = case.cast(self.cpus, dir.path(), &self.channel);
        let mut children = Vec::new();
        for role in &cast.roles {
            let mut command = match &role.end {
                Some(path) => self.end(case, role, path)?,
                None => self.command(case, role),
            };
            let mut child = Child::start(case.peer.name, &mut command)?;
            role.socket.as_ref().map_or(Ok(()), |socket| child.wait_for(socket, SET_UP))?;
            children.push(child);
        }
        let mut timer = Timer::default();
        for child in &mut children {
            match child.event(SET_UP)? {
                Event::Ready { timer_cycles, tsc_hz } => timer = Timer { cycles: timer_cycles, hz: tsc_hz },
                other => return Err(Fail::new(format!("{}: {other:?} before it is ready", case.peer.name))),
            }
        }
        // Both ends have met: from here on nothing is left behind, even if this process is killed.
        dir.close().map_err(|e| Fail::new(format!("the directory of sockets: {e}")))?;
        let before = self.limit(&children)?;
        children.iter_mut().try_for_each(Child::tell)?;
        // All of them: a sender whose receiver stops early would wait for it.
        let told = children.iter_mut().map(|child| self.measured(child)).collect::<Result<Vec<_>, _>>()?;
        let samples = &told[cast.measures];
        let after = self.limit(&children)?;
        // A memif port whose peer closes while it is polled crashes.
        let claims = children.iter_mut().map(|child| child.stop(SET_UP)).collect::<Result<Vec<_>, _>>()?;
        // The last first: a virtio-user port cannot be closed once its server is gone.
        children.into_iter().rev().try_for_each(|child| end(case, child))?;
        let lost = self.lost(case, samples)?;
        let failed_claims_pct = claims[cast.measures].failed_pct();
        Ok(Sample { figure: figure(case, samples, timer)?, lost, failed_claims_pct, before, after })
    }

    fn command(&self, case: &Case, role: &Role) -> Command {
        let main = role.lcores.first().copied().unwrap_or_default();
        let workers = role.lcores.iter().zip(1..).map(|(cpu, i)| format!(",{i}@{cpu}")).collect::<String>();
        let mut command = on_cpus(&role.cpus, &self.rxbench);
        command.args(["--lcores", &format!("0@{main}{workers}")]);
        // In memory: nothing is left of a process, however it ends.
        command.args(["--in-memory", "--no-pci", "--no-telemetry", "--log-level=error"]);
        command.args(["-m", &MEMORY_MB.to_string()]).args(&role.eal);
        if case.peer.ours() {
            // EAL refuses a plugin below a directory that everybody may write, such as one that a
            // checkout lies in; a bare name it leaves to the loader.
            if let (Some(directory), Some(name)) = (self.driver.parent(), self.driver.file_name()) {
                command.env("LD_LIBRARY_PATH", directory).arg("-d").arg(name);
            }
        }
        command.args(["--", "--driven"]).args(case.options());
        self.measure(&mut command, case, role);
        if self.mixed {
            command.arg("--mixed");
        }
        command
    }

    /// An end of a ccnic link at `path`: this program.
    fn end(&self, case: &Case, role: &Role, path: &Path) -> Result<Command, Fail> {
        if caller::current().is_some() {
            return Err(Fail::new(
                "bench: an end is the program rxlab itself; allowed: from the command line",
            ));
        }
        let program = env::current_exe().map_err(|e| Fail::new(format!("this program: {e}")))?;
        let mut command = on_cpus(&role.cpus, &program);
        command.args(["bench", "end"]).arg(path).args(["--channel", &self.channel]);
        if role.socket.is_some() {
            command.arg("--listen");
        }
        self.measure(&mut command, case, role);
        Ok(command)
    }

    /// What is measured, and how.
    fn measure(&self, command: &mut Command, case: &Case, role: &Role) {
        command.args(["--size", &case.size.to_string(), "--burst", &case.burst.to_string()]);
        command.args(["--samples", &self.samples.to_string(), "--ms", &self.ms.to_string()]);
        command.args(role.tasks.iter().flat_map(|task| ["--task", task]));
        if self.check && self.checks(case) {
            command.arg("--check");
        }
    }

    /// Whether rxbench wrote what it receives.
    fn checks(&self, case: &Case) -> bool {
        let numbered = matches!(case.kind, Kind::Loop | Kind::Rtt);
        (self.check || numbered) && case.brings_ours()
    }

    /// The machine's limit while the processes stand still.
    fn limit(&self, children: &[Child]) -> Result<Limit, Fail> {
        children.iter().try_for_each(|child| child.pause(true))?;
        let limit = limit::measure(self.cpus);
        children.iter().try_for_each(|child| child.pause(false))?;
        limit
    }

    /// What a process has to tell.
    fn measured(&self, child: &mut Child) -> Result<Vec<TaskSample>, Fail> {
        let patience = Duration::from_millis(u64::from(self.ms) * u64::from(self.samples + 1)) + SET_UP;
        let mut samples = Vec::new();
        while let Event::Sample(sample) = child.event(patience)? {
            samples.push(sample);
        }
        Ok(samples)
    }

    /// Frames that were lost; refuses those that were torn or overtaken. Where it cannot be told, none.
    fn lost(&self, case: &Case, samples: &[TaskSample]) -> Result<u64, Fail> {
        if !self.checks(case) {
            return Ok(0);
        }
        let sum = |of: fn(&TaskSample) -> u64| samples.iter().filter(|s| s.task == 0).map(of).sum::<u64>();
        let (bad, reordered) = (sum(|s| s.bad), sum(|s| s.reordered));
        if bad + reordered > 0 {
            let name = case.peer.name;
            return Err(Fail::new(format!("{name}: {bad} frames torn, {reordered} out of order")));
        }
        Ok(sum(|s| s.lost))
    }
}

/// A program on some CPUs alone.
fn on_cpus(cpus: &[usize], program: &Path) -> Command {
    let list = cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let mut command = Command::new("taskset");
    command.args(["-c", &list]).arg(program);
    command
}

fn end(case: &Case, child: Child) -> Result<(), Fail> {
    let left = child.end(SET_UP)?;
    // Other drivers keep what was in their rings; ours must not.
    if case.peer.ours() && left > 0 {
        return Err(Fail::new(format!("{}: {left} buffers did not come back", case.peer.name)));
    }
    Ok(())
}

/// Of a process: TSC cycles that timing adds to a span, and TSC cycles of a second.
#[derive(Clone, Copy, Default)]
struct Timer {
    cycles: f64,
    hz: f64,
}

/// Frames whose time a round of `drain` tells.
const DRAIN_FRAMES: f64 = 64.0;

/// The medians of a run's samples: of the first task, or over all receivers whose cycles were counted.
fn figure(case: &Case, samples: &[TaskSample], timer: Timer) -> Result<Figure, Fail> {
    let timed = matches!(case.kind, Kind::Rtt | Kind::Cycles | Kind::Share);
    let count = |s: &&TaskSample| {
        let counts = case.kind == Kind::Cycles || s.task == 0;
        counts && (!timed || s.timed > 0)
    };
    let median_of = |value: fn(&TaskSample) -> f64| median(samples.iter().filter(count).map(value).collect());
    let figure = match case.kind {
        Kind::Stream | Kind::Loop => Figure { value: median_of(|s| s.rx_mpps), p99: None, p999: None },
        Kind::Rtt => Figure {
            value: median_of(|s| s.p50),
            p99: Some(median_of(|s| s.p99)),
            p999: Some(median_of(|s| s.p999)),
        },
        Kind::Cycles => {
            let value = (median_of(|s| s.mean) - timer.cycles) / f64::from(case.burst);
            Figure { value, p99: None, p999: None }
        }
        Kind::Share => {
            let value = timer.hz * DRAIN_FRAMES / median_of(|s| s.p50) / 1e6;
            Figure { value, p99: None, p999: None }
        }
    };
    // NaN if there is no sample with a timed span.
    if figure.value > 0.0 {
        Ok(figure)
    } else {
        Err(Fail::new(format!("{}: no frame arrived", case.peer.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::bench::peer::{App, PEERS};

    fn case(kind: Kind) -> Case {
        Case { kind, peer: &PEERS[0], size: 64, burst: 32, cores: 1, app: App::Bare }
    }

    fn samples(lines: &[&str]) -> Vec<TaskSample> {
        let zeros = r#""bad":0,"lost":0,"reordered":0"#;
        lines.iter().map(|l| serde_json::from_str(&format!("{{{l},{zeros}}}")).unwrap()).collect()
    }

    const NONE: Timer = Timer { cycles: 0.0, hz: 0.0 };

    #[test]
    fn the_median_of_the_first_task_counts() {
        let all = samples(&[
            r#""task":0,"rx_mpps":3"#,
            r#""task":0,"rx_mpps":1"#,
            r#""task":0,"rx_mpps":2"#,
            r#""task":1,"rx_mpps":9"#,
        ]);
        assert_eq!(figure(&case(Kind::Stream), &all, NONE).unwrap().value, 2.0);
        assert!(figure(&case(Kind::Stream), &samples(&[r#""task":0,"rx_mpps":0"#]), NONE).is_err());
    }

    #[test]
    fn cycles_are_a_frame_s_without_the_timer() {
        let all = samples(&[
            r#""task":0,"rx_mpps":1,"timed":5,"mean":852"#,
            r#""task":1,"rx_mpps":1,"timed":0,"mean":0"#,
        ]);
        let timer = Timer { cycles: 52.0, hz: 1e6 };
        assert_eq!(figure(&case(Kind::Cycles), &all, timer).unwrap().value, 25.0);
        assert!(figure(&case(Kind::Cycles), &all[1..], timer).is_err());
    }

    #[test]
    fn a_shared_queue_s_rate_is_of_the_wall_clock() {
        let all = samples(&[
            r#""task":0,"rx_mpps":1,"timed":3,"p50":6400"#,
            r#""task":1,"rx_mpps":1,"timed":0,"p50":0"#,
        ]);
        // 100 cycles a frame at 2.6 GHz.
        assert_eq!(figure(&case(Kind::Share), &all, Timer { cycles: 52.0, hz: 2.6e9 }).unwrap().value, 26.0);
    }
}
