//! Threads that change rules beside each other and beside who looks frames up.

use std::sync::mpsc::channel;
use std::time::Duration;

use super::*;

/// What a thread waits that would never be let go on.
const PATIENCE: Duration = Duration::from_secs(60);

/// A thread that has the rules in hand, and does not let go of them, holds up other threads that change rules, and no frame.
#[test]
fn who_holds_the_rules_holds_up_no_frame() {
    let flows = Flows::new(64);
    rule(&flows, &[is(Field::Ipv4Src, 0x0a00_0001)], &[act(FlowAct::Queue, 3)]).expect("a rule");
    let [(took, taken), (let_go, wait), (looked, verdicts)] = [(); 3].map(|()| channel());
    std::thread::scope(|s| {
        let flows = &flows;
        s.spawn(move || {
            let terms = [is(Field::Ipv4Src, 0x0a00_0002)];
            let actions = [act(FlowAct::Drop, 0)];
            let inserted = Draft::of(&terms, &actions).with(flows, |rules, wanted| {
                let name = rules.insert(wanted)?;
                took.send(()).expect("somebody waits");
                wait.recv().expect("it is let go");
                rules.commit();
                Ok(name)
            });
            assert!(inserted.is_ok());
        });
        taken.recv_timeout(PATIENCE).expect("the rules are in hand");
        assert!(flows.rules.try_lock().is_err());
        s.spawn(move || {
            for source in [1, 2].repeat(1000) {
                let met = meets(flows, &frame(source)).map(|class| class.queue);
                assert_eq!(met == Ok(3), source == 1, "{met:?}");
            }
            looked.send(()).expect("somebody waits");
        });
        let done = verdicts.recv_timeout(PATIENCE);
        let_go.send(()).expect("a thread has the rules");
        done.expect("frames wait for no thread");
    });
    assert_eq!(meets(&flows, &frame(2)), Err(Outcome::FlowDrop));
}

/// Four threads insert and one deletes some of what they have, while frames are looked up: in the end all others are there.
#[test]
fn four_threads_insert_and_one_deletes() {
    const EACH: u128 = 3000;
    let flows = Flows::new(4 * EACH as u32);
    let done = AtomicBool::new(false);
    let (give, take) = channel();
    let kept = std::thread::scope(|s| {
        let (flows, done) = (&flows, &done);
        let inserters: Vec<_> = (0..4_u128)
            .map(|thread| {
                let give = give.clone();
                s.spawn(move || {
                    let mut kept = Vec::new();
                    for n in 0..EACH {
                        // Frames from 10.0.0.x meet the first 200 of the first thread.
                        let source = if thread == 0 { 0x0a00_0000 + n } else { thread << 16 | n };
                        let actions = [act(FlowAct::Count, 0), act(FlowAct::Mark, 8), act(FlowAct::Queue, 2)];
                        let name = rule(flows, &[is(Field::Ipv4Src, source)], &actions).expect("a rule");
                        match n % 3 {
                            0 => give.send(name).expect("somebody deletes"),
                            _ => kept.push((source, name)),
                        }
                    }
                    kept
                })
            })
            .collect();
        drop(give);
        let deleter = s.spawn(move || take.iter().map(|name| remove(flows, name).expect("a rule")).count());
        let core = s.spawn(move || {
            let mut looked = 0_u64;
            while !done.load(Ordering::Relaxed) {
                let class = meets(flows, &frame((looked % 200) as u8)).expect("no rule drops");
                assert!(class.mark == 0 || class.mark == 9 && class.queue == 2, "{class:?}");
                looked += 1;
            }
            looked
        });
        let kept: Vec<_> = inserters.into_iter().map(|thread| thread.join()).collect();
        let deleted = deleter.join();
        done.store(true, Ordering::Relaxed);
        assert!(core.join().expect("no panic") > 0);
        assert_eq!(deleted.expect("no panic"), 4 * EACH as usize / 3);
        kept.into_iter().flat_map(|kept| kept.expect("no panic")).collect::<Vec<_>>()
    });
    assert_eq!((flows.len() as usize, kept.len()), (kept.len(), 4 * EACH as usize * 2 / 3));
    for (source, name) in kept {
        let before = flows.with(|rules| rules.count(name, true)).expect("the rule is there");
        assert!(before.frames == 0 || source >> 8 == 0x0a_0000, "{source:#x}");
        let mut f = frame(0);
        f[26..30].copy_from_slice(&(source as u32).to_be_bytes());
        assert_eq!(meets(&flows, &f).map(|class| (class.mark, class.queue)), Ok((9, 2)));
        assert_eq!(flows.with(|rules| rules.count(name, false)).expect("a count").frames, 1);
    }
    for deleted in (0..200).step_by(3) {
        assert_eq!(meets(&flows, &frame(deleted)).map(|class| class.mark), Ok(0));
    }
}
