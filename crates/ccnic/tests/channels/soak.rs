//! Packets by the billion, both ways at once, each held to its number, its place in a frame and the checksum of its bytes.

use std::env;
use std::path::Path;
use std::time::{Duration, Instant};

use ccnic::{Buf, Channel, Config, Error, Listener, Segment};

use crate::other::{Other, PATIENCE};
use crate::traffic::NONE;

const BURST: usize = 32;
/// Words of the longest piece.
const WORDS: usize = 32;
/// Fruitless rounds before this side sleeps, for so long at most: it may wait for room, of which no signal tells.
const ROUNDS: u32 = 256;
const NAP: Duration = Duration::from_millis(1);
/// Pieces between two looks at the clock.
const LOOK: u64 = 1 << 20;
/// Time between two lines of progress.
const EVERY: Duration = Duration::from_secs(10);

type Bytes = [[u8; 8]; WORDS];

/// Bytes of piece `p`: 64, and 256 now and then.
fn len(p: u64) -> usize {
    if p.is_multiple_of(16) { 8 * WORDS } else { 64 }
}

/// Where it begins in its buffer, as a rule at a word.
fn off(p: u64) -> u16 {
    if p.is_multiple_of(97) { 3 } else { (p % 5 * 8) as u16 }
}

/// Whether a packet ends with it: one of 64 goes on.
fn last(p: u64) -> bool {
    p % 64 != 1
}

/// Differs for each order of the words: each has a factor of its own.
fn checksum(words: &[[u8; 8]]) -> u64 {
    let factors = (0x9e37_79b9_7f4a_7c15_u64..).step_by(2);
    words
        .iter()
        .zip(factors)
        .fold(0, |sum: u64, (word, factor)| sum.wrapping_add(u64::from_le_bytes(*word).wrapping_mul(factor)))
}

/// Its number, words that follow from that, and their checksum.
fn fill(p: u64, bytes: &mut Bytes) {
    let words = &mut bytes[..len(p) / 8];
    let (end, front) = words.split_last_mut().unwrap();
    let mixed = p.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    for (k, word) in front.iter_mut().enumerate() {
        *word = mixed.rotate_left(7 * k as u32).to_le_bytes();
    }
    front[0] = p.to_le_bytes();
    *end = checksum(front).to_le_bytes();
}

struct Side {
    channel: Channel,
    /// Pieces, and packets.
    sent: [u64; 2],
    got: [u64; 2],
    bytes: Bytes,
    start: Instant,
    told: Instant,
}

impl Side {
    fn new(channel: Channel) -> Side {
        let now = Instant::now();
        Side { channel, sent: [0; 2], got: [0; 2], bytes: [[0; 8]; WORDS], start: now, told: now }
    }

    /// Sends a burst; how many pieces went.
    fn push(&mut self, packets: u64) -> Result<usize, Error> {
        let (mut bufs, mut segs) = ([Buf(0); BURST], [NONE; BURST]);
        let n = self.channel.alloc(&mut bufs);
        let (mut made, mut ends) = (0, self.sent[1]);
        for (k, buf) in bufs[..n].iter().enumerate() {
            if ends == packets {
                break;
            }
            let p = self.sent[0] + k as u64;
            fill(p, &mut self.bytes);
            self.channel.write(*buf, off(p).into(), self.bytes[..len(p) / 8].as_flattened())?;
            segs[k] = Segment { buf: *buf, off: off(p), len: len(p) as u16, last: last(p) };
            (made, ends) = (k + 1, ends + u64::from(last(p)));
        }
        let taken = self.channel.send(&segs[..made])?;
        self.channel.free(&bufs[taken..n]);
        self.sent[0] += taken as u64;
        self.sent[1] += segs[..taken].iter().filter(|s| s.last).count() as u64;
        Ok(taken)
    }

    /// Receives a burst, and judges it; how many pieces came. It may sleep for a moment.
    fn pull(&mut self, sleeps: bool) -> Result<usize, Error> {
        let (mut segs, mut bufs) = ([NONE; BURST], [Buf(0); BURST]);
        let n = if sleeps { self.channel.wait(&mut segs, NAP)? } else { self.channel.receive(&mut segs)? };
        for (s, buf) in segs[..n].iter().zip(&mut bufs) {
            let p = self.got[0];
            assert_eq!((s.off, usize::from(s.len), s.last), (off(p), len(p), last(p)), "piece {p}: {s:?}");
            let words = &mut self.bytes[..len(p) / 8];
            self.channel.read(s.buf, s.off.into(), words.as_flattened_mut())?;
            let (end, front) = words.split_last().unwrap();
            let number = u64::from_le_bytes(front[0]);
            assert_eq!(number, p, "lost, doubled or reordered");
            assert_eq!(u64::from_le_bytes(*end), checksum(front), "piece {p} is torn: {words:x?}");
            *buf = s.buf;
            self.got[0] += 1;
            self.got[1] += u64::from(s.last);
        }
        self.channel.free(&bufs[..n]);
        Ok(n)
    }

    /// Sends so many packets and receives as many.
    fn run(&mut self, packets: u64, tells: bool) -> Result<(), Error> {
        let (mut idle, mut look, mut since) = (0, LOOK, None::<Instant>);
        while self.sent[1] < packets || self.got[1] < packets {
            let sent = if self.sent[1] < packets { self.push(packets)? } else { 0 };
            if sent + self.pull(idle == ROUNDS)? > 0 {
                (idle, since) = (0, None);
            } else if idle < ROUNDS {
                idle += 1;
            } else {
                let since = since.get_or_insert_with(Instant::now);
                let [sent, got] = [self.sent[1], self.got[1]];
                assert!(since.elapsed() < PATIENCE, "{sent} packets sent, {got} received");
            }
            if tells && self.got[0] >= look {
                look = self.got[0] + LOOK;
                self.tell(packets);
            }
        }
        Ok(())
    }

    fn rate(&self) -> f64 {
        self.got[1] as f64 / self.start.elapsed().as_secs_f64()
    }

    fn tell(&mut self, packets: u64) {
        if self.told.elapsed() >= EVERY {
            self.told = Instant::now();
            let left = (packets - self.got[1]) as f64 / self.rate();
            println!(
                "{} packets each way, {:.1} Mpps each way, {left:.0} s left",
                self.got[1],
                self.rate() / 1e6
            );
        }
    }
}

/// The other process: it ends first.
pub(crate) fn play(path: &Path) {
    Side::new(Channel::connect(path, Config::default()).unwrap()).run(packets(), false).unwrap();
}

fn packets() -> u64 {
    env::var("RXLAB_SOAK_PACKETS").map_or(1_000_000, |text| text.parse().unwrap())
}

/// A million by default; `make soak-ccnic` says how many more.
#[test]
fn every_packet_comes_once_whole_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let mut listener = Listener::bind(&path, Config::default()).unwrap();
    let mut other = Other::start("soak", &path);
    let mut side = Side::new(listener.accept().unwrap());
    side.run(packets(), true).unwrap();
    let (took, rate) = (side.start.elapsed(), side.rate());
    assert_eq!((side.sent[1], side.got[1]), (packets(), packets()));
    assert!(other.ends(), "the other side");
    assert!(
        !side.channel.is_alive(),
        "a call that finds nothing looks once a millisecond: this one looks at once"
    );
    // Nothing more came, and each buffer is here.
    assert!(matches!(side.channel.receive(&mut [NONE]), Err(Error::Gone)));
    side.channel.reclaim().unwrap();
    let count = u64::from(side.channel.config().buffers);
    assert_eq!(side.channel.buffers(), (count, 0));
    for (name, n) in side.channel.counters() {
        assert!(n == 0 || !matches!(name, "pool_lies" | "pool_foreign"), "{name} {n}");
    }
    println!(
        "{} packets each way in {:.1} s, {:.1} Mpps each way: none lost, doubled, torn or reordered; all {count} buffers are back",
        side.got[1],
        took.as_secs_f64(),
        rate / 1e6
    );
}
