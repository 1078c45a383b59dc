//! Lists of actions.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::value::Form;
use super::words::{TextError, Word, Words};
use crate::action::{Action, Plan, Vxlan};
use crate::error::Error;
use crate::field::{Field, Header, Layer};
use crate::matching::Match;

/// Frames spread over queues by RSS, as an action asks for it. Types, key and level are kept as the file has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// The queues; none of them means all.
    pub queues: Vec<u16>,
    /// What else it says: function, level, types, key.
    pub how: String,
}

/// An action but those with a form of their own.
struct Simple {
    name: &'static str,
    /// What it needs, in any order.
    needs: &'static [(&'static str, Form)],
    /// The actions with these values.
    make: fn(&[u128]) -> Vec<Action>,
}

const fn simple(
    name: &'static str,
    needs: &'static [(&'static str, Form)],
    make: fn(&[u128]) -> Vec<Action>,
) -> Simple {
    Simple { name, needs, make }
}

fn set(fields: &[Field], value: u128) -> Vec<Action> {
    fields.iter().map(|field| Action::Set { field: *field, value }).collect()
}

const N8: Form = Form::Number(8);
const N16: Form = Form::Number(16);
const N32: Form = Form::Number(32);

const SIMPLE: &[Simple] = &[
    simple("void", &[], |_| Vec::new()),
    simple("queue", &[("index", N16)], |v| vec![Action::Queue(v[0] as u16)]),
    simple("drop", &[], |_| vec![Action::Drop]),
    simple("jump", &[("group", N16)], |v| vec![Action::Jump(v[0] as u16)]),
    simple("mark", &[("id", N32)], |v| vec![Action::Mark(v[0] as u32)]),
    // A mark of which only that it is there counts.
    simple("flag", &[], |_| vec![Action::Mark(0)]),
    simple("count", &[], |_| vec![Action::Count]),
    simple("age", &[("timeout", Form::Number(24))], |v| vec![Action::Age(v[0] as u32)]),
    simple("set_meta", &[("data", N32), ("mask", N32)], |v| {
        vec![Action::Meta { value: v[0] as u32, mask: v[1] as u32 }]
    }),
    simple("set_tag", &[("data", N32), ("index", N8), ("mask", N32)], |v| {
        vec![Action::Tag { index: v[1] as u8, value: v[0] as u32, mask: v[2] as u32 }]
    }),
    simple("set_ipv4_src", &[("ipv4_addr", Form::Ipv4)], |v| set(&[Field::Ipv4Src], v[0])),
    simple("set_ipv4_dst", &[("ipv4_addr", Form::Ipv4)], |v| set(&[Field::Ipv4Dst], v[0])),
    simple("set_ipv6_src", &[("ipv6_addr", Form::Ipv6)], |v| set(&[Field::Ipv6Src], v[0])),
    simple("set_ipv6_dst", &[("ipv6_addr", Form::Ipv6)], |v| set(&[Field::Ipv6Dst], v[0])),
    simple("set_tp_src", &[("port", N16)], |v| set(&[Field::TcpSrc, Field::UdpSrc], v[0])),
    simple("set_tp_dst", &[("port", N16)], |v| set(&[Field::TcpDst, Field::UdpDst], v[0])),
    simple("set_mac_src", &[("mac_addr", Form::Mac)], |v| set(&[Field::EthSrc], v[0])),
    simple("set_mac_dst", &[("mac_addr", Form::Mac)], |v| set(&[Field::EthDst], v[0])),
    simple("set_ttl", &[("ttl_value", N8)], |v| set(&[Field::Ipv4Ttl, Field::Ipv6Hops], v[0])),
    simple("dec_ttl", &[], |_| vec![Action::DecTtl]),
    simple("vxlan_decap", &[], |_| vec![Action::VxlanDecap]),
];

/// Actions with a form of their own, behind [`SIMPLE`], and the end of the list.
const OTHERS: [&str; 3] = ["rss", "vxlan_encap", "end"];

/// Words of `rss` that take one more word.
const RSS_WORDS: [&str; 4] = ["func", "level", "key", "key_len"];
const RSS_FUNCTIONS: [&str; 4] = ["default", "toeplitz", "simple_xor", "symmetric_toeplitz"];

/// What a file has said before that lists refer to.
pub(super) struct Known<'k> {
    /// RSS contexts so far.
    pub(super) spreads: &'k mut Vec<Spread>,
    /// What `vxlan_encap` puts on.
    pub(super) vxlan: Vxlan,
}

/// Reads actions up to their `end`, which it gives too. They have to be allowed beside `matching`.
pub(super) fn read<'a>(
    words: &mut Words<'a>,
    matching: &Match,
    known: &mut Known<'_>,
) -> Result<(Vec<Action>, Word<'a>), TextError> {
    let mut list: Vec<(Action, Word<'a>)> = Vec::new();
    let end = loop {
        let names = SIMPLE.iter().map(|action| action.name).chain(OTHERS);
        let (index, word) = words.choose("action", names)?;
        let new = match SIMPLE.get(index) {
            Some(simple) => (simple.make)(&needs(words, simple)?),
            None if word.text == "rss" => vec![rss(words, known)?],
            None if word.text == "vxlan_encap" => {
                words.expect("/")?;
                vec![Action::VxlanEncap(known.vxlan)]
            }
            None => break word,
        };
        for action in new {
            // As testpmd says: of several of one type the last one counts.
            list.retain(|(old, _)| !same(old, &action));
            list.push((action, word));
        }
    };
    let decap = list.iter().any(|(action, _)| *action == Action::VxlanDecap);
    if !decap {
        leave_out_others(&mut list, matching)?;
    }
    let actions: Vec<Action> = list.iter().map(|(action, _)| *action).collect();
    match Plan::new(&actions, matching) {
        Ok(_) => Ok((actions, end)),
        Err(Error::Action { index, why }) => Err(list.get(index).map_or(end, |(_, word)| *word).wrong(why)),
        Err(error) => Err(end.wrong(error)),
    }
}

/// The values that an action needs, in the order of its table, up to the slash behind it.
fn needs(words: &mut Words<'_>, action: &Simple) -> Result<Vec<u128>, TextError> {
    let mut values = vec![None; action.needs.len()];
    loop {
        let names = action.needs.iter().map(|(name, _)| *name).chain(["/"]);
        let (index, word) = words.choose(&format!("word of `{}`", action.name), names)?;
        let Some((_, form)) = action.needs.get(index) else {
            let missing = action.needs.iter().zip(&values).find(|(_, value)| value.is_none());
            return match missing {
                Some(((name, _), _)) => Err(word.wrong(format!("`{}` needs `{name}`", action.name))),
                None => Ok(values.into_iter().flatten().collect()),
            };
        };
        values[index] = Some(form.read(words.take())?);
    }
}

/// Whether the later one of two actions replaces the other.
fn same(a: &Action, b: &Action) -> bool {
    match (a, b) {
        (Action::Tag { index: a, .. }, Action::Tag { index: b, .. }) => a == b,
        (Action::Set { field: a, .. }, Action::Set { field: b, .. }) => a == b,
        _ => core::mem::discriminant(a) == core::mem::discriminant(b),
    }
}

/// Leaves out what sets a field of the other of two headers, as `set_tp_src` does where the pattern asks for TCP.
fn leave_out_others(list: &mut Vec<(Action, Word<'_>)>, matching: &Match) -> Result<(), TextError> {
    let written: Vec<Word<'_>> = list.iter().map(|(_, word)| *word).collect();
    list.retain(|(action, _)| !is_of_another_header(action, matching));
    let lost = written.iter().find(|word| list.iter().all(|(_, kept)| kept.at() != word.at()));
    let why = "no frame with this pattern has what it sets; allowed: fields of its outer headers";
    lost.map_or(Ok(()), |word| Err(word.wrong(why)))
}

/// Whether it sets a field of a header that frames with `matching` do not have.
fn is_of_another_header(action: &Action, matching: &Match) -> bool {
    let Action::Set { field, .. } = action else { return false };
    let rival = match field.header() {
        Some(Header::Tcp) => Header::Udp,
        Some(Header::Udp) => Header::Tcp,
        Some(Header::Ipv4) => Header::Ipv6,
        Some(Header::Ipv6) => Header::Ipv4,
        _ => return false,
    };
    matching.asks_for(Layer::Outer, rival)
}

fn rss(words: &mut Words<'_>, known: &mut Known<'_>) -> Result<Action, TextError> {
    let (mut spread, mut how) = (Spread::default(), Vec::new());
    let first = words.peek();
    loop {
        let (index, word) =
            words.choose("word of `rss`", RSS_WORDS.into_iter().chain(["types", "queues", "/"]))?;
        match index {
            0 => how.push(format!("func {}", words.choose("hash function", RSS_FUNCTIONS)?.1.text)),
            1 | 3 => how.push(format!("{} {}", word.text, N32.read(words.take())?)),
            2 => how.push(format!("key {}", key(words.take())?)),
            4 => how.push(format!("types {}", listed(words, |word| Ok(word.text.to_string()))?.join(" "))),
            5 => spread.queues = listed(words, |word| Ok(N16.read(word)? as u16))?,
            _ => break,
        }
    }
    spread.how = how.join(" ");
    let found = known.spreads.iter().position(|known| *known == spread);
    let index = found.unwrap_or_else(|| {
        known.spreads.push(spread);
        known.spreads.len() - 1
    });
    let index = u16::try_from(index).map_err(|_| first.wrong("more than 65536 different RSS actions"))?;
    Ok(Action::Rss(index))
}

fn key(word: Word<'_>) -> Result<&str, TextError> {
    let hexadecimal = !word.text.is_empty() && word.text.chars().all(|c| c.is_ascii_hexdigit());
    if hexadecimal { Ok(word.text) } else { Err(word.wrong("allowed: a key in hexadecimal digits")) }
}

/// Words up to `end`.
fn listed<'a, T>(
    words: &mut Words<'a>,
    one: impl Fn(Word<'a>) -> Result<T, TextError>,
) -> Result<Vec<T>, TextError> {
    let mut all = Vec::new();
    while !words.take_if("end") {
        let word = words.take();
        if matches!(word.text, "" | "/") {
            return Err(word.wrong("the list has no `end`"));
        }
        all.push(one(word)?);
    }
    Ok(all)
}

/// What `vxlan_encap` puts on where the file does not say it: testpmd's own.
pub(super) const VXLAN: Vxlan = Vxlan {
    ethernet: [[0xff; 6], [0; 6]],
    src: IpAddr::V4(Ipv4Addr::LOCALHOST),
    dst: IpAddr::V4(Ipv4Addr::BROADCAST),
    tos: 0,
    ttl: 255,
    sport: 0,
    vni: 0,
};

/// Reads what follows `set vxlan`, the headers that `vxlan_encap` puts on from then on.
pub(super) fn vxlan(words: &mut Words<'_>) -> Result<Vxlan, TextError> {
    const NAMES: [&str; 10] = [
        "ip-version",
        "vni",
        "udp-src",
        "udp-dst",
        "ip-tos",
        "ip-ttl",
        "ip-src",
        "ip-dst",
        "eth-src",
        "eth-dst",
    ];
    let (mut vxlan, mut version) = (VXLAN, Form::Ipv4);
    while !words.peek().text.is_empty() {
        let (index, _) = words.choose("part of the header", NAMES)?;
        if index == 0 {
            (version, vxlan) = match words.choose("version of IP", ["ipv4", "ipv6"])?.0 {
                0 => (Form::Ipv4, vxlan),
                _ => {
                    let [src, dst] = [1, 0x1111].map(|last| IpAddr::V6(Ipv6Addr::from_bits(last)));
                    (Form::Ipv6, Vxlan { src, dst, ..vxlan })
                }
            };
            continue;
        }
        let word = words.take();
        let number = |bits| Form::Number(bits).read(word);
        match index {
            1 => vxlan.vni = number(24)? as u32,
            2 => vxlan.sport = number(16)? as u16,
            3 if number(16)? != 4789 => return Err(word.wrong("allowed: 4789, the port of VXLAN")),
            3 => {}
            4 => vxlan.tos = number(8)? as u8,
            5 => vxlan.ttl = number(8)? as u8,
            6 => vxlan.src = ip(version, word)?,
            7 => vxlan.dst = ip(version, word)?,
            8 => vxlan.ethernet[1] = mac(word)?,
            _ => vxlan.ethernet[0] = mac(word)?,
        }
    }
    Ok(vxlan)
}

fn ip(version: Form, word: Word<'_>) -> Result<IpAddr, TextError> {
    let value = version.read(word)?;
    Ok(match version {
        Form::Ipv4 => IpAddr::V4(Ipv4Addr::from_bits(value as u32)),
        _ => IpAddr::V6(Ipv6Addr::from_bits(value)),
    })
}

fn mac(word: Word<'_>) -> Result<[u8; 6], TextError> {
    let [_, _, address @ ..] = (Form::Mac.read(word)? as u64).to_be_bytes();
    Ok(address)
}
