//! A source that changes during a run: flows that start, stop or give way to others.

use crate::{Arrival, Source};

/// Sources one after the other, each from a time on.
pub struct Phases {
    /// When each begins, ps, and what it sends from there on; the last first.
    left: Vec<(u64, Box<dyn Source>)>,
}

impl Phases {
    /// Each source sends from its time on, ps, until that of the next one; what it would send later is lost. Times in another
    /// order than that of a clock are put into it.
    pub fn new(mut phases: Vec<(u64, Box<dyn Source>)>) -> Phases {
        phases.sort_by_key(|(from, _)| std::cmp::Reverse(*from));
        Phases { left: phases }
    }
}

impl Source for Phases {
    fn next(&mut self, out: &mut Arrival) -> bool {
        while let Some((from, source)) = self.left.last_mut() {
            let from = *from;
            let sends = source.next(out);
            out.at = out.at.saturating_add(from);
            let ends = self.left.len().checked_sub(2).map_or(u64::MAX, |next| self.left[next].0);
            if sends && out.at < ends {
                return true;
            }
            self.left.pop();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of `len` bytes every 10 ps, so many of them.
    struct Every(u16, u64, u64);

    impl Source for Every {
        fn next(&mut self, out: &mut Arrival) -> bool {
            let Every(len, sent, all) = self;
            *sent += 1;
            (out.len, out.at) = (*len, *sent * 10);
            *sent <= *all
        }
    }

    fn sent(phases: Vec<(u64, Box<dyn Source>)>) -> Vec<(u64, u16)> {
        let (mut phases, mut out, mut all) = (Phases::new(phases), Arrival::EMPTY, Vec::new());
        while phases.next(&mut out) {
            all.push((out.at, out.len));
        }
        all
    }

    #[test]
    fn a_phase_ends_where_the_next_begins_or_when_it_has_no_more() {
        let every = |len, all| -> Box<dyn Source> { Box::new(Every(len, 0, all)) };
        let all = sent(vec![(100, every(3, 2)), (0, every(1, 9)), (35, every(2, 1))]);
        assert_eq!(all, [(10, 1), (20, 1), (30, 1), (45, 2), (110, 3), (120, 3)]);
        assert_eq!(sent(Vec::new()), []);
    }
}
