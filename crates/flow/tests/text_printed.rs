//! Rule files that are printed and read again, and any bytes as one.

#![allow(clippy::unwrap_used, reason = "tests")]

use flow::fuzz;
use flow::text::read;
use proptest::prelude::*;

#[test]
fn a_file_is_printed_as_commands() {
    let text = "\
set vxlan ip-version ipv6 vni 7 udp-src 9 ip-src ::2 eth-src 02:00:00:00:00:01 # what is put on
flow create 3 priority 2 ingress  pattern eth / ipv4 src is 10.0.0.1 / end actions count / drop / end
flow create 3 pattern end actions queue index 1 / end
flow destroy 3 rule 0
flow create 3 group 4 pattern udp / end actions vxlan_encap / rss queues 1 2 end / end
";
    let printed = "\
flow create 0 group 0 priority 0 ingress pattern end actions queue index 1 / end
set vxlan ip-version ipv6 vni 7 udp-src 9 ip-tos 0 ip-ttl 255 ip-src ::2 ip-dst ::1111 eth-src 02:00:00:00:00:01 eth-dst ff:ff:ff:ff:ff:ff
flow create 0 group 4 priority 0 ingress pattern udp / end actions vxlan_encap / rss queues 1 2 end / end
";
    assert_eq!(read(text).unwrap().to_string(), printed);
    assert_eq!(read(printed).unwrap().to_string(), printed);
}

#[test]
fn fuzz_smoke_of_rules() {
    let mut good = vec![0];
    good.extend(include_bytes!("../../../experiments/flow/example.flow"));
    fuzz::rules(&good);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fuzz_smoke_of_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        fuzz::rules(&bytes);
    }
}
