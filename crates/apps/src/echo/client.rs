//! The client: it opens connections, asks on each of them as soon as the last answer is whole, and judges every byte.

use hdrhistogram::Histogram;
use memory::Ps;
use smoltcp::iface::{Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp::{Socket, State};
use smoltcp::wire::IpAddress;

use super::wire::Wire;
use super::{CLIENT, KEPT, MESSAGE, MOST_FLOWS, PORT, SERVER, instant, socket, stack};

/// The first connection's port; the others follow it.
const FIRST: u16 = 1024;
/// The longest time from a request to its answer that is told apart from longer ones: a minute.
const MOST_NS: u64 = 60_000_000_000;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Connections, 1 to [`MOST_FLOWS`]. Each has one request on its way.
    pub flows: u32,
    /// Requests of all of them.
    pub requests: u64,
    /// Frames of a million that the wire loses, in both directions.
    pub loss_ppm: u32,
    /// Of what is lost, and of sequence numbers.
    pub seed: u64,
}

/// What the client found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Requests sent, and answers that were whole.
    pub asked: u64,
    /// As said.
    pub answered: u64,
    /// Answers with a byte that was not asked for.
    pub corrupt: u64,
    /// Connections that ended before the last answer.
    pub broken: u64,
    /// Segments sent again: by the client, by the server.
    pub repeated: [u64; 2],
    /// Frames that the wire lost: of the client, of the server.
    pub lost: [u64; 2],
    /// Mean, median, 99th percentile and maximum from a request to its answer, ns.
    pub ns: [f64; 4],
}

/// One connection.
struct Flow {
    handle: SocketHandle,
    number: u64,
    /// Requests sent on it.
    asked: u64,
    /// The last one, and when it was sent.
    message: [u8; MESSAGE],
    at: Ps,
    /// Bytes of the answer that have come; none where nothing is asked for.
    got: Option<usize>,
    wrong: bool,
    over: bool,
}

impl Flow {
    fn new(handle: SocketHandle, number: u64) -> Flow {
        let (asked, message, at) = (0, [0; MESSAGE], Ps::ZERO);
        Flow { handle, number, asked, message, at, got: None, wrong: false, over: false }
    }

    /// The next request.
    fn ask(&mut self) -> &[u8] {
        self.asked += 1;
        self.message = message(self.number, self.asked);
        &self.message
    }

    /// Takes bytes of answers; whether one is whole now.
    fn take(&mut self, bytes: &[u8]) -> bool {
        let Some(got) = self.got else {
            self.wrong = true; // nothing was asked for
            return false;
        };
        let (own, more) = bytes.split_at(bytes.len().min(MESSAGE - got));
        self.wrong |= own != &self.message[got..got + own.len()] || !more.is_empty();
        let whole = got + own.len() == MESSAGE;
        self.got = (!whole).then_some(got + own.len());
        whole
    }
}

/// Asks and judges.
pub struct Client {
    interface: Interface,
    sockets: SocketSet<'static>,
    wire: Wire,
    flows: Vec<Flow>,
    /// Requests that are still to be sent.
    left: u64,
    asked: u64,
    answered: u64,
    corrupt: u64,
    broken: u64,
    times: Histogram<u64>,
}

impl Client {
    /// A client that carries out `order`.
    ///
    /// # Errors
    /// Names what is not allowed.
    pub fn new(order: &Order) -> Result<Client, String> {
        if !(1..=MOST_FLOWS).contains(&order.flows) {
            return Err(format!("flows is {}; allowed: 1 to {MOST_FLOWS}", order.flows));
        }
        let mut interface = stack(CLIENT, order.seed);
        let mut sockets = SocketSet::new(Vec::new());
        let mut flows = Vec::new();
        for number in 0..order.flows {
            let mut socket = socket();
            let to = (IpAddress::Ipv4(SERVER), PORT);
            let opened = socket.connect(interface.context(), to, FIRST + number as u16);
            opened.map_err(|e| format!("cannot connect: {e}"))?;
            let (handle, number) = (sockets.add(socket), u64::from(number));
            flows.push(Flow::new(handle, number));
        }
        Ok(Client {
            interface,
            sockets,
            wire: Wire::new(order.loss_ppm, order.seed),
            flows,
            left: order.requests,
            asked: 0,
            answered: 0,
            corrupt: 0,
            broken: 0,
            times: Histogram::new_with_bounds(1, MOST_NS, 3).map_err(|e| e.to_string())?,
        })
    }

    /// A frame of the server.
    pub fn receive(&mut self, frame: &[u8]) {
        self.wire.receive(frame);
    }

    /// The next frame for the server.
    pub fn send(&mut self) -> Option<Vec<u8>> {
        self.wire.send()
    }

    /// Reads answers and asks again.
    pub fn turn(&mut self, at: Ps) {
        self.interface.poll(instant(at), &mut self.wire, &mut self.sockets);
        let mut flows = core::mem::take(&mut self.flows);
        for flow in flows.iter_mut().filter(|flow| !flow.over) {
            self.tend(flow, at);
        }
        self.flows = flows;
        self.interface.poll(instant(at), &mut self.wire, &mut self.sockets);
    }

    /// Answers that have come.
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// Whether all connections have ended.
    pub fn is_done(&self) -> bool {
        self.flows.iter().all(|flow| flow.over)
    }

    fn tend(&mut self, flow: &mut Flow, at: Ps) {
        let socket = self.sockets.get_mut::<Socket>(flow.handle);
        let mut bytes = [0; KEPT];
        while socket.can_recv()
            && let Ok(got) = socket.recv_slice(&mut bytes)
        {
            if flow.take(&bytes[..got]) {
                self.answered += 1;
                self.times.saturating_record(at.saturating_sub(flow.at).ns().max(1));
            }
            self.corrupt += u64::from(core::mem::take(&mut flow.wrong));
        }
        let state = socket.state();
        if !socket.is_active() {
            flow.over = true;
            self.broken += u64::from(flow.got.is_some() || state == State::Closed && self.left > 0);
        } else if flow.got.is_none() && state == State::Established {
            if self.left == 0 {
                socket.close();
            } else if socket.send_queue() == 0 && socket.send_slice(flow.ask()) == Ok(MESSAGE) {
                (flow.at, flow.got) = (at, Some(0));
                self.left -= 1;
                self.asked += 1;
            }
        }
    }

    /// What it found.
    pub fn found(&self) -> Found {
        let Client { times, wire, .. } = self;
        let at = |q| times.value_at_quantile(q) as f64;
        Found {
            asked: self.asked,
            answered: self.answered,
            corrupt: self.corrupt,
            broken: self.broken,
            repeated: [0, 1].map(|way| wire.seen[way].repeated),
            lost: [0, 1].map(|way| wire.seen[way].lost),
            ns: [times.mean(), at(0.5), at(0.99), times.max() as f64],
        }
    }
}

/// Request `number` of a connection: bytes that no other request has.
fn message(flow: u64, number: u64) -> [u8; MESSAGE] {
    let mut bytes = [0; MESSAGE];
    let start = (flow << 40 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for (i, piece) in (0u64..).zip(bytes.chunks_mut(8)) {
        let x = start.wrapping_add(i.wrapping_mul(0xbf58_476d_1ce4_e5b9));
        piece.copy_from_slice(&((x ^ x >> 31).wrapping_mul(0x94d0_49bb_1331_11eb)).to_be_bytes());
    }
    bytes
}
