//! What tests of the command line share: how they run the program, read what it says, and make captures.

#![allow(dead_code, reason = "no test file needs all of it")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// A command line behind the program's name: words, or a line of words without spaces in them.
pub(crate) trait Line {
    fn words(&self) -> Vec<&str>;
}

impl Line for str {
    fn words(&self) -> Vec<&str> {
        self.split(' ').collect()
    }
}

impl Line for String {
    fn words(&self) -> Vec<&str> {
        self.as_str().words()
    }
}

impl<const N: usize> Line for [&str; N] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Line for Vec<&str> {
    fn words(&self) -> Vec<&str> {
        self.clone()
    }
}

/// The program, to be run with what a test needs beside its words. It knows of no folder to keep reports in.
pub(crate) fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_rxlab"));
    program.env_remove("HOME").env_remove("XDG_CACHE_HOME");
    program
}

pub(crate) fn rxlab(line: &(impl Line + ?Sized)) -> Output {
    program().args(line.words()).output().unwrap()
}

/// What a command that succeeds prints.
pub(crate) fn shown(line: &(impl Line + ?Sized)) -> String {
    let out = rxlab(line);
    assert!(out.status.success(), "{:?}: {}", line.words(), String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// What a command that succeeds prints with `--json`.
pub(crate) fn json(line: &(impl Line + ?Sized)) -> Value {
    let mut words = line.words();
    if !words.contains(&"--json") {
        words.push("--json");
    }
    serde_json::from_str(&shown(&words)).unwrap()
}

/// Runs the command that stands beside a result, with `more` words.
pub(crate) fn again(reproduce: &Value, more: &[&str]) -> Value {
    let words = reproduce.as_str().unwrap().split(' ').skip(1);
    json(&words.chain(more.iter().copied()).collect::<Vec<_>>())
}

/// Fails with code 2, nothing on stdout, and one line on stderr that holds every part.
pub(crate) fn refused(line: &(impl Line + ?Sized), parts: &[&str]) {
    let out = rxlab(line);
    one_line(line, &out, 2, parts);
    assert!(out.stdout.is_empty(), "{:?}: a run was made", line.words());
}

/// Ends with code 1, results on stdout, and one line on stderr that holds every part.
pub(crate) fn met(line: &(impl Line + ?Sized), parts: &[&str]) {
    let out = rxlab(line);
    one_line(line, &out, 1, parts);
    assert!(!out.stdout.is_empty(), "{:?}: results are shown all the same", line.words());
}

fn one_line(line: &(impl Line + ?Sized), out: &Output, code: i32, parts: &[&str]) {
    let (words, error) = (line.words(), String::from_utf8_lossy(&out.stderr));
    assert_eq!(out.status.code(), Some(code), "{words:?}: {error}");
    assert_eq!(error.trim_end().lines().count(), 1, "{words:?}: {error}");
    for part in parts {
        assert!(error.contains(part), "{words:?}: `{part}` is not in: {error}");
    }
}

/// A path as a word.
pub(crate) fn word(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The header of a pcap file: Ethernet, little-endian, microseconds.
pub(crate) const PCAP: [u8; 24] =
    [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0];

/// A frame's record: when it came, and of how many bytes `frame` is what there is.
pub(crate) fn record(us: u32, bytes: u32, frame: &[u8]) -> Vec<u8> {
    [0, us, bytes, bytes].iter().flat_map(|word| word.to_le_bytes()).chain(frame.iter().copied()).collect()
}

/// A capture of one frame of 60 bytes.
pub(crate) fn one_frame() -> Vec<u8> {
    [&PCAP[..], &record(0, 60, &[0; 60])].concat()
}
