//! What measurements beside other programs need: what `make dpdk` built, and two CPUs.

use std::env;
use std::path::{Path, PathBuf};

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::fail::Fail;

/// A program that `make dpdk` leaves where it builds.
const PROGRAM: &str = "bench/rxbench";

/// Where `make dpdk` builds: below the working directory, else below the tree that holds this program.
pub(super) fn directory() -> PathBuf {
    let build = Path::new("dpdk/build");
    let program = env::current_exe().ok();
    let above = program.iter().flat_map(|path| path.ancestors());
    let found = above.map(|dir| dir.join(build)).find(|dir| dir.join(PROGRAM).exists());
    if build.join(PROGRAM).exists() { build.into() } else { found.unwrap_or_else(|| build.into()) }
}

/// # Errors
/// The file is not there.
pub(super) fn present(file: &Path, or_else: &str) -> Result<(), Fail> {
    if file.is_file() {
        Ok(())
    } else {
        let file = file.display();
        Err(Fail::new(format!("{file}: not there: run make dpdk, name its directory with --build{or_else}")))
    }
}

/// The CPUs that were asked for, or the first two that this process may use.
///
/// # Errors
/// They are not two of those.
pub(super) fn cpus(asked: Option<&[usize]>) -> Result<[usize; 2], Fail> {
    let mine = sched_getaffinity(None).map_err(|e| Fail::new(format!("CPUs of this process: {e}")))?;
    let mine: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| mine.is_set(cpu)).collect();
    let chosen = asked.unwrap_or(&mine[..mine.len().min(2)]);
    match *chosen {
        [a, b] if a != b && mine.contains(&a) && mine.contains(&b) => Ok([a, b]),
        _ => {
            let text = |cpus: &[usize]| cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
            Err(Fail::new(format!("--cpus {}: allowed: two of {}", text(chosen), text(&mine))))
        }
    }
}
