//! The model's L2 and LLC against `pycachesim` (PyPI), for one core, LRU and no DMA.
//!
//! pycachesim's own victim cache keeps a line that was hit and so holds it twice after its next
//! eviction; it has no LLC that gives a line away. Where L2 and LLC have the same set index, though, an
//! L2 over an LLC that takes its victims and gives hits away is one LRU stack: a line hits the L2 when
//! it is among the first `l2` places of its set, and the LLC when it is among the next `llc`. Two
//! pycachesim runs, of `l2` and of `l2 + llc` ways, thus give L2 hits, LLC hits, misses and dirty
//! lines written to DRAM. LLC sets that differ from the L2's are left to `reference.rs`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::caches::{Chance, small, tiny};
use model::hierarchy::Hierarchy;
use model::profile::Caches;

const VERSION: &str = "pycachesim==0.3.1";
const ACCESSES: usize = 120_000;

/// A Python with pycachesim, made once under the target directory; `None` where `RXLAB_NO_PY=1` says
/// that there is none to be had.
#[expect(clippy::explicit_write, reason = "what eprintln writes is seen of tests that fail alone")]
fn python() -> Option<PathBuf> {
    if std::env::var_os("RXLAB_NO_PY").is_some_and(|v| v == "1") {
        writeln!(std::io::stderr(), "RXLAB_NO_PY=1: the comparison with pycachesim is skipped").unwrap();
        return None;
    }
    let venv = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pycachesim-venv");
    let python = venv.join("bin/python3");
    let ready = || run(Command::new(&python).args(["-c", "import cachesim"])).is_ok();
    if !ready() {
        let made = run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv)).and_then(|_| {
            run(Command::new(&python)
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
                .arg(VERSION))
        });
        if let Err(why) = made {
            panic!(
                "this test compares the caches with {VERSION} and needs python3 with venv and pip, and a \
                 package index (Debian: apt-get install python3-venv); RXLAB_NO_PY=1 skips it.\n{why}"
            );
        }
        assert!(ready(), "{VERSION} was installed but cannot be imported");
    }
    Some(python)
}

/// Standard output, or what went wrong.
fn run(command: &mut Command) -> Result<String, String> {
    let out = command.output().map_err(|e| format!("{:?}: {e}", command.get_program()))?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    Err(format!("{command:?}\n{}", String::from_utf8_lossy(&out.stderr)))
}

/// Loops, strides and random accesses over `lines`, a quarter of them stores.
fn accesses(seed: u64, lines: u32) -> Vec<u32> {
    let mut chance = Chance::new(seed);
    let mut at = 0;
    let mut next = |n: usize| {
        at = match n / 4096 % 3 {
            0 => (at + 1) % (lines / 2),
            1 => (at + 3 + chance.below(5)) % lines,
            _ => chance.below(lines),
        };
        at << 1 | u32::from(chance.below(4) == 0)
    };
    (0..ACCESSES).map(&mut next).collect()
}

/// Misses and dirty evictions of one cache.
fn reference(python: &Path, file: &Path, sets: u32, ways: u32) -> (u64, u64) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/pycachesim.py");
    let (sets, ways) = (sets.to_string(), ways.to_string());
    let out = run(Command::new(python).arg(script).arg(file).args([sets, ways])).unwrap();
    let numbers: Vec<u64> = out.split_whitespace().map(|n| n.parse().unwrap()).collect();
    (numbers[0], numbers[1])
}

/// Compares all counts for `caches`, whose L2 and LLC must have the same sets.
fn compare(python: &Path, name: &str, caches: &Caches) {
    let server = small(1, caches.clone());
    let sets = server.l2_sets();
    assert_eq!((caches.slices, caches.sets_per_slice), (1, sets), "one stack per set");
    // Victims stay out of the DDIO ways.
    let (l2, both) = (caches.l2_ways, caches.l2_ways + caches.ways - caches.ddio_ways);
    for (seed, lines) in [(1, sets * both * 9 / 8), (2, sets * both * 3 / 2), (3, sets * both * 3)] {
        let accesses = accesses(seed, lines);
        let mut model = Hierarchy::new(&server, lines, lines, seed);
        for a in &accesses {
            model.core(0, a >> 1, a & 1 == 1);
        }
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("accesses-{name}-{seed}"));
        std::fs::write(&file, accesses.iter().flat_map(|a| a.to_le_bytes()).collect::<Vec<_>>()).unwrap();
        let (l2_misses, _) = reference(python, &file, sets, l2);
        let (misses, written) = reference(python, &file, sets, both);
        std::fs::remove_file(&file).unwrap();

        let c = model.counts;
        println!("{name}, {lines} lines: {c:?}");
        let total = accesses.len() as u64;
        assert_eq!(c.l2_hits, total - l2_misses, "{name}: L2 hits");
        assert_eq!(c.llc_hits, l2_misses - misses, "{name}: LLC hits");
        assert_eq!(c.llc_misses, misses, "{name}: LLC misses");
        assert_eq!(c.dram_reads, misses, "{name}: lines read from DRAM");
        assert_eq!(c.dram_writes, written, "{name}: lines written to DRAM");
        let each = [c.l2_hits, c.llc_hits, c.llc_misses, written];
        assert!(each.iter().all(|n| *n > 0), "{name}: the accesses do not reach everything");
    }
}

#[test]
fn one_core_counts_as_pycachesim_does() {
    let Some(python) = python() else { return };
    compare(&python, "tiny", &Caches { ddio_ways: 1, ..tiny() });
    compare(&python, "wide", &Caches { l2_ways: 16, l2_kib: 4, sets_per_slice: 4, ways: 16, ..tiny() });
    // An L2 and a slice of the reference servers.
    let slice = Caches { l2_kib: 1024, l2_ways: 16, sets_per_slice: 1024, ways: 11, ..tiny() };
    small(1, slice.clone()).validate().unwrap();
    compare(&python, "slice", &slice);
}
