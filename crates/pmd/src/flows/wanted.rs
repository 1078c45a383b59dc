//! A rule as the driver writes it down, and what it is in the flow tables.

use core::net::IpAddr;

use flow::{Action, Field, Header, Layer, Match, Vxlan};
use packet::{Fields, Rss};

use super::clock::TICKS;
use super::fault::{Fault, FlowPart};
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
}

impl FlowAct {
    const ALL: [FlowAct; 14] = [
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

impl FlowVxlan {
    fn in_tables(&self) -> Vxlan {
        let address = |bytes: [u8; 16]| match (self.ipv6, bytes) {
            (true, bytes) => IpAddr::from(bytes),
            (false, [a, b, c, d, ..]) => IpAddr::from([a, b, c, d]),
        };
        Vxlan {
            ethernet: [self.eth_dst, self.eth_src],
            src: address(self.src),
            dst: address(self.dst),
            tos: self.tos,
            ttl: if self.ttl == 0 { 64 } else { self.ttl },
            sport: self.sport,
            vni: self.vni,
        }
    }
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

/// The same, as Rust has it.
pub(crate) struct Wanted<'a> {
    pub(super) group: u32,
    pub(super) priority: u32,
    terms: &'a [FlowTerm],
    actions: &'a [FlowAction],
    rss: Option<&'a RssConf>,
    vxlan: Option<&'a FlowVxlan>,
    pub(super) age_context: u64,
}

impl<'a> Wanted<'a> {
    /// # Safety
    /// Pointers and numbers of `rule` belong together, and what they name stays for `'a`.
    pub(crate) unsafe fn of(rule: &'a FlowRule) -> Wanted<'a> {
        // SAFETY: the caller's.
        unsafe {
            Wanted {
                group: rule.group,
                priority: rule.priority,
                terms: slice(rule.terms, rule.nb_terms),
                actions: slice(rule.actions, rule.nb_actions),
                rss: rule.rss.as_ref(),
                vxlan: rule.vxlan.as_ref(),
                age_context: rule.age_context,
            }
        }
    }

    /// What the rule asks of a frame.
    ///
    /// # Errors
    /// A term is not possible, beside those before it.
    pub(super) fn matching(&self) -> Result<Match, Fault> {
        let mut matching = Match::any();
        for (i, term) in self.terms.iter().enumerate() {
            let unknown = || Fault::new(FlowPart::Term, i, libc::EINVAL, "no such field or header");
            let layer = if term.layer == Layer::Outer as u8 { Layer::Outer } else { Layer::Inner };
            let what = usize::from(term.what);
            matching = if term.kind == FlowTermKind::Field as u8 {
                let field = *Field::ALL.get(what).ok_or_else(unknown)?;
                let [value, mask] = [term.value, term.mask].map(u128::from_be_bytes);
                matching.masked(layer, field, value & mask, mask)
            } else {
                let header = *Header::ALL.get(what).ok_or_else(unknown)?;
                match term.kind == FlowTermKind::Has as u8 {
                    true => matching.has(layer, header),
                    false => matching.lacks(layer, header),
                }
            }
            .map_err(|e| Fault::term(i, e))?;
        }
        Ok(matching)
    }

    /// What the rule does, with `context` for its RSS action.
    ///
    /// # Errors
    /// A number is not possible.
    pub(super) fn actions(&self, context: Option<u16>) -> Result<Vec<Action>, Fault> {
        let translated = self.actions.iter().enumerate();
        translated.map(|(i, action)| action.in_tables(context, self.vxlan).map_err(|e| e.at(i))).collect()
    }

    /// The RSS context that it needs, and which action needs it.
    pub(super) fn rss(&self) -> Option<(usize, Context)> {
        let at = self.actions.iter().position(|action| action.act == FlowAct::Rss as u8)?;
        let conf = self.rss?;
        Some((at, Context { key: conf.key().to_vec(), fields: conf.hash, table: conf.table().to_vec() }))
    }
}

impl Fault {
    fn at(self, index: usize) -> Fault {
        Fault { index: index as u32, ..self }
    }
}

impl FlowAction {
    fn in_tables(&self, context: Option<u16>, vxlan: Option<&FlowVxlan>) -> Result<Action, Fault> {
        let wrong = |text: String| Fault::new(FlowPart::Action, 0, libc::EINVAL, text);
        let short = |number: u32, what| {
            u16::try_from(number).map_err(|_| wrong(format!("{what} {number}; 0 to 65535 are allowed")))
        };
        let act = FlowAct::ALL.get(usize::from(self.act)).ok_or_else(|| wrong("no such action".into()))?;
        Ok(match act {
            FlowAct::Queue => Action::Queue(short(self.a, "queue")?),
            FlowAct::Rss => Action::Rss(context.ok_or_else(|| wrong("RSS without a context".into()))?),
            FlowAct::Drop => Action::Drop,
            FlowAct::Jump => Action::Jump(short(self.a, "group")?),
            FlowAct::Mark if self.a > LAST_MARK => {
                return Err(wrong(format!("mark {:#x}; 0 to {LAST_MARK:#x} are allowed", self.a)));
            }
            FlowAct::Mark => Action::Mark(self.a + 1),
            FlowAct::Flag => Action::Mark(FLAG),
            FlowAct::Meta => Action::Meta { value: self.a, mask: self.b },
            FlowAct::Tag => {
                Action::Tag { index: u8::try_from(self.c).unwrap_or(u8::MAX), value: self.a, mask: self.b }
            }
            FlowAct::Count => Action::Count,
            FlowAct::Age => Action::Age(self.a.saturating_mul(TICKS)),
            FlowAct::Set => {
                let field = usize::try_from(self.a).ok().and_then(|at| Field::ALL.get(at));
                let field = *field.ok_or_else(|| wrong("no such field".into()))?;
                Action::Set { field, value: u128::from_be_bytes(self.value) }
            }
            FlowAct::DecTtl => Action::DecTtl,
            FlowAct::VxlanDecap => Action::VxlanDecap,
            FlowAct::VxlanEncap => {
                let vxlan = vxlan.ok_or_else(|| wrong("VXLAN without headers".into()))?;
                Action::VxlanEncap(vxlan.in_tables())
            }
        })
    }
}

/// What an RSS context is made of: two rules that ask for the same share one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Context {
    key: Vec<u8>,
    fields: u32,
    table: Vec<u16>,
}

impl Context {
    /// # Errors
    /// Key or table are not possible.
    pub(super) fn made(&self) -> Result<Rss, String> {
        let rss = Rss::new(&self.key, &self.table).map_err(|e| e.to_string())?;
        Ok(rss.with_fields(Fields::from_bits(self.fields)))
    }
}

/// # Safety
/// `first` is the first of `n` that stay for `'a`, or `n` is 0.
unsafe fn slice<'a, T>(first: *const T, n: u32) -> &'a [T] {
    // SAFETY: the caller's.
    if n == 0 { &[] } else { unsafe { core::slice::from_raw_parts(first, n as usize) } }
}
