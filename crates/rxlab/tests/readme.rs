//! What the README shows is what the program does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::process::{Command, Output};

const README: &str = include_str!("../../../README.md");

fn rxlab(words: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_rxlab"));
    program.env_remove("HOME").env_remove("XDG_CACHE_HOME").args(words).output().unwrap()
}

/// Lines that stand in code blocks.
fn code() -> impl Iterator<Item = &'static str> {
    README.lines().filter_map(|line| line.strip_prefix("    "))
}

/// The block below the shown command, in pieces: `...` stands for lines left out.
fn shown(command: &str) -> Vec<String> {
    let block: Vec<&str> = README
        .lines()
        .skip_while(|line| *line != format!("    $ {command}"))
        .skip(1)
        .take_while(|line| line.is_empty() || line.starts_with("    "))
        .map(|line| line.strip_prefix("    ").unwrap_or_default())
        .collect();
    block.join("\n").split("\n...\n").map(|piece| piece.trim_matches('\n').to_string()).collect()
}

#[test]
fn the_output_on_the_first_screen_is_the_output() {
    let pieces = shown("rxlab compare");
    assert!(pieces.len() > 1 && pieces[0].contains("buffers"), "{pieces:?}");
    let out = rxlab(&["compare"]);
    assert!(out.status.success());
    let printed = String::from_utf8(out.stdout).unwrap();
    let mut rest = printed.as_str();
    for piece in &pieces {
        let at = rest.find(piece.as_str());
        let at = at.unwrap_or_else(|| panic!("the README shows\n{piece}\n\nprinted is\n{printed}"));
        rest = &rest[at + piece.len()..];
    }
}

#[test]
fn every_column_shown_is_explained() {
    let head = shown("rxlab compare").remove(0);
    let columns = head.lines().find(|line| line.starts_with("interface")).unwrap();
    for column in columns.split_whitespace().filter(|c| *c != "interface") {
        assert!(README.contains(&format!("`{column}`")), "no word about the column {column}");
    }
}

/// Lines that stand in code blocks of the guides.
fn guided() -> Vec<String> {
    let guides = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guides")).unwrap();
    let texts = guides.map(|guide| fs::read_to_string(guide.unwrap().path()).unwrap());
    let lines = |text: String| text.lines().map(str::to_string).collect::<Vec<_>>();
    texts.flat_map(lines).filter_map(|line| line.strip_prefix("    ").map(str::to_string)).collect()
}

#[test]
fn every_command_is_understood() {
    let all = code().map(str::to_string).chain(guided()).collect::<Vec<_>>();
    let mut seen = 0;
    for line in all.iter().filter_map(|line| line.trim_start_matches("$ ").strip_prefix("rxlab ")) {
        let line = line.split(" #").next().unwrap().trim().replace('\'', "");
        let mut words: Vec<&str> = line.split_whitespace().collect();
        // Everything before it is read first.
        words.push("--help");
        let out = rxlab(&words);
        assert!(out.status.success(), "rxlab {line}: {}", String::from_utf8_lossy(&out.stderr));
        seen += 1;
    }
    assert!(seen > 30, "{seen} commands");
    assert_eq!(rxlab(&["compare", "--nonsense", "--help"]).status.code(), Some(2));
}

#[test]
fn every_target_of_make_is_there() {
    let makefile = include_str!("../../../Makefile");
    let named = README.split('`').chain(code()).filter_map(|text| text.strip_prefix("make "));
    let targets: Vec<&str> = named.map(|text| text.split_whitespace().next().unwrap()).collect();
    assert!(targets.len() > 5, "{targets:?}");
    for target in targets {
        assert!(makefile.lines().any(|line| line.starts_with(&format!("{target}:"))), "make {target}");
    }
}
