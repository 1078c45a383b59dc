//! The picture of a workspace, and that docs/architecture.md has this one's.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use house::picture;
use tempfile::TempDir;

/// A workspace of crates, by name and what their manifests have beside it.
fn planted(crates: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, more) in crates {
        let home = dir.path().join("crates").join(name);
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("Cargo.toml"), format!("[package]\nname = \"{name}\"\n{more}")).unwrap();
    }
    dir
}

fn drawn(crates: &[(&str, &str)]) -> String {
    picture(planted(crates).path()).unwrap()
}

fn run(root: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_house")).arg("--root").arg(root).arg("--picture").output().unwrap()
}

#[test]
fn floors_from_the_top_and_arrows_that_do_not_follow() {
    let told = drawn(&[
        ("top", "[dependencies]\nside.workspace = true\nmiddle = { path = \"../middle\" }\nground = \"1\"\n"),
        ("middle", "[dependencies]\nground.workspace = true\nserde = \"1\"\n"),
        ("ground", ""),
        ("side", ""),
    ]);
    let wanted = "flowchart TB
    subgraph floor2 [\" \"]
        name2[floor 2]:::name
        top
    end
    subgraph floor1 [\" \"]
        name1[floor 1]:::name
        middle
    end
    subgraph floor0 [\" \"]
        name0[floor 0]:::name
        ground; side
    end
    name2 ~~~ name1 ~~~ name0
    classDef name fill:none,stroke:none
    middle --> ground
    top --> middle & side
";
    assert_eq!(told, wanted);
}

#[test]
fn what_tests_and_build_scripts_need_is_left_out_and_a_target_is_not() {
    let tests = "[dev-dependencies]\na.workspace = true\n[build-dependencies]\nb.workspace = true\n";
    let target = "[target.'cfg(unix)'.dependencies]\na.workspace = true\n";
    let told = drawn(&[("a", ""), ("b", target), ("c", tests)]);
    let arrows: Vec<&str> = told.lines().filter(|line| line.contains("-->")).collect();
    assert_eq!(arrows, ["    b --> a"]);
}

#[test]
fn this_crate_is_left_out() {
    assert!(!drawn(&[("a", ""), ("house", "[dependencies]\na.workspace = true\n")]).contains("house"));
}

#[test]
fn errors_say_where() {
    let failed = |text: &str| {
        let dir = planted(&[("a", "")]);
        fs::write(dir.path().join("crates/a/Cargo.toml"), text).unwrap();
        let output = run(dir.path());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        String::from_utf8(output.stderr).unwrap()
    };
    let told = failed("[package]\nname = \"a\"\n[depend");
    assert!(told.starts_with("house: crates/a/Cargo.toml:3: "), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert_eq!(failed("[dependencies]"), "house: crates/a/Cargo.toml:1: it names no package\n");
}

#[test]
fn the_program_prints_it() {
    let dir = planted(&[("a", "")]);
    let output = run(dir.path());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), picture(dir.path()).unwrap());
}

#[test]
fn the_architecture_page_has_the_picture_of_this_workspace() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let blocks: Vec<&str> =
        page.split("```mermaid\n").skip(1).filter_map(|b| b.split("```").next()).collect();
    let drawn = picture(&root).unwrap();
    assert_eq!(blocks, [drawn.as_str()], "docs/architecture.md: run cargo run -p house -- --picture");
}
