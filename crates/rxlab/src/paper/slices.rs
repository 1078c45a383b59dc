//! How unevenly frames fall on cores over time: no run of the model, only its source and its pipeline's
//! choice of a core.

use nic::{Checks, Incoming, Pipeline};
use traffic::Arrival;

use crate::fail::Fail;
use crate::lab::measured::Measured;
use crate::lab::setup::Ready;

/// Frames of generated traffic that are looked at; of a capture, all.
const FRAMES: u64 = 1_000_000;

/// Cuts the traffic of all ports into `count` slices of equal length; of each its middle, seconds from the
/// first frame, and what `command` finds there: most frames of a core / fewest (infinite where a core got
/// none), most / mean.
///
/// # Errors
/// There is no traffic.
pub(crate) fn slices(ready: &Ready, count: u32, command: &str) -> Result<Vec<(f64, Measured)>, Fail> {
    let frames = queues(ready);
    let span = match (frames.first(), frames.last()) {
        (Some(first), Some(last)) if last.0 > first.0 => last.0 - first.0,
        _ => {
            return Err(Fail::new(
                "the traffic is shorter than two frames; expected some to cut into slices",
            ));
        }
    };
    let count = u64::from(count.max(1));
    let start = frames[0].0;
    let mut per_core = vec![vec![0u64; ready.ports.all_cores() as usize]; count as usize];
    for (at, queue) in frames {
        let slice = ((at - start) * count / (span + 1)) as usize;
        per_core[slice][usize::from(queue)] += 1;
    }
    let length = span as f64 / count as f64 * 1e-12;
    let slice = |(i, cores): (usize, &Vec<u64>)| {
        let most = cores.iter().max().copied().unwrap_or(0) as f64;
        let fewest = cores.iter().min().copied().unwrap_or(0) as f64;
        let mean = cores.iter().sum::<u64>() as f64 / cores.len().max(1) as f64;
        let fields = vec![("imbalance", most / fewest), ("heaviest", most / mean)];
        ((i as f64 + 0.5) * length, Measured { fields, reproduce: command.to_string() })
    };
    Ok(per_core.iter().enumerate().map(slice).collect())
}

/// Time in ps and core of each frame, in order of time.
fn queues(ready: &Ready) -> Vec<(u64, u16)> {
    let (ports, frames) = (&ready.ports, ready.frames().unwrap_or(FRAMES));
    let all: u64 = ports.loads.iter().map(|load| u64::from(*load)).sum();
    let (mut found, mut first) = (Vec::new(), 0);
    for (port, (&cores, &load)) in ports.cores.iter().zip(&ports.loads).enumerate() {
        let checks = Checks { max_frame: u16::MAX, checksums: false };
        let pipeline = Pipeline::new(ready.steer.over(cores as u16), checks);
        let line = (port as u32, ready.server.nic.port_gbps);
        let mut source = ports.source(line, &ready.workload, ready.steer, ready.rate, ready.seed());
        let mut a = Arrival::EMPTY;
        for _ in 0..frames * u64::from(load) / all.max(1) {
            if !source.next(&mut a) {
                break;
            }
            let head = &a.bytes()[..usize::from(a.head_len).min(a.bytes().len())];
            if let Ok(class) = pipeline.admit(&Incoming::whole(head, u32::from(a.len))) {
                found.push((a.at, first + class.queue));
            }
        }
        first += cores as u16;
    }
    found.sort_unstable();
    found
}
