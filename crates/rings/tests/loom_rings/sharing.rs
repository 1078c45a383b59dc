//! Threads that poll one ring of done bits, and its NIC: the scenarios of `corec`, and of `ddring` under a lock.
//!
//! Nobody waits for anybody, so that what is explored stays small: the ring is full of frames when the threads start,
//! each polls a few times, and the NIC meanwhile tries to deliver a few more, whether there is room or not. What
//! the threads leave is received in the end; then the NIC finds an empty ring.

use memory::checked::{Checked, CheckedBuffers, CheckedSpace, CheckedView, spawn};
use memory::{Buf, Side};
use rings::ddring::NicHalf;
use rings::{Host, Nic};

use crate::oracle::{Core, Port, Spares, buffers};

const RING: u32 = 2;

/// Binds a ring of two for so many threads.
pub(crate) type Build<H> = fn(&mut CheckedSpace, u32, CheckedBuffers) -> (Vec<H>, NicHalf<CheckedView>);

/// A filled ring, and its threads.
struct Start<H> {
    space: Checked,
    cores: Vec<Core<H>>,
    port: Port<NicHalf<CheckedView>>,
    buffers: u64,
}

/// Each thread has so many buffers in hand when the ring is filled.
fn start<H: Host<CheckedView>>(
    mut space: CheckedSpace,
    build: Build<H>,
    threads: u32,
    in_hand: u32,
) -> Start<H> {
    let count = RING + in_hand * threads;
    let b = buffers(&mut space, count);
    let (hosts, nic) = build(&mut space, threads, b);
    let space = space.share();
    let mut m = space.view(Side::Host);
    let mut from = 0;
    let cores = hosts.into_iter().map(|half| {
        let to = if from == 0 { RING + in_hand } else { from + in_hand };
        let spares = Spares::new(from.into(), to.into());
        from = to;
        Core::filled(&mut m, (0, half), b, spares)
    });
    Start { cores: cores.collect(), port: Port::new(nic, 1), space, buffers: count.into() }
}

impl<H: Host<CheckedView> + Send + 'static> Start<H> {
    /// The NIC fills the ring; then each thread does `work`, given its number, while the NIC tries to deliver `more`.
    fn run(&mut self, more: u32, work: fn(usize, &mut Core<H>, &mut CheckedView)) {
        let mut nic = self.space.view(Side::Nic);
        (0..RING).for_each(|_| self.port.deliver(&mut nic, 0));
        let start = |(i, mut core): (usize, Core<H>)| {
            let mut m = self.space.view(Side::Host);
            spawn(move || {
                work(i, &mut core, &mut m);
                core
            })
        };
        let threads: Vec<_> = self.cores.drain(..).enumerate().map(start).collect();
        for _ in 0..more {
            self.port.offer(&mut nic, 0);
        }
        self.cores = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    }

    /// What is left is received, the ring takes as many frames as at first, and all is judged.
    fn settle(mut self) {
        let mut m = self.space.view(Side::Both);
        self.empty(&mut m);
        (0..RING).for_each(|_| self.port.deliver(&mut m, 0));
        self.empty(&mut m);
        self.port.settle(&mut m, self.cores, self.buffers);
    }

    fn empty(&mut self, m: &mut CheckedView) {
        while self.cores.iter_mut().map(|core| core.poll(m)).sum::<usize>() > 0 {}
    }
}

/// Each thread polls `POLLS` times.
pub(crate) fn claimed<H, const POLLS: u32>(space: CheckedSpace, build: Build<H>, threads: u32, more: u32)
where
    H: Host<CheckedView> + Send + 'static,
{
    let mut start = start(space, build, threads, 2);
    start.run(more, |_, core, m| {
        for _ in 0..POLLS {
            core.poll(m);
        }
    });
    start.settle();
}

/// One thread polls, the other leaves and comes back.
pub(crate) fn rejoined<H: Host<CheckedView> + Send + 'static>(space: CheckedSpace, build: Build<H>) {
    let mut start = start(space, build, 2, 2);
    start.run(1, |i, core, m| {
        if i == 1 {
            core.host.drain(m, &mut core.spares);
            assert_eq!(core.host.fill(m, &mut core.spares), 0);
        }
        core.poll(m);
    });
    start.settle();
}

/// The NIC has stopped, and the ring is full: all threads poll and drain at once.
pub(crate) fn drained<H: Host<CheckedView> + Send + 'static>(space: CheckedSpace, build: Build<H>) {
    let mut start = start(space, build, 2, 1);
    start.port.nic.stop(&mut start.space.view(Side::Nic));
    start.run(0, |_, core, m| {
        core.poll(m);
        core.host.drain(m, &mut core.spares);
    });
    let mut all: Vec<_> = start.cores.into_iter().flat_map(|core| core.spares.0).collect();
    all.sort_unstable();
    assert!(all.iter().copied().eq((0..start.buffers).map(Buf)), "buffers at the end: {all:?}");
}
