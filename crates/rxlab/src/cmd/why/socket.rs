//! The telemetry socket of a DPDK program: SOCK_SEQPACKET, a command a message, its answer as JSON.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv, send,
    socket_with,
};
use serde::Deserialize;
use serde_json::Value;

use crate::fail::Fail;

/// What a socket's name begins with: a program without files of its own (`--in-memory`) adds `:1` and so on.
const NAME: &str = "dpdk_telemetry.v2";
/// How long a program may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest answer that is taken, whatever the program says of itself; 22.11 writes 16 KiB.
const MOST_BYTES: usize = 4 << 20;

/// The first message of a program.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Greeting {
    /// `DPDK 22.11.11`.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// Longest answer.
    max_output_len: usize,
}

/// A program that listens.
pub(super) struct Link {
    /// What it said first.
    pub greeting: Greeting,
    socket: OwnedFd,
    path: PathBuf,
}

impl Link {
    /// Connects to the program behind `path`.
    ///
    /// # Errors
    /// Names the socket: nobody listens, no DPDK program, or not allowed.
    pub(super) fn open(path: &Path) -> Result<Link, Fail> {
        let told = |what: &str| Fail::new(format!("{}: {what}", path.display()));
        let address = SocketAddrUnix::new(path).map_err(|e| told(&e.to_string()))?;
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(|e| told(&e.to_string()))?;
        for kind in [Timeout::Recv, Timeout::Send] {
            set_socket_timeout(&socket, kind, Some(PATIENCE)).map_err(|e| told(&e.to_string()))?;
        }
        connect(&socket, &address).map_err(|e| told(&format!("no program answers there: {e}")))?;
        let first = receive(&socket, 4096).map_err(|e| told(&e))?;
        let greeting: Greeting = serde_json::from_slice(&first)
            .map_err(|_| told("not the telemetry of a DPDK program of 20.05 or later"))?;
        Ok(Link { greeting, socket, path: path.into() })
    }

    /// The answer to `command`; `None` where the program does not know it or has nothing to tell.
    ///
    /// # Errors
    /// The program went away, or its answer is no JSON.
    pub(super) fn ask(&self, command: &str) -> Result<Option<Value>, Fail> {
        let told = |what: &str| Fail::new(format!("{}: {command}: {what}", self.path.display()));
        send(&self.socket, command.as_bytes(), SendFlags::NOSIGNAL).map_err(|e| told(&e.to_string()))?;
        let most = self.greeting.max_output_len.clamp(1024, MOST_BYTES);
        let answer = receive(&self.socket, most).map_err(|e| told(&e))?;
        let value: Value = serde_json::from_slice(&answer).map_err(|e| told(&format!("no JSON: {e}")))?;
        let name = command.split(',').next().unwrap_or_default();
        Ok(value.get(name).filter(|v| !v.is_null()).cloned())
    }
}

fn receive(socket: &OwnedFd, most: usize) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; most];
    let (n, _) = recv(socket, bytes.as_mut_slice(), RecvFlags::empty()).map_err(|e| e.to_string())?;
    if n == 0 {
        return Err("the program has closed the connection; it takes ten at a time".into());
    }
    bytes.truncate(n);
    Ok(bytes)
}

/// Directories in which programs of this user and of root have one of their own, as EAL chooses them.
fn directories() -> Vec<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let named = [of("RUNTIME_DIRECTORY"), of("XDG_RUNTIME_DIR")].into_iter().flatten();
    let mut all: Vec<PathBuf> =
        named.chain([PathBuf::from("/var/run"), PathBuf::from("/tmp")]).map(|d| d.join("dpdk")).collect();
    all.dedup();
    all
}

/// The sockets of all programs of `prefix`, or of any.
fn sockets(prefix: Option<&str>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in directories() {
        for program in entries(&directory) {
            let named = program.file_name().is_some_and(|name| prefix.is_none_or(|p| name == p));
            let mine = entries(&program)
                .into_iter()
                .filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(NAME)));
            found.extend(mine.filter(|_| named));
        }
    }
    found.sort();
    found.dedup();
    found
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The one program of `prefix`, or the only one that runs.
///
/// # Errors
/// There is none, or there are several: they are named.
pub(super) fn find(prefix: Option<&str>) -> Result<Link, Fail> {
    let all = sockets(prefix);
    let mut refused = None;
    let mut links = Vec::new();
    for path in &all {
        match Link::open(path) {
            Ok(link) => links.push(link),
            // What a program that ended has left behind.
            Err(fail) => refused = Some(fail),
        }
    }
    let asked = prefix.map(|p| format!(" with --file-prefix {p}")).unwrap_or_default();
    if links.len() > 1 {
        let each: Vec<String> =
            links.iter().map(|l| format!("{} (process {})", l.path.display(), l.greeting.pid)).collect();
        let each = each.join(", ");
        return Err(Fail::new(format!(
            "several DPDK programs run{asked}: {each}; allowed: one of them by --socket"
        )));
    }
    match (links.pop(), refused) {
        (Some(link), _) => Ok(link),
        (None, Some(fail)) => Err(fail),
        (None, None) => {
            let places: Vec<String> =
                directories().iter().map(|d| format!("{}/*/{NAME}", d.display())).collect();
            let places = places.join(", ");
            Err(Fail::new(format!(
                "no DPDK program{asked} runs whose telemetry may be read: no socket at {places}; expected a program without --no-telemetry, of this user, or --socket PATH"
            )))
        }
    }
}
