//! Two words, one for each direction, handed over and back.

use memory::{Memory, Ps, Side};

use super::{Bench, Error, Notes, median};
use crate::machine::coherence::link::Crossed;
use crate::profile::Server;

/// Round trips that count, behind as many that do not.
const TRIPS: u64 = 100;

/// Where both words lie: each is written by one thread and polled by the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// In two lines of this side's memory.
    Separate(Side),
    /// In two lines, each in the memory of who reads it.
    Reader,
    /// In two lines, each in the memory of who writes it.
    Writer,
    /// In one line of this side's memory.
    Together(Side),
}

/// What a round trip takes.
#[derive(Clone, Copy, Debug)]
pub struct PingPong {
    /// Its time, the median.
    pub trip: Ps,
    /// Lines that crossed the link for loads, both nodes together, of one trip.
    pub reads: f64,
    /// For stores, likewise.
    pub rfos: f64,
}

/// A thread of each node; the host's begins.
///
/// # Errors
/// A server without a second node.
pub fn ping_pong(server: &Server, layout: Layout) -> Result<PingPong, Error> {
    let mut bench = Bench::new(server)?;
    let [ours, theirs] = match layout {
        Layout::Separate(home) | Layout::Together(home) => [home; 2],
        Layout::Writer => [Side::Host, Side::Nic],
        Layout::Reader => [Side::Nic, Side::Host],
    };
    let ping = bench.words(8, ours)?;
    let pong = if matches!(layout, Layout::Together(_)) { ping } else { bench.words(8, theirs)? };
    let notes = Notes::new();
    let trips = notes.clone();
    bench.near(0, move |m| {
        for trip in 1..=2 * TRIPS {
            let from = m.now();
            m.release(ping, 0, trip);
            while m.acquire(pong, 1) < trip {
                m.idle();
            }
            trips.push((m.now() - from, m.sim().crossed()));
        }
    });
    bench.far(move |m| {
        for trip in 1..=2 * TRIPS {
            while m.acquire(ping, 0) < trip {
                m.idle();
            }
            m.release(pong, 1, trip);
        }
    });
    bench.run(server, Ps::ZERO)?;
    let (times, crossed): (Vec<Ps>, Vec<[Crossed; 2]>) = notes.take().into_iter().unzip();
    let (before, after) = (crossed[TRIPS as usize - 1], crossed[2 * TRIPS as usize - 1]);
    let each = |of: fn(&Crossed) -> u64| {
        let sum = |both: [Crossed; 2]| both.iter().map(of).sum::<u64>();
        (sum(after) - sum(before)) as f64 / TRIPS as f64
    };
    Ok(PingPong {
        trip: median(times[TRIPS as usize..].to_vec()),
        reads: each(|c| c.reads),
        rfos: each(|c| c.rfos),
    })
}
