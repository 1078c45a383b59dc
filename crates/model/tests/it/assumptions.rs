//! docs/assumptions.md says what the profiles use: every assumed or fitted constant, its id and value.

use std::path::Path;

use model::profile::Server;

/// Rows of the tables as cells.
fn rows() -> Vec<Vec<String>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/assumptions.md");
    let text = std::fs::read_to_string(file).unwrap();
    let cells = |line: &str| line.trim_matches('|').split('|').map(|c| c.trim().to_owned()).collect();
    text.lines().filter(|l| l.starts_with('|')).map(cells).collect()
}

#[test]
fn documented_constants_are_those_of_the_profiles() {
    let rows = rows();
    for name in Server::names() {
        let server = Server::by_name(name).unwrap();
        for (declared, c) in server.stated() {
            let quoted = format!("`{}`", declared.name);
            let documented = if let Some(id) = c.origin.strip_prefix("assumed: ") {
                vec![id.to_owned(), quoted, c.value.to_string()]
            } else if c.origin.starts_with("fitted: ") {
                vec![quoted, c.value.to_string()]
            } else {
                continue;
            };
            assert!(rows.iter().any(|r| r.starts_with(&documented)), "{name}: no row {documented:?}");
        }
    }
}

#[test]
fn every_entry_says_what_why_and_what_would_change_it() {
    for row in rows() {
        assert!(row.iter().all(|cell| !cell.is_empty()), "{row:?}");
    }
}
