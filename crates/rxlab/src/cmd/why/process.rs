//! What the kernel knows of a program and its cards: threads, PCI links, and the fill of its pools' rings.
//!
//! All of it is evidence beside telemetry: where it may not be read, it is left out.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::dump::{Pcie, Thread};

/// Threads of the process `pid`, by number.
pub(super) fn threads(pid: u32) -> Vec<Thread> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut all: Vec<Thread> = tasks.filter_map(|task| thread(&task.path())).collect();
    all.sort_by_key(|t| t.tid);
    all
}

fn thread(task: &Path) -> Option<Thread> {
    let text = |name: &str| fs::read_to_string(task.join(name)).ok();
    let schedstat = text("schedstat")?;
    let mut times = schedstat.split_whitespace().map(|word| word.parse().ok());
    let status = text("status").unwrap_or_default();
    let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    Some(Thread {
        tid: task.file_name()?.to_str()?.parse().ok()?,
        name: text("comm")?.trim().into(),
        cpus: cpus.unwrap_or_default().trim().into(),
        run_ns: times.next()??,
        wait_ns: times.next()??,
    })
}

/// The PCI link of the device at `address`, such as `0000:3b:00.0`.
pub(super) fn pcie(address: &str) -> Option<Pcie> {
    // A virtual device's name is none of a directory there; a path is not followed.
    let plain = address.chars().all(|c| c.is_ascii_hexdigit() || c == ':' || c == '.');
    if !plain || !address.contains(':') {
        return None;
    }
    let word = |name: &str| {
        let text = fs::read_to_string(Path::new("/sys/bus/pci/devices").join(address).join(name)).ok()?;
        // `8.0 GT/s PCIe`, `16`
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    Some(Pcie {
        speed_gts: word("current_link_speed")?,
        max_speed_gts: word("max_link_speed")?,
        width: word("current_link_width")? as u32,
        max_width: word("max_link_width")? as u32,
    })
}

// Where a ring has what, on 64-bit Linux: struct rte_ring of lib/ring/rte_ring_core.h is part of DPDK's stable ABI.
const RING_BYTES: usize = 384;
const SIZE: usize = 48;
const MASK: usize = 52;
const PRODUCER_TAIL: usize = 132;
const CONSUMER_TAIL: usize = 260;

/// Buffers in the ring at `address` in the memory of process `pid`, which is called `name` and has room for `size`. 22.11
/// tells where it lies, but not how full it is.
pub(super) fn in_ring(pid: u32, address: u64, name: &str, size: u64) -> Option<u64> {
    let mut bytes = [0u8; RING_BYTES];
    File::open(format!("/proc/{pid}/mem")).ok()?.read_exact_at(&mut bytes, address).ok()?;
    count(&bytes, name, size)
}

/// Buffers in the ring whose head is `bytes`; `None` where it does not look like that ring.
fn count(bytes: &[u8; RING_BYTES], name: &str, size: u64) -> Option<u64> {
    let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let called = bytes.get(..name.len())? == name.as_bytes() && bytes.get(name.len()) == Some(&0);
    let (slots, mask) = (word(SIZE)?, word(MASK)?);
    if !called || !slots.is_power_of_two() || mask != slots - 1 || u64::from(slots) < size {
        return None;
    }
    let inside = u64::from(word(PRODUCER_TAIL)?.wrapping_sub(word(CONSUMER_TAIL)?));
    (inside <= size).then_some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(name: &str, slots: u32, tails: [u32; 2]) -> [u8; RING_BYTES] {
        let mut bytes = [0; RING_BYTES];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        for (at, word) in
            [(SIZE, slots), (MASK, slots - 1), (PRODUCER_TAIL, tails[0]), (CONSUMER_TAIL, tails[1])]
        {
            bytes[at..at + 4].copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn a_ring_is_counted_where_it_is_the_one_that_is_meant() {
        let bytes = ring("RG_MP_mb_pool_0", 8192, [5, u32::MAX - 4]);
        assert_eq!(count(&bytes, "RG_MP_mb_pool_0", 8000), Some(10), "tails wrap");
        assert_eq!(count(&bytes, "RG_MP_mb_pool_", 8000), None, "another name");
        assert_eq!(count(&bytes, "RG_MP_mb_pool_0", 9000), None, "more buffers than slots");
        assert_eq!(count(&bytes, "RG_MP_mb_pool_0", 9), None, "more inside than there are");
    }

    #[test]
    fn this_process_has_threads_and_no_name_is_a_path() {
        let mine = threads(std::process::id());
        assert!(mine.iter().any(|t| t.tid == std::process::id() && !t.cpus.is_empty()), "{mine:?}");
        assert!(pcie("../../..").is_none() && pcie("net_tap0").is_none());
    }
}
