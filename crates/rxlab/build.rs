//! Tells the program which version and commit it is.
//!
//! A release build is made again after each commit. A development build does not name one, so that its tests need not be.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RXLAB_COMMIT");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let commit = match env::var("RXLAB_COMMIT") {
        Ok(told) => Some(told),
        Err(_) if env::var("PROFILE").is_ok_and(|profile| profile == "release") => commit(),
        Err(_) => None,
    };
    let said = commit.map_or_else(|| "development build".into(), |commit| format!("commit {commit}"));
    println!("cargo::rustc-env=RXLAB_VERSION={version} ({said})");
}

/// The commit of the checkout, or the one that a source archive was made of.
fn commit() -> Option<String> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").ok()?).join("../..");
    if !root.join(".git").exists() {
        println!("cargo::rerun-if-changed={}", root.join(".commit").display());
        let told = fs::read_to_string(root.join(".commit")).ok()?;
        return Some(told.trim().to_string()).filter(|told| !told.contains('$') && !told.is_empty());
    }
    let log = git(&root, &["rev-parse", "--git-path", "logs/HEAD"])?;
    for watched in [log.as_str(), "crates", "profiles", "experiments", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    let status = ["status", "--porcelain", "--untracked-files=no", "--", "crates", "profiles", "experiments"];
    let changed = git(&root, &status)?;
    let commit = git(&root, &["rev-parse", "--short=12", "HEAD"])?;
    Some(if changed.is_empty() { commit } else { commit + " and uncommitted changes" })
}

fn git(root: &Path, words: &[&str]) -> Option<String> {
    let out = Command::new("git").arg("-C").arg(root).args(words).output().ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_string())
}
