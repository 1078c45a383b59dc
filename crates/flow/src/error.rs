//! What can be wrong with a rule or a change, and what is allowed.

use crate::field::{Field, Header};

/// Why a rule or a change was refused. What was there before is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A value or a mask has bits that its field, or the field's mask, has not.
    #[error("{field:?}: {value:#x} has bits outside the mask, or beyond the {bits} bits that allow up to {largest:#x}", bits = field.bits(), largest = field.largest())]
    Value {
        /// The field.
        field: Field,
        /// What was asked for.
        value: u128,
    },
    /// A prefix is longer than its field.
    #[error("{field:?}: a prefix of {bits} bits; it has {most}", most = field.bits())]
    Prefix {
        /// The field.
        field: Field,
        /// What was asked for.
        bits: u32,
    },
    /// The match asks for two values of one field.
    #[error("{0:?}: the match asks for another value already")]
    Contradiction(Field),
    /// No frame has both headers in one layer, or it is asked to have and not to have one.
    #[error("no frame has what is asked of {0:?} and {1:?}")]
    Headers(Header, Header),
    /// The mask needs too many words.
    #[error("the match needs {words} words of the key; {most} are allowed", most = crate::sizes::MASK_WORDS)]
    Wide {
        /// Words in which the mask has bits.
        words: usize,
    },
    /// An action cannot be taken.
    #[error("action {index}: {why}")]
    Action {
        /// Its place in the list; the number of actions where one is missing.
        index: usize,
        /// What is wrong with it.
        why: ActionError,
    },
    /// There is no such group.
    #[error("group {group}: groups are numbered from 0 to {last}")]
    Group {
        /// The group.
        group: u16,
        /// The last one that there is.
        last: u16,
    },
    /// A rule of that group has this mask, these values and this priority.
    #[error("the group has this match at this priority already")]
    Exists,
    /// The rule is not there, or not any more.
    #[error("there is no such rule")]
    NoRule,
    /// No room.
    #[error(
        "{what:?} are full: {limit} of {limit} in use, {retiring} of them only until readers have moved on"
    )]
    Full {
        /// What is full.
        what: Resource,
        /// How many there can be.
        limit: u32,
        /// How many of them the change can do without once every reader has ended the burst that it is in.
        retiring: u32,
    },
    /// A limit is out of range.
    #[error("{what:?}: {value}; {least} to {most} are allowed")]
    Limit {
        /// Which limit.
        what: Resource,
        /// What was asked for.
        value: u32,
        /// The least that is allowed.
        least: u32,
        /// The most that is allowed.
        most: u32,
    },
}

/// What is wrong with an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// There are two fates.
    #[error("a second fate; a rule has one of queue, RSS, drop and jump")]
    SecondFate,
    /// There is no fate.
    #[error("no fate; a rule has one of queue, RSS, drop and jump")]
    NoFate,
    /// The same kind of action comes twice.
    #[error("it comes twice; once is allowed")]
    Twice,
    /// No such tag.
    #[error("tag {0}; tags are numbered from 0 to {last}", last = crate::sizes::TAGS - 1)]
    Tag(u8),
    /// The value does not fit.
    #[error("{0:?}: the value is too large; its {bits} bits allow up to {largest:#x}", bits = .0.bits(), largest = .0.largest())]
    Value(Field),
    /// The field cannot be set.
    #[error("{0:?} cannot be set; addresses, ports, tag control, class, hops and labels can")]
    Fixed(Field),
    /// A network identifier has 24 bits.
    #[error("network identifier {0:#x}; 0 to 0xffffff are allowed")]
    Vni(u32),
    /// A timeout of 0.
    #[error("a timeout of 0; 1 or more is allowed")]
    Timeout,
    /// VXLAN is to be taken off frames that may have none.
    #[error("the match does not ask for VXLAN, which is to be taken off")]
    NoVxlan,
    /// A frame that a header was put on goes to another group.
    #[error("encapsulation goes with queue, RSS and drop, not with a jump")]
    EncapJump,
    /// The list is too long.
    #[error("{0} actions; {most} are allowed", most = crate::sizes::ACTIONS)]
    TooMany(usize),
}

/// What is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Rules of all groups.
    Rules,
    /// Units of 64 B, of which a rule has one, or more where its match is wide.
    Units,
    /// Lists of actions that do not fit into a unit.
    Records,
    /// Different masks in all groups.
    Tuples,
    /// Groups.
    Groups,
}
