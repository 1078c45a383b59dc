//! What a fuzzer feeds; the same functions run in `cargo test` over random bytes.

use crate::action::Action;
use crate::limits::Limits;
use crate::testing;
use crate::text::{self, RuleFile, Spread, TextRule};
use crate::writer::Writer;

/// Rule programs and frames from any bytes, against the reference. The first byte chooses how much room there is.
///
/// # Panics
/// A verdict, a count or an error differs.
pub fn program(bytes: &[u8]) {
    let Some((room, script)) = bytes.split_first() else { return };
    let mut limits = Limits { groups: 4, ..Limits::for_rules(u32::from(*room) + 1) };
    limits.tuples = u32::from(*room / 8) + 1;
    limits.records = u32::from(*room / 4);
    testing::run(limits, &testing::decode(script));
}

/// What rule files are made of, so that some lines are good: words and whole parts of commands.
const WORDS: &str = "\n|flow|create|validate|destroy|flush|query|rule|count|0|1|2|3|7|group|priority|ingress|pattern|\
    eth|vlan|ipv4|ipv6|tcp|udp|sctp|icmp|icmp6|gre|gre_key|vxlan|geneve|mpls|meta|tag|any|void|dst|src|type|has_vlan|\
    tci|vid|pcp|inner_type|proto|tos|ttl|fragment_offset|flags|protocol|value|vni|label|data|index|is|spec|mask|last|\
    prefix|10.0.0.1|10.0.0.9|255.255.0.0|::1|02:00:00:00:00:01|0x3fff|65535|/|end|actions|queue|rss|queues|types|key|\
    func|toeplitz|drop|mark|id|flag|set_meta|set_tag|jump|age|timeout|set_ipv4_src|ipv4_addr|set_ipv6_dst|ipv6_addr|\
    set_mac_src|mac_addr|set_tp_dst|port|set_ttl|ttl_value|dec_ttl|vxlan_decap|vxlan_encap|set|vxlan-tos-ttl|ip-version|udp-src|\
    ip-src|ip-dst|ip-tos|ip-ttl|eth-src|eth-dst|show|#|é|\0|-1|18446744073709551616|flow create 0 pattern eth / ipv4|\
    / end actions|/ end\n|/ end actions drop / end\n|flow create 0 ingress pattern|udp dst is|queue index 3 / end\n|\
    count /";

/// More entries than this are not put into tables, for time's sake.
const FEW: usize = 4096;

/// Any bytes as a file of rules: as text, or words by number, as the first byte says. What is refused is so at a place of
/// the file. What is read fits into tables, and is printed as commands that are read as the same rules.
///
/// # Panics
/// One of these is not so.
pub fn rules(bytes: &[u8]) {
    let Some((how, rest)) = bytes.split_first() else { return };
    let text = if how % 2 == 0 { String::from_utf8_lossy(rest).into_owned() } else { of_words(rest) };
    let file = match text::read(&text) {
        Ok(file) => file,
        Err(error) => {
            let line = text.lines().nth(error.line as usize - 1);
            let places = line.map_or(0, |line| line.chars().count() + 1);
            assert!((1..=places).contains(&(error.column as usize)), "{error}");
            return assert!(!error.what.is_empty() && !error.what.contains('\n'), "{error}");
        }
    };
    if file.entries().count() <= FEW {
        let kept = Writer::new(file.limits())
            .and_then(|mut tables| file.entries().try_for_each(|(_, rule)| tables.insert(&rule).map(|_| ())));
        assert_eq!(kept, Ok(()), "{text:?}");
    }
    let printed = file.to_string();
    let again = text::read(&printed).unwrap_or_else(|error| panic!("{error}, of {printed:?}"));
    let all = |file: &RuleFile| file.rules.iter().map(|rule| essence(file, rule)).collect::<Vec<_>>();
    assert_eq!(all(&again), all(&file), "{printed:?}");
}

fn of_words(numbers: &[u8]) -> String {
    let words: Vec<&str> = WORDS.split('|').collect();
    let words: Vec<&str> = numbers.iter().map(|n| words[usize::from(*n) % words.len()]).collect();
    words.join(" ")
}

/// A rule without its number and line, and the spreads of its actions, which may have other numbers in another file.
fn essence(file: &RuleFile, rule: &TextRule) -> (TextRule, Vec<Spread>) {
    let mut rule = TextRule { number: 0, line: 0, queried: false, ..rule.clone() };
    let mut spreads = Vec::new();
    for action in &mut rule.actions {
        if let Action::Rss(index) = action {
            spreads.extend(file.spreads.get(usize::from(*index)).cloned());
            *index = 0;
        }
    }
    (rule, spreads)
}
