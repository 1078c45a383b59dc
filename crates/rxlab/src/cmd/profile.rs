//! `rxlab profile`: servers as data: those that come with the program, of parts, and the machine at hand.

mod check;
mod detect;
mod explain;
mod new;
mod parts;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use model::profile::Server;

use crate::fail::Fail;
use crate::show::out;
use crate::show::table::{Table, num, number, words};

/// Options of `profile`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  rxlab profile list\n  rxlab profile show rxbisect-testbed --json\n  rxlab profile detect --out here.toml\n  rxlab profile check icelake-6346,nic=cx6dx:2,dram=8x3200"
)]
pub(crate) struct Profile {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// All servers
    List {
        /// Write JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// One server: every number and where it comes from
    Show {
        /// Its name
        name: String,
        /// Write JSON instead of tables
        #[arg(long)]
        json: bool,
    },
    /// The parts that combine to a server
    Parts,
    /// Write a profile to edit, after another server
    New {
        /// A file whose name ends in .toml
        file: PathBuf,
        /// The server that it begins with: a name, a file, or parts
        #[arg(long, value_name = "SERVER", default_value = "icelake")]
        from: String,
    },
    /// Whether the model takes a server, and what of it is assumed
    Check {
        /// A name, a file, or parts
        server: String,
        /// Write JSON instead of tables
        #[arg(long)]
        json: bool,
    },
    /// What a field of a profile is, and how to measure it
    Explain {
        /// Its place, a table, or its name in results [default: all]
        field: Option<String>,
        /// Write JSON instead of tables
        #[arg(long)]
        json: bool,
    },
    /// This machine, or another by its files: every number that can be read
    Detect(detect::Options),
}

/// Runs it.
///
/// # Errors
/// An unknown server.
pub(crate) fn run(options: Profile) -> Result<(), Fail> {
    match options.what {
        What::List { json } => list(json),
        What::Show { name, json } => show(&by_name(&name)?, json),
        What::Parts => parts::run(),
        What::New { file, from } => new::run(&file, &from, by_name(&from)?),
        What::Check { server, json } => check::run(&by_name(&server)?, json),
        What::Explain { field, json } => explain::run(field.as_deref(), json),
        What::Detect(options) => detect::run(options),
    }
}

fn by_name(name: &str) -> Result<Server, Fail> {
    Server::by_name(name).map_err(Fail::new)
}

fn list(json: bool) -> Result<(), Fail> {
    let servers = Server::names().map(by_name).collect::<Result<Vec<_>, _>>()?;
    if json {
        let rows = servers.iter().map(|s| serde_json::json!({"name": s.name, "description": s.description}));
        return out::json_rows(&rows.collect::<Vec<_>>());
    }
    let mut table = Table::new(&[
        words("server"),
        number("cores", ""),
        number("clock", "GHz"),
        number("LLC", "MiB"),
        number("DDIO", "MiB"),
        number("ports", ""),
        number("each", "Gbps"),
        words("what"),
    ]);
    let mib = |bytes: u64| num(bytes as f64 / (1 << 20) as f64);
    for s in &servers {
        table.rows.push(vec![
            s.name.clone(),
            s.cores.to_string(),
            s.ghz.to_string(),
            mib(s.llc_bytes()),
            mib(s.ddio_bytes()),
            s.nic.ports.to_string(),
            num(s.nic.port_gbps),
            s.description.clone(),
        ]);
    }
    out::print(&table.text(out::colour()))
}

fn show(server: &Server, json: bool) -> Result<(), Fail> {
    if json {
        return out::json(server);
    }
    let c = &server.caches;
    let mut out = format!("{}: {}\n\n", server.name, server.description);
    out +=
        &format!("{} cores at {} GHz, L2 {} KiB of {} ways\n", server.cores, server.ghz, c.l2_kib, c.l2_ways);
    out += &format!(
        "LLC {} slices x {} sets x {} ways, {} for DDIO, {} inclusive, {} replacement, {} pages, adjacent-line prefetch {}\n",
        c.slices,
        c.sets_per_slice,
        c.ways,
        c.ddio_ways,
        c.inclusive_ways,
        format!("{:?}", c.replacement).to_lowercase(),
        format!("{:?}", c.placement).to_lowercase(),
        c.adjacent_prefetch.name(),
    );
    let n = &server.nic;
    out += &format!(
        "{} x {}, {} Gbps each, rings of {} to {}\n\n",
        n.ports, n.name, n.port_gbps, n.min_ring, n.max_ring
    );
    if !server.origins.is_empty() {
        let mut machine = Table::new(&[words("number"), words("origin")]);
        machine.rows = server.origins.iter().map(|(place, from)| vec![place.clone(), from.clone()]).collect();
        out += &(machine.text(out::colour()) + "\n");
    }
    let mut table = Table::new(&[
        words("constant"),
        words("in results"),
        number("value", ""),
        words("allowed"),
        words("origin"),
    ]);
    for (declared, constant) in server.stated() {
        let (allowed, origin) = (declared.range.to_string(), constant.origin.clone());
        let (value, place) = (constant.value.to_string(), declared.place.into());
        table.rows.push(vec![place, declared.name.into(), value, allowed, origin]);
    }
    out::print(&(out + &table.text(out::colour())))
}
