//! Sizes of a link.

use memory::{Geometry, LINE, WORD};
use rings::Choice;
use rings::ccnic::{Back, Homing, Layout, Signal, Sizes};
use rings::pool::sides;

use crate::error::Error;

/// Free buffers that a side keeps, as a share of all: CC-NIC gives no number, so this is assumed (allowed: 1/3).
const KEPT: u32 = 8;
/// Lines of a region beside rings, slots and buffers: its header, and words with a line and an entry each.
const SPARE: usize = 64;

/// Whether a side may sleep, by name.
pub(crate) const EVENTS: [(&str, bool); 2] = [("off", false), ("on", true)];

/// What both sides of a link have to be configured alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How descriptors lie in lines.
    pub layout: Layout,
    /// How the writer of a ring learns what is read.
    pub back: Back,
    /// Descriptors of a ring, one ring each way: a power of two from 2 to 2^20.
    pub ring: u32,
    /// Buffers of the link, for both sides: 2 to 2^24.
    pub buffers: u32,
    /// Bytes of a buffer: 64 to 65535.
    pub bytes: u32,
    /// Whether a side may sleep in [`Channel::wait`](crate::Channel::wait). It costs the sender one locked
    /// instruction a burst.
    pub events: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            layout: Layout::Dense,
            back: Back::Credit,
            ring: 1024,
            buffers: 4096,
            bytes: 2048,
            events: true,
        }
    }
}

impl Config {
    /// # Errors
    /// Names what is wrong and what is allowed. What rings and pools need is checked when they are made.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Config { bytes, ring, buffers, .. } = *self;
        if !(64..=65535).contains(&bytes) {
            return Err(Error::Config(format!("buffers of {bytes} B; allowed: 64 to 65535")));
        }
        self.pool().validate()?;
        if !ring.is_power_of_two() || !(2..=1 << 20).contains(&ring) {
            return Err(Error::Config(format!("a ring of {ring}; allowed: a power of two from 2 to 2^20")));
        }
        if u64::from(buffers) * u64::from(self.geometry().stride) > 1 << 40 {
            return Err(Error::Config(format!("{buffers} buffers of {bytes} B; allowed: 1 TiB of them")));
        }
        Ok(())
    }

    pub(crate) fn sizes(&self) -> Sizes {
        let Config { layout, back, ring, .. } = *self;
        Sizes { ring, layout, back, signal: Signal::Inline, homing: Homing::Writer }
    }

    pub(crate) fn pool(&self) -> sides::Sizes {
        sides::Sizes::new(self.buffers, self.buffers / KEPT)
    }

    /// Buffers an odd number of lines apart: their first lines then lie in all sets of a cache.
    pub(crate) fn geometry(&self) -> Geometry {
        let lines = self.bytes.div_ceil(LINE as u32) | 1;
        Geometry::new(self.buffers, lines * LINE as u32, 0, self.bytes)
    }

    /// Bytes of a region that has room for all of it.
    pub(crate) fn region(&self) -> usize {
        let buffers = self.buffers as usize * self.geometry().stride as usize;
        let slots = 2 * self.buffers.next_power_of_two() as usize * WORD;
        let rings = 2 * self.ring as usize * LINE; // with one descriptor in a line
        buffers + slots + rings + SPARE * LINE
    }

    /// The words of a hello, by their names.
    pub(crate) fn words(&self) -> [(&'static str, u64); 6] {
        [
            ("layout", number(&self.layout)),
            ("back", number(&self.back)),
            ("ring", self.ring.into()),
            ("buffers", self.buffers.into()),
            ("bytes", self.bytes.into()),
            ("events", self.events.into()),
        ]
    }
}

/// The word of a choice: its place among all.
fn number<T: Choice>(choice: &T) -> u64 {
    T::ALL.iter().position(|(_, one)| one == choice).unwrap_or_default() as u64
}

/// What word `value` of a hello is called, for people.
pub(crate) fn told(name: &str, value: u64) -> String {
    let name_of = |i: usize| match name {
        "layout" => Layout::ALL.get(i).map(|(name, _)| *name),
        "back" => Back::ALL.get(i).map(|(name, _)| *name),
        "events" => EVENTS.get(i).map(|(name, _)| *name),
        _ => None,
    };
    let known = usize::try_from(value).ok().and_then(name_of);
    known.map_or_else(|| value.to_string(), str::to_owned)
}
