//! Rules as commands again.

use core::fmt;

use super::{RuleFile, TextRule};
use crate::action::{Action, Vxlan};

/// The commands that lead to these rules: a `flow create` for each, behind a `set vxlan` where it puts VXLAN on. Read
/// again they are the same rules, numbered from 0.
impl fmt::Display for RuleFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rules.iter().try_for_each(|rule| {
            if let Some(vxlan) = rule.vxlan() {
                set(vxlan, f)?;
            }
            writeln!(f, "{rule}")
        })
    }
}

/// The `flow create` of the rule. What `vxlan_encap` puts on stands in a command of its own.
impl fmt::Display for TextRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TextRule { group, priority, pattern, does, .. } = self;
        write!(f, "flow create 0 group {group} priority {priority} ingress pattern ")?;
        list(pattern, f)?;
        write!(f, " actions ")?;
        list(does, f)
    }
}

impl TextRule {
    fn vxlan(&self) -> Option<&Vxlan> {
        self.actions.iter().find_map(|a| if let Action::VxlanEncap(vxlan) = a { Some(vxlan) } else { None })
    }
}

/// Items or actions, and their end.
fn list(items: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if items.is_empty() { write!(f, "end") } else { write!(f, "{items} / end") }
}

fn set(vxlan: &Vxlan, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Vxlan { ethernet: [to, from], src, dst, tos, ttl, sport, vni } = vxlan;
    let version = if src.is_ipv4() { "ipv4" } else { "ipv6" };
    write!(f, "set vxlan ip-version {version} vni {vni} udp-src {sport} ip-tos {tos} ip-ttl {ttl}")?;
    write!(f, " ip-src {src} ip-dst {dst}")?;
    for (name, [a, b, c, d, e, g]) in [("eth-src", from), ("eth-dst", to)] {
        write!(f, " {name} {a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")?;
    }
    writeln!(f)
}
