//! The server: it sends back what it receives, on as many connections as it has places for.

use memory::{Buf, Memory, Ps};
use rings::{Buffers, Completion};
use smoltcp::iface::{Interface, PollIngressSingleResult, PollResult, SocketSet};
use smoltcp::phy::Device;
use smoltcp::socket::tcp::{Socket, State};

use super::lane::{Bench, Lane};
use super::{KEPT, MOST_FLOWS, PORT, SERVER, instant, socket, stack};
use crate::{App, Batch, Cause, Headers, Packet, Verdict};

/// Frames that may be due at a time without a frame that came.
const AT_A_TIME: usize = 32;

/// A core's server.
pub struct Server {
    stack: Stack,
    bench: Bench,
    cycles: u32,
}

/// Its connections.
struct Stack {
    interface: Interface,
    sockets: SocketSet<'static>,
    /// When something is due although no frame came.
    due: Option<Ps>,
    /// Bytes sent back.
    echoed: u64,
}

impl Server {
    /// A server of at most `flows` connections (1 to [`MOST_FLOWS`]), whose sequence numbers begin as `seed` says. A frame
    /// costs `cycles` beside memory accesses, where somebody charges them.
    pub fn new(flows: u32, seed: u64, cycles: u32) -> Server {
        let mut sockets = SocketSet::new(Vec::new());
        for _ in 0..flows.clamp(1, MOST_FLOWS) {
            sockets.add(socket());
        }
        let mut stack = Stack { interface: stack(SERVER, seed), sockets, due: None, echoed: 0 };
        stack.serve();
        Server { stack, bench: Bench::new(), cycles }
    }

    /// Takes a burst through the stack. Afterwards the bench has the frames to send, and the buffers that none of them
    /// took; how many frames were none for this server.
    fn pass<M: Memory>(&mut self, m: &mut M, frames: M::Buffers, burst: &[Completion]) -> u64 {
        let Server { stack, bench, cycles } = self;
        let (at, burst) = (m.now(), burst.iter());
        let mut lane = Lane { m, frames, burst, bench, cycles: *cycles, strange: 0 };
        stack.turn(at, &mut lane);
        lane.strange
    }
}

impl Stack {
    /// Lets the stack take what `device` has, answers, and lets it send.
    fn turn(&mut self, at: Ps, device: &mut impl Device) {
        let Stack { interface, sockets, .. } = self;
        let now = instant(at);
        while interface.poll_ingress_single(now, device, sockets) != PollIngressSingleResult::None {}
        self.serve();
        let Stack { interface, sockets, .. } = self;
        while interface.poll_egress(now, device, sockets) != PollResult::None {}
        let due = interface.poll_at(now, sockets);
        self.due = due.map(|due| Ps::from_us(due.total_micros().max(0).cast_unsigned()));
    }

    /// What the service does: it sends back what came, closes when the other side has, and listens again.
    fn serve(&mut self) {
        for (_, socket) in self.sockets.iter_mut() {
            let smoltcp::socket::Socket::Tcp(socket) = socket;
            self.echoed += echo(socket);
            match socket.state() {
                // Port 7 is a port, and the socket is closed: nothing else is refused.
                State::Closed => _ = socket.listen(PORT),
                State::CloseWait if socket.recv_queue() == 0 => socket.close(),
                _ => {}
            }
        }
    }
}

/// Sends back what has come, as far as there is room; how many bytes.
fn echo(socket: &mut Socket<'_>) -> u64 {
    let (mut bytes, mut sum) = ([0; KEPT], 0);
    while socket.can_recv() && socket.can_send() {
        let room = socket.send_capacity() - socket.send_queue();
        let room = room.min(KEPT);
        let Ok(got) = socket.recv_slice(&mut bytes[..room]) else { break };
        let Ok(sent) = socket.send_slice(&bytes[..got]) else { break };
        sum += sent as u64;
    }
    sum
}

impl<M: Memory> App<M> for Server {
    fn cycles(&self) -> u32 {
        self.cycles
    }

    /// A burst of one frame.
    fn frame(&mut self, m: &mut M, packet: &Packet<M>, _: &mut Headers) -> Verdict {
        let c = Completion { buf: packet.buf, len: packet.len, ..Completion::none() };
        let strange = self.pass(m, packet.frames, &[c]);
        self.bench.empty.clear();
        let verdict = match self.bench.sent.pop() {
            Some((_, len)) => Verdict::Reply(len),
            None if strange > 0 => Verdict::Drop(Cause::BadRequest),
            None => Verdict::Drop(Cause::Consumed),
        };
        self.bench.sent.clear();
        verdict
    }

    fn process(&mut self, m: &mut M, frames: M::Buffers, burst: &[Completion], batch: &mut Batch) {
        let mut strange = self.pass(m, frames, burst);
        for (buf, len) in self.bench.sent.drain(..) {
            batch.file(buf, len, Verdict::Reply(len));
        }
        for buf in self.bench.empty.drain(..) {
            let cause = if strange > 0 { Cause::BadRequest } else { Cause::Consumed };
            strange = strange.saturating_sub(1);
            batch.file(buf, 0, Verdict::Drop(cause));
        }
    }

    fn tick<B: Buffers<M>>(&mut self, m: &mut M, frames: M::Buffers, pool: &mut B, batch: &mut Batch) {
        if self.stack.due.is_none_or(|due| m.now() < due) {
            return;
        }
        let mut empty = [Buf(0); AT_A_TIME];
        let got = pool.take(m, &mut empty);
        self.bench.empty.extend(&empty[..got]);
        self.pass(m, frames, &[]);
        for (buf, len) in self.bench.sent.drain(..) {
            batch.file(buf, len, Verdict::Reply(len));
        }
        pool.give(m, &self.bench.empty);
        self.bench.empty.clear();
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("echoed_bytes", self.stack.echoed)]
    }
}
