//! Links and associations of one's own.

use memory::{Geometry, Side, Space};
use rings::mock::{MockHost, MockNic};
use rings::rxbisect::{Ax, Bx, Plan, build_plan};
use rings::{AnyHost, AnyNic, Interface, pool, tx};

use super::*;

/// A port with a plan, like [`World`]'s.
fn planned(sizes: Sizes, plan: &Plan) -> (MockNic<Plain>, Vec<MockHost<Plain>>) {
    let mut space = Plain::new(Side::Both);
    let buffers = space.buffers(&Geometry::plain(64, 128)).unwrap();
    let (hosts, nic) = build_plan(&mut space, &sizes, plan, buffers).unwrap();
    let n = hosts.len() as u32;
    let interface = Interface::RxBisect(sizes);
    let (host_tx, nic_tx) = rings::transmit(&mut space, &interface, tx::Sizes::default(), n).unwrap();
    let pools = pool::build(&mut space, 64, n, 0).unwrap();
    let view = space.side(Side::Host);
    let parts = (0..).zip(hosts).zip(host_tx.into_iter().zip(pools));
    let mut hosts: Vec<_> = parts
        .map(|((q, rx), (tx, pool))| MockHost::new(view.clone(), q, AnyHost::RxBisect(rx), tx, pool, buffers))
        .collect();
    hosts.iter_mut().for_each(|host| assert_eq!(host.fill(), 0));
    let halves = (AnyNic::RxBisect(nic), nic_tx);
    (MockNic::new(space.side(Side::Nic), halves, buffers, (&interface, n)), hosts)
}

#[test]
fn an_associated_ring_of_another_node_is_not_used() {
    let ax = |link, node| Ax { link, node };
    let all = vec![0, 1, 2];
    let bx = |node| Bx { from: all.clone(), node };
    let plan = Plan { ax: vec![ax(0, 0), ax(1, 1), ax(2, 0)], bx: vec![bx(0), bx(1), bx(0)] };
    let (mut nic, _) = planned(Sizes { bx: 16, ..PROMPT }, &plan);
    assert_eq!(nic.arrive(0, 16, LEN), Ok(8), "rings 0 and 2");
    assert_eq!(nic.arrive(1, 16, LEN), Ok(4), "ring 1");
}

#[test]
fn a_bx_takes_only_from_associated_rings_even_if_linked() {
    let ax = |link| Ax { link, node: 0 };
    let bx = |from: &[u16]| Bx { from: from.to_vec(), node: 0 };
    let plan = Plan { ax: vec![ax(0), ax(1)], bx: vec![bx(&[1]), bx(&[])] };
    let (mut nic, mut cores) = planned(PROMPT, &plan);
    assert_eq!(nic.arrive(0, 16, LEN), Ok(4), "ring 1 alone");
    assert_eq!(nic.arrive(1, 1, LEN), Ok(0), "none");
    assert_eq!(nic.offered().count(Outcome::NoBuffer), 12 + 1);
    assert_eq!((cores[1].poll(32), cores[0].poll(32)), (Ok(0), Ok(4)));
    assert_eq!(nic.arrive(0, 2, LEN), Ok(2), "core 1 was told and refilled it");
}

#[test]
fn two_ax_rings_may_be_linked_to_one_bx() {
    let ax = |link| Ax { link, node: 0 };
    let all = || Bx { from: vec![0, 1, 2], node: 0 };
    let plan = Plan { ax: vec![ax(0), ax(0), ax(1)], bx: vec![all(), all()] };
    let (mut nic, mut cores) = planned(Sizes { bx: 16, ..PROMPT }, &plan);
    for round in 0..20 {
        assert_eq!(nic.arrive(0, 10, LEN), Ok(10));
        assert_eq!(nic.arrive(1, 2, LEN), Ok(2), "round {round}");
        for core in &mut cores {
            core.poll(32).unwrap();
            core.free(32);
        }
    }
    assert_eq!(counter(&nic.counters(), "combined"), 20 * 10);
    let faults: u64 = cores.iter().map(|core| counter(&core.counters(), "faults")).sum();
    assert_eq!(faults, 0, "notices of each ring came in order");
}

#[test]
fn a_plan_that_names_a_missing_ring_is_refused() {
    let mut space = Plain::new(Side::Both);
    let buffers = space.buffers(&Geometry::plain(64, 128)).unwrap();
    let mut error = |ax: Ax, from: u16| {
        let plan = Plan { ax: vec![ax], bx: vec![Bx { from: vec![from], node: 0 }] };
        build_plan(&mut space, &PROMPT, &plan, buffers).err().map(|e| e.to_string())
    };
    assert_eq!(error(Ax { link: 0, node: 0 }, 0), None);
    assert!(error(Ax { link: 1, node: 0 }, 0).unwrap().contains("linked to Bx 1"));
    assert!(error(Ax { link: 0, node: 0 }, 7).unwrap().contains("associated with Ax 7"));
}
