//! Instructions of a frame on either side of a link, under callgrind: what is left of the time once the lines are there.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::process::Command;
use std::thread;

use ccnic::{Buf, Channel, Config, Listener, Segment};

/// Frames of a call, and how many calls.
const FRAMES: [(usize, usize); 2] = [(32, 20_000), (1, 100_000)];
const BYTES: usize = 64;
/// How many instructions a frame may take on the side that sends, and on the side that receives: of those calls.
const LIMITS: [[f64; 2]; 2] = [[175.0, 165.0], [400.0, 360.0]];

fn link() -> (Channel, Channel) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("link");
    let mut listener = Listener::bind(&path, Config::default()).unwrap();
    let other = thread::spawn(move || Channel::connect(path, Config::default()).unwrap());
    (listener.accept().unwrap(), other.join().unwrap())
}

#[inline(never)]
fn send_burst(channel: &mut Channel, bufs: &mut [Buf], segs: &mut [Segment], frame: &mut [u8; BYTES]) {
    let n = channel.alloc(bufs);
    for (buf, seg) in bufs[..n].iter().zip(&mut *segs) {
        frame[0] = frame[0].wrapping_add(1);
        channel.write(*buf, 0, frame).unwrap();
        *seg = Segment { buf: *buf, off: 0, len: BYTES as u16, last: true };
    }
    assert_eq!(channel.send(&segs[..n]).unwrap(), segs.len());
}

#[inline(never)]
fn receive_burst(
    channel: &mut Channel,
    bufs: &mut [Buf],
    segs: &mut [Segment],
    frame: &mut [u8; BYTES],
) -> u64 {
    let n = channel.receive(segs).unwrap();
    let mut sum = 0;
    for (seg, buf) in segs[..n].iter().zip(&mut *bufs) {
        channel.read(seg.buf, seg.off.into(), &mut frame[..seg.len.into()]).unwrap();
        sum += u64::from(frame[0]);
        *buf = seg.buf;
    }
    channel.free(&bufs[..n]);
    sum
}

/// What callgrind runs.
fn run((burst, bursts): (usize, usize)) {
    let (mut here, mut there) = link();
    let none = Segment { buf: Buf(0), off: 0, len: 0, last: true };
    let (mut bufs, mut segs) = (vec![Buf(0); burst], vec![none; burst]);
    let (mut sent, mut received) = ([0; BYTES], [0; BYTES]);
    let mut sum = 0;
    for _ in 0..bursts {
        send_burst(&mut here, &mut bufs, &mut segs, &mut sent);
        sum += receive_burst(&mut there, &mut bufs, &mut segs, &mut received);
    }
    let expected: u64 = (1..=bursts * burst).map(|i| i as u64 % 256).sum();
    assert_eq!(sum, expected);
}

#[test]
#[ignore = "the workload of the instruction count"]
fn bursts() {
    run(FRAMES[0]);
}

#[test]
#[ignore = "the workload of the instruction count"]
fn singles() {
    run(FRAMES[1]);
}

/// Instructions of a frame in `function`.
fn instructions(workload: &str, (burst, bursts): (usize, usize), function: &str) -> f64 {
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect=*{function}*"))
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", workload, "--test-threads=1"])
        .output();
    let run = run.unwrap_or_else(|error| panic!("valgrind is missing ({error}): apt install valgrind"));
    let text = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{text}");
    let count = text.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse::<u64>().ok());
    count.unwrap_or_else(|| panic!("no count in: {text}")) as f64 / (bursts * burst) as f64
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "counts optimised code: cargo test --release -p ccnic --test native_cost"
)]
fn a_frame_costs_few_instructions_on_either_side() {
    for (workload, (frames, limits)) in ["bursts", "singles"].into_iter().zip(FRAMES.into_iter().zip(LIMITS))
    {
        let [sends, receives] = ["send_burst", "receive_burst"].map(|of| instructions(workload, frames, of));
        println!(
            "instructions for a frame of {BYTES} B, {} a call: ccnic-{workload}-send {sends:.2}, ccnic-{workload}-receive {receives:.2}",
            frames.0
        );
        assert!(sends > 20.0 && receives > 20.0, "callgrind did not see the bursts");
        assert!(sends <= limits[0] && receives <= limits[1], "allowed: {limits:?}");
    }
}
