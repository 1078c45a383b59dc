//! What operations on the rules of a NIC cost a core: the cost model of a profile, run over so many of them.

use clap::Args;
use model::classifier::{Ip, Kind, Operations, Place};
use model::profile::{Server, Tables};

use crate::fail::Fail;
use crate::lab::alone;
use crate::lab::measured::Measured;
use crate::lab::setup::rules::place;

/// Operations on rules.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Server profile with the tables of its NIC
    #[arg(long, value_name = "NAME", default_value = "nic-testbed-cx5")]
    pub server: String,
    /// Tables that the rules are in: root, or how many chained ones behind it
    #[arg(long, value_name = "root|N", default_value = "1")]
    tables: String,
    /// What is done with each rule: insert, delete, update (in its place), replace (deleted, and another inserted)
    #[arg(long, value_name = "WHAT", default_value = "insert")]
    operation: String,
    /// Rules: so many are inserted, or each of so many is changed
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    count: u64,
    /// What a rule matches: eth, and of vlan, ipv4, ipv6, ports, tunnel (all behind a tunnel's headers), joined by `+`
    #[arg(long = "match", value_name = "eth+..", default_value = "eth+ipv4+ports")]
    matched: String,
    /// Actions of a rule
    #[arg(long, value_name = "N", default_value_t = 1)]
    actions: u32,
    /// Beside frames that the port receives: operations take as much longer as the profile says
    #[arg(long)]
    beside: bool,
}

/// The most operations in one go.
const MOST: u64 = 1_000_000_000;

/// A server whose NIC has tables.
///
/// # Errors
/// There is no such profile, or it has none.
pub(crate) fn with_tables(name: &str) -> Result<(Server, Tables), Fail> {
    let server = Server::by_name(name).map_err(|e| Fail::new(format!("--server: {e}")))?;
    let Some(tables) = server.tables().cloned() else {
        let named = |name: &&str| Server::by_name(name).is_ok_and(|s| s.tables().is_some());
        let known: Vec<&str> = Server::names().filter(named).collect();
        return Err(Fail::new(format!(
            "--server {name}: its NIC has no tables; allowed: {}, or a profile with [tables]",
            known.join(", ")
        )));
    };
    Ok((server, tables))
}

impl Options {
    /// Reads options as a command line has them.
    ///
    /// # Errors
    /// In one line: the option that is not allowed.
    pub(crate) fn parse(words: &[String]) -> Result<Options, Fail> {
        alone::parse(words)
    }

    /// Runs the operations.
    ///
    /// # Errors
    /// A value that is not allowed.
    pub(crate) fn measure(&self) -> Result<Measured, Fail> {
        let (operations, place) = self.operations()?;
        let n = self.count;
        let us: f64 = match self.operation.as_str() {
            "insert" => (0..n).map(|rules| operations.insert(rules)).sum(),
            _ if place == Place::Root => {
                return Err(Fail::new(format!(
                    "--operation {}: allowed with --tables root: insert",
                    self.operation
                )));
            }
            "delete" => (1..=n).map(|rules| operations.delete(rules)).sum(),
            "update" => (0..n).map(|_| operations.update(n)).sum(),
            "replace" => (0..n).map(|_| operations.replace(n)).sum(),
            other => {
                return Err(Fail::new(format!(
                    "--operation {other}: allowed: insert, delete, update, replace"
                )));
            }
        };
        let us = us * if self.beside { operations.beside() } else { 1.0 };
        Ok(Measured {
            fields: vec![
                ("krules_per_s", n as f64 * 1e3 / us),
                ("rule_us", us / n as f64),
                ("core_ms", us / 1e3),
                ("operations", n as f64),
            ],
            reproduce: self.command(),
        })
    }

    fn operations(&self) -> Result<(Operations, Place), Fail> {
        let (_, tables) = with_tables(&self.server)?;
        let place = place(&self.tables)?;
        let room = if place == Place::Root { tables.root.entries.value as u64 } else { MOST };
        if !(1..=room).contains(&self.count) {
            return Err(Fail::new(format!("--count {}: allowed: 1 to {room} rules", self.count)));
        }
        Ok((Operations::new(&tables, place, self.kind()?), place))
    }

    /// The kind of rules.
    fn kind(&self) -> Result<Kind, Fail> {
        let bad = || {
            let allowed = "eth, and of vlan, ipv4 or ipv6, ports (behind either), tunnel, joined by `+`";
            Fail::new(format!("--match {}: allowed: {allowed}", self.matched))
        };
        if !(1..=16).contains(&self.actions) {
            return Err(Fail::new(format!("--actions {}: allowed: 1 to 16", self.actions)));
        }
        let mut parts = self.matched.split('+');
        if parts.next() != Some("eth") {
            return Err(bad());
        }
        let mut kind = Kind { vlan: false, ip: Ip::No, ports: false, tunnel: false, actions: self.actions };
        for part in parts {
            match part {
                "vlan" => kind.vlan = true,
                "ipv4" if kind.ip == Ip::No => kind.ip = Ip::V4,
                "ipv6" if kind.ip == Ip::No => kind.ip = Ip::V6,
                "ports" if kind.ip != Ip::No => kind.ports = true,
                "tunnel" => kind.tunnel = true,
                _ => return Err(bad()),
            }
        }
        Ok(kind)
    }

    fn command(&self) -> String {
        format!(
            "rxlab rules --server {} --tables {} --operation {} --count {} --match {} --actions {}{}",
            self.server,
            self.tables,
            self.operation,
            self.count,
            self.matched,
            self.actions,
            if self.beside { " --beside" } else { "" }
        )
    }
}
