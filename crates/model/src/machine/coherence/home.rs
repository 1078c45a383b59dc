//! Whose memory each line belongs to.

use super::node::Node;

/// The home of each line: the near node, but for some ranges.
#[derive(Clone, Debug, Default)]
pub struct Homes {
    /// First line and end of each range that is at home on the far node, in order.
    far: Vec<(u32, u32)>,
}

impl Homes {
    /// Lines from `first` up to `end` belong to the far node; they lie behind all that were told before.
    pub fn put_far(&mut self, first: u32, end: u32) {
        match self.far.last_mut() {
            Some((_, last)) if *last == first => *last = end,
            _ => self.far.push((first, end)),
        }
    }

    /// The home of a line.
    #[inline(always)]
    pub(crate) fn of(&self, line: u32) -> Node {
        if self.far.is_empty() { Node::Near } else { self.look_up(line) }
    }

    #[inline(never)]
    fn look_up(&self, line: u32) -> Node {
        let behind = self.far.partition_point(|(first, _)| *first <= line);
        Node::of(behind > 0 && line < self.far[behind - 1].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_belongs_to_the_range_it_lies_in() {
        let mut homes = Homes::default();
        assert_eq!(homes.of(0), Node::Near);
        for (first, end) in [(3, 5), (5, 6), (10, 11)] {
            homes.put_far(first, end);
        }
        assert_eq!(homes.far, [(3, 6), (10, 11)], "ranges that touch are one");
        let far: Vec<u32> = (0..20).filter(|line| homes.of(*line) == Node::Far).collect();
        assert_eq!(far, [3, 4, 5, 10]);
    }
}
