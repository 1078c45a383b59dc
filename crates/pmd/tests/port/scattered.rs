//! Frames that lie in several buffers.

use super::*;

const PIECE: usize = 256;

/// A port that receives what it sends, on a NIC core that has no thread.
struct Bed {
    port: Device,
    pool: Pool,
    posted: VecDeque<u64>,
    /// The frame that began and has not ended.
    open: Option<Vec<u8>>,
    core: Core,
}

impl Bed {
    fn new(iface: &str) -> Bed {
        let core = Core::idle();
        let mut port = Device::new(&core, &[("iface", iface)]).unwrap();
        let mut pool = Pool::new(512);
        port.pieces = Some(PIECE as u32);
        port.start(1, 64, &mut pool).unwrap();
        Bed { port, pool, posted: VecDeque::new(), open: None, core }
    }

    /// Sends a frame in pieces of `cut` bytes; whether there was room.
    fn send(&mut self, bytes: &[u8], cut: usize) -> bool {
        let mut segments = Vec::new();
        for piece in bytes.chunks(cut) {
            let buf = self.pool.free.pop().unwrap();
            driver::bytes(buf, piece.len()).copy_from_slice(piece);
            self.posted.push_back(buf);
            let buf = Buf(buf + driver::OFFSET as u64);
            segments.push(Segment { buf, off: 0, len: piece.len() as u16, last: false });
        }
        segments.last_mut().unwrap().last = true;
        let (taken, freed) = send(self.port.txq(0), &segments);
        self.pool.free.extend(self.posted.drain(..freed));
        // SAFETY: the NIC core lives and has no thread.
        unsafe { rxlab_nic_core_turn(self.core.0) };
        taken == segments.len()
    }

    /// All frames that are there, as the driver chains them.
    fn receive(&mut self) -> Vec<Vec<u8>> {
        let (mut frames, mut out) = (Vec::new(), [NONE; 32]);
        loop {
            let n = receive(self.port.rxq(0), &mut self.pool, &mut out);
            for c in &out[..n] {
                let bytes = &*driver::bytes(c.buf.0, usize::from(c.len));
                match &mut self.open {
                    Some(open) if c.kind & FOLLOWS != 0 => open.extend(bytes),
                    _ => {
                        assert_eq!(c.kind & FOLLOWS, 0, "it follows nothing");
                        self.open = Some(bytes.to_vec());
                    }
                }
                if c.kind & MORE == 0 {
                    frames.extend(self.open.take());
                }
                self.pool.free.push(c.buf.0);
            }
            if n < out.len() {
                return frames;
            }
        }
    }

    fn end(mut self) {
        self.port.stop(1, &mut self.pool);
        self.pool.free.extend(self.posted.drain(..));
        assert_eq!(self.pool.free.len(), 512);
    }
}

fn some_frame(number: usize, len: usize) -> Vec<u8> {
    let mut f: Vec<u8> = (0..len).map(|at| (number * 31 + at * 7 + (at >> 8)) as u8).collect();
    f[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
    f
}

fn in_order() -> impl Iterator<Item = &'static str> {
    IFACES.into_iter().filter(|iface| *iface != "ceio")
}

#[test]
fn long_frames_come_whole_however_they_were_sent() {
    for iface in in_order() {
        let mut bed = Bed::new(iface);
        for (number, len) in [14, 60, 255, 256, 257, 512, 513, 1000, 2048].into_iter().enumerate() {
            for cut in [2048, 300, 256, 100] {
                let frame = some_frame(number, len);
                assert!(bed.send(&frame, cut));
                let came = bed.receive();
                assert!(came == [frame], "{iface}: {len} B in pieces of {cut}");
            }
        }
        bed.end();
    }
}

/// A frame whose end finds no buffer is dropped and counted once, and what comes behind it is whole.
#[test]
fn a_frame_that_does_not_fit_the_ring_is_counted_once() {
    for iface in in_order() {
        let mut bed = Bed::new(iface);
        let mut sent = 0;
        for round in 0..20 {
            let lens = [900, 60, 2048, 300, 1500, 2048, 2048, 1100, 2048, 2048, 2048, 600];
            for (number, len) in lens.into_iter().enumerate() {
                sent += u64::from(bed.send(&some_frame(number + round, len), 512));
            }
            for came in bed.receive() {
                let made = |(number, len): (usize, usize)| some_frame(number + round, len) == came;
                assert!(lens.into_iter().enumerate().any(made), "{iface}: {} B that nobody sent", came.len());
            }
        }
        let after = some_frame(7, 2000);
        assert!(bed.send(&after, 512));
        assert!(bed.receive().last() == Some(&after), "{iface}");
        let outcomes = outcomes(&bed.port, 1);
        assert_eq!(outcomes.iter().sum::<u64>(), sent + 1, "{iface}: {outcomes:?}");
        assert!(outcomes[0] < sent + 1, "{iface}: nothing was dropped");
        bed.end();
    }
}

#[test]
fn pieces_that_no_thread_would_get_in_order_are_refused_with_the_reason() {
    let why = |args: &[(&str, &str)]| {
        let parsed = rxlab_args_new();
        // SAFETY: `parsed` is from its call and freed once; keys and values end with a zero byte.
        unsafe {
            for (key, value) in args {
                let [key, value] = [key, value].map(|text| std::ffi::CString::new(*text).unwrap());
                driver::said(|e, n| rxlab_args_set(parsed, key.as_ptr(), value.as_ptr(), e, n)).unwrap();
            }
            let why = rxlab_args_one_mbuf(parsed);
            let why = (!why.is_null()).then(|| std::ffi::CStr::from_ptr(why).to_str().unwrap().to_owned());
            rxlab_args_free(parsed);
            why.unwrap_or_default()
        }
    };
    assert_eq!(why(&[("iface", "corec"), ("threads", "1")]), "");
    assert!(why(&[("iface", "corec"), ("threads", "2")]).contains("several threads"));
    assert!(why(&[("iface", "ceio")]).contains("order of a flow"));
    assert!(why(&[("reorder", "1")]).contains("tag"));
    assert!(why(&[("source", "port:p"), ("emulate", "1")]).contains("passes on"));
}
