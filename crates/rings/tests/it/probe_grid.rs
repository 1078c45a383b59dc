//! The grid in docs/verification.md names tests and files that exist, has no empty cell, and none that was not run.

use std::fs;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};

const CRATES: [&str; 5] = ["memory", "rings", "model", "flow", "ccnic"];

/// A test of some source file.
struct Test {
    file: PathBuf,
    name: String,
    /// The attribute that leaves it out, always or sometimes.
    ignored: Option<String>,
}

impl Test {
    /// Whether a cell means it: `file.rs::name`, or `module::name`.
    fn is(&self, of: &str, name: &str) -> bool {
        self.name == name && self.file.file_stem().unwrap() == of.trim_end_matches(".rs")
    }
}

/// All Rust files below `dir`, but for this one.
fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, files);
        } else if entry.extension().is_some_and(|e| e == "rs") && !entry.ends_with("probe_grid.rs") {
            files.push(entry);
        }
    }
}

/// The functions of `text` that are marked as tests.
fn tests(file: &Path, text: &str) -> Vec<Test> {
    let (mut found, mut attributes) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[") {
            attributes.push(line);
            continue;
        }
        let name = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next());
        if let Some(name) = name.filter(|_| attributes.contains(&"#[test]")) {
            let ignored = attributes.iter().find(|a| a.contains("ignore")).map(|a| (*a).to_owned());
            found.push(Test { file: file.to_owned(), name: name.to_owned(), ignored });
        }
        attributes.clear();
    }
    found
}

/// What is wrong with a row: its cells that are empty, or that say that nothing was run.
fn gaps(row: &str) -> Vec<String> {
    let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
    assert_eq!(cells.len(), 7, "columns of the grid: {row}");
    let gap = |cell: &&&str| cell.is_empty() || cell.to_lowercase().contains("not run");
    cells.iter().filter(gap).map(|cell| format!("\"{cell}\" in the row of {}", cells[0])).collect()
}

/// Whether there is what a cell names: a test, or a file or a folder wherever it lies. Says which tests are left out.
fn exists(code: &str, files: &[PathBuf], all: &[Test]) -> bool {
    let Some((of, name)) = code.rsplit_once("::") else {
        return !code.ends_with(".rs") || files.iter().any(|file| file.ends_with(code));
    };
    let named: Vec<_> = all.iter().filter(|test| test.is(of, name)).collect();
    for Test { file, name, ignored } in &named {
        let Some(why) = ignored else { continue };
        #[expect(clippy::explicit_write, reason = "what eprintln writes is seen of tests that fail alone")]
        writeln!(stderr(), "left out: {name} of {}: {why}", file.display()).unwrap();
    }
    !named.is_empty()
}

#[test]
fn every_cell_names_a_test_that_exists() {
    let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap();
    let mut files = Vec::new();
    CRATES.iter().for_each(|name| sources(&root.join("crates").join(name), &mut files));
    let text =
        |file: &PathBuf| (file.strip_prefix(&root).unwrap().to_owned(), fs::read_to_string(file).unwrap());
    let all: Vec<_> = files.iter().map(text).flat_map(|(file, text)| tests(&file, &text)).collect();
    assert!(all.len() > 200, "only {} tests found", all.len());
    let document = fs::read_to_string(root.join("docs/verification.md")).unwrap();
    let grid = document.split("## The grid").nth(1).unwrap().split("\n## ").next().unwrap();
    let (table, beside): (Vec<_>, Vec<_>) = grid.lines().partition(|line| line.starts_with('|'));
    assert_eq!(table.len(), 2 + 27, "rows of the grid");
    let gaps: Vec<_> = table[2..].iter().flat_map(|row| gaps(row)).collect();
    assert!(gaps.is_empty(), "cells without a test: {gaps:#?}");
    let (table, beside) = (table.join("\n"), beside.join("\n"));
    // The text beside the table names files of other crates too.
    let tests = beside.split('`').skip(1).step_by(2).filter(|code| code.contains("::"));
    let named = table.split('`').skip(1).step_by(2).chain(tests);
    let missing: Vec<_> = named.filter(|code| !exists(code, &files, &all)).collect();
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}

#[test]
fn a_cell_that_says_not_run_and_an_ignored_test_are_found() {
    assert_eq!(gaps("| a | b::c | d | e | f | g | the same |"), Vec::<String>::new());
    assert_eq!(gaps("| a | Not run yet | d |  | f | one code: not run | g |").len(), 3);
    let text = "#[test]\nfn one() {}\n\n#[test]\n#[ignore = \"slow\"]\nfn two() {}\nfn three() {}\n";
    let found: Vec<_> = tests(Path::new("x.rs"), text).into_iter().map(|t| (t.name, t.ignored)).collect();
    assert_eq!(found, [("one".into(), None), ("two".into(), Some("#[ignore = \"slow\"]".into()))]);
}
