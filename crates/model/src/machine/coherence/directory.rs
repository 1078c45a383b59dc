//! The copies of a line of a buffer that private caches have, and the LLC of the far node.
//!
//! Each node has at most one: a core that reads a line that another core of its node has takes it over. That is a
//! directory of two pointers which turns the third reader away (Dir2NB; Agarwal et al., ISCA 1988), one pointer a node.

use super::node::Node;

/// What has a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) enum Holder {
    /// The L2 of this core.
    L2(usize),
    /// The LLC of the far node.
    FarLlc { dirty: bool },
}

/// A far copy that is in no L2: [`Copies`] has it in place of a core's number.
const FAR_CLEAN: u8 = u8::MAX - 1;
const FAR_DIRTY: u8 = u8::MAX;

/// The copies of one line: of each node nothing, or the number of a core among those of the node plus one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::machine) struct Copies {
    near: u8,
    far: u8,
}

impl Copies {
    /// Whether there are none.
    #[inline(always)]
    pub(in crate::machine) fn is_none(self) -> bool {
        self == Copies::default()
    }

    /// Whether a node has one.
    #[inline(always)]
    pub(in crate::machine) fn has(self, node: Node) -> bool {
        match node {
            Node::Near => self.near != 0,
            Node::Far => self.far != 0,
        }
    }
}

/// The copies of each line of the shared range, by its rank in the sample.
pub(in crate::machine) struct Directory {
    copies: Vec<Copies>,
    /// The first core of the far node.
    far: usize,
}

impl Directory {
    /// No copies of any of so many lines; cores from `far` on are on the far node. A node has at most 253 cores.
    pub(in crate::machine) fn new(lines: u32, far: usize) -> Directory {
        Directory { copies: vec![Copies::default(); lines as usize], far }
    }

    /// The copies of a line; there are none of a line outside the shared range.
    #[inline]
    pub(in crate::machine) fn of(&self, rank: u32) -> Copies {
        self.get(rank).unwrap_or_default()
    }

    /// The same, if the line is of the shared range.
    #[inline]
    pub(in crate::machine) fn get(&self, rank: u32) -> Option<Copies> {
        self.copies.get(rank as usize).copied()
    }

    /// What has a node's copy.
    #[inline]
    pub(in crate::machine) fn holder(&self, copies: Copies, node: Node) -> Option<Holder> {
        match (node, copies.near, copies.far) {
            (Node::Near, 0, _) | (Node::Far, _, 0) => None,
            (Node::Near, core, _) => Some(Holder::L2(usize::from(core) - 1)),
            (Node::Far, _, FAR_CLEAN) => Some(Holder::FarLlc { dirty: false }),
            (Node::Far, _, FAR_DIRTY) => Some(Holder::FarLlc { dirty: true }),
            (Node::Far, _, core) => Some(Holder::L2(self.far + usize::from(core) - 1)),
        }
    }

    /// A holder has a line from now on, in place of what its node had; whether the line is of the shared range.
    #[inline]
    pub(in crate::machine) fn set(&mut self, rank: u32, holder: Holder) -> bool {
        let far = self.far;
        let Some(copies) = self.copies.get_mut(rank as usize) else { return false };
        match holder {
            Holder::L2(core) if core < far => copies.near = core as u8 + 1,
            Holder::L2(core) => copies.far = (core - far) as u8 + 1,
            Holder::FarLlc { dirty } => copies.far = if dirty { FAR_DIRTY } else { FAR_CLEAN },
        }
        true
    }

    /// A node has no copy from now on.
    #[inline]
    pub(in crate::machine) fn clear(&mut self, rank: u32, node: Node) {
        let Some(copies) = self.copies.get_mut(rank as usize) else { return };
        match node {
            Node::Near => copies.near = 0,
            Node::Far => copies.far = 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_has_a_copy_of_its_own() {
        const FAR: usize = 129;
        let mut directory = Directory::new(2, FAR);
        let both = |d: &Directory, rank| [Node::Near, Node::Far].map(|node| d.holder(d.of(rank), node));
        assert!(directory.of(1).is_none() && both(&directory, 1) == [None, None]);
        for near in [0, 7, FAR - 1] {
            assert!(directory.set(1, Holder::L2(near)));
            for far in [
                Holder::L2(FAR),
                Holder::L2(FAR + 127),
                Holder::FarLlc { dirty: true },
                Holder::FarLlc { dirty: false },
            ] {
                assert!(directory.set(1, far));
                assert_eq!(both(&directory, 1), [Some(Holder::L2(near)), Some(far)]);
            }
            directory.clear(1, Node::Far);
            assert_eq!(both(&directory, 1), [Some(Holder::L2(near)), None]);
            assert!(directory.of(1).has(Node::Near) && !directory.of(1).has(Node::Far));
        }
        directory.clear(1, Node::Near);
        assert!(directory.of(1).is_none() && directory.of(0).is_none());
        assert!(!directory.set(2, Holder::L2(0)), "outside");
        directory.clear(2, Node::Near);
        assert!(directory.of(2).is_none());
    }
}
