//! The same packets in every format are the same packets; damage is counted; errors say what is allowed.

use crate::make::{Format, Packet, Packing, capture, formats, packets, packings, udp};
use proptest::prelude::*;
use std::sync::Arc;
use traffic::{Arrival, HEAD, MIN_FRAME, Rate, Source, Trace, TraceError, Workload};

/// All arrivals of the first lap at their own times, on a wire too fast to matter.
fn lap(trace: Trace) -> Vec<Arrival> {
    let packets = trace.stats().packets;
    let line = traffic::Line { port: 0, loads: &[1], gbps: 1e9 };
    let mut source = Workload::Pcap(Arc::new(trace), None).source_on(line, Rate::Own, 0);
    let next = |_| {
        let mut out = Arrival::EMPTY;
        assert!(source.next(&mut out));
        out
    };
    (0..packets).map(next).collect()
}

fn read(file: &[u8]) -> Result<Trace, TraceError> {
    Trace::read("made", file)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_format_gives_the_packets_back(
        packets in packets(), format in formats(), packing in packings(),
    ) {
        let trace = read(&packing.pack(&format.file(1, &packets))).unwrap();
        let info = trace.stats().clone();
        prop_assert_eq!(info.packets, packets.len() as u64);
        prop_assert_eq!(info.skipped.total(), 0);
        prop_assert!(!info.truncated);
        let snapped = packets.iter().filter(|p| p.len as usize > p.bytes.len()).count();
        prop_assert_eq!(info.snapped, snapped as u64);
        prop_assert_eq!(info.duration_ns, packets.last().unwrap().at - packets[0].at);
        for (p, a) in packets.iter().zip(lap(trace)) {
            let kept = p.bytes.len().min(HEAD);
            prop_assert_eq!(u32::from(a.len), p.len.max(u32::from(MIN_FRAME)));
            prop_assert_eq!(usize::from(a.head_len), kept);
            prop_assert_eq!(&a.head[..kept], &p.bytes[..kept]);
            // A wire of 10^9 Gbps takes a few ps for a frame.
            prop_assert!(a.at - (p.at - packets[0].at) * 1000 < 2000, "{}", a.at);
        }
    }

    /// Cut anywhere, what came before is there and nothing panics.
    #[test]
    fn a_cut_capture_gives_what_came_before(
        packets in packets(), format in formats(), packing in packings(), part in 0.0..1.0f64,
    ) {
        let whole = packing.pack(&format.file(1, &packets));
        let cut = &whole[..(whole.len() as f64 * part) as usize];
        match read(cut) {
            Ok(trace) => {
                let info = trace.stats();
                prop_assert!(info.packets <= packets.len() as u64);
                prop_assert!(info.skipped.malformed <= 1 && info.truncated as u64 >= info.skipped.malformed);
                prop_assert!(info.packets < packets.len() as u64 || packing != Packing::Plain);
            }
            Err(e) => prop_assert!(!e.to_string().contains('\n')),
        }
    }

    /// Link types that lack an Ethernet header get one.
    #[test]
    fn missing_link_headers_are_made(format in formats(), v6: bool, tail in 0usize..200) {
        let mut ip = vec![if v6 { 0x60 } else { 0x45 }; 1];
        ip.resize(40 + tail, 7);
        let (ethertype, family) = if v6 { (0x86ddu16, 30u32) } else { (0x0800, 2) };
        let proto = ethertype.to_be_bytes();
        let sll = [&[0; 14][..], &proto].concat();
        let sll2 = [&proto[..], &[0; 18]].concat();
        let links = [
            (101, vec![]), (12, vec![]), (14, vec![]), (if v6 { 229 } else { 228 }, vec![]),
            (0, family.to_le_bytes().to_vec()), (0, family.to_be_bytes().to_vec()), (108, family.to_be_bytes().to_vec()),
            (113, sll), (276, sll2),
        ];
        for (link, header) in links {
            let bytes = [header, ip.clone()].concat();
            let packet = Packet { at: 5_000_000_000, len: bytes.len() as u32 + 100, bytes };
            let trace = read(&format.file(link, &[packet])).unwrap();
            let info = trace.stats().clone();
            prop_assert_eq!((info.made_headers, info.snapped, info.packets), (1, 1, 1), "link type {}", link);
            let frame = &lap(trace)[0];
            prop_assert_eq!(usize::from(frame.len), 14 + ip.len() + 100);
            prop_assert_eq!(&frame.head[12..14], &proto);
            let kept = ip.len().min(HEAD - 14);
            prop_assert_eq!(&frame.head[14..14 + kept], &ip[..kept]);
        }
    }
}

#[test]
fn several_gzip_members_and_sections_are_one_capture() {
    let format = Format::Ng { big: false, digits: 6 };
    let other = Format::Ng { big: true, digits: 9 };
    let packet = |at| Packet { at, bytes: udp(1, 60), len: 60 };
    let parts = [
        format.file(1, &[packet(1_000_000)]),
        other.file(101, &[Packet { bytes: udp(1, 60)[14..].to_vec(), ..packet(3_000_000) }]),
    ];
    let trace = read(&parts.concat()).unwrap();
    assert_eq!(
        (trace.stats().packets, trace.stats().made_headers, trace.stats().duration_ns),
        (2, 1, 2_000_000)
    );
    let members: Vec<u8> = parts.iter().flat_map(|p| Packing::Gzip.pack(p)).collect();
    assert_eq!(read(&members).unwrap().stats(), trace.stats());
}

#[test]
fn a_simple_packet_block_has_the_time_before_it() {
    let format = Format::Ng { big: false, digits: 6 };
    let packet = |at| Packet { at, bytes: udp(1, 61), len: 61 };
    let mut file = format.file(1, &[packet(0), packet(4_000_000)]);
    let simple = [&61u32.to_le_bytes()[..], &udp(2, 61), &[0; 3]].concat();
    file.extend(format.block(3, &simple));
    let frames = lap(read(&file).unwrap());
    assert_eq!(frames.iter().map(|f| f.at / 1_000_000).collect::<Vec<_>>(), [0, 4000, 4000]);
    assert_eq!(frames[2].len, 61);
    assert_eq!(frames[2].head[29], 2);
}

/// Interfaces differ in link type, in time unit (a power of ten or of two) and in where time starts.
#[test]
fn interfaces_keep_to_themselves() {
    for big in [false, true] {
        let format = Format::Ng { big, digits: 6 };
        let word = |w: u32| if big { w.to_be_bytes() } else { w.to_le_bytes() };
        let half = |h: u16| if big { h.to_be_bytes() } else { h.to_le_bytes() };
        let packet = |at| Packet { at, bytes: udp(1, 60), len: 60 };
        let mut file = format.file(1, &[packet(3_000_000_000)]);
        // Interface 1: raw IP, units of 2^-10 s, one second later.
        let resolution = [&half(9)[..], &half(1), &[0x8a, 0, 0, 0]].concat();
        let offset =
            [&half(14)[..], &half(8), &if big { 1u64.to_be_bytes() } else { 1u64.to_le_bytes() }].concat();
        let body = [&half(101)[..], &half(0), &word(0), &resolution, &offset, &[0; 4]].concat();
        file.extend(format.block(1, &body));
        let ip = &udp(2, 62)[14..];
        let packet = [[1, 0, 3 * 1024 + 512, 48, 48].map(word).concat(), ip.to_vec()].concat();
        file.extend(format.block(6, &packet));
        let trace = read(&file).unwrap();
        let info = trace.stats().clone();
        assert_eq!((info.packets, info.made_headers, info.skipped.total()), (2, 1, 0));
        assert_eq!(info.links.into_iter().collect::<Vec<_>>(), [("ethernet", 1), ("raw-ip", 1)]);
        assert_eq!(info.duration_ns, 1_500_000_000, "3 s and 3.5 + 1 s");
    }
}

#[test]
fn damaged_blocks_are_skipped_and_counted() {
    let format = Format::Ng { big: false, digits: 6 };
    let packet = |at| Packet { at, bytes: udp(1, 60), len: 60 };
    let good = format.file(1, &[packet(0)]);
    // An interface that was never described; a packet longer than its block.
    let words = |w: [u32; 5]| w.map(u32::to_le_bytes).concat();
    let unknown = [words([7, 0, 0, 60, 60]), udp(1, 60)].concat();
    let overlong = [words([0, 0, 0, 600, 600]), udp(1, 60)].concat();
    let file = [
        good,
        format.block(6, &unknown),
        format.block(6, &overlong),
        format.block(6, &[words([0, 0, 9, 60, 60]), udp(1, 60)].concat()),
    ]
    .concat();
    let trace = read(&file).unwrap();
    assert_eq!((trace.stats().packets, trace.stats().skipped.malformed), (2, 2));
    assert!(!trace.stats().truncated);
}

#[test]
fn a_block_shorter_than_its_own_frame_ends_the_file() {
    let format = Format::Ng { big: false, digits: 6 };
    let good = format.file(1, &[Packet { at: 0, bytes: udp(1, 60), len: 60 }]);
    // Process information, the block whose length the parser does not check; no length, and one of 8.
    for len in [0u32, 8] {
        let short = [0x8000_0001u32, len, 0, 0, 0].map(u32::to_le_bytes).concat();
        let trace = read(&[good.clone(), short].concat()).unwrap();
        assert_eq!((trace.stats().packets, trace.stats().skipped.malformed), (1, 1), "length {len}");
        assert!(trace.stats().truncated);
    }
}

#[test]
fn blocks_larger_than_the_buffer_are_read() {
    for big in [false, true] {
        let format = Format::Ng { big, digits: 6 };
        let packet = |at, len: u32| Packet { at, bytes: vec![9; len as usize], len };
        let mut file = format.file(1, &[packet(0, 100)]);
        file.extend(format.block(0x0bad, &vec![7; 3 << 20]));
        let tail = format.file(1, &[packet(1000, 65_535), packet(2000, 60)]);
        let trace = read(&[file, tail].concat()).unwrap();
        assert_eq!((trace.stats().packets, trace.stats().skipped.total()), (3, 0));
    }
}

#[test]
fn a_length_that_cannot_be_ends_the_reading() {
    let mut file = capture(&[(0, udp(1, 60)), (1, udp(2, 60)), (2, udp(3, 60))]);
    // The second record's captured length.
    let at = 24 + 16 + 60 + 8;
    file[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let trace = read(&file).unwrap();
    assert_eq!((trace.stats().packets, trace.stats().skipped.malformed), (1, 1));
    assert!(trace.stats().truncated);
}

#[test]
fn records_that_make_no_frame_are_counted() {
    let long = Packet { at: 0, bytes: udp(1, 60), len: 70_000 };
    let runt = Packet { at: 0, bytes: vec![1; 13], len: 13 };
    let fine = Packet { at: 0, bytes: udp(1, 60), len: 60 };
    let format = Format::Pcap { big: false, nanos: false };
    let trace = read(&format.file(1, &[long, runt.clone(), fine])).unwrap();
    let skipped = trace.stats().skipped;
    assert_eq!((skipped.oversize, skipped.malformed, skipped.unknown_link), (1, 1, 0));
    assert_eq!(trace.stats().packets, 1);
    assert!(matches!(read(&format.file(1, &[runt])), Err(TraceError::NoFrames { skipped: 1, .. })));
}

#[test]
fn errors_name_the_file_and_what_is_allowed() {
    let dir = std::env::temp_dir().join(format!("traffic-errors-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let ethernet = capture(&[(0, udp(1, 60))]);
    let wifi =
        Format::Pcap { big: false, nanos: false }.file(105, &[Packet { at: 0, bytes: udp(1, 60), len: 60 }]);
    let cases = [
        (dir.join("missing.pcap"), "readable file"),
        (file("empty.pcap", &[]), "empty file; expected a pcap or pcapng file"),
        (file("text.pcap", b"hello, world, this is not a capture"), "not a capture; expected a pcap"),
        (file("short.pcap", &ethernet[..10]), "not a capture"),
        (file("broken.gz", &[0x1f, 0x8b, 8, 0, 1, 2]), "not a capture"),
        (file("broken.zst", &[0x28, 0xb5, 0x2f, 0xfd, 0xff, 1, 2]), "not a capture"),
        (file("header.pcap", &ethernet[..24]), "no usable frame"),
        (file("wifi.pcap", &wifi), "link type 105; allowed: Ethernet (1)"),
        (dir.clone(), "not a capture"),
    ];
    for (path, allowed) in cases {
        let error = Trace::open(&path).unwrap_err().to_string();
        assert!(error.starts_with(path.to_str().unwrap()), "{error}");
        assert!(error.contains(allowed) && !error.contains('\n'), "{error}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_written_capture_reads_back() {
    let path = std::env::temp_dir().join(format!("traffic-written-{}.pcap", std::process::id()));
    let workload = Workload::Generated("imix,flows=50,zipf=1,arrivals=poisson".parse().unwrap());
    let mut source = workload.source(0, 1, Rate::Gbps(40.0), 3);
    assert_eq!(traffic::write_pcap(&path, source.as_mut(), 500).unwrap(), 500);
    let trace = Trace::open(&path).unwrap();
    let mut again = workload.source(0, 1, Rate::Gbps(40.0), 3);
    let (mut made, mut first) = (Arrival::EMPTY, None);
    for read in lap(trace) {
        assert!(again.next(&mut made));
        let first = *first.get_or_insert(made.at / 1000);
        assert_eq!((read.len, &read.head), (made.len, &made.head));
        assert_eq!(read.at / 1000, made.at / 1000 - first);
    }
    std::fs::remove_file(&path).unwrap();
    // A directory that is not empty cannot be replaced: what was written beside it goes away.
    let taken = path.with_extension("dir");
    std::fs::create_dir_all(taken.join("x")).unwrap();
    assert!(matches!(traffic::write_pcap(&taken, source.as_mut(), 1), Err(TraceError::Write { .. })));
    assert!(!path.with_extension("dir.part").exists());
    std::fs::remove_dir_all(&taken).unwrap();
    let nowhere = path.join("below-a-file.pcap");
    let error = traffic::write_pcap(&nowhere, source.as_mut(), 1).unwrap_err().to_string();
    assert!(error.starts_with(nowhere.to_str().unwrap()) && error.contains("cannot write"), "{error}");
}

/// A source that ends.
struct Short(u64);

impl Source for Short {
    fn next(&mut self, out: &mut Arrival) -> bool {
        self.0 = self.0.wrapping_sub(1);
        out.len = 60;
        self.0 < 10
    }
}

#[test]
fn a_source_that_ends_gives_a_shorter_capture() {
    let path = std::env::temp_dir().join(format!("traffic-short-{}.pcap", std::process::id()));
    assert_eq!(traffic::write_pcap(&path, &mut Short(5), 100).unwrap(), 5);
    assert_eq!(Trace::open(&path).unwrap().stats().packets, 5);
    std::fs::remove_file(&path).unwrap();
}
