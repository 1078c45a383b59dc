//! DPDK's tables, in rxlookup: a process for each, so that all keep their rules while they take turns.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use live::tables::LookUp;

use crate::cmd::bench::built;
use crate::cmd::bench::child::{Child, Event};
use crate::fail::Fail;
use crate::show::out;

const RXLOOKUP: &str = "bench/rxlookup";
/// The longest that tables may take to fill.
const PATIENCE: Duration = Duration::from_secs(120);
/// rte_acl builds for minutes beyond so many rules.
const ACL_MOST: u32 = 20_000;

/// A table of DPDK's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Peer {
    /// rte_hash as it is by default: nobody may change it meanwhile.
    Hash,
    /// rte_hash whose readers need no lock.
    HashLockFree,
    /// rte_acl.
    Acl,
}

impl Peer {
    pub(super) const ALL: [Peer; 3] = [Peer::Hash, Peer::HashLockFree, Peer::Acl];

    /// As tables show it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Peer::Hash => "rte_hash",
            Peer::HashLockFree => "rte_hash, lock-free",
            Peer::Acl => "rte_acl",
        }
    }

    /// As rxlookup knows it.
    fn word(self) -> &'static str {
        match self {
            Peer::Hash => "hash",
            Peer::HashLockFree => "hash-lf",
            Peer::Acl => "acl",
        }
    }
}

/// A table that is filled.
struct Filled {
    child: Child,
    seconds: f64,
    bytes: u64,
}

/// The tables that can hold the rules.
#[derive(Default)]
pub(super) struct Peers {
    tables: [Option<Filled>; Peer::ALL.len()],
}

impl Peers {
    /// Fills them, on one CPU.
    ///
    /// # Errors
    /// rxlookup is not there, or does not run.
    pub(super) fn start(build: Option<PathBuf>, cpu: usize, rules: u32) -> Result<Peers, Fail> {
        let program = build.unwrap_or_else(built::directory).join(RXLOOKUP);
        built::present(&program, "")?;
        let mut tables = [None, None, None];
        for (peer, table) in Peer::ALL.into_iter().zip(&mut tables) {
            if peer != Peer::Acl || rules <= ACL_MOST {
                *table = fill(peer, &program, cpu, rules)?;
            }
        }
        Ok(Peers { tables })
    }

    /// Look-ups for `time`; none where the table does not hold the rules.
    ///
    /// # Errors
    /// The process failed.
    pub(super) fn sample(&mut self, peer: Peer, time: Duration) -> Result<Option<LookUp>, Fail> {
        let Some(table) = &mut self.tables[peer as usize] else { return Ok(None) };
        table.child.say(&format!("go {}", time.as_millis()))?;
        match table.child.event(PATIENCE + time)? {
            Event::Lookups { ns, lookups, found } => Ok(Some(LookUp { ns, look_ups: lookups, found })),
            other => Err(Fail::new(format!("{}: {other:?} instead of look-ups", peer.name()))),
        }
    }

    /// Millions of rules a second that it took, and bytes of a rule.
    pub(super) fn filled(&self, peer: Peer, rules: u32) -> Option<[f64; 2]> {
        let table = self.tables[peer as usize].as_ref()?;
        Some([f64::from(rules) / table.seconds / 1e6, table.bytes as f64 / f64::from(rules)])
    }
}

fn fill(peer: Peer, program: &PathBuf, cpu: usize, rules: u32) -> Result<Option<Filled>, Fail> {
    let mut command = Command::new(program);
    command.args(["--lcores", &format!("0@{cpu}"), "--in-memory", "--no-pci", "--no-telemetry"]);
    command.args(["--log-level=error"]);
    let mut child = Child::start(peer.name(), &mut command)?;
    child.event(PATIENCE)?;
    child.say(&format!("{} {rules}", peer.word()))?;
    match child.event(PATIENCE)? {
        Event::Filled { seconds, bytes } => Ok(Some(Filled { child, seconds, bytes })),
        Event::Full { why } => {
            out::note(&format!("{}: {rules} rules: {why}", peer.name()));
            Ok(None)
        }
        other => Err(Fail::new(format!("{}: {other:?} while it is filled", peer.name()))),
    }
}
