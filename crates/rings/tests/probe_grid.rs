//! The grid in docs/verification.md names tests that exist, and has no empty cell.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;

/// All Rust text below `dir`, but for this file.
fn sources(dir: &Path, text: &mut String) {
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, text);
        } else if entry.extension().is_some_and(|e| e == "rs") && !entry.ends_with("probe_grid.rs") {
            text.push_str(&fs::read_to_string(entry).unwrap());
        }
    }
}

#[test]
fn every_cell_names_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut text = String::new();
    for name in ["memory", "rings", "model"] {
        sources(&root.join("crates").join(name).join("tests"), &mut text);
    }
    let document = fs::read_to_string(root.join("docs/verification.md")).unwrap();
    let grid = document.split("## The grid").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<_> = grid.lines().filter(|line| line.starts_with('|')).skip(2).collect();
    assert_eq!(rows.len(), 17, "rows of the grid");
    for row in rows {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 7, "columns of the grid: {row}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "an empty cell: {row}");
    }
    for name in grid.split('`').skip(1).step_by(2).filter_map(|code| code.rsplit_once("::")) {
        assert!(text.contains(&format!("fn {}(", name.1)), "no test {}", name.1);
    }
}
