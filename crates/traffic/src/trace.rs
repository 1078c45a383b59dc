//! A capture read whole: of each frame its time, length, flow and first bytes.

use crate::link::{self, Header};
use crate::read::{self, Raw, Refused};
use crate::{HEAD, MIN_FRAME, TraceError, wire_bytes};
use packet::{ETHERNET, Tuple, parse};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::hash::BuildHasherDefault;
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;

/// A capture in memory, at most 128 B of each frame.
#[derive(Debug)]
pub struct Trace {
    frames: Vec<Frame>,
    heads: Vec<u8>,
    /// Wire bytes of each flow.
    flows: Vec<u64>,
    info: TraceInfo,
    digest: OnceLock<[u8; 32]>,
}

/// One frame of a [`Trace`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// ns since the capture's first frame; never falls.
    pub(crate) at: u64,
    /// Where its first bytes are in `heads`.
    head: u64,
    /// Its flow's number, in order of appearance.
    pub(crate) flow: u32,
    /// Whether that flow is an IP 5-tuple.
    pub(crate) ip: bool,
    /// Frame bytes on the wire, without FCS.
    pub(crate) len: u16,
    /// How many first bytes were kept.
    head_len: u8,
}

/// What a capture holds and what was done to read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TraceInfo {
    /// Usable frames.
    pub packets: u64,
    /// Their frame bytes, without FCS.
    pub bytes: u64,
    /// Their bytes on the wire: with FCS, preamble and gap.
    pub wire_bytes: u64,
    /// Flows: IP 5-tuples in one direction; of other frames, Ethernet headers.
    pub flows: u64,
    /// From the first to the last frame, in ns.
    pub duration_ns: u64,
    /// Frames of which the capture lacks the end: it reads as zeros.
    pub snapped: u64,
    /// Frames that had no Ethernet header and were given one.
    pub made_headers: u64,
    /// Frames shorter than 60 B, padded with zeros.
    pub padded: u64,
    /// Frames stamped earlier than the one before. All frames are sorted by their stamps, unless a clock was set
    /// back by more than a second: then such a frame is taken as arriving with the one before.
    pub out_of_order: u64,
    /// Different time stamps.
    pub stamps: u64,
    /// Frames that were left out.
    pub skipped: Skipped,
    /// The capture ends in the middle of a record.
    pub truncated: bool,
    /// Usable frames by link type.
    pub links: BTreeMap<&'static str, u64>,
}

/// What the time stamps of a capture are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stamps {
    /// Frames come when they were stamped.
    Full,
    /// Many frames share each stamp: they are spread evenly up to the next one.
    Few,
    /// All frames have the same, which is none: they are paced evenly.
    None,
}

/// With more frames than this for each stamp, stamps are few. A wire of 10 Gbps carries as many of the
/// shortest frames in a microsecond, the usual resolution.
const FEW: u64 = 16;

impl TraceInfo {
    /// What the time stamps are good for.
    pub fn timing(&self) -> Stamps {
        match self.stamps {
            0 | 1 if self.packets > 1 => Stamps::None,
            n if self.packets > FEW * n => Stamps::Few,
            _ => Stamps::Full,
        }
    }
}

/// Frames of a capture that cannot be used, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Damaged records, and frames too short for their link type.
    pub malformed: u64,
    /// Frames of a link type that cannot be read.
    pub unknown_link: u64,
    /// Frames longer than 65535 B.
    pub oversize: u64,
}

impl Skipped {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.malformed + self.unknown_link + self.oversize
    }
}

impl Trace {
    /// Reads a pcap or pcapng file, plain or compressed with gzip or zstd.
    ///
    /// # Errors
    /// The file cannot be opened, is empty, is no capture, or has no usable frame.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|source| TraceError::Open { path: path.into(), source })?;
        Self::read(path, file)
    }

    /// Reads a capture from `input`; errors call it `name`.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn read(name: impl AsRef<Path>, input: impl Read + Send) -> Result<Self, TraceError> {
        let path = name.as_ref();
        let mut builder = Builder::default();
        let ended = read::read(input, |raw| builder.add(&raw)).map_err(|refused| match refused {
            Refused::Empty => TraceError::Empty(path.into()),
            Refused::NotACapture => TraceError::NotACapture(path.into()),
        })?;
        builder.info.skipped.malformed += ended.malformed;
        builder.info.truncated = ended.truncated;
        builder.finish(path)
    }

    /// What the capture holds, and what reading it had to mend or leave out.
    pub fn stats(&self) -> &TraceInfo {
        &self.info
    }

    /// SHA-256 of all that replaying it depends on: times, lengths, flows and first bytes of its frames, and the counts.
    pub fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| {
            let mut all = Sha256::new();
            all.update(format!("{:?}", self.info));
            all.update(&self.heads);
            for Frame { at, head, flow, ip, len, head_len } in &self.frames {
                all.update(at.to_le_bytes());
                all.update(head.to_le_bytes());
                all.update(flow.to_le_bytes());
                all.update(len.to_le_bytes());
                all.update([u8::from(*ip), *head_len]);
            }
            all.finalize().into()
        })
    }

    pub(crate) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The first bytes of `frame` that were captured.
    pub(crate) fn head(&self, frame: &Frame) -> &[u8] {
        let at = frame.head as usize;
        &self.heads[at..at + usize::from(frame.head_len)]
    }

    /// Wire bytes of each flow.
    pub(crate) fn flows(&self) -> &[u64] {
        &self.flows
    }

    /// Time from the start of one lap to the start of the next, in ns: the capture's duration and one mean
    /// gap more. Where stamps are few, it is the mean gap between stamps.
    pub(crate) fn lap_ns(&self) -> f64 {
        self.lap_over(self.info.duration_ns)
    }

    /// The same where the capture lasted only `duration_ns`.
    pub(crate) fn lap_over(&self, duration_ns: u64) -> f64 {
        let few = self.info.timing() == Stamps::Few;
        let n = (if few { self.info.stamps } else { self.info.packets }) as f64;
        if n < 2.0 { 0.0 } else { duration_ns as f64 * n / (n - 1.0) }
    }
}

/// Hands on every usable frame of a capture, as [`frames`] does.
///
/// # Errors
/// The file cannot be opened, is empty or no capture.
pub fn each_frame(path: impl AsRef<Path>, each: impl FnMut(&[u8], usize) -> bool) -> Result<(), TraceError> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|source| TraceError::Open { path: path.into(), source })?;
    frames(path, file, each).map(|_| ())
}

/// What a capture has beside usable frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Frames that were left out; none for their length.
    pub skipped: Skipped,
    /// The capture ends in the middle of a record.
    pub truncated: bool,
}

/// Hands on every usable frame of the capture `input`, whole, with its length before it was snapped, and ends early
/// where `each` returns `false`. Frames without an Ethernet header get one, as in a [`Trace`]. Errors call it `name`.
///
/// # Errors
/// It is empty or no capture.
pub fn frames(
    name: impl AsRef<Path>,
    input: impl Read + Send,
    mut each: impl FnMut(&[u8], usize) -> bool,
) -> Result<Left, TraceError> {
    let path = name.as_ref();
    let (mut frame, mut goes_on, mut left) = (Vec::new(), true, Left::default());
    let read = read::read(input, |raw| {
        if !goes_on {
            return;
        }
        let Some(header) = link::header(raw.link, raw.bytes) else {
            match link::name(raw.link) {
                Some(_) => left.skipped.malformed += 1,
                None => left.skipped.unknown_link += 1,
            }
            return;
        };
        frame.clear();
        let strip = match header {
            Header::Ethernet => 0,
            Header::Other { strip, ethertype } => {
                frame.extend(link::made(ethertype));
                strip
            }
        };
        let made = frame.len();
        frame.extend_from_slice(&raw.bytes[strip..]);
        let len = (raw.len as usize).max(raw.bytes.len()) - strip + made;
        goes_on = each(&frame, len.max(usize::from(MIN_FRAME)));
    });
    let ended = read.map_err(|refused| match refused {
        Refused::Empty => TraceError::Empty(path.into()),
        Refused::NotACapture => TraceError::NotACapture(path.into()),
    })?;
    left.skipped.malformed += ended.malformed;
    left.truncated = ended.truncated;
    Ok(left)
}

/// A flow's name while a capture is read.
#[derive(PartialEq, Eq, Hash)]
enum Flow {
    Ip(Tuple),
    Other([u8; ETHERNET]),
}

/// The longest step back in time, in ns, that comes from several writers taking turns. Beyond it a clock was
/// set back.
const LATEST: u64 = 1_000_000_000;

#[derive(Default)]
struct Builder {
    frames: Vec<Frame>,
    heads: Vec<u8>,
    flows: Vec<u64>,
    /// Never iterated, so that its order does not matter.
    numbers: HashMap<Flow, u32, BuildHasherDefault<DefaultHasher>>,
    info: TraceInfo,
    /// Each frame's stamp in ns, in the order of the file; a frame without one has that of the frame before.
    stamps: Vec<u64>,
    unknown_link: Option<i32>,
    too_many: bool,
}

impl Builder {
    fn add(&mut self, raw: &Raw<'_>) {
        let Some(link_name) = link::name(raw.link) else {
            self.info.skipped.unknown_link += 1;
            self.unknown_link = Some(raw.link);
            return;
        };
        let Some(header) = link::header(raw.link, raw.bytes) else {
            self.info.skipped.malformed += 1;
            return;
        };
        let (made, strip) = match header {
            Header::Ethernet => (None, 0),
            Header::Other { strip, ethertype } => (Some(link::made(ethertype)), strip),
        };
        let made_len = made.map_or(0, |m| m.len());
        let whole = (raw.len as usize).max(raw.bytes.len());
        let Ok(len) = u16::try_from(whole - strip + made_len) else {
            self.info.skipped.oversize += 1;
            return;
        };
        let mut head = [0; HEAD];
        let mut head_len = made_len;
        head[..made_len].copy_from_slice(made.as_ref().map_or(&[], |m| m));
        let captured = &raw.bytes[strip..];
        let kept = captured.len().min(HEAD - made_len);
        head[made_len..made_len + kept].copy_from_slice(&captured[..kept]);
        head_len += kept;

        self.info.made_headers += u64::from(made.is_some());
        self.info.snapped += u64::from(raw.bytes.len() < whole);
        self.info.padded += u64::from(len < MIN_FRAME);
        *self.info.links.entry(link_name).or_default() += 1;
        let stamp = raw.at.or(self.stamps.last().copied()).unwrap_or(0);
        self.push(stamp, len.max(MIN_FRAME), &head[..head_len]);
    }

    fn push(&mut self, stamp: u64, len: u16, head: &[u8]) {
        let wire = u64::from(wire_bytes(len));
        let Some((flow, ip)) = self.flow(head, wire) else {
            self.too_many = true;
            return;
        };
        let (offset, head_len) = (self.heads.len() as u64, head.len() as u8);
        self.frames.push(Frame { at: 0, head: offset, flow, ip, len, head_len });
        self.stamps.push(stamp);
        self.heads.extend_from_slice(head);
        self.info.packets += 1;
        self.info.bytes += u64::from(len);
        self.info.wire_bytes += wire;
    }

    /// Places the frames in time, from 0.
    fn time(&mut self) {
        let back = |pair: &[u64]| pair[0].saturating_sub(pair[1]);
        let steps = || self.stamps.windows(2).map(back).filter(|back| *back > 0);
        self.info.out_of_order = steps().count() as u64;
        if steps().all(|back| back <= LATEST) {
            let first = self.stamps.iter().copied().min().unwrap_or(0);
            for (frame, stamp) in self.frames.iter_mut().zip(&self.stamps) {
                frame.at = stamp - first;
            }
            self.frames.sort_by_key(|f| f.at);
        } else {
            // What follows a step back keeps its gaps.
            let mut now = 0u64;
            let gaps = self.stamps.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
            for (frame, gap) in self.frames.iter_mut().zip(std::iter::once(0).chain(gaps)) {
                now = now.saturating_add(gap);
                frame.at = now;
            }
        }
        self.info.stamps = self.frames.chunk_by(|a, b| a.at == b.at).count() as u64;
        self.info.duration_ns = self.frames.last().map_or(0, |f| f.at);
    }

    /// Counts the frame's wire bytes for its flow and returns the flow's number, and whether it is an IP 5-tuple;
    /// `None` when numbers run out.
    fn flow(&mut self, head: &[u8], wire: u64) -> Option<(u32, bool)> {
        if self.frames.len() >= u32::MAX as usize {
            return None;
        }
        let name = match parse(head).tuple(head) {
            Some(tuple) => Flow::Ip(tuple),
            None => {
                let mut header = [0; ETHERNET];
                let n = head.len().min(ETHERNET);
                header[..n].copy_from_slice(&head[..n]);
                Flow::Other(header)
            }
        };
        let ip = matches!(name, Flow::Ip(_));
        let number = match self.numbers.entry(name) {
            Entry::Occupied(e) => *e.get(),
            Entry::Vacant(e) => {
                let number = self.flows.len() as u32;
                self.flows.push(0);
                *e.insert(number)
            }
        };
        self.flows[number as usize] += wire;
        Some((number, ip))
    }

    fn finish(mut self, path: &Path) -> Result<Trace, TraceError> {
        if self.too_many {
            return Err(TraceError::TooLong(path.into()));
        }
        if self.frames.is_empty() {
            let path = path.into();
            return Err(match self.unknown_link {
                Some(link) => TraceError::Link { path, link },
                None => TraceError::NoFrames { path, skipped: self.info.skipped.total() },
            });
        }
        self.info.flows = self.flows.len() as u64;
        self.time();
        let Builder { frames, heads, flows, info, .. } = self;
        Ok(Trace { frames, heads, flows, info, digest: OnceLock::new() })
    }
}
