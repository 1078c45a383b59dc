//! The nodes of a server.

/// One of the two nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Node {
    /// That of the cores that run applications.
    #[default]
    Near,
    /// The other one.
    Far,
}

impl Node {
    /// The far node if `far`.
    #[inline(always)]
    pub(crate) const fn of(far: bool) -> Node {
        if far { Node::Far } else { Node::Near }
    }

    /// The node that this one is not.
    #[inline(always)]
    pub(crate) const fn other(self) -> Node {
        match self {
            Node::Near => Node::Far,
            Node::Far => Node::Near,
        }
    }
}
