//! `rxlab bench end`: one end of a ccnic link, for `bench live`, which starts one on each CPU. It says and is told what
//! rxbench is.

mod frame;
mod task;

use std::io::{self, BufRead};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ccnic::{Channel, Config, Error, Listener};
use clap::Args;
use memory::native::clock;

use crate::cmd::bench::child::{Claims, Event, TaskSample};
use crate::fail::Fail;
use crate::show::out;
use task::{MOST, Mode, Order, Task};

/// How long it waits for the other end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Options of `bench end`.
#[derive(Args, Debug)]
pub(crate) struct EndBench {
    /// The socket of the link
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Listen there; otherwise connect
    #[arg(long)]
    listen: bool,
    /// How the link is configured: KEY=VALUE,...
    #[arg(long, value_name = "CONFIG", default_value = "")]
    channel: Config,
    /// What to do
    #[arg(long, value_name = "TASK")]
    task: Mode,
    /// Bytes of a frame
    #[arg(long, value_name = "BYTES", default_value_t = 64, value_parser = clap::value_parser!(u16).range(64..=2048))]
    size: u16,
    /// Frames of a call
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=MOST as i64))]
    burst: u16,
    /// Frames in flight of loop
    #[arg(long, value_name = "N", default_value_t = 256)]
    window: u32,
    /// Samples
    #[arg(long, value_name = "N", default_value_t = 5)]
    samples: u32,
    /// Milliseconds of a sample
    #[arg(long, value_name = "MS", default_value_t = 20)]
    ms: u32,
    /// Check every frame: whole, in order, how many are lost
    #[arg(long)]
    check: bool,
}

/// Runs it.
///
/// # Errors
/// There is no other end.
pub(crate) fn run(options: &EndBench) -> Result<(), Fail> {
    let mut channel = options.link().map_err(|e| Fail::new(e.to_string()))?;
    out::line(&Event::Ready { timer_cycles: 0.0, tsc_hz: 1e9 / clock::ns() })?;
    if !told() {
        return Ok(());
    }
    let stop = AtomicBool::new(false);
    let (samples, heard) = mpsc::channel();
    let order = options.order();
    let done = thread::scope(|scope| -> Result<Result<(), Error>, Fail> {
        let task = Task::new(&mut channel, order, &stop);
        let task = scope.spawn(move || task.run(|sample| drop(samples.send(sample))));
        let said = tell(&heard, order.samples);
        told();
        stop.store(true, Relaxed); // a flag alone: nothing is handed over with it
        let done = task.join().map_err(|_| Fail::new("the task ended early"))?;
        said.map(|()| done)
    })?;
    match done {
        // The other end may have been stopped first.
        Ok(()) | Err(Error::Gone) => {}
        Err(e) => return Err(Fail::new(e.to_string())),
    }
    out::line(&Event::Stopped(Claims::default()))?;
    while told() {}
    let (_, held) = channel.buffers();
    out::line(&Event::End { buffers_left: held })
}

/// Tells samples as they come.
fn tell(heard: &mpsc::Receiver<TaskSample>, samples: u32) -> Result<(), Fail> {
    for _ in 0..samples {
        let sample =
            heard.recv().map_err(|_| Fail::new("the other end went before all samples were taken"))?;
        out::line(&Event::Sample(sample))?;
    }
    out::line(&Event::Measured)
}

impl EndBench {
    fn link(&self) -> Result<Channel, Error> {
        if !self.listen {
            return Channel::connect(&self.path, self.channel);
        }
        let link = Listener::bind(&self.path, self.channel)?.accept_within(PATIENCE)?;
        link.ok_or(Error::Gone)
    }

    fn order(&self) -> Order {
        Order {
            mode: self.task,
            size: self.size,
            burst: self.burst.into(),
            window: self.window.into(),
            samples: self.samples,
            ms: self.ms,
            check: self.check,
        }
    }
}

/// A line of standard input; whether there is one.
fn told() -> bool {
    io::stdin().lock().read_line(&mut String::new()).is_ok_and(|bytes| bytes > 0)
}
