//! A source that is met in its midst: what comes before a time is left out, and the rest comes by so much earlier.

use crate::{Arrival, Lap, Source};

/// A source from a time on. Two runs that begin at different times of one source meet the same frames from the later one on.
pub struct Late {
    source: Box<dyn Source>,
    from: u64,
    /// Whether a frame has come.
    begun: bool,
}

impl Late {
    /// What `source` sends from `from` on, ps.
    pub fn new(source: Box<dyn Source>, from: u64) -> Late {
        Late { source, from, begun: false }
    }
}

impl Source for Late {
    fn next(&mut self, out: &mut Arrival) -> bool {
        // A source may look at the frame before, which has its own time then.
        out.at += if self.begun { self.from } else { 0 };
        loop {
            if !self.source.next(out) {
                return false;
            }
            if out.at >= self.from {
                break;
            }
        }
        self.begun = true;
        out.at -= self.from;
        true
    }

    fn lap(&self) -> Option<Lap> {
        self.source.lap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rate, Workload};

    #[test]
    fn it_sends_what_the_whole_source_sends_from_then_on() {
        for spec in ["imix,flows=1000,arrivals=poisson", "fixed:1500,flows=64,slots=4/20"] {
            let source = || {
                let workload = Workload::Generated(spec.parse().unwrap());
                workload.source(0, 1, Rate::Gbps(40.0), 7)
            };
            for from in [0, 1, 123_456_789] {
                let (mut whole, mut late) = (source(), Late::new(source(), from));
                let (mut a, mut b) = (Arrival::EMPTY, Arrival::EMPTY);
                while whole.next(&mut a) && a.at < from {}
                for n in 0..2000 {
                    assert!(late.next(&mut b));
                    assert_eq!(
                        (b.at + from, b.bytes(), b.flow),
                        (a.at, a.bytes(), a.flow),
                        "frame {n} from {from}"
                    );
                    assert!(whole.next(&mut a));
                }
            }
        }
    }
}
