//! Is every ordering needed? Relaxes one site after the other and looks whether a scenario fails.

use core::fmt;
use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io, thread};

use super::explore::{Bounds, explore};
use super::orders::{Orders, Site};
use super::space::CheckedSpace;

/// A named test that runs in every interleaving.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// One execution.
    pub run: fn(CheckedSpace),
}

/// What became of a relaxed site.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The site.
    pub site: Site,
    /// The scenario that failed without it, and how; none if all passed.
    pub caught: Option<(&'static str, String)>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.caught {
            Some((scenario, how)) => {
                write!(f, "{}: {scenario}: {}", self.site, how.lines().next().unwrap_or(""))
            }
            None => write!(f, "{}: relaxed and not missed", self.site),
        }
    }
}

/// Relaxes each site of `scenarios` that `ours` accepts, one at a time.
///
/// # Errors
/// A scenario fails with all orderings in force.
pub fn weaken(
    bounds: Bounds,
    scenarios: &[Scenario],
    ours: impl Fn(&Site) -> bool,
) -> Result<Vec<Verdict>, String> {
    let runs = on_all_cpus(scenarios, |scenario| {
        let orders = Arc::new(Orders::strong());
        let explored =
            explore(bounds, &orders, scenario.run).map_err(|e| format!("{}: {e}", scenario.name))?;
        Ok((explored.executions, scenario, orders.sites()))
    });
    let mut runs = runs.into_iter().collect::<Result<Vec<_>, String>>()?;
    runs.sort_by_key(|(executions, ..)| *executions); // the quick ones first
    let sites: BTreeSet<Site> = runs.iter().flat_map(|(_, _, sites)| sites).copied().filter(ours).collect();
    let sites: Vec<Site> = sites.into_iter().collect();
    let caught = |site: Site| {
        runs.iter().filter(|(_, _, sites)| sites.contains(&site)).find_map(|(_, scenario, _)| {
            let weakened = Arc::new(Orders::weakened(site));
            explore(bounds, &weakened, scenario.run).err().map(|how| (scenario.name, how))
        })
    };
    Ok(on_all_cpus(&sites, |site| Verdict { site: *site, caught: caught(*site) }))
}

/// What `work` makes of each item, in their order: each exploration has a thread of its own.
fn on_all_cpus<'a, T: Sync, R: Send>(items: &'a [T], work: impl Fn(&'a T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let take = || {
        // Relaxed: a number that each thread gets once. The results are ordered by the lock.
        while let Some((i, item)) = Some(next.fetch_add(1, Relaxed)).and_then(|i| Some((i, items.get(i)?))) {
            let result = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((i, result));
        }
    };
    thread::scope(|scope| {
        let cpus = thread::available_parallelism().map_or(1, NonZero::get);
        (0..cpus).for_each(|_| drop(scope.spawn(take)));
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The sites that no scenario misses, as `file: source line` with the file's path below `src`. `verdicts`
/// names sites by position; a document names them by text, which survives edits elsewhere. `root` is the
/// workspace.
///
/// # Errors
/// A source file cannot be read.
pub fn unmissed(verdicts: &[Verdict], root: &Path) -> io::Result<BTreeSet<String>> {
    let mut keys = BTreeSet::new();
    for Verdict { site, .. } in verdicts.iter().filter(|v| v.caught.is_none()) {
        let text = fs::read_to_string(root.join(site.file))?;
        let line = text.lines().nth(site.line as usize - 1).unwrap_or("").trim();
        let code = line.split(" //").next().unwrap_or(line).trim();
        let (_, file) = site.file.rsplit_once("/src/").unwrap_or(("", site.file));
        keys.insert(format!("{file}: {code}"));
    }
    Ok(keys)
}

/// The same keys as a document lists them: table rows ``| `file` | `source line` | reason |`` for
/// files that `ours` accepts.
pub fn listed(document: &str, ours: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.splitn(3, "` | `");
        let (file, rest) = (cells.next()?, cells.next()?);
        let (code, _reason) = rest.split_once("` | ")?;
        (file.ends_with(".rs") && ours(file)).then(|| format!("{file}: {code}"))
    };
    document.lines().filter_map(row).collect()
}
