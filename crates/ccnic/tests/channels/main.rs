//! Channels between two processes. The other process is this program again, told by its environment what to be.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]
#![allow(clippy::disallowed_methods, reason = "some report how long they took")]

mod frames;
mod fuzz;
mod guards;
mod handshake;
mod hostile;
mod kills;
mod listeners;
mod other;
mod sleeping;
mod soak;
mod strikes;
mod traffic;
mod wary;

use std::env;
use std::path::PathBuf;

/// The other process of the tests, and no test by itself.
#[test]
#[ignore = "the other process of the tests beside it"]
fn other_process() {
    let (Ok(role), Some(path)) = (env::var(other::ROLE), env::var_os(other::PLACE)) else { return };
    let path = PathBuf::from(path);
    match role.as_str() {
        "load" => kills::play(&path, false),
        "load listener" => kills::play(&path, true),
        "frames" => frames::play(&path),
        "hostile" => hostile::play(&path),
        "echo" => sleeping::play(&path, ccnic::Config::default()),
        "small echo" => sleeping::play(&path, traffic::SMALL),
        "soak" => soak::play(&path),
        "silent" => handshake::play(&path),
        _ => strikes::play(&role, &path),
    }
}
