//! Rings and pools between two processes: each half in a process of its own, over a region that one makes and the
//! other attaches to. A socket connects both; it is the standard input of the other one.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(clippy::unwrap_used, reason = "a test")]

mod other;
mod pool;
mod ring;

use std::env;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use memory::Region;
use memory::native::receive_file;

/// The other process of the tests, and no test by itself.
#[test]
#[ignore = "the other process of the tests beside it"]
fn other_process() {
    let Ok(role) = env::var(other::ROLE) else { return };
    let socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned().unwrap());
    let region = Region::attach(receive_file(&socket).unwrap()).unwrap();
    match role.strip_prefix("pool ") {
        Some(role) => pool::play(role, &region, &socket),
        None => ring::play(&role, &region, &socket),
    }
}
