//! What a look-up costs: keys of a capture's frames through the tables, by the wall clock.

use std::time::Instant;

use flow::{BURST, Key, Reader};

use crate::show::bar;

/// Frames of a capture that are kept: 46 MB of keys.
const KEPT: usize = 1 << 18;
/// Look-ups of a pass at least: the frames come several times where the capture has fewer.
const LEAST: usize = 1 << 16;

/// The first frames of a capture.
pub(crate) struct Sample {
    wanted: bool,
    keys: Vec<Key>,
    bytes: Vec<u32>,
}

/// Times of a look-up: a frame's whole way through the groups.
pub(crate) struct Lookup {
    /// The median of the passes, ns.
    pub median_ns: f64,
    /// The fastest pass, ns.
    pub least_ns: f64,
    /// The slowest pass, ns.
    pub most_ns: f64,
    /// Passes.
    pub repeats: u32,
    /// Frames of the capture whose look-ups were timed.
    pub frames: usize,
    /// Look-ups of a pass.
    pub lookups: usize,
}

impl Sample {
    pub(crate) fn new(wanted: bool) -> Sample {
        Sample { wanted, keys: Vec::new(), bytes: Vec::new() }
    }

    pub(crate) fn add(&mut self, key: &Key, bytes: u32) {
        if self.wanted && self.keys.len() < KEPT {
            self.keys.push(*key);
            self.bytes.push(bytes);
        }
    }
}

/// Looks the sample up in bursts, `repeats` times and once before to warm up. There is at least one frame.
pub(crate) fn measure(reader: &Reader, sample: Sample, repeats: u32) -> Lookup {
    let frames = sample.keys.len();
    let lookups = frames * LEAST.div_ceil(frames.max(1)).max(1);
    let fresh: Vec<Key> = sample.keys.iter().cycle().take(lookups).copied().collect();
    let bytes: Vec<u32> = sample.bytes.iter().cycle().take(lookups).copied().collect();
    let mut keys = fresh.clone();
    let bar = bar::rounds(u64::from(repeats), "looking up");
    pass(reader, &mut keys, &bytes);
    let mut times = Vec::with_capacity(repeats as usize);
    for _ in 0..repeats {
        // Rules may set what is in a key.
        keys.copy_from_slice(&fresh);
        times.push(pass(reader, &mut keys, &bytes) / lookups.max(1) as f64);
        bar.inc(1);
    }
    times.sort_by(f64::total_cmp);
    let at = |index: usize| times.get(index).copied().unwrap_or_default();
    let median_ns = (at((times.len() - 1) / 2) + at(times.len() / 2)) / 2.0;
    Lookup { median_ns, least_ns: at(0), most_ns: at(times.len() - 1), repeats, frames, lookups }
}

/// The time of all look-ups, ns.
fn pass(reader: &Reader, keys: &mut [Key], bytes: &[u32]) -> f64 {
    let burst = reader.burst(0);
    let mut verdicts = Vec::with_capacity(BURST);
    #[allow(clippy::disallowed_methods, reason = "a measurement is about the wall clock")]
    let start = Instant::now();
    for (keys, bytes) in keys.chunks_mut(BURST).zip(bytes.chunks(BURST)) {
        verdicts.clear();
        burst.classify_all(keys, bytes, &mut verdicts);
        std::hint::black_box(&verdicts);
    }
    start.elapsed().as_secs_f64() * 1e9
}
