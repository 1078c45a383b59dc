//! What an application makes of a burst: frames to send, buffers to give back, and counters.

use memory::Buf;
use rings::Segment;

/// Why an application drops a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Cause {
    /// Time to live or hop limit is used up.
    TtlExpired,
    /// No route, or no translation for an address of the outside.
    NoRoute,
    /// The flow table has no room.
    TableFull,
    /// The header contradicts itself.
    BadHeader,
    /// The application is where the frame ends.
    Consumed,
    /// No request that the application understands.
    BadRequest,
    /// A policy says so.
    Policy,
    /// It no longer fits its buffer.
    TooLong,
    /// A security association has used up its sequence numbers.
    SaSpent,
}

impl Cause {
    /// All causes, in order.
    pub const ALL: [Cause; 9] = [
        Cause::TtlExpired,
        Cause::NoRoute,
        Cause::TableFull,
        Cause::BadHeader,
        Cause::Consumed,
        Cause::BadRequest,
        Cause::Policy,
        Cause::TooLong,
        Cause::SaSpent,
    ];

    /// Whether the frame is lost; otherwise it has ended where it should.
    pub const fn is_drop(self) -> bool {
        match self {
            Cause::Consumed => false,
            Cause::TtlExpired
            | Cause::NoRoute
            | Cause::TableFull
            | Cause::BadHeader
            | Cause::BadRequest
            | Cause::Policy
            | Cause::TooLong
            | Cause::SaSpent => true,
        }
    }

    /// The name in every table and counter.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::TtlExpired => "ttl_expired",
            Cause::NoRoute => "no_route",
            Cause::TableFull => "table_full",
            Cause::BadHeader => "bad_header",
            Cause::Consumed => "consumed",
            Cause::BadRequest => "bad_request",
            Cause::Policy => "policy",
            Cause::TooLong => "too_long",
            Cause::SaSpent => "sa_spent",
        }
    }
}

/// An application's decision on one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Send it with its rewritten headers.
    Send,
    /// As `Send`, but it has so many bytes now.
    Reply(u16),
    /// As `Reply`, but these first bytes of it are followed by a segment that lies elsewhere and ends it.
    Gather(u16, Segment),
    /// Send what lies behind its first `before` bytes, `len` bytes of it.
    Strip {
        /// Where it begins.
        before: u16,
        /// How long it is.
        len: u16,
    },
    /// Send it as it came: not a protocol that the application handles.
    Pass,
    /// Give its buffer back.
    Drop(Cause),
}

/// Frames that an application handled, by what it did with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames sent with rewritten headers.
    pub sent: u64,
    /// Frames sent unchanged.
    pub passed: u64,
    /// Frames dropped by cause, in the order of [`Cause::ALL`].
    pub dropped: [u64; Cause::ALL.len()],
}

impl Counters {
    /// Counts one frame.
    #[inline(always)]
    pub fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Send | Verdict::Reply(_) | Verdict::Gather(..) | Verdict::Strip { .. } => self.sent += 1,
            Verdict::Pass => self.passed += 1,
            Verdict::Drop(cause) => self.dropped[cause as usize] += 1,
        }
    }

    /// Frames handled.
    pub fn total(&self) -> u64 {
        self.sent + self.passed + self.dropped.iter().sum::<u64>()
    }

    /// Frames dropped for `cause`.
    pub fn of(&self, cause: Cause) -> u64 {
        self.dropped[cause as usize]
    }

    /// Frames lost, all causes.
    pub fn lost(&self) -> u64 {
        Cause::ALL.into_iter().filter(|c| c.is_drop()).map(|c| self.of(c)).sum()
    }

    /// Names and values, for reports.
    pub fn named(&self) -> Vec<(&'static str, u64)> {
        let fixed = [("sent", self.sent), ("passed", self.passed)];
        fixed.into_iter().chain(Cause::ALL.iter().map(|c| (c.name(), self.of(*c)))).collect()
    }
}

/// The fate of a burst's buffers: every received buffer ends in exactly one of the two lists. Segments in an
/// application's own buffers come behind the headers that they belong to.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Frames to send, in their segments.
    pub send: Vec<Segment>,
    /// Buffers to give back.
    pub free: Vec<Buf>,
    /// What happened so far.
    pub counters: Counters,
}

impl Batch {
    /// Room for bursts of `burst` frames without another allocation.
    pub fn with_capacity(burst: usize) -> Batch {
        Batch { send: Vec::with_capacity(burst), free: Vec::with_capacity(burst), ..Batch::default() }
    }

    /// Files a frame of `len` bytes under its verdict.
    #[inline(always)]
    pub fn file(&mut self, buf: Buf, len: u16, verdict: Verdict) {
        self.counters.count(verdict);
        match verdict {
            Verdict::Reply(len) => self.send.push(Segment { buf, off: 0, len, last: true }),
            Verdict::Send | Verdict::Pass => self.send.push(Segment { buf, off: 0, len, last: true }),
            Verdict::Strip { before, len } => {
                self.send.push(Segment { buf, off: before, len, last: true });
            }
            Verdict::Gather(len, rest) => self.send.extend([Segment { buf, off: 0, len, last: false }, rest]),
            Verdict::Drop(_) => self.free.push(buf),
        }
    }
}
