//! Words that no honest side writes: neither half may panic, hang or name a buffer that is not there.
//! What the books say afterwards is the liar's own loss.

use crate::common;
use crate::common::lies::{WORDS, value};
use memory::Ps;
use proptest::prelude::*;
use rings::world::{Op, Setup};
use rings::{Interface, ccnic, ceio, corec, ddring, dynamic, privring, rxbisect, shring, tx};

const QUEUES: u32 = 2;
const BUFFERS: u32 = 16;

fn interface() -> impl Strategy<Value = (usize, Interface)> {
    let timeout = Ps::from_ns(500);
    let bisect = rxbisect::Sizes { ax: 2, bx: 4, group: 0, batch: 2, timeout, alloc_queues: 0 };
    let dynamic = dynamic::Sizes {
        ring: 4,
        shared_by: QUEUES,
        completions: 2,
        report: 1,
        round: Ps(1),
        ..Default::default()
    };
    prop_oneof![
        Just((1, Interface::PrivRing(privring::Sizes { ring: 4 }))),
        Just((
            2,
            Interface::ShRing(shring::Sizes {
                ring: 4,
                shared_by: QUEUES,
                completions: 2,
                ..Default::default()
            })
        )),
        Just((3, Interface::RxBisect(bisect))),
        Just((4, Interface::Dynamic(dynamic))),
        (1..=QUEUES).prop_map(|shared_by| {
            let sizes = ddring::Sizes { ring: 4, shared_by, ..ddring::Sizes::default() };
            (5, Interface::DdRing(sizes))
        }),
        Just((5, Interface::Corec(corec::Sizes { ring: 4, shared_by: QUEUES, ..Default::default() }))),
        Just((6, Interface::CcNic(ccnic::Sizes { ring: 8, ..Default::default() }))),
        Just((7, Interface::CcNic(ccnic::Sizes::e810(4)))),
        (0..4u32).prop_map(move |credits| {
            let nic_memory = ceio::NicMemory { slots: 8 };
            let sizes =
                ceio::Sizes { ring: 4, flows: 2, credits, nic_memory, drain: 4, ..Default::default() };
            (8, Interface::Ceio(ceio::Sizes { release: 2, idle: timeout, recall: timeout, ..sizes }))
        }),
    ]
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Do(Op),
    /// Overwrites a word: of the receive interface or the transmit ring, which field, whose, which word.
    Lie {
        rx: bool,
        field: usize,
        instance: usize,
        word: usize,
        value: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let lie = (any::<bool>(), 0..36usize, 0..QUEUES as usize, 0..8usize, value());
    prop_oneof![
        3 => (0..2u16, 1..6u16, 16..200u16).prop_map(|(queue, n, len)| Step::Do(Op::Arrive { queue, n, len })),
        4 => (0..2u16, 0..9u16).prop_map(|(core, burst)| Step::Do(Op::Poll { core, burst })),
        2 => (0..2u16, 1..5u16).prop_map(|(core, n)| Step::Do(Op::Send { core, n })),
        2 => (0..2u16, 1..5u16).prop_map(|(core, n)| Step::Do(Op::Free { core, n })),
        2 => (1..5u16).prop_map(|n| Step::Do(Op::NicTx { n })),
        1 => (0..1000u32).prop_map(|ns| Step::Do(Op::Tick { ns })),
        1 => (0..2u16, any::<bool>()).prop_map(|(core, private)| Step::Do(Op::Ask { core, private })),
        1 => (0..2u16).prop_map(|core| Step::Do(Op::StopQueue { core })),
        1 => (0..2u16).prop_map(|core| Step::Do(Op::DrainQueue { core })),
        2 => (0..2u16).prop_map(|core| Step::Do(Op::StartQueue { core })),
        1 => (0..2u16, any::<bool>()).prop_map(|(core, drain)| Step::Do(Op::StopTx { core, drain })),
        1 => (0..2u16).prop_map(|core| Step::Do(Op::StartTx { core })),
        5 => lie.prop_map(|(rx, field, instance, word, value)| Step::Lie { rx, field, instance, word, value }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn any_words_are_survived((kind, interface) in interface(), steps in prop::collection::vec(step(), 0..80)) {
        let tx = tx::Sizes { ring: 4, complete_every: 2 };
        let setup = Setup { interface, queues: QUEUES, tx, buffers: BUFFERS, cache: 2 };
        let (mut world, memory) = common::with(&setup);
        world.fill();
        for step in steps {
            match step {
                Step::Do(op) => drop(world.apply(op)), // a violation is the liar's, a panic is ours
                Step::Lie { rx, field, instance, word, value } => {
                    // An interface that sends in its own way has those words among its own.
                    let apart = !rx && memory.count(WORDS[0][0].0) > 0;
                    let fields = WORDS[if apart { 0 } else { kind }];
                    let (name, len) = fields[field % fields.len()];
                    // Cores that share a ring share its descriptors.
                    memory.poke(name, instance.min(memory.count(name) - 1), word % len, value);
                }
            }
        }
        world.nic.stop();
        world.cores.iter_mut().for_each(|core| core.drain());
    }
}
