//! What a rule that the driver has written down is in the flow tables.

use core::net::IpAddr;

use flow::{Action, Field, Header, Layer, Match, Vxlan};
use packet::{Fields, Rss};

use super::clock::TICKS;
use super::fault::{Fault, FlowPart};
use super::raw::{FLAG, FlowAct, FlowAction, FlowRule, FlowTerm, FlowTermKind, FlowVxlan, LAST_MARK};
use super::shared::SharedActions;
use crate::rss::RssConf;

/// A rule of the driver's.
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

    /// What the rule does, with `context` for its RSS action and what it shares with others.
    ///
    /// # Errors
    /// A number is not possible.
    pub(super) fn actions(&self, context: Option<u16>, shared: &SharedActions) -> Result<Vec<Action>, Fault> {
        let translate = |action: &FlowAction| match action.shared() {
            Some(name) => shared.action(name),
            None => action.in_tables(context, self.vxlan),
        };
        let translated = self.actions.iter().enumerate();
        translated.map(|(i, action)| translate(action).map_err(|e| e.at(i))).collect()
    }

    /// Names of the actions that it shares with other rules.
    pub(super) fn shared(&self) -> Vec<u64> {
        self.actions.iter().filter_map(FlowAction::shared).collect()
    }

    /// Its action, where there is one alone.
    pub(super) fn only(&self) -> Option<&FlowAction> {
        if let [only] = self.actions { Some(only) } else { None }
    }

    /// Ticks after which the rule is old; 0 for never.
    pub(super) fn timeout(&self) -> u32 {
        let age = self.actions.iter().rfind(|action| action.act == FlowAct::Age as u8);
        age.map_or(0, |action| action.a.saturating_mul(TICKS))
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
        Fault { part: FlowPart::Action, index: index as u32, ..self }
    }
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

impl FlowAction {
    /// The name of an action that rules share, if it is one.
    fn shared(&self) -> Option<u64> {
        let is = self.act == FlowAct::Shared as u8;
        is.then_some(u64::from(self.b) << 32 | u64::from(self.a))
    }

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
            FlowAct::Shared => return Err(wrong("an indirect action in an indirect action".into())),
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
