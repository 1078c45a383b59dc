//! Circles that are planted are found, and what is allowed is let through.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use house::{ReadError, read_crate, read_workspace, rooms};
use tempfile::TempDir;

/// A workspace with crate `c` of these files, by their paths below `src`.
fn planted(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("crates/c");
    for (path, text) in files {
        let path = home.join("src").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(home.join("Cargo.toml"), "").unwrap();
    dir
}

/// The circles of crate `c`, as they are told.
fn circles(files: &[(&str, &str)]) -> Vec<String> {
    let dir = planted(files);
    let trees = read_workspace(dir.path()).unwrap();
    let all = trees.iter().flat_map(rooms);
    all.flat_map(|room| room.circles()).map(|circle| circle.to_string()).collect()
}

/// The first lines of [`circles`].
fn rounds(files: &[(&str, &str)]) -> Vec<String> {
    circles(files).iter().map(|c| c.lines().next().unwrap().to_string()).collect()
}

#[test]
fn two_that_use_each_other() {
    let found = circles(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "use crate::b::{self, B};\npub struct A;"),
        ("b.rs", "\npub struct B;\nfn f(_: super::a::A) {}"),
    ]);
    let told = "a -> b -> a\n  a -> b: crates/c/src/a.rs:1 names crate::b\n  \
                b -> a: crates/c/src/b.rs:3 names crate::a::A\n";
    assert_eq!(found, [told]);
}

#[test]
fn one_way_is_no_circle() {
    let files = [("lib.rs", "mod a;\nmod b;"), ("a.rs", "use crate::b::B;"), ("b.rs", "pub struct B;")];
    assert!(circles(&files).is_empty());
}

#[test]
fn three_in_a_round_beside_two() {
    let found = rounds(&[
        ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;"),
        ("a.rs", "fn f() { crate::b::f(); }"),
        ("b.rs", "pub fn f() { crate::c::f(); crate::d::f() }"),
        ("c.rs", "pub fn f() { crate::a::f() }"),
        ("d.rs", "pub fn f() { crate::b::f() }"),
    ]);
    assert_eq!(found, ["b -> d -> b", "a -> b -> c -> a"]);
}

#[test]
fn a_reexport_hides_nothing() {
    let b = "pub struct B;\nfn f() { crate::a::g() }";
    for (lib, a) in [
        ("pub use b::B;", "use crate::B;"),
        ("pub use b::B as Other;", "fn f(_: crate::Other) {}"),
        ("pub use b::*;", "use crate::B;"),
        ("use b::B;", "use super::*;\nfn f(_: B) {}"),
        ("pub use b::*;", "use super::*;\nfn f() -> Vec<B> { Vec::new() }"),
        ("pub mod prelude { pub use crate::b::*; }", "use crate::prelude::*;\nstruct S { b: B }"),
        ("use b as other;", "fn f(_: super::other::B) {}"),
        ("use b::B;", "fn f() { use super::B as Inner; let _: Inner; }"),
    ] {
        let lib = format!("mod a;\nmod b;\n{lib}");
        let a = format!("{a}\npub fn g() {{}}");
        let found = circles(&[("lib.rs", &lib), ("a.rs", &a), ("b.rs", b)]);
        assert_eq!(found.len(), 1, "{lib}\n{a}\n{found:?}");
        assert!(found[0].starts_with("a -> b -> a\n"), "{lib}\n{a}\n{found:?}");
    }
}

#[test]
fn a_reexport_by_a_third_is_depended_on_too() {
    let found = circles(&[
        ("lib.rs", "mod a;\nmod b;\nmod c;"),
        ("a.rs", "use crate::b::C;\npub fn f() {}"),
        ("b.rs", "pub use crate::c::C;\nfn g() { crate::a::f() }"),
        ("c.rs", "pub struct C;"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("a -> b -> a\n"), "{found:?}");
}

#[test]
fn a_function_of_its_modules_name_is_followed() {
    let lib = "mod run;\nmod b;\npub use run::run;";
    let b = "pub struct B;\nfn f() { crate::run() }";
    assert_eq!(
        rounds(&[("lib.rs", lib), ("run.rs", "pub fn run() -> crate::b::B { loop {} }"), ("b.rs", b)]),
        ["b -> run -> b"]
    );
}

#[test]
fn parent_and_child_may_name_each_other() {
    let found = circles(&[
        ("lib.rs", "mod a;\npub struct Top;\nfn f() { a::below::g() }"),
        ("a.rs", "pub mod below;\npub struct A;\nuse below::g;"),
        ("a/below.rs", "use super::A;\nuse crate::Top;\npub fn g() {}"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn cousins_make_a_circle_of_rooms() {
    let found = rounds(&[
        ("lib.rs", "mod x;\nmod y;"),
        ("x/mod.rs", "pub mod one;\npub mod two;"),
        ("x/one.rs", "use crate::y::three::f;"),
        ("x/two.rs", "pub fn f() {}"),
        ("y.rs", "pub mod three;\nmod four;"),
        ("y/three.rs", "pub fn f() {}"),
        ("y/four.rs", "fn g() { crate::x::two::f() }"),
    ]);
    assert_eq!(found, ["x -> y -> x"]);
}

#[test]
fn a_circle_below_is_told_in_its_room() {
    let dir = planted(&[
        ("lib.rs", "mod x;"),
        ("x.rs", "mod one;\nmod two;"),
        ("x/one.rs", "pub struct A(super::two::B);"),
        ("x/two.rs", "pub struct B(super::one::A);"),
    ]);
    let trees = read_crate(dir.path(), "c").unwrap();
    let with: Vec<String> =
        rooms(&trees[0]).iter().filter(|r| !r.circles().is_empty()).map(|r| r.name.clone()).collect();
    assert_eq!(with, ["crate::x"]);
}

#[test]
fn an_inline_module_belongs_to_its_file() {
    let found = rounds(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "pub mod inner { use super::super::b::B; pub struct A; }"),
        ("b.rs", "pub struct B(crate::a::inner::A);"),
    ]);
    assert_eq!(found, ["a -> b -> a"]);
}

#[test]
fn a_told_path_is_read() {
    let found = rounds(&[
        ("lib.rs", "#[path = \"elsewhere/it.rs\"]\nmod a;\nmod b;"),
        ("elsewhere/it.rs", "mod deep;\npub struct A;"),
        ("elsewhere/deep.rs", "use crate::b::B;"),
        ("b.rs", "pub struct B(super::a::A);"),
    ]);
    assert_eq!(found, ["a -> b -> a"]);
}

#[test]
fn what_only_tests_compile_is_left_out() {
    let found = circles(&[
        ("lib.rs", "mod a;\nmod b;\n#[cfg(test)]\nmod tests;\n#[cfg(all(test, unix))]\nmod absent;"),
        (
            "a.rs",
            "pub struct A;\nimpl A { #[cfg(test)] fn f(_: crate::b::B) {} }\n\
             #[cfg(test)]\nuse crate::b::B;\n#[cfg(test)]\nmod tests { use crate::b::B; }",
        ),
        ("b.rs", "pub struct B(super::a::A);"),
        ("tests.rs", "no Rust at all"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn what_not_only_tests_compile_is_read() {
    for attribute in ["#[cfg(any(test, unix))]", "#[cfg(not(test))]", "#[cfg(feature = \"test\")]"] {
        let a = format!("pub struct A;\n{attribute}\nuse crate::b::B;");
        let found = rounds(&[("lib.rs", "mod a;\nmod b;"), ("a.rs", &a), ("b.rs", "use crate::a::A;")]);
        assert_eq!(found, ["a -> b -> a"], "{attribute}");
    }
}

#[test]
fn macros_are_read_as_far_as_they_look_like_paths() {
    let a = "macro_rules! odd {\n  ($x:ident => $($y:ty),* ; $z:expr) => { $crate::b::f($x); let $x: $y::T = $z; };\n\
             }\npub(crate) use odd;\npub struct A;";
    let b = "pub fn f(_: u8) {}\nfn g() { crate::a::odd!(x => u8, @ # 'l '\\'' ; 1.0 ..= a.b); }";
    assert_eq!(rounds(&[("lib.rs", "mod a;\nmod b;"), ("a.rs", a), ("b.rs", b)]), ["a -> b -> a"]);
    let b = "pub fn f(_: u8) {}\nfn g() { println!(\"{:?}\", vec![[crate::a::A]]); }";
    assert_eq!(rounds(&[("lib.rs", "mod a;\nmod b;"), ("a.rs", a), ("b.rs", b)]), ["a -> b -> a"]);
    // By the order of the text.
    let b = "pub fn f(_: u8) {}\nfn g() { odd!(x => ; 1); }";
    assert_eq!(
        rounds(&[("lib.rs", "#[macro_use]\nmod a;\nmod b;"), ("a.rs", a), ("b.rs", b)]),
        ["a -> b -> a"]
    );
}

#[test]
fn variables_fields_and_type_parameters_are_no_names() {
    let found = circles(&[
        ("lib.rs", "mod a;\nmod b;\nuse b::*;"),
        (
            "a.rs",
            "use super::*;\npub struct A { f: u8 }\n\
             fn g<B: Copy>(f: u8, a: A, x: B) -> u8 { assert!(a.f == f, \"{f}\"); let b = f; B::go(x); b }",
        ),
        ("b.rs", "use crate::a::A;\npub fn f() {}\npub trait B {}"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_glob_brings_only_what_is_seen_from_there() {
    let found = circles(&[
        ("lib.rs", "mod a;\nmod b;\nmod c;\nuse c::*;"),
        ("a.rs", "use super::*;\npub struct A(Fault);"),
        ("b.rs", "use crate::a::A;\npub struct Fault;"),
        ("c.rs", "use crate::b::Fault;\npub fn f() {}"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn what_a_macro_makes_is_of_the_module_that_is_named() {
    let found = rounds(&[
        ("lib.rs", "mod a;\nmod b;\npub use a::Made;"),
        ("a.rs", "make! { Made }\nuse crate::b::B;"),
        ("b.rs", "pub struct B(crate::Made);"),
    ]);
    assert_eq!(found, ["a -> b -> a"]);
}

#[test]
fn imports_in_circles_end() {
    let found = circles(&[
        (
            "lib.rs",
            "mod a;\nmod b;\npub use a::*;\npub use b::*;\nuse x as y;\nuse y as x;\nfn f(_: x, _: Nowhere) {}",
        ),
        ("a.rs", "pub use crate::*;\npub struct A(Nowhere);"),
        ("b.rs", "pub use crate::*;\npub struct B(Nowhere);"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn other_crates_are_no_modules() {
    let found = circles(&[
        ("lib.rs", "mod a;\nmod core;"),
        ("a.rs", "use ::core::fmt;\nuse core::mem;\npub fn f() { std::a::f() }"),
        ("core.rs", "use crate::a::f;\npub mod fmt {}"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn programs_are_read_beside_the_library() {
    let round = [("a.rs", "use crate::b::B;\npub struct A;"), ("b.rs", "use crate::a::A;\npub struct B;")];
    let [a, b] = round;
    assert_eq!(rounds(&[("main.rs", "mod a;\nmod b;"), a, b]), ["a -> b -> a"]);
    let program = ("bin/p/main.rs", "mod a;\nmod b;");
    let (a, b) = (("bin/p/a.rs", a.1), ("bin/p/b.rs", b.1));
    assert_eq!(rounds(&[("lib.rs", ""), program, a, b]), ["a -> b -> a"]);
}

#[test]
fn floors_are_counted_from_the_ground() {
    let dir = planted(&[
        ("lib.rs", "mod top;\nmod left;\nmod right;\nmod ground;\nmod alone;"),
        ("top.rs", "use crate::left::L;\nuse crate::ground::G;"),
        ("left.rs", "use crate::right::R;\nuse crate::ground::G;\npub struct L;"),
        ("right.rs", "use crate::left::L;\npub struct R;"),
        ("ground.rs", "pub struct G;"),
        ("alone.rs", ""),
    ]);
    let trees = read_crate(dir.path(), "c").unwrap();
    let floors = rooms(&trees[0])[0].floors();
    let told: Vec<Vec<String>> =
        floors.iter().map(|f| f.iter().map(|group| group.join("+")).collect()).collect();
    assert_eq!(told, [vec!["alone", "ground"], vec!["left+right"], vec!["top"]]);
}

#[test]
fn errors_say_where() {
    let failed = |files: &[(&str, &str)]| read_workspace(planted(files).path()).unwrap_err();
    let e = failed(&[("lib.rs", "mod a;")]);
    assert!(matches!(e, ReadError::NoFile { .. }));
    assert_eq!(
        e.to_string(),
        "crates/c/src/lib.rs: module `a` has no file: none of crates/c/src/a.rs, crates/c/src/a/mod.rs"
    );
    let e = failed(&[("lib.rs", "mod a;"), ("a.rs", "\n\nfn f( {}")]);
    assert!(e.to_string().starts_with("crates/c/src/a.rs:3: "), "{e}");
    let e = failed(&[("other.rs", "")]);
    assert_eq!(e.to_string(), "no crate in crates/c: it has neither src/lib.rs nor src/main.rs");
    assert!(matches!(read_workspace(Path::new("/nowhere")), Err(ReadError::Io { .. })));
}

#[test]
fn the_program_tells_and_its_code_says_whether_there_is_any() {
    let run = |dir: &TempDir, of: &str| -> Output {
        Command::new(env!("CARGO_BIN_EXE_house")).arg("--root").arg(dir.path()).arg(of).output().unwrap()
    };
    let with = planted(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "use crate::b::B;\npub struct A;"),
        ("b.rs", "use crate::a::A;\npub struct B;"),
    ]);
    let output = run(&with, "c");
    assert_eq!(output.status.code(), Some(1));
    let told = "c\n  crate\n    floor 0: (a b)\n    a -> b -> a\n      \
                a -> b: crates/c/src/a.rs:1 names crate::b::B\n      \
                b -> a: crates/c/src/b.rs:1 names crate::a::A\n";
    assert_eq!(String::from_utf8(output.stdout).unwrap(), told);

    let without = planted(&[("lib.rs", "mod a;"), ("a.rs", "")]);
    assert_eq!(run(&without, "c").status.code(), Some(0));
    let output = run(&without, "d");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 1);
}
