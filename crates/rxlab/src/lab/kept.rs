//! Reports of runs that were made before, in files below `${XDG_CACHE_HOME:-~/.cache}/rxlab/runs`.
//!
//! A file is named by what its run depends on: the program, whose bytes stand for the model's version, and all that the
//! run is asked, a capture by its content. So nothing has to be declared out of date. Whatever is wrong with a file or
//! the folder, the run is made anew: no error comes from here.

use std::env;
use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use model::{PartReport, Report};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::fail::Fail;
use crate::show::caller;

/// Programs whose reports are kept, this one among them.
const PROGRAMS: usize = 3;
/// Most files of a folder, which is emptied then; a program has 256 of them, of some 5 KB a file.
const FILES: usize = 800;

/// Whether the command line keeps reports at all; a caller says it for itself.
static KEEPS: AtomicBool = AtomicBool::new(false);
/// The folder of this program; none where there is no place for it.
static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();

/// A report with what its JSON leaves out.
#[derive(Serialize, Deserialize)]
struct Kept {
    report: Report,
    parts: Vec<PartReport>,
}

/// From now on reports are kept, and found.
pub(crate) fn keep() {
    KEEPS.store(true, Ordering::Relaxed); // before any other thread is there
}

/// What `run` said before to what `asked` writes, or what it says now.
///
/// # Errors
/// As `run`.
pub(crate) fn or_run(
    asked: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result,
    run: impl FnOnce() -> Result<Report, Fail>,
) -> Result<Report, Fail> {
    let caller = caller::current();
    if !caller.as_ref().map_or_else(|| KEEPS.load(Ordering::Relaxed), |caller| caller.keeps) {
        return run();
    }
    let program = || caller.and_then(|caller| caller.program.clone()).or_else(|| env::current_exe().ok());
    let Some(folder) = FOLDER.get_or_init(|| folder(&program()?)) else { return run() };
    let mut all = Hashed(Sha256::new());
    if asked(&mut all).is_err() {
        return run();
    }
    let hash = hex(&all.0.finalize());
    let (first, rest) = hash.split_at(2);
    let file = folder.join(first).join(rest);
    if let Some(report) = read(&file) {
        return Ok(report);
    }
    let report = run()?;
    // Without the file the next run takes its time, and that is all.
    let _ = write(&file, &report);
    Ok(report)
}

/// Where this program's reports are, made if need be. Those of programs that were not used for longest are removed.
fn folder(program: &Path) -> Option<PathBuf> {
    let stated = |name| env::var_os(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
    let all = stated("XDG_CACHE_HOME").or_else(|| Some(stated("HOME")?.join(".cache")))?.join("rxlab/runs");
    let program = fs::read(program).ok()?;
    let folder = all.join(hex(&Sha256::digest(program)));
    if !folder.is_dir() {
        fs::create_dir_all(&folder).ok()?;
        let used = |dir: &Path| dir.metadata().and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        let mut others: Vec<PathBuf> = fs::read_dir(&all)
            .ok()?
            .flatten()
            .map(|entry| entry.path())
            .filter(|dir| *dir != folder)
            .collect();
        others.sort_by_key(|dir| std::cmp::Reverse(used(dir)));
        for dir in others.iter().skip(PROGRAMS - 1) {
            let _ = fs::remove_dir_all(dir); // another program may have been quicker
        }
    }
    Some(folder)
}

/// What a file holds, if it is whole.
fn read(file: &Path) -> Option<Report> {
    let bytes = fs::read(file).ok()?;
    let (sum, body) = bytes.split_at_checked(32)?;
    if Sha256::digest(body).as_slice() != sum {
        return None;
    }
    let Kept { mut report, parts } = rmp_serde::from_slice(body).ok()?;
    report.parts = parts;
    Some(report)
}

/// A file is there whole or not at all, also where several programs write it.
fn write(file: &Path, report: &Report) -> Option<()> {
    let dir = file.parent()?;
    fs::create_dir_all(dir).ok()?;
    if fs::read_dir(dir).ok()?.count() >= FILES {
        fs::remove_dir_all(dir).and_then(|()| fs::create_dir_all(dir)).ok()?;
    }
    let kept = Kept { report: report.clone(), parts: report.parts.clone() };
    let body = rmp_serde::to_vec_named(&kept).ok()?;
    let mut whole = NamedTempFile::new_in(dir).ok()?;
    whole.write_all(&Sha256::digest(&body)).and_then(|()| whole.write_all(&body)).ok()?;
    whole.persist(file).ok().map(drop)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A hash of text that is never held as a whole.
struct Hashed(Sha256);

impl fmt::Write for Hashed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}
