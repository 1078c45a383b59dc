//! What a rule does with a frame, and which lists of actions are allowed.

use core::net::IpAddr;

use crate::error::{ActionError, Error};
use crate::field::{Field, Header, Layer};
use crate::matching::Match;
use crate::sizes::{ACTIONS, TAGS};

/// One thing that a rule does. They are done in the order of the list, the fate last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Fate: to this receive queue.
    Queue(u16),
    /// Fate: to a queue by RSS, as the caller's context of this number says.
    Rss(u16),
    /// Fate: dropped.
    Drop,
    /// Fate: to be looked up in another group.
    Jump(u16),
    /// A mark for the completion.
    Mark(u32),
    /// Sets bits of the metadata.
    Meta {
        /// The bits.
        value: u32,
        /// Which bits.
        mask: u32,
    },
    /// Sets bits of a tag.
    Tag {
        /// Which tag.
        index: u8,
        /// The bits.
        value: u32,
        /// Which bits.
        mask: u32,
    },
    /// Counts frames and bytes.
    Count,
    /// The rule is old after so many ticks without a frame.
    Age(u32),
    /// Sets a field of the outer headers, where its header is there.
    Set {
        /// Which field.
        field: Field,
        /// Its new value.
        value: u128,
    },
    /// Takes one from the time to live of the outer IPv4 header, or from the hop limit of IPv6. 0 stays 0.
    DecTtl,
    /// Takes Ethernet, IP, UDP and VXLAN headers off.
    VxlanDecap,
    /// Puts these headers on.
    VxlanEncap(Vxlan),
}

/// Headers that are put before a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vxlan {
    /// Destination and source addresses of Ethernet.
    pub ethernet: [[u8; 6]; 2],
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Type of service, or traffic class.
    pub tos: u8,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// UDP source port; 0 lets the frame's hash choose.
    pub sport: u16,
    /// Network identifier, 24 bits.
    pub vni: u32,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// To this receive queue.
    Queue(u16),
    /// To a queue by RSS, as the context of this number says.
    Rss(u16),
    /// Dropped.
    Drop,
    /// To another group.
    Jump(u16),
}

impl Action {
    /// Whether it is done to the frame's bytes.
    pub(crate) fn edits(&self) -> bool {
        matches!(self, Action::Set { .. } | Action::DecTtl | Action::VxlanDecap | Action::VxlanEncap(_))
    }

    fn fate(&self) -> Option<Fate> {
        match *self {
            Action::Queue(queue) => Some(Fate::Queue(queue)),
            Action::Rss(context) => Some(Fate::Rss(context)),
            Action::Drop => Some(Fate::Drop),
            Action::Jump(group) => Some(Fate::Jump(group)),
            _ => None,
        }
    }
}

/// A list of actions that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan<'a> {
    pub(crate) fate: Fate,
    pub(crate) list: &'a [Action],
}

impl<'a> Plan<'a> {
    /// Checks a list for a rule with `matching`. Whether the group of a jump exists is not looked at.
    ///
    /// # Errors
    /// The list is not allowed.
    pub(crate) fn new(list: &'a [Action], matching: &Match) -> Result<Plan<'a>, Error> {
        let wrong = |index, why| Error::Action { index, why };
        if list.len() > ACTIONS {
            return Err(wrong(ACTIONS, ActionError::TooMany(list.len())));
        }
        let mut fate = None;
        for (index, action) in list.iter().enumerate() {
            check(action, &list[..index], matching).map_err(|why| wrong(index, why))?;
            if let Some(new) = action.fate()
                && fate.replace(new).is_some()
            {
                return Err(wrong(index, ActionError::SecondFate));
            }
        }
        let fate = fate.ok_or(wrong(list.len(), ActionError::NoFate))?;
        let encap = list.iter().position(|a| matches!(a, Action::VxlanEncap(_)));
        match (fate, encap) {
            (Fate::Jump(_), Some(index)) => Err(wrong(index, ActionError::EncapJump)),
            _ => Ok(Plan { fate, list }),
        }
    }
}

/// One action behind those `before` it.
fn check(action: &Action, before: &[Action], matching: &Match) -> Result<(), ActionError> {
    let kind = core::mem::discriminant(action);
    let repeats = matches!(action, Action::Set { .. } | Action::Tag { .. } | Action::Meta { .. });
    if !repeats && action.fate().is_none() && before.iter().any(|b| core::mem::discriminant(b) == kind) {
        return Err(ActionError::Twice);
    }
    match *action {
        Action::Tag { index, .. } if index >= TAGS => Err(ActionError::Tag(index)),
        Action::Age(0) => Err(ActionError::Timeout),
        Action::Set { field, .. } if !settable(field) => Err(ActionError::Fixed(field)),
        Action::Set { field, value } if value > field.largest() => Err(ActionError::Value(field)),
        Action::VxlanDecap if !matching.asks_for(Layer::Outer, Header::Vxlan) => Err(ActionError::NoVxlan),
        Action::VxlanEncap(vxlan) if vxlan.vni >> 24 != 0 => Err(ActionError::Vni(vxlan.vni)),
        _ => Ok(()),
    }
}

/// Fields that do not say which headers follow. Registers have actions of their own.
fn settable(field: Field) -> bool {
    use Field::*;
    !matches!(
        field,
        EthType
            | Ipv4Proto
            | Ipv6Proto
            | MplsBottom
            // A CRC over the whole packet would have to follow.
            | SctpSrc
            | SctpDst
            | SctpTag
            | GreProto
            | GreFlags
            | VxlanFlags
            | GeneveProto
            | GeneveOptions
            | Meta
            | Tag0
            | Tag1
            | Tag2
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(list: &[Action]) -> Result<Fate, (usize, ActionError)> {
        match Plan::new(list, &Match::any()) {
            Ok(plan) => Ok(plan.fate),
            Err(Error::Action { index, why }) => Err((index, why)),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_list_has_one_fate_and_values_that_fit() {
        let vxlan = |vni| {
            let address = IpAddr::from([10, 0, 0, 1]);
            let ethernet = [[2; 6], [4; 6]];
            Vxlan { ethernet, src: address, dst: address, tos: 0, ttl: 64, sport: 0, vni }
        };
        assert_eq!(why(&[Action::Count, Action::Queue(3)]), Ok(Fate::Queue(3)));
        assert_eq!(why(&[Action::Jump(3), Action::Mark(7)]), Ok(Fate::Jump(3)));
        assert_eq!(why(&[]), Err((0, ActionError::NoFate)));
        assert_eq!(why(&[Action::Drop, Action::Queue(1)]), Err((1, ActionError::SecondFate)));
        assert_eq!(why(&[Action::Drop, Action::Drop]), Err((1, ActionError::SecondFate)));
        assert_eq!(why(&[Action::Count, Action::Count]), Err((1, ActionError::Twice)));
        assert_eq!(why(&[Action::Tag { index: 3, value: 0, mask: 1 }]), Err((0, ActionError::Tag(3))));
        assert_eq!(why(&[Action::Age(0)]), Err((0, ActionError::Timeout)));
        let set = |field, value| Action::Set { field, value };
        assert_eq!(why(&[set(Field::EthType, 0)]), Err((0, ActionError::Fixed(Field::EthType))));
        assert_eq!(why(&[set(Field::Ipv4Ttl, 256)]), Err((0, ActionError::Value(Field::Ipv4Ttl))));
        assert_eq!(why(&[set(Field::Ipv4Ttl, 1), set(Field::Ipv4Ttl, 2), Action::Drop]), Ok(Fate::Drop));
        assert_eq!(why(&[Action::DecTtl, Action::DecTtl, Action::Drop]), Err((1, ActionError::Twice)));
        assert_eq!(why(&[Action::VxlanDecap, Action::Drop]), Err((0, ActionError::NoVxlan)));
        assert_eq!(why(&[Action::VxlanEncap(vxlan(1 << 24))]), Err((0, ActionError::Vni(1 << 24))));
        assert_eq!(why(&[Action::VxlanEncap(vxlan(1)), Action::Drop]), Ok(Fate::Drop));
        assert_eq!(why(&[Action::VxlanEncap(vxlan(1)), Action::Jump(1)]), Err((0, ActionError::EncapJump)));
        assert_eq!(why(&[Action::Drop; 33]), Err((32, ActionError::TooMany(33))));
    }

    #[test]
    fn vxlan_is_taken_off_where_it_is_asked_for() {
        let matching = Match::any().has(Layer::Outer, Header::Vxlan).unwrap();
        assert!(Plan::new(&[Action::VxlanDecap, Action::Drop], &matching).is_ok());
    }
}
