//! Reordering of frames that pass a server, by the metrics of RFC 4737.
//!
//! Frames are numbered as they arrive; [`Order`] sees them in the order in which they leave, after the
//! card has chosen between its transmit queues, and judges each at once: of all frames as one stream, and
//! of each flow for itself. Numbers of frames that never leave are lost, not reordered, and a frame must
//! not be shown twice: a repetition is another fault, and the RFC leaves it to other metrics.

use memory::Ps;

/// Degrees of n-reordering (RFC 4737 §5) that are counted: three duplicate acknowledgements make a TCP
/// send again.
pub const DEGREES: usize = 3;
/// Frames of which [`Order`] knows how they left, unless told otherwise: more than what a shared ring and
/// the transmit rings behind it hold, so that an extent is longer only while a core stands still.
pub const WINDOW: usize = 8192;

/// Flows are kept by buckets of so many.
const WAYS: usize = 4;

/// What has been counted of a stream, or of all flows together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reordering {
    /// Frames seen.
    pub frames: u64,
    /// Those that left after a later one (§3.3, Type-P-Reordered).
    pub reordered: u64,
    /// Sum of their extents (§4.2): how many places earlier the first later frame had left.
    pub extents: u64,
    /// The largest extent.
    pub max_extent: u64,
    /// Extents that reach out of the window: counted as the part that is known.
    pub beyond: u64,
    /// The largest late time (§4.3): since the first later frame had left.
    pub max_late: Ps,
    /// Frames that left right behind at least so many later ones (§5): 1 or more, 2 or more ..
    pub n_reordered: [u64; DEGREES],
}

impl Reordering {
    /// Reordered frames, percent (§4.1).
    pub fn percent(&self) -> f64 {
        share(self.reordered, self.frames)
    }

    /// Mean extent of reordered frames; 0 where there is none.
    pub fn mean_extent(&self) -> f64 {
        self.extents as f64 / self.reordered.max(1) as f64
    }

    /// Frames of the highest degree of n-reordering counted, percent: what a TCP would take for losses.
    pub fn n_percent(&self) -> f64 {
        share(self.n_reordered[DEGREES - 1], self.frames)
    }

    fn add(&mut self, other: &Reordering) {
        self.frames += other.frames;
        self.reordered += other.reordered;
        self.extents += other.extents;
        self.max_extent = self.max_extent.max(other.max_extent);
        self.beyond += other.beyond;
        self.max_late = self.max_late.max(other.max_late);
        self.n_reordered.iter_mut().zip(other.n_reordered).for_each(|(n, more)| *n += more);
    }

    fn count(&mut self, late: Option<Late>) {
        self.frames += 1;
        let Some(late) = late else { return };
        self.reordered += 1;
        self.extents += late.extent;
        self.max_extent = self.max_extent.max(late.extent);
        self.beyond += u64::from(late.beyond);
        self.max_late = self.max_late.max(late.by);
        for n in &mut self.n_reordered[..late.degree] {
            *n += 1;
        }
    }
}

/// What has been found of all frames that were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// All frames as one stream.
    pub all: Reordering,
    /// Frames of flows, each judged among those of its flow: places and times count in its own stream.
    pub by_flow: Reordering,
    /// Frames whose flow could not be followed, because its bucket was full of flows of the window: they are
    /// not judged by flow.
    pub unfollowed: u64,
}

impl Found {
    /// Takes what was found at another port.
    pub fn add(&mut self, other: &Found) {
        self.all.add(&other.all);
        self.by_flow.add(&other.by_flow);
        self.unfollowed += other.unfollowed;
    }

    /// Names and values, for reports: percent, places, microseconds.
    pub fn named(&self) -> [(&'static str, f64); 11] {
        let Found { all, by_flow, .. } = self;
        [
            ("reordered_pct", all.percent()),
            ("extent_mean", all.mean_extent()),
            ("extent_max", all.max_extent as f64),
            ("late_max_us", all.max_late.0 as f64 / 1e6),
            ("n3_reordered_pct", all.n_percent()),
            ("flow_reordered_pct", by_flow.percent()),
            ("flow_extent_max", by_flow.max_extent as f64),
            ("flow_late_max_us", by_flow.max_late.0 as f64 / 1e6),
            ("flow_n3_reordered_pct", by_flow.n_percent()),
            ("beyond_window", (all.beyond + by_flow.beyond) as f64),
            ("unfollowed", self.unfollowed as f64),
        ]
    }
}

fn share(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// A reordered frame.
struct Late {
    extent: u64,
    beyond: bool,
    by: Ps,
    degree: usize,
}

/// A frame that has left.
#[derive(Clone, Copy, Default)]
struct Left {
    number: u64,
    at: Ps,
    /// The number that the RFC expected next when it left, over all frames: one more than the highest before.
    expected: u64,
    /// The same within its flow.
    flow_expected: u64,
    /// One more than the place of its flow's frame before it; 0 where none is known.
    before: u64,
}

impl Left {
    /// What is expected behind it, when `expected` was before.
    fn next(&self, expected: u64) -> u64 {
        expected.max(self.number + 1)
    }
}

/// A flow that is followed.
#[derive(Clone, Copy, Default)]
struct Flow {
    name: u64,
    next: u64,
    /// One more than the place of its last frame; 0 for a slot that is free.
    last: u64,
}

/// Judges frames as they leave. Memory is bounded by the window: a flow of which no frame left within it is
/// forgotten.
pub struct Order {
    /// The last frames, at their place modulo the window.
    left: Box<[Left]>,
    /// Frames seen since the start: the next one's place.
    place: u64,
    next: u64,
    flows: Box<[[Flow; WAYS]]>,
    found: Found,
}

impl Default for Order {
    fn default() -> Order {
        Order::new(WINDOW)
    }
}

impl Order {
    /// An observer that remembers the last `window` frames, rounded up to a power of two.
    pub fn new(window: usize) -> Order {
        let window = window.max(1).next_power_of_two();
        Order {
            left: vec![Left::default(); window].into_boxed_slice(),
            place: 0,
            next: 0,
            // Eight slots for each flow that can be in the window: buckets hardly ever overflow.
            flows: vec![[Flow::default(); WAYS]; (8 * window).div_ceil(WAYS)].into_boxed_slice(),
            found: Found::default(),
        }
    }

    /// What was found so far.
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// Counts from 0 again, and goes on with what it knows of the streams.
    pub fn restart(&mut self) {
        self.found = Found::default();
    }

    /// The frame that arrived as `number` leaves at `at`; `flow` is its flow's name, well mixed, or none
    /// where it has no flow.
    #[inline]
    pub fn see(&mut self, number: u64, flow: Option<u64>, at: Ps) {
        let late = (number < self.next).then(|| self.late(number, at));
        self.found.all.count(late);
        let mut left = Left { number, at, expected: self.next, flow_expected: 0, before: 0 };
        self.next = left.next(self.next);
        if let Some(name) = flow {
            self.see_flow(name, &mut left);
        }
        let at = self.slot(self.place);
        self.left[at] = left;
        self.place += 1;
    }

    fn see_flow(&mut self, name: u64, left: &mut Left) {
        let Some((bucket, way)) = self.find(name) else {
            self.found.unfollowed += 1;
            return;
        };
        let known = self.flows[bucket][way];
        let late = (left.number < known.next).then(|| self.late_of_flow(left.number, known.last, left.at));
        self.found.by_flow.count(late);
        (left.flow_expected, left.before) = (known.next, known.last);
        self.flows[bucket][way] = Flow { name, next: left.next(known.next), last: self.place + 1 };
    }

    /// The slot of a flow: its own, or one that is free or whose flow has been out of the window.
    fn find(&mut self, name: u64) -> Option<(usize, usize)> {
        let bucket = name as usize & (self.flows.len() - 1);
        let flows = &mut self.flows[bucket];
        if let Some(way) = flows.iter().position(|f| f.last > 0 && f.name == name) {
            return Some((bucket, way));
        }
        let oldest = self.place.saturating_sub(self.left.len() as u64);
        let way = flows.iter().position(|f| f.last <= oldest)?;
        flows[way] = Flow::default();
        Some((bucket, way))
    }

    fn slot(&self, place: u64) -> usize {
        place as usize & (self.left.len() - 1)
    }

    /// The first place that is still known.
    fn first(&self) -> u64 {
        self.place.saturating_sub(self.left.len() as u64)
    }

    fn at(&self, place: u64) -> &Left {
        &self.left[self.slot(place)]
    }

    /// How late a frame is among all frames. What is expected never falls from place to place, so bisection
    /// finds the first later frame.
    fn late(&self, number: u64, at: Ps) -> Late {
        let (mut low, mut high) = (self.first(), self.place);
        while low < high {
            let middle = low + (high - low) / 2;
            let left = self.at(middle);
            if left.next(left.expected) > number + 1 { high = middle } else { low = middle + 1 }
        }
        let behind = |n: &u64| *n <= self.place - self.first() && self.at(self.place - n).number > number;
        Late {
            extent: self.place - low,
            beyond: self.at(low).expected > number + 1,
            by: at.saturating_sub(self.at(low).at),
            degree: (1..=DEGREES as u64).take_while(behind).count(),
        }
    }

    /// How late a frame is within its flow, whose last frame's place is one less than `last`. It goes back
    /// from frame to frame, as far as they are known.
    fn late_of_flow(&self, number: u64, last: u64, at: Ps) -> Late {
        let mut late = Late { extent: 0, beyond: true, by: Ps::ZERO, degree: 0 };
        let mut place = last;
        while late.beyond && place > self.first() {
            let left = self.at(place - 1);
            if late.degree as u64 == late.extent && late.degree < DEGREES && left.number > number {
                late.degree += 1;
            }
            late.extent += 1;
            late.by = at.saturating_sub(left.at);
            late.beyond = left.flow_expected > number + 1;
            place = left.before;
        }
        late
    }
}
