//! Rule files: what good lines lead to, what bad ones are told, and verdicts against a list of rules.

#![allow(clippy::unwrap_used, reason = "a test")]

use flow::testing::{Reference, Shape};
use flow::text::{self, RuleFile};
use flow::{Action, Field, Header, Layer, Match, Writer};
use proptest::prelude::*;

fn read(text: &str) -> RuleFile {
    text::read(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The one match of the one rule with this pattern.
fn pattern(pattern: &str) -> Match {
    let file = read(&format!("flow create 0 ingress pattern {pattern} / end actions drop / end"));
    assert_eq!(file.rules[0].matches.len(), 1, "{pattern}");
    assert_eq!(file.rules[0].pattern, pattern);
    file.rules[0].matches[0]
}

fn actions(actions: &str) -> Vec<Action> {
    let pattern = "eth / ipv4 / udp / vxlan";
    read(&format!("flow create 0 pattern {pattern} / end actions {actions} / end")).rules[0].actions.clone()
}

#[test]
fn patterns_ask_for_headers_and_fields() {
    use Field::*;
    use Layer::{Inner, Outer};
    let has = |headers: &[(Layer, Header)]| {
        headers.iter().fold(Match::any(), |m, (layer, header)| m.has(*layer, *header).unwrap())
    };
    let ipv4 = has(&[(Outer, Header::Ethernet), (Outer, Header::Ipv4)]);
    let ten = 0x0a00_0001;
    for same in [
        "eth / ipv4 src is 10.0.0.1",
        "eth / void / ipv4 src spec 10.0.0.1 src mask 255.255.255.255",
        "eth / ipv4 src spec 10.0.0.1 src prefix 32",
        "eth / ipv4 src is 10.0.0.1 src last 10.0.0.1",
        "eth / ipv4 src is 10.0.0.1 src last 0",
        "eth / ipv4 src is 10.9.9.9 src is 10.0.0.1 / any",
    ] {
        assert_eq!(pattern(same), ipv4.field(Outer, Ipv4Src, ten).unwrap(), "{same}");
    }
    let prefix = ipv4.prefix(Outer, Ipv4Dst, 0x0a00_0000, 8).unwrap();
    assert_eq!(pattern("eth / ipv4 dst is 10.0.0.0 dst prefix 8"), prefix);
    assert_eq!(pattern("eth / ipv4 dst is 10.2.3.4 dst mask 0xff000000"), prefix);
    assert_eq!(pattern("eth / ipv4 src spec 10.0.0.1 src mask 0"), ipv4, "nothing is asked of the address");

    let vlan = has(&[(Outer, Header::Vlan)]).masked(Outer, VlanTci, 0xa007, 0xefff).unwrap();
    assert_eq!(pattern("vlan vid is 7 pcp is 5"), vlan);
    let qinq = has(&[(Outer, Header::Vlan), (Outer, Header::Qinq)]);
    let qinq = qinq.masked(Outer, VlanTci, 4, 0xfff).unwrap().field(Outer, QinqTci, 5).unwrap();
    assert_eq!(pattern("vlan vid is 4 / vlan tci is 5"), qinq);
    let untagged = has(&[(Outer, Header::Ethernet)]).lacks(Outer, Header::Vlan).unwrap();
    assert_eq!(pattern("eth has_vlan is 0"), untagged);
    assert_eq!(pattern("eth type is 0x0806"), untagged.field(Outer, EthType, 0x806).unwrap());
    let once = has(&[(Outer, Header::Vlan)]).lacks(Outer, Header::Qinq).unwrap();
    assert_eq!(pattern("vlan inner_type is 0x0800"), once.field(Outer, EthType, 0x800).unwrap());
    let whole = ipv4.lacks(Outer, Header::Fragment).unwrap();
    assert_eq!(pattern("eth / ipv4 fragment_offset spec 0 fragment_offset mask 0x3fff"), whole);
    let part = ipv4.has(Outer, Header::Fragment).unwrap();
    let range = "fragment_offset spec 1 fragment_offset last 0x3fff fragment_offset mask 0x3fff";
    assert_eq!(pattern(&format!("eth / ipv4 {range}")), part);

    let inner = has(&[(Outer, Header::Udp), (Inner, Header::Ethernet), (Inner, Header::Ipv6)]);
    let vxlan = inner.field(Outer, VxlanVni, 7).unwrap().field(Inner, TcpDst, 80).unwrap();
    assert_eq!(pattern("udp / vxlan vni is 7 / eth / ipv6 / tcp dst is 80"), vxlan);
    let gre = has(&[(Outer, Header::Gre), (Inner, Header::Ipv4), (Inner, Header::Gre)]);
    let gre = gre.field(Outer, GreKey, 9).unwrap().masked(Outer, GreFlags, 0x2000, 0x2000).unwrap();
    assert_eq!(pattern("gre k_bit is 1 / gre_key value is 9 / ipv4 / gre"), gre);
    let registers = Match::any().field(Outer, Tag2, 5).unwrap().masked(Outer, Meta, 1, 3).unwrap();
    assert_eq!(pattern("tag data is 5 index is 2 / meta data spec 5 data mask 3"), registers);
}

#[test]
fn ranges_become_masks() {
    let of = |pattern: &str| {
        let file = read(&format!("flow create 0 pattern {pattern} / end actions drop / end"));
        file.rules[0].matches.clone()
    };
    assert_eq!(of("udp dst is 0 dst last 65535").len(), 1);
    assert_eq!(of("udp dst is 1 dst last 65534").len(), 30);
    assert_eq!(of("udp dst is 1 dst last 65534 src is 1 src last 2").len(), 60);
    // The mask is of both ends.
    let wide = of("ipv4 src is 10.1.1.1 src last 10.2.3.4 src mask 255.255.0.0");
    assert_eq!(wide.len(), 2);
    let in_range = |address| wide.iter().any(|m| m.matches(&key(address)));
    let ends = [0x0a00_ffff, 0x0a01_0000, 0x0a02_ffff, 0x0a03_0000];
    assert_eq!(ends.map(in_range), [false, true, true, false]);
}

/// The key of an IPv4 frame with this source address.
fn key(address: u32) -> flow::Key {
    let mut frame = [0; 60];
    frame[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17]);
    frame[26..30].copy_from_slice(&address.to_be_bytes());
    flow::Key::read(&frame, &packet::parse(&frame))
}

#[test]
fn actions_are_taken_as_testpmd_says() {
    use Action::*;
    assert_eq!(actions("void / queue index 4 / mark id 7 / queue index 5"), [Mark(7), Queue(5)]);
    assert_eq!(actions("flag / count / age timeout 9 / drop"), [Mark(0), Count, Age(9), Drop]);
    assert_eq!(actions("set_meta data 1 mask 0xf / jump group 3"), [Meta { value: 1, mask: 15 }, Jump(3)]);
    let tags =
        "set_tag index 1 data 2 mask 3 / set_tag index 2 data 2 mask 3 / set_tag data 4 index 1 mask 3";
    let tag = |index, value| Tag { index, value, mask: 3 };
    assert_eq!(actions(&format!("{tags} / drop")), [tag(2, 2), tag(1, 4), Drop]);
    // The outer transport is UDP until the tunnel is taken off.
    let set = |field| Set { field, value: 80 };
    assert_eq!(actions("set_tp_dst port 80 / drop"), [set(Field::UdpDst), Drop]);
    let both = [VxlanDecap, set(Field::TcpDst), set(Field::UdpDst), Drop];
    assert_eq!(actions("vxlan_decap / set_tp_dst port 80 / drop"), both);
    assert_eq!(actions("set_ttl ttl_value 80 / drop"), [set(Field::Ipv4Ttl), Drop]);
    let mac = Set { field: Field::EthSrc, value: 0x0200_0000_0001 };
    assert_eq!(actions("set_mac_src mac_addr 02:00:00:00:00:01 / drop"), [mac, Drop]);

    let rule = |rss: &str| format!("flow create 0 pattern {rss} / end\n");
    let all = rule("vlan / end actions rss queues 1 2 end")
        + &rule("eth / end actions rss func toeplitz types ipv4 tcp end level 0 queues end")
        + &rule("ipv4 / end actions rss queues 1 2 end");
    let file = read(&all);
    assert_eq!(file.rules.iter().map(|r| r.actions[0]).collect::<Vec<_>>(), [Rss(0), Rss(1), Rss(0)]);
    assert_eq!(file.spreads[0].queues, [1, 2]);
    assert_eq!(
        (file.spreads[1].queues.len(), &*file.spreads[1].how),
        (0, "func toeplitz types ipv4 tcp level 0")
    );

    let encap = "flow create 0 pattern end actions vxlan_encap / drop / end\n";
    let header = "vni 5 udp-src 4 udp-dst 4789 ip-tos 1 ip-ttl 3 ip-src ::1 ip-dst ::2";
    let ethernet = "eth-src 11:11:11:11:11:11 eth-dst 22:22:22:22:22:22";
    let other = encap.replace("pattern end", "pattern eth / end");
    let file = read(&format!("{encap}set vxlan-tos-ttl ip-version ipv6 {header} {ethernet}\n{other}"));
    let VxlanEncap(usual) = file.rules[0].actions[0] else { panic!("{file:?}") };
    let VxlanEncap(set) = file.rules[1].actions[0] else { panic!("{file:?}") };
    assert_eq!((usual.vni, usual.src.to_string()), (0, "127.0.0.1".into()));
    assert_eq!((set.vni, set.sport, set.tos, set.ttl, set.dst.to_string()), (5, 4, 1, 3, "::2".into()));
    assert_eq!(set.ethernet, [[0x22; 6], [0x11; 6]]);
}

#[test]
fn commands_leave_rules_with_testpmds_numbers() {
    let create = |n: u32| format!("flow create 3 pattern udp dst is {n} / end actions count / drop / end\n");
    let numbers = |text: &str| read(text).rules.iter().map(|r| (r.number, r.line)).collect::<Vec<_>>();
    let three = create(1) + &create(2) + "\n# a comment\n" + &create(3);
    assert_eq!(numbers(&three), [(0, 1), (1, 2), (2, 5)]);
    // The number of the newest rule is free again, one before it is not. Unknown numbers are passed over.
    let less = three.clone() + "flow destroy 3 rule 0 rule 2 rule 99\n" + &create(4);
    assert_eq!(numbers(&less), [(1, 2), (2, 7)]);
    assert_eq!(numbers(&(three.clone() + "flow flush 3\n" + &create(3))), [(0, 7)]);
    assert_eq!(numbers(&three.replace("create", "validate")), []);
    let file = read(&(three + "flow query 3 1 count # later\nset verbose 1\nstart\nflow list 3"));
    assert_eq!(file.rules.iter().map(|r| r.queried).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(file.ignored, 3);
    assert_eq!(read("\r\n  # nothing\n"), RuleFile::default());
    let line =
        "flow create 0 group 7 priority 9 group 4 ingress pattern eth / end actions jump group 6 / end";
    let file = read(line);
    assert_eq!((file.rules[0].group, file.rules[0].priority, file.limits().groups), (4, 9, 7));
    assert_eq!((&*file.rules[0].pattern, &*file.rules[0].does), ("eth", "jump group 6"));
}

/// Bad lines: `^` is before the fault, and parts of what is said.
const BAD: [(&str, &[&str]); 49] = [
    ("^fly", &["`fly`", "allowed: flow, set vxlan"]),
    ("set ^corelist 1", &["`corelist`", "ignored: set verbose"]),
    ("flow^", &["the line ends here", "create, validate, destroy, flush, query"]),
    ("flow ^update 0 1 actions drop / end", &["`update`", "create, validate, destroy"]),
    ("flow create^", &["0 to 65535"]),
    ("flow create ^x", &["0 to 65535"]),
    ("flow create 0 ^egress pattern", &["`egress`", "group, priority, ingress, pattern"]),
    ("flow create 0 group ^65536 pattern", &["65535"]),
    ("flow create 0 priority ^-1 pattern", &["4294967295"]),
    ("flow create 0 pattern eth^", &["the line ends here", "dst, src, type, has_vlan, /"]),
    ("flow create 0 pattern eth / end^", &["allowed: actions"]),
    ("flow create 0 pattern eth / end actions drop^", &["the line ends here", "allowed: /"]),
    ("flow create 0 pattern eth / end actions drop / end ^more", &["`more`", "nothing more"]),
    ("flow create 0 pattern ^/ end actions", &["`/`", "eth, vlan"]),
    ("flow create 0 pattern ^ipv5 / end", &["`ipv5`", "ipv4, ipv6"]),
    ("flow create 0 pattern ^invert / eth / end", &["`invert`", "no item of a pattern"]),
    ("flow create 0 pattern ipv4 ^sport is 1 / end", &["`sport`", "src, dst, proto, tos, ttl"]),
    ("flow create 0 pattern ipv4 src ^10.0.0.1 / end", &["`10.0.0.1`", "is, spec, last, mask, prefix"]),
    ("flow create 0 pattern ipv4 src is ^10.0.0 / end", &["`10.0.0`", "an IPv4 address"]),
    ("flow create 0 pattern ipv4 ^src spec 10.0.0.1 / end", &["`src`", "without a mask"]),
    ("flow create 0 pattern ipv4 ^src mask 255.0.0.0 / end", &["`src`", "no value"]),
    ("flow create 0 pattern ipv4 src is 10.0.0.1 src prefix ^33 / end", &["`33`", "0 to 32 bits"]),
    ("flow create 0 pattern udp ^dst is 9 dst last 8 / end", &["ends before it begins"]),
    ("flow create 0 pattern udp ^dst is 9 dst last 80 dst mask 0xf0f / end", &["a mask with gaps"]),
    ("flow create 0 pattern tcp dst is 1 dst last 65534 / ^udp / end", &["out of order"]),
    ("flow create 0 pattern udp / ^ipv4 / end", &["`ipv4`", "out of order"]),
    ("flow create 0 pattern vlan / vlan / ^vlan / end", &["out of order"]),
    ("flow create 0 pattern mpls / ^ipv4 / end", &["out of order"]),
    ("flow create 0 pattern tcp / vxlan / ^gre_key / end", &["gre / gre_key"]),
    ("flow create 0 pattern vxlan / ipv4 / gre / ^eth / end", &["behind a second tunnel"]),
    ("flow create 0 pattern eth ^type is 0x8100 / vlan / end", &["0x8100", "an item vlan instead"]),
    ("flow create 0 pattern eth has_vlan is 0 / ^vlan / end", &["Vlan"]),
    ("flow create 0 pattern eth ^has_vlan spec 1 / end", &["`is 0` or `is 1`"]),
    ("flow create 0 pattern tag data is 1 ^index is 3 / end", &["`is 0` to `is 2`"]),
    ("flow create 0 pattern ipv4 ^fragment_offset is 0 / end", &["`mask 0x3fff`"]),
    ("flow create 0 pattern vlan tci is 1 ^vid is 2 / end", &["VlanTci", "another value"]),
    ("flow create 0 pattern end actions ^end", &["no fate"]),
    ("flow create 0 pattern end actions ^passthru / end", &["`passthru`", "no action"]),
    ("flow create 0 pattern end actions ^dec_tcp_seq / drop / end", &["`dec_tcp_seq`", "dec_ttl"]),
    ("flow create 0 pattern end actions queue ^/ end", &["`queue` needs `index`"]),
    ("flow create 0 pattern end actions mark id ^4294967296 / end", &["4294967295"]),
    ("flow create 0 pattern end actions drop / ^queue index 3 / end", &["a second fate"]),
    ("flow create 0 pattern end actions ^vxlan_decap / drop / end", &["does not ask for VXLAN"]),
    ("flow create 0 pattern ipv6 / end actions ^set_ipv4_src ipv4_addr 1.1.1.1 / drop / end", &["no frame"]),
    ("flow create 0 pattern end actions rss queues 1 2 ^/ end", &["no `end`"]),
    ("flow create 0 pattern end actions rss func ^crc / end", &["toeplitz"]),
    ("flow query 0 ^0 count", &["no such rule yet"]),
    ("flow destroy 0 ^3", &["allowed: rule"]),
    ("set vxlan ip-version ipv4 udp-dst ^4", &["4789"]),
];

#[test]
fn every_error_says_where_it_is_and_what_is_allowed() {
    for (marked, parts) in BAD {
        let (column, line) = (marked.find('^').unwrap() as u32 + 1, marked.replace('^', ""));
        let error = text::read(&format!("# one\n\n  {line}")).expect_err(&line);
        assert_eq!((error.line, error.column), (3, column + 2), "{line}: {error}");
        for part in parts {
            assert!(error.what.contains(part), "{line}: `{part}` is not in: {error}");
        }
    }
    let rule = "flow create 0 pattern eth / end actions drop / end\n";
    let twice = text::read(&rule.repeat(2)).unwrap_err();
    assert_eq!((twice.line, twice.column), (2, 23));
    assert!(twice.what.contains("rule 0 of line 1"), "{twice}");
    let query = text::read(&format!("{rule}flow query 0 0 count")).unwrap_err();
    assert!(query.what.contains("no action `count`"), "{query}");
    let ports = text::read(&format!("{rule}flow flush 1")).unwrap_err();
    assert!(ports.what.contains("another port; allowed: 0"), "{ports}");
    let wide = "ipv4 src is 0.0.0.1 src last 255.255.255.254 dst is 0.0.0.1 dst last 255.255.255.254";
    let wide = text::read(&format!("flow create 0 pattern {wide} / end actions drop / end")).unwrap_err();
    assert!(wide.what.contains("3844 masks and more; 1024 are allowed"), "{wide}");
}

/// Words that rule files are made of, so that some lines are good.
const WORDS: &str = "flow create validate destroy flush query rule count 0 0 0 1 2 3 7 group priority ingress pattern \
    eth vlan ipv4 ipv6 tcp udp sctp icmp icmp6 gre gre_key vxlan geneve mpls meta tag any void dst src type has_vlan tci \
    vid pcp inner_type proto tos ttl fragment_offset flags protocol value vni label data index is is spec mask last \
    prefix 10.0.0.1 10.0.0.9 255.255.0.0 ::1 02:00:00:00:00:01 0x3fff 65535 / / / / end end actions queue rss queues \
    drop mark id flag set_meta set_tag jump age timeout set_ipv4_src ipv4_addr set_tp_dst port vxlan_decap vxlan_encap \
    set ip-version # é \u{0} -1 18446744073709551616";

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC*|(flow create 0 pattern [a-z0-9 /:.]{0,60}\n){0,3}") {
        let _ = text::read(&text);
    }

    #[test]
    fn no_row_of_words_makes_it_panic(
        rows in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..25), 1..6),
    ) {
        let words: Vec<&str> = WORDS.split(' ').filter(|w| !w.is_empty()).collect();
        let line = |row: &Vec<prop::sample::Index>| {
            let more = row.iter().map(|at| *at.get(&words)).collect::<Vec<_>>().join(" ");
            format!("flow create 0 pattern {more}\n{more}")
        };
        let text = rows.iter().map(line).collect::<Vec<_>>().join("\n");
        match text::read(&text) {
            // What is read fits into tables.
            Ok(file) => drop(install(&file)),
            Err(error) => prop_assert!((1..=text.lines().count()).contains(&(error.line as usize)), "{}", error),
        }
    }
}

fn install(file: &RuleFile) -> Writer {
    let mut tables = Writer::new(file.limits()).unwrap();
    for (_, rule) in file.entries() {
        tables.insert(&rule).unwrap();
    }
    tables.commit();
    tables
}

/// Rules that meet the frames of `testing::Shape`.
const RULES: &str = "\
flow create 0 group 0 priority 5 pattern eth / ipv4 / udp / vxlan / end actions jump group 1 / end
flow create 0 priority 1 pattern eth / ipv4 src is 10.0.0.1 dst is 10.0.0.2 / udp src is 1 dst is 2 / end actions count / queue index 1 / end
flow create 0 priority 2 pattern eth / ipv4 dst is 10.0.0.0 dst prefix 31 / end actions set_meta data 3 mask 0xff / jump group 2 / end
flow create 0 priority 3 pattern udp dst is 1 dst last 2 / end actions rss queues 0 1 end / end
flow create 0 priority 4 pattern eth / vlan vid is 1 vid last 3 / end actions mark id 4 / drop / end
flow create 0 priority 4 pattern eth / ipv6 src is ::1 / end actions queue index 9 / end
flow create 0 priority 6 pattern eth / end actions queue index 15 / end
flow create 0 group 1 pattern udp / vxlan vni is 1 / eth dst is 00:00:00:00:00:01 / end actions vxlan_decap / jump group 3 / end
flow create 0 group 1 pattern udp / vxlan vni is 2 vni last 3 / eth / ipv4 src is 10.0.0.1 / udp / end actions mark id 2 / queue index 2 / end
flow create 0 group 2 pattern meta data is 3 / ipv4 / tcp flags spec 1 flags mask 1 / end actions drop / end
flow create 0 group 2 priority 1 pattern meta data is 3 / ipv4 / end actions set_ipv4_dst ipv4_addr 10.0.0.3 / queue index 8 / end
flow create 0 group 3 pattern ipv4 dst is 10.0.0.1 / udp dst is 2 dst last 3 / end actions queue index 3 / end
flow create 0 group 3 pattern ipv4 dst spec 10.0.0.0 dst mask 255.255.255.253 / end actions jump group 3 / end
";

proptest! {
    #[test]
    fn verdicts_are_those_of_a_list_of_rules(shapes in prop::collection::vec(any::<[u8; 3]>(), 1..70)) {
        let file = read(RULES);
        let tables = install(&file);
        let rules = file.entries().map(|(index, rule)| {
            (index as u32, flow::Rule { actions: rule.actions.into_owned().into(), ..rule })
        });
        let reference = Reference { rules: rules.collect() };
        let shapes = shapes.iter().map(|[kind, value, more]| Shape { kind: *kind, value: *value, more: *more });
        let mut keys: Vec<_> = shapes.map(|shape| shape.key()).collect();
        let (reader, expected) = (tables.reader(), keys.clone());
        let burst = reader.burst(0);
        let mut verdicts = Vec::new();
        let bytes = vec![60; keys.len()];
        burst.classify_all(&mut keys, &bytes, &mut verdicts);
        for ((mut key, found), verdict) in expected.into_iter().zip(&keys).zip(&verdicts) {
            let told = reference.classify(&mut key);
            prop_assert_eq!(verdict.ending, told.ending);
            prop_assert_eq!(verdict.mark, told.mark);
            prop_assert_eq!(verdict.edits().copied().collect::<Vec<_>>(), told.edits);
            prop_assert_eq!(&key, found);
        }
    }
}

#[test]
fn limits_are_just_enough() {
    let file = read(RULES);
    let tables = install(&file);
    assert_eq!(tables.len(), file.limits().rules);
    assert!(tables.bytes() as u64 <= file.limits().bytes());
    assert_eq!(file.rules.len(), 13);
    assert_eq!(file.entries().count(), 13 + 1 + 1);
}
