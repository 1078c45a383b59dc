//! The host halves of a port's Rx queues: one for each thread that may poll a queue.

use core::ops::Range;

/// How they are numbered: queue by queue. A ring knows its halves by these numbers alone.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RxHalves {
    queues: u16,
    threads: u16,
}

impl RxHalves {
    /// Those of `queues`, each of which `threads` may poll.
    pub(crate) fn new(queues: u16, threads: u16) -> RxHalves {
        RxHalves { queues, threads }
    }

    pub(crate) fn queues(self) -> u16 {
        self.queues
    }

    /// How many there are.
    pub(crate) fn count(self) -> u32 {
        u32::from(self.queues) * u32::from(self.threads)
    }

    /// The first one of a queue: to it the card delivers.
    #[inline(always)]
    pub(crate) fn first(self, queue: u16) -> u16 {
        queue * self.threads
    }

    /// All of a queue.
    pub(crate) fn of(self, queue: u16) -> Range<u16> {
        self.first(queue)..self.first(queue) + self.threads
    }

    /// The number of one of a queue, if there is such.
    pub(crate) fn number(self, queue: u16, half: u16) -> Option<usize> {
        (queue < self.queues && half < self.threads).then(|| usize::from(self.first(queue) + half))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_numbered_queue_by_queue() {
        let halves = RxHalves::new(3, 4);
        let numbers: Vec<_> =
            (0..3).flat_map(|q| (0..4).map(move |half| halves.number(q, half).expect("a half"))).collect();
        assert_eq!(numbers, (0..12).collect::<Vec<_>>());
        assert_eq!((halves.count(), halves.first(2), halves.of(1)), (12, 8, 4..8));
        assert_eq!([halves.number(3, 0), halves.number(0, 4), RxHalves::default().number(0, 0)], [None; 3]);
    }
}
