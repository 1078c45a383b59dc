//! The textual form of an interface: what is read is what is written, and what is wrong is named with what is allowed.

use memory::{Backing, Geometry, Region, Space};
use proptest::prelude::*;
use rings::{Host, Interface, Place, Role, Written};

const LAB: Place = Place { queues: 4, pollers: 4, descriptors: None, cached: None };
const DRIVER: Place = Place { queues: 4, pollers: 3, descriptors: Some(256), cached: None };

fn read(text: &str) -> Written {
    text.parse().unwrap()
}

fn error(text: &str) -> String {
    let said = text.parse::<Written>().unwrap_err().to_string();
    assert!(said.contains("allowed: ") && !said.contains('\n'), "{said}");
    said
}

#[test]
fn what_is_not_said_suits_the_place() {
    for (text, lab, driver) in [
        ("privring", "privring:ring=1024", "privring:ring=256"),
        ("privring:ring=64", "privring:ring=64", "privring:ring=64"),
        (
            "shring:unlock=swap",
            "shring:ring=1024,shared_by=4,completions=1024,unlock=swap",
            "shring:ring=256,shared_by=4,completions=256,unlock=swap",
        ),
        (
            "rxbisect",
            "rxbisect:ax=128,bx=1024,group=0,batch=8,timeout_ns=1000,alloc_queues=0",
            "rxbisect:ax=64,bx=256,group=0,batch=8,timeout_ns=1000,alloc_queues=0",
        ),
        (
            "rxbisect:bx=4",
            "rxbisect:ax=128,bx=4,group=0,batch=4,timeout_ns=1000,alloc_queues=0",
            "rxbisect:ax=64,bx=4,group=0,batch=4,timeout_ns=1000,alloc_queues=0",
        ),
        (
            "dynamic:round_ns=5,shared_by=2",
            "dynamic:ring=1024,shared_by=2,completions=1024,unlock=store,report=32,round_ns=5",
            "dynamic:ring=256,shared_by=2,completions=256,unlock=store,report=32,round_ns=5",
        ),
        ("corec", "corec:ring=1024,shared_by=4,marks=waiting", "corec:ring=256,shared_by=3,marks=waiting"),
        (
            "corec:marks=each",
            "corec:ring=1024,shared_by=4,marks=each",
            "corec:ring=256,shared_by=3,marks=each",
        ),
        ("ddring", "ddring:ring=1024,shared_by=1,refill=each", "ddring:ring=256,shared_by=1,refill=bulk"),
    ] {
        let written = read(text);
        assert_eq!([written.on(&LAB).to_string(), written.on(&DRIVER).to_string()], [lab, driver]);
        assert_eq!(read(lab).on(&DRIVER).to_string(), lab, "all is said");
    }
}

#[test]
fn wrong_texts_are_named() {
    let names = "privring, shring, rxbisect, dynamic, corec, ddring, ccnic, ceio";
    assert_eq!(error("privrings"), format!("unknown interface `privrings`; allowed: {names}"));
    assert!(error("").starts_with("unknown interface ``"));
    let said = "privring: unknown parameter `rings`; allowed: ring (descriptors of a core)";
    assert_eq!(error("privring:rings=4"), said);
    assert_eq!(error("shring:unlock=fast"), "shring: unlock is `fast`; allowed: store, swap");
    assert_eq!(error("shring:ring=-1"), "shring: ring is `-1`; allowed: a whole number");
    assert_eq!(error("shring:ring"), "shring: ring has no value; allowed: shring:ring=VALUE");
    assert!(error("shring:").contains("unknown parameter ``"));
    assert!(error("shring:ring=4,ring=8").contains("said twice"));
    assert!(error("rxbisect:timeout_ns=0").contains("allowed: nanoseconds from 1"));
}

#[test]
fn a_piece_with_a_value_belongs_to_the_interface_before_it() {
    let pieces: Vec<&str> = "privring,shring:ring=256,unlock=swap, corec,ring=8".split(',').collect();
    let list: Vec<String> = Written::list(&pieces).unwrap().iter().map(Written::to_string).collect();
    assert_eq!(list, ["privring", "shring:ring=256,unlock=swap", "corec:ring=8"]);
    let said = Written::list(&["ring=8", "privring"]).unwrap_err().to_string();
    assert_eq!(said, "ring=8 follows no interface; allowed: NAME:ring=8");
    assert!(Written::list(&["privring", "shared_by=8"]).unwrap_err().to_string().contains("allowed: ring"));
}

/// Whoever reads options, prints results or names counters knows no interface but by what it tells of itself.
#[test]
fn what_an_interface_tells_of_itself_holds() {
    for interface in Interface::usual() {
        let about = interface.about();
        let params = interface.each_param(|p| (p.name, p.role, p.about.len(), p.text()));
        assert!(params.iter().all(|p| p.2 > 0 && !p.3.is_empty()), "{params:?}");
        assert!(params.iter().any(|p| p.0 == about.descriptors && p.1 != Role::Other), "{params:?}");
        assert!(params.iter().enumerate().all(|(i, p)| params[..i].iter().all(|q| q.0 != p.0)), "{params:?}");
        let mut many = read(about.name);
        let shares = many.set("shared_by", "3").is_ok() && many.on(&LAB).pollers() == 3;
        assert_eq!(about.many_pollers, shares, "{}", about.name);
        assert!(about.pointers || about.not_emulated.is_some());
        let region = Region::new(80 << 20, Backing::Heap).unwrap();
        let buffers = (&mut &region).buffers(&Geometry::dpdk(1)).unwrap();
        let (hosts, _) = rings::receive(&mut &region, &interface.over(2), 2, buffers).unwrap();
        let counted: Vec<&str> = hosts[0].counters().into_iter().map(|(name, _)| name).collect();
        assert_eq!(counted, about.counters, "{}", about.name);
    }
}

/// The page that users read lists every interface and every parameter.
#[test]
fn the_page_of_interfaces_has_all_of_them() {
    let page = include_str!("../../../../docs/interfaces.md");
    for interface in Interface::usual() {
        let about = interface.about();
        let rows: Vec<&str> =
            page.lines().filter(|line| line.starts_with(&format!("| `{}` |", about.name))).collect();
        assert!(rows.iter().any(|row| row.contains(about.essence)), "{}", about.name);
        let said = |name: &str| rows.iter().any(|row| row.contains(&format!("`{name}")));
        let missing: Vec<&str> = interface.each_param(|p| p.name).into_iter().filter(|p| !said(p)).collect();
        assert_eq!(missing, [""; 0], "{}", about.name);
        assert!(
            rows.iter().any(|row| row.contains(&format!("| {} |", about.today.word()))),
            "{}",
            about.name
        );
    }
}

proptest! {
    #[test]
    fn a_text_in_force_says_the_same_interface(which in 0..Interface::ALL.len(), values in prop::collection::vec(1..9_u32, 16)) {
        let mut written = Written::from(Interface::usual().swap_remove(which));
        for (name, value) in written.on(&LAB).each_param(|p| p.name).into_iter().zip(values) {
            let choices = written.allowed(name).unwrap();
            let choices: Vec<&str> = choices.split(", ").collect();
            let value = match choices[..] {
                [_] => value.to_string(),
                _ => choices[value as usize % choices.len()].to_string(),
            };
            written.set(name, &value).unwrap();
        }
        let interface = written.on(&LAB);
        prop_assert_eq!(written.to_string(), interface.to_string());
        prop_assert_eq!(read(&interface.to_string()).on(&DRIVER), interface);
    }

    #[test]
    fn no_text_panics(text in "[a-z:=,0-9_]{0,40}", rest in "(:|,|=|ring|privring|shring|64|swap|unlock){0,12}") {
        let _ = text.parse::<Written>();
        let _ = rest.parse::<Written>();
        let _ = Written::list(&rest.split(',').collect::<Vec<_>>());
    }
}
