//! Rules and frames of a small world, in which most of them meet.

use core::net::IpAddr;

use crate::action::{Action, Vxlan};
use crate::error::Error;
use crate::field::{Field, Header, Layer};
use crate::key::Key;
use crate::matching::Match;
use crate::rule::Rule;

/// What a rule asks for, by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Which fields.
    pub kind: u8,
    /// Their values.
    pub value: u8,
    /// How many bits of them.
    pub bits: u8,
}

/// What a rule does, by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acts {
    /// Its fate.
    pub fate: u8,
    /// What else it does, a bit each.
    pub extra: u8,
    /// The values.
    pub value: u8,
}

/// A rule by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Its group.
    pub group: u8,
    /// Its priority.
    pub priority: u8,
    /// Its match.
    pub ask: Ask,
    /// Its actions.
    pub acts: Acts,
}

/// A frame by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Which headers it has.
    pub kind: u8,
    /// Values of its fields.
    pub value: u8,
    /// More of them.
    pub more: u8,
}

impl Draft {
    /// The rule.
    ///
    /// # Errors
    /// No frame has what it asks for.
    pub fn rule(&self) -> Result<Rule<'static>, Error> {
        Ok(Rule {
            group: (self.group % 5).into(),
            priority: (self.priority % 3).into(),
            matching: self.ask.matching()?,
            actions: self.acts.actions().into(),
        })
    }
}

impl Ask {
    /// The match.
    ///
    /// # Errors
    /// No frame has what it asks for.
    pub fn matching(&self) -> Result<Match, Error> {
        use Field::*;
        use Layer::{Inner, Outer};
        let any = Match::any();
        let [a, b, c, d] = [0, 2, 4, 6].map(|shift| u128::from(self.value >> shift & 3));
        let net = |a| u128::from(10_u8) << 24 | a;
        match self.kind % 21 {
            0 => Ok(any),
            1 => any.prefix(Outer, Ipv4Dst, net(a), u32::from(self.bits) % 34),
            2 => any.prefix(Outer, Ipv6Dst, a, 120 + u32::from(self.bits) % 9),
            3 => tuple(Outer, Ipv4Src, Ipv4Dst, net(0)..net(0), [a, b, c, d]),
            4 => tuple(Outer, Ipv6Src, Ipv6Dst, 0..0, [a, b, c, d]),
            5 => any.masked(Outer, VlanTci, a, u128::from(self.bits)),
            6 => any.field(Outer, EthDst, a)?.field(Outer, EthSrc, b),
            7 => any.field(Outer, Meta, a),
            8 => any.field(Outer, Tag0, a)?.masked(Outer, Tag2, b, u128::from(self.bits)),
            9 => any.field(Outer, VxlanVni, a)?.field(Inner, Ipv4Dst, net(b)),
            10 => tuple(Inner, Ipv4Src, Ipv4Dst, net(0)..net(0), [a, b, c, d])?.has(Outer, Header::Vxlan),
            11 => any.lacks(Outer, Header::ALL[usize::from(self.bits % 16)]),
            12 => any.has(Outer, Header::ALL[usize::from(self.bits % 16)]),
            13 => any.masked(Outer, UdpDst, a, u128::from(self.bits)),
            14 => any.field(Outer, TcpFlags, a)?.field(Outer, EthType, 0x0800),
            15 => any.field(Outer, IcmpType, a)?.field(Outer, IcmpSeq, b),
            16 => any.field(Outer, SctpTag, a)?.field(Outer, SctpDst, b),
            17 => any.field(Outer, GreKey, a)?.field(Outer, GreProto, 0x0800),
            18 => any.field(Outer, MplsLabel, a)?.field(Outer, MplsBottom, b & 1),
            // What is left of the 64 of each frame.
            19 => any.field(Outer, Ipv4Ttl, 64 - a),
            // As wide as a mask gets, and wider.
            _ => wide(self.bits % 4, a, b),
        }
    }
}

fn tuple(
    layer: Layer,
    src: Field,
    dst: Field,
    base: core::ops::Range<u128>,
    v: [u128; 4],
) -> Result<Match, Error> {
    let addresses = Match::any().field(layer, src, base.start | v[0])?.field(layer, dst, base.end | v[1])?;
    addresses.field(layer, Field::UdpSrc, v[2])?.field(layer, Field::UdpDst, v[3])
}

fn wide(how: u8, a: u128, b: u128) -> Result<Match, Error> {
    use Field::*;
    let mut matching = Match::any();
    let layers: &[Layer] = if how > 1 { &[Layer::Outer, Layer::Inner] } else { &[Layer::Outer] };
    for layer in layers {
        let outer = *layer == Layer::Outer;
        matching = match outer {
            true => matching.field(*layer, Ipv6Src, a)?.field(*layer, Ipv6Dst, b)?,
            false => matching.field(*layer, Ipv4Src, 10 << 24 | a)?.field(*layer, Ipv4Dst, 10 << 24 | b)?,
        };
        matching = matching.field(*layer, UdpDst, if outer { 4789 } else { b })?;
        if how % 2 == 1 {
            matching = matching.field(*layer, EthDst, a)?.field(*layer, EthSrc, b)?;
            matching = matching.field(*layer, EthType, if outer { 0x86dd } else { 0x0800 })?;
            matching = matching.field(*layer, if outer { Ipv6Hops } else { Ipv4Ttl }, 64)?;
        }
    }
    if how > 2 {
        matching = matching.field(Layer::Outer, VxlanVni, a)?.field(Layer::Outer, VxlanFlags, 8)?;
        matching = matching.field(Layer::Outer, Meta, 0)?.field(Layer::Outer, Tag1, 0)?;
    }
    Ok(matching)
}

impl Acts {
    /// The actions, not all of them allowed.
    pub fn actions(&self) -> Vec<Action> {
        let value = self.value;
        let small = u32::from(value & 3);
        let extra = [
            Action::Mark(small),
            Action::Count,
            Action::Meta { value: small, mask: 3 },
            Action::Tag { index: value & 3, value: small, mask: u32::MAX },
            Action::Age(u32::from(value)),
            match value & 4 {
                0 => Action::Set {
                    field: Field::Ipv4Dst,
                    value: u128::from(10_u8) << 24 | u128::from(value & 3),
                },
                _ => Action::DecTtl,
            },
            Action::VxlanDecap,
            Action::VxlanEncap(vxlan(value)),
        ];
        // Most rules do little beside their fate.
        let chosen = if self.extra < 128 { self.extra & 3 } else { self.extra << 1 | 2 };
        let mut list: Vec<Action> =
            (0..8).zip(extra).filter(|(bit, _)| chosen >> bit & 1 == 1).map(|(_, a)| a).collect();
        match self.fate % 9 {
            0..=2 => list.push(Action::Queue(value.into())),
            3 => list.push(Action::Rss(value.into())),
            4 => list.push(Action::Drop),
            5..=7 => list.insert(0, Action::Jump((value % 6).into())),
            _ => {}
        }
        list
    }
}

fn vxlan(value: u8) -> Vxlan {
    let address = |last| IpAddr::from([192, 0, 2, last]);
    Vxlan {
        ethernet: [[2; 6], [4; 6]],
        src: address(1),
        dst: address(2),
        tos: 0,
        ttl: 64,
        sport: 0,
        vni: value.into(),
    }
}

impl Shape {
    /// The frame.
    pub fn frame(&self) -> Vec<u8> {
        let [a, b, c, d] = [0, 2, 4, 6].map(|shift| self.value >> shift & 3);
        let mut f = vec![0, 0, 0, 0, 0, a, 0, 0, 0, 0, 0, b];
        if self.kind & 0x10 != 0 {
            f.extend([0x81, 0, 0, self.more & 3]);
        }
        match self.kind % 16 {
            0..=3 => ipv4(&mut f, 17, [a, b], &udp(c, d)),
            4 => ipv6(&mut f, [a, b], &udp(c, d)),
            5 => ipv4(&mut f, 6, [a, b], &[0, c, 0, d, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, self.more & 3, 0, 0]),
            6 => ipv4(&mut f, 1, [a, b], &[c, 0, 0, 0, 0, 0, 0, d]),
            7 => ipv4(&mut f, 132, [a, b], &[0, c, 0, d, 0, 0, 0, self.more & 3]),
            8 => ipv4(&mut f, 47, [a, b], &self.gre(c, d)),
            9 => f.extend([0x88, 0x47, 0, 0, self.more << 4, c & 1, 0, 0]),
            10..=12 => ipv4(&mut f, 17, [a, b], &self.tunnel(4789, &[8, 0, 0, 0, 0, 0, self.more & 3, 0])),
            13 => ipv4(&mut f, 17, [a, b], &self.tunnel(6081, &[0, 0, 0x65, 0x58, 0, 0, self.more & 3, 0])),
            14 => ipv6(&mut f, [a, b], &self.tunnel(4789, &[8, 0, 0, 0, 0, 0, a, 0])),
            _ => f.truncate(self.more.into()),
        }
        f
    }

    /// Its key.
    pub fn key(&self) -> Key {
        let frame = self.frame();
        Key::read(&frame, &packet::parse(&frame))
    }

    fn gre(&self, c: u8, d: u8) -> Vec<u8> {
        let mut gre = vec![0x20, 0, 8, 0, 0, 0, 0, self.more & 3];
        let mut inner = Vec::new();
        ipv4(&mut inner, 17, [c, d], &udp(d, c));
        gre.extend(&inner[2..]);
        gre
    }

    fn tunnel(&self, port: u16, header: &[u8; 8]) -> Vec<u8> {
        let [a, b, c, d] = [0, 2, 4, 6].map(|shift| self.more >> shift & 3);
        let mut all = [&udp(1, 2)[..], header].concat();
        all[2..4].copy_from_slice(&port.to_be_bytes());
        all.extend([0, 0, 0, 0, 0, a, 0, 0, 0, 0, 0, b]);
        ipv4(&mut all, 17, [a, b], &udp(c, d));
        all
    }
}

fn udp(src: u8, dst: u8) -> [u8; 8] {
    [0, src, 0, dst, 0, 8, 0, 0]
}

/// Type, IPv4 header between hosts of 10.0.0.0, payload.
fn ipv4(f: &mut Vec<u8>, proto: u8, ends: [u8; 2], payload: &[u8]) {
    f.extend([8, 0, 0x45, 0, 0, 20 + payload.len() as u8, 0, 1, 0, 0, 64, proto, 0, 0]);
    f.extend([10, 0, 0, ends[0], 10, 0, 0, ends[1]]);
    f.extend(payload);
}

fn ipv6(f: &mut Vec<u8>, ends: [u8; 2], payload: &[u8]) {
    f.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, payload.len() as u8, 17, 64]);
    for end in ends {
        f.extend([[0; 15].as_slice(), &[end]].concat());
    }
    f.extend(payload);
}
