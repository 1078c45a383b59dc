//! What was run before is found again, and nothing else is.

#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use common::{Line, PCAP, program, record};
use tempfile::TempDir;

const SHORT: &str = "compare --cores 2 --ports 1 --rate 20 --interfaces privring,corec --no-search --placements 1 --other-arrivals 0 --sampling 64 --limit-ms 4";

/// What `line` prints with `caches` as the folder of all caches.
fn shown(caches: &Path, line: &str) -> Vec<u8> {
    let out = program().env("XDG_CACHE_HOME", caches).args(line.words()).output().unwrap();
    assert!(out.status.success(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

/// All files below `dir` with their inodes: a file that is written again has another one.
fn inodes(dir: &Path) -> BTreeMap<PathBuf, u64> {
    files(dir).into_iter().map(|file| (file.clone(), file.metadata().unwrap().ino())).collect()
}

/// All files below `dir`.
fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn a_second_ask_prints_the_same_bytes_without_a_run() {
    let caches = TempDir::new().unwrap();
    let anew = shown(caches.path(), &format!("{SHORT} --json --no-cache"));
    assert!(files(caches.path()).is_empty(), "--no-cache keeps nothing");
    let first = shown(caches.path(), &format!("{SHORT} --json"));
    let kept = inodes(caches.path());
    assert!(kept.len() >= 4, "two interfaces from empty and from full rings: {kept:?}");
    let second = shown(caches.path(), &format!("{SHORT} --json"));
    assert_eq!((&first, &second), (&anew, &anew));
    assert_eq!(inodes(caches.path()), kept, "no run was made, or it would have written its file anew");
    let as_table = shown(caches.path(), SHORT);
    assert_eq!(inodes(caches.path()), kept);
    assert_eq!(as_table, shown(caches.path(), &format!("{SHORT} --no-cache")));
}

#[test]
fn damaged_files_and_folders_cost_a_run_and_nothing_else() {
    let caches = TempDir::new().unwrap();
    let first = shown(caches.path(), SHORT);
    let kept = inodes(caches.path());
    for (i, file) in files(caches.path()).into_iter().enumerate() {
        let mut bytes = fs::read(&file).unwrap();
        match i % 3 {
            0 => bytes.truncate(20),
            1 => *bytes.last_mut().unwrap() ^= 1,
            _ => bytes.clear(),
        }
        fs::write(&file, bytes).unwrap();
    }
    assert_eq!(shown(caches.path(), SHORT), first);
    let again = inodes(caches.path());
    assert!(kept.iter().all(|(file, inode)| again[file] != *inode), "each is run and written anew");
    let blocked = TempDir::new().unwrap();
    fs::write(blocked.path().join("rxlab"), "no folder").unwrap();
    assert_eq!(shown(blocked.path(), SHORT), first);
}

#[test]
fn a_question_that_differs_in_anything_is_run() {
    let caches = TempDir::new().unwrap();
    shown(caches.path(), SHORT);
    let mut known = files(caches.path()).len();
    for other in ["--seed 7", "--workload fixed:600", "--app l3fwd", "--tx-ring 512"] {
        shown(caches.path(), &format!("{SHORT} {other}"));
        let now = files(caches.path()).len();
        assert!(now > known, "{other} was taken for another question");
        known = now;
    }
}

#[test]
fn a_capture_is_known_by_its_content() {
    let dir = TempDir::new().unwrap();
    let (caches, capture) = (dir.path().join("caches"), dir.path().join("a.pcap"));
    let frames = |byte: u8| [&PCAP[..], &record(0, 60, &[byte; 60]), &record(9, 60, &[0; 60])].concat();
    let line = format!("{SHORT} --pcap {}", capture.display());
    fs::write(&capture, frames(1)).unwrap();
    shown(&caches, &line);
    let known = files(&caches).len();
    fs::copy(&capture, dir.path().join("b.pcap")).unwrap();
    shown(&caches, &line.replace("a.pcap", "b.pcap"));
    assert_eq!(files(&caches).len(), known, "the same frames by another name");
    fs::write(&capture, frames(2)).unwrap();
    shown(&caches, &line);
    assert!(files(&caches).len() > known);
}
