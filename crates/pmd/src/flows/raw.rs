//! A rule as the driver writes it down.

use crate::rss::RssConf;

/// The largest mark of a rule. A completion has 0 for none, and counts marks from 1.
pub const LAST_MARK: u32 = u32::MAX - 2;
/// The mark of a completion whose frame has a flag alone.
pub const FLAG: u32 = u32::MAX;

/// What a term asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FlowTermKind {
    /// A value of a field, under a mask.
    Field,
    /// That a header is there.
    Has,
    /// That a header is not there.
    Lacks,
}

/// A part of a match.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FlowTerm {
    /// A `FlowTermKind`.
    pub kind: u8,
    /// A layer.
    pub layer: u8,
    /// A field or a header.
    pub what: u8,
    /// The value, the highest byte first.
    pub value: [u8; 16],
    /// Which bits of it.
    pub mask: [u8; 16],
}

/// What an action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FlowAct {
    /// To queue `a`.
    Queue,
    /// To a queue by the rule's RSS context.
    Rss,
    /// Dropped.
    Drop,
    /// To group `a`.
    Jump,
    /// Mark `a`.
    Mark,
    /// The mark that is a flag alone.
    Flag,
    /// Metadata `a` under mask `b`.
    Meta,
    /// Tag `c`: `a` under mask `b`.
    Tag,
    /// Counts.
    Count,
    /// Old after `a` seconds.
    Age,
    /// Sets field `a` of the outer headers to the value.
    Set,
    /// Takes a tunnel of VXLAN off.
    VxlanDecap,
    /// Puts the rule's tunnel on.
    VxlanEncap,
    /// Takes one from the time to live, or the hop limit.
    DecTtl,
    /// The shared action of name `b << 32 | a`.
    Shared,
}

impl FlowAct {
    pub(super) const ALL: [FlowAct; 15] = [
        FlowAct::Queue,
        FlowAct::Rss,
        FlowAct::Drop,
        FlowAct::Jump,
        FlowAct::Mark,
        FlowAct::Flag,
        FlowAct::Meta,
        FlowAct::Tag,
        FlowAct::Count,
        FlowAct::Age,
        FlowAct::Set,
        FlowAct::VxlanDecap,
        FlowAct::VxlanEncap,
        FlowAct::DecTtl,
        FlowAct::Shared,
    ];
}

/// An action and its numbers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FlowAction {
    /// A `FlowAct`.
    pub act: u8,
    /// As the act says.
    pub a: u32,
    /// As the act says.
    pub b: u32,
    /// As the act says.
    pub c: u32,
    /// A field's value, the highest byte first.
    pub value: [u8; 16],
}

/// Headers that VXLAN puts before a frame. Numbers are in the machine's order of bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FlowVxlan {
    /// Destination address of Ethernet.
    pub eth_dst: [u8; 6],
    /// Source address.
    pub eth_src: [u8; 6],
    /// Whether addresses are of IPv6, else the first 4 bytes of each count.
    pub ipv6: bool,
    /// Type of service, or traffic class.
    pub tos: u8,
    /// Time to live, or hop limit; 0 for 64.
    pub ttl: u8,
    /// Source address.
    pub src: [u8; 16],
    /// Destination address.
    pub dst: [u8; 16],
    /// UDP source port; 0 lets the frame's hash choose.
    pub sport: u16,
    /// Network identifier.
    pub vni: u32,
}

/// A rule as the driver writes it down.
#[repr(C)]
pub struct FlowRule {
    /// Its group.
    pub group: u32,
    /// Its priority, the lowest number wins.
    pub priority: u32,
    /// Parts of its match.
    pub terms: *const FlowTerm,
    /// How many.
    pub nb_terms: u32,
    /// What it does.
    pub actions: *const FlowAction,
    /// How many.
    pub nb_actions: u32,
    /// The context of its RSS action, or NULL.
    pub rss: *const RssConf,
    /// The tunnel that it puts on, or NULL.
    pub vxlan: *const FlowVxlan,
    /// What its age is told by; 0 for its handle.
    pub age_context: u64,
}
