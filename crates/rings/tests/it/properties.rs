//! Any sizes, any batches, any schedule: nothing lost, nothing doubled, order kept, buffers conserved.

use crate::common;
use memory::Ps;
use proptest::prelude::*;
use rings::world::{Op, Setup};
use rings::{Interface, ccnic, ceio, corec, ddring, dynamic, privring, rxbisect, shring, tx};

fn power(range: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = u32> {
    range.prop_map(|n| 1 << n)
}

fn interface(queues: u32) -> impl Strategy<Value = Interface> {
    let privring = power(1..=5).prop_map(|ring| Interface::PrivRing(privring::Sizes { ring }));
    let shring = (power(2..=6), 1..=queues, power(1..=6), any::<bool>())
        .prop_map(|(ring, shared_by, completions, swap)| {
            let unlock = if swap { shring::Unlock::Swap } else { shring::Unlock::Store };
            shring::Sizes { ring, shared_by, completions, unlock }
        })
        .prop_map(Interface::ShRing);
    let rxbisect = (power(1..=4), power(1..=5), 0..=queues, 1..=8u32, 0..4000u64, 0..=2u32)
        .prop_map(move |(ax, bx, group, batch, ns, alloc)| rxbisect::Sizes {
            ax,
            bx,
            group,
            batch: batch.min(bx),
            timeout: Ps::from_ns(ns),
            alloc_queues: if alloc == 0 { 0 } else { alloc.max(queues.div_ceil(group.max(1))) },
        })
        .prop_map(Interface::RxBisect);
    let dynamic = (power(2..=5), 1..=queues, power(1..=5), 1..=4u32, 0..2000u64)
        .prop_map(|(ring, shared_by, completions, report, ns)| dynamic::Sizes {
            ring,
            shared_by,
            completions,
            report,
            round: Ps::from_ns(ns),
            ..Default::default()
        })
        .prop_map(Interface::Dynamic);
    let ddring = (power(1..=6), 1..=queues, any::<bool>())
        .prop_map(|(ring, shared_by, bulk)| {
            let refill = if bulk { ddring::Refill::Bulk } else { ddring::Refill::Each };
            ddring::Sizes { ring, shared_by, refill }
        })
        .prop_map(Interface::DdRing);
    let corec = (power(1..=8), 1..=queues, any::<bool>())
        .prop_map(|(ring, shared_by, each)| {
            let marks = if each { corec::Marks::Each } else { corec::Marks::Waiting };
            corec::Sizes { ring, shared_by, marks }
        })
        .prop_map(Interface::Corec);
    let lanes = lanes().prop_map(Interface::CcNic);
    let ceio = elastic().prop_map(Interface::Ceio);
    prop_oneof![privring, shring, rxbisect, dynamic, ddring, corec, lanes, ceio]
}

fn lanes() -> impl Strategy<Value = ccnic::Sizes> {
    use ccnic::{Back, Homing, Layout, Signal};
    let layout = prop_oneof![Just(Layout::Group), Just(Layout::Pad), Just(Layout::Pack)];
    let signal = prop_oneof![Just(Signal::Inline), Just(Signal::Register)];
    let back = prop_oneof![Just(Back::Clear), Just(Back::Credit)];
    (power(1..=6), layout, signal, back).prop_map(|(ring, layout, signal, back)| ccnic::Sizes {
        ring,
        layout,
        signal,
        back,
        homing: Homing::Writer,
    })
}

/// One flow for each queue: frames of several may overtake each other, which `ceio.rs` looks at.
fn elastic() -> impl Strategy<Value = ceio::Sizes> {
    let times = (0..4000u64, 0..1000u64);
    (power(1..=5), 0..40u32, 1..64u32, 1..40u32, 1..40u32, times).prop_map(
        |(ring, credits, slots, release, drain, (idle, recall))| ceio::Sizes {
            ring,
            credits,
            nic_memory: ceio::NicMemory { slots },
            release,
            drain: drain.min(ring),
            idle: Ps::from_ns(idle),
            recall: Ps::from_ns(recall),
            ..Default::default()
        },
    )
}

fn setup() -> impl Strategy<Value = Setup> {
    (1..=4u32).prop_flat_map(|queues| {
        (interface(queues), 1..200u32, 0..32u32, power(1..=4), 1..8u32).prop_map(
            move |(interface, buffers, cache, ring, complete_every)| Setup {
                interface,
                queues,
                tx: tx::Sizes { ring, complete_every },
                buffers,
                cache: cache.min(buffers),
            },
        )
    })
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (0..4u16, 1..40u16, 16..140u16).prop_map(|(queue, n, len)| Op::Arrive { queue, n, len }),
        8 => (0..8u16, 0..33u16).prop_map(|(core, burst)| Op::Poll { core, burst }),
        4 => (0..8u16, 1..40u16).prop_map(|(core, n)| Op::Send { core, n }),
        3 => (0..8u16, 1..40u16).prop_map(|(core, n)| Op::Free { core, n }),
        4 => (1..40u16).prop_map(|n| Op::NicTx { n }),
        2 => (0..3000u32).prop_map(|ns| Op::Tick { ns }),
        2 => (0..8u16, any::<bool>()).prop_map(|(core, private)| Op::Ask { core, private }),
        1 => (0..8u16).prop_map(|core| Op::Stall { core }),
        1 => (0..8u16).prop_map(|core| Op::StopQueue { core }),
        1 => (0..8u16).prop_map(|core| Op::DrainQueue { core }),
        2 => (0..8u16).prop_map(|core| Op::StartQueue { core }),
        1 => (0..8u16, any::<bool>()).prop_map(|(core, drain)| Op::StopTx { core, drain }),
        1 => (0..8u16).prop_map(|core| Op::StartTx { core }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn any_schedule_keeps_every_promise(
        setup in setup(),
        ops in prop::collection::vec(op(), 0..120),
        emulated in prop::option::of(0..64usize),
        cut: bool,
    ) {
        // A thread of `corec` receives nothing that it has no buffer for, so frames stay in a ring whose pool
        // is empty.
        let receivable = setup.interface.held_buffers(setup.queues) as u32
            + setup.queues * (2 * setup.cache + setup.tx.ring);
        // So do those that the card of `ceio` keeps.
        let stay = matches!(setup.interface, Interface::Corec(_) | Interface::Ceio(_));
        let buffers = setup.buffers + if stay && !cut { receivable } else { 0 };
        let setup = Setup { buffers, ..setup };
        let (mut world, _) = common::with(&setup);
        let emulated = emulated.filter(|_| setup.interface.passes_pointers());
        let own = emulated.map(|count| world.emulate(count));
        world.fill();
        for op in ops {
            world.apply(op)?;
        }
        // Each frame that passed the NIC left an empty buffer for its own.
        prop_assert_eq!(world.nic.own().count(), own.unwrap_or(0));
        let world = world.finish(cut)?;
        for core in &world.cores {
            prop_assert_eq!(common::counter(&core.counters(), "faults"), 0);
        }
        prop_assert_eq!(common::counter(&world.nic.counters(), "bad_descriptors"), 0);
    }
}
