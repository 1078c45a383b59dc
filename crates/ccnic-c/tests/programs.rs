//! Programs in C, and a process with the crate `ccnic` on the other side. Nobody links the crate's own library here: the
//! programs do, so it is built first.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use tempfile::TempDir;

mod rust_side;

const FRAMES: u64 = 50_000;
const CONFIGS: [&str; 3] = [
    "layout=dense,back=credit,ring=64,buffers=96,bytes=256,events=on",
    "layout=group,back=clear,ring=64,buffers=96,bytes=256,events=on",
    "layout=pad,back=credit,ring=16,buffers=96,bytes=256,events=on",
];

/// Where `libccnic.a` and `libccnic.so` are.
static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let build = ["build", "--quiet", "--offline", "--package", "ccnic-c", "--lib", "--target-dir"];
    let built = Command::new(env!("CARGO")).args(build).arg(target).status().unwrap();
    assert!(built.success(), "the library");
    target.join("debug")
});

/// The program of `source`, linked with `library` (the file, or the directory of it).
fn compiled(dir: &TempDir, source: &Path, shared: bool) -> PathBuf {
    let program =
        dir.path().join(source.file_stem().unwrap()).with_extension(if shared { "so" } else { "a" });
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cc = Command::new(env::var_os("CC").unwrap_or("cc".into()));
    cc.args(["-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pthread"]);
    cc.arg("-I").arg(home.join("include")).arg(source).arg("-o").arg(&program);
    if shared {
        cc.arg("-L").arg(&*LIBRARY).arg("-lccnic").arg(format!("-Wl,-rpath,{}", LIBRARY.display()));
    } else {
        cc.arg(LIBRARY.join("libccnic.a")).args(["-lm", "-ldl"]);
    }
    assert!(cc.status().unwrap().success(), "{cc:?}");
    program
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// A process that ends with the test.
struct Other(Child);

impl Other {
    fn start(command: &mut Command) -> Other {
        Other(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap())
    }

    /// The first line that it says.
    fn says(&mut self) -> String {
        BufReader::new(self.0.stdout.take().unwrap()).lines().next().unwrap().unwrap()
    }

    fn ends_well(&mut self) {
        let status = self.0.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill(); // one that has ended is not there
        let _ = self.0.wait();
    }
}

#[test]
fn a_c_program_connects_and_every_frame_is_right() {
    let dir = tempfile::tempdir().unwrap();
    let program = compiled(&dir, &source("peer.c"), false);
    let path = dir.path().join("socket");
    for config in CONFIGS {
        let mut listener = ccnic::Listener::bind(&path, config.parse().unwrap()).unwrap();
        let mut command = Command::new(&program);
        let mut other = Other::start(command.arg("connect").arg(&path).arg(config).arg(FRAMES.to_string()));
        let channel = listener.accept_within(Duration::from_secs(60)).unwrap().unwrap();
        rust_side::run(channel, FRAMES);
        other.ends_well();
    }
}

#[test]
fn a_c_program_listens_and_every_frame_is_right() {
    let dir = tempfile::tempdir().unwrap();
    let program = compiled(&dir, &source("peer.c"), true);
    let path = dir.path().join("socket");
    for config in CONFIGS {
        let mut command = Command::new(&program);
        let mut other = Other::start(command.arg("listen").arg(&path).arg(config).arg(FRAMES.to_string()));
        assert_eq!(other.says(), "it listens");
        rust_side::run(ccnic::Channel::connect(&path, config.parse().unwrap()).unwrap(), FRAMES);
        other.ends_well();
    }
}

#[test]
fn what_is_not_allowed_is_an_error_and_the_link_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    for shared in [false, true] {
        let program = compiled(&dir, &source("wrong.c"), shared);
        Other::start(Command::new(program).arg(dir.path().join("socket"))).ends_well();
    }
}

#[test]
fn the_example_says_hello() {
    let dir = tempfile::tempdir().unwrap();
    let readme = include_str!("../README.md");
    let code = readme.split("```c\n").nth(1).unwrap().split("```").next().unwrap();
    let file = dir.path().join("hello.c");
    fs::write(&file, code).unwrap();
    let program = compiled(&dir, &file, true);
    let path = dir.path().join("socket");
    let mut listens = Other::start(Command::new(&program).arg("listen").arg(&path));
    // Nobody listens at first.
    let connects = || Other::start(Command::new(&program).arg("connect").arg(&path).stderr(Stdio::null()));
    let tries = (0..1000).any(|_| connects().0.wait().unwrap().success());
    assert!(tries && listens.says() == "hello");
    listens.ends_well();
}

#[test]
fn a_program_in_cpp_can_include_the_header() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("include.cpp");
    fs::write(&file, "#include \"ccnic.h\"\nint main() { return ccnic_error()[0]; }\n").unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let mut cc = Command::new("c++");
    cc.args(["-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"]).arg(include).arg(&file);
    assert!(cc.status().unwrap().success(), "{cc:?}");
}
