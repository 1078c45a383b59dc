//! `rxlab why`: asks a running DPDK program why it drops frames.
//!
//! `socket` finds the program, `take` looks at it with `process`, `dump` is what it told. `rates` tells what was lost by
//! which counter (`counters`), `causes` and `overload` why, `programs` what to set, `predict` what the model says.

mod case;
mod causes;
mod counters;
mod dump;
mod overload;
mod predict;
mod process;
mod programs;
mod rates;
mod show;
mod socket;
mod take;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use model::profile::Server;
use tempfile::NamedTempFile;

use crate::detect::{self, Sources};
use crate::fail::Fail;
use crate::show::file::Target;
use crate::show::out;
use case::{Case, Cause, Kind};
use counters::Table;
use dump::Dump;
use predict::{Prediction, What};
use programs::{Named, Setting};
use show::Found;
use socket::Link;
use take::Watched;

/// Options of `why`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab why
  rxlab why --file-prefix router --server rxbisect-testbed
  rxlab why --watch --seconds 5
  rxlab why --record dump.json
  rxlab why --telemetry dump.json --server rxbisect-testbed --json

It asks the telemetry socket that every DPDK program has (/var/run/dpdk/*/dpdk_telemetry.v2), unless
--no-telemetry turned it off; the program is not changed. Root, or the user of the program, may ask.
What is lost is told by counter, and then why: a port that is down, then the cause of most frames,
each with the line for the program's options. The kernel adds which share of the time each polling thread had its CPU.

DPDK 22.11 tells neither sizes of rings nor what is left in a pool. Sizes come from the program's own
options (testpmd, l3fwd), its default, or --ring; the fill of a pool is read from the memory of the
process, where that is allowed.

The model predicts this set-up and the smallest change, on this machine or on the --server that is named.")]
pub(crate) struct Options {
    /// The program's telemetry socket [default: that of the only program that runs]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["telemetry", "file_prefix"])]
    socket: Option<PathBuf>,
    /// The program's --file-prefix, by which its socket is found
    #[arg(long, value_name = "NAME", conflicts_with = "telemetry")]
    file_prefix: Option<String>,
    /// A file that --record wrote, in place of a running program
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "watch"])]
    telemetry: Option<PathBuf>,
    /// Write what the program told to a file, for a colleague
    #[arg(long, value_name = "FILE", conflicts_with = "watch")]
    record: Option<PathBuf>,
    /// How long to look, seconds
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    seconds: f64,
    /// Looks in that time: two tell what is lost, more whether it is lost all the time
    #[arg(long, value_name = "N", default_value_t = 9)]
    looks: u32,
    /// Look again and again until the program ends
    #[arg(long)]
    watch: bool,
    /// Server profile for predictions [default: this machine, as `rxlab profile detect` describes it]
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Entries of a receive ring, where neither telemetry nor the program's options tell
    #[arg(long, value_name = "N")]
    ring: Option<u32>,
    /// Write JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// No program, several of them, one that goes away; a file that cannot be used; an unknown server.
pub(crate) fn run(options: &Options) -> Result<(), Fail> {
    options.check()?;
    let target = Target::asked("--record", options.record.as_deref(), &[])?;
    if let Some(path) = &options.telemetry {
        return options.explain(&Dump::read(path)?);
    }
    let link = match &options.socket {
        Some(path) => Link::open(path)?,
        None => socket::find(options.file_prefix.as_deref())?,
    };
    let (watched, program) = Watched::new(link)?;
    let every = Duration::from_secs_f64(options.seconds / f64::from(options.looks - 1));
    let mut explained = false;
    loop {
        let looks = match watched.looks(options.looks, every) {
            // What is watched ends some time.
            Err(fail) if explained => {
                out::note(&format!("rxlab: watched to its end: {fail}"));
                return Ok(());
            }
            looks => looks?,
        };
        let dump = Dump { program: program.clone(), looks };
        if let Some(target) = &target {
            let text = serde_json::to_string(&dump).map_err(|e| Fail::new(format!("--record: {e}")))?;
            target.write(&(text + "\n"))?;
        }
        options.explain(&dump)?;
        explained = true;
        if !options.watch {
            return Ok(());
        }
    }
}

impl Options {
    fn check(&self) -> Result<(), Fail> {
        if !(0.01..=3600.0).contains(&self.seconds) {
            return Err(Fail::new(format!("--seconds {}: allowed: 0.01 to 3600", self.seconds)));
        }
        if !(2..=10_000).contains(&self.looks) {
            return Err(Fail::new(format!("--looks {}: allowed: 2 to 10000", self.looks)));
        }
        if self.ring.is_some_and(|n| !(1..=65_536).contains(&n)) {
            let n = self.ring.unwrap_or_default();
            return Err(Fail::new(format!("--ring {n}: allowed: 1 to 65536 entries")));
        }
        if let Some(name) = &self.server {
            Server::by_name(name).map_err(|e| Fail::new(format!("--server: {e}")))?;
        }
        Ok(())
    }

    /// The server that predictions are for: the one asked for, or the machine that the program runs on.
    fn server(&self, notes: &mut Vec<String>) -> Option<Place> {
        if let Some(name) = &self.server {
            return Some(Place::Named(name.clone()));
        }
        // A recorded program ran elsewhere.
        if self.telemetry.is_some() {
            notes.push(
                "--server PROFILE adds what the model predicts, and whether DDIO holds what the rings hold"
                    .into(),
            );
            return None;
        }
        match here() {
            Ok(file) => {
                let what = "predicted for this machine; `rxlab profile detect` tells what of it was assumed";
                notes.push(what.into());
                Some(Place::Here(file))
            }
            Err(fail) => {
                notes.push(format!("this machine cannot be described: {fail}; allowed: --server PROFILE"));
                None
            }
        }
    }

    fn explain(&self, dump: &Dump) -> Result<(), Fail> {
        let table = Table::read()?;
        let span = |dump: &Dump| Some(dump.looks.last()?.at_s - dump.looks.first()?.at_s);
        let case = Case {
            dump,
            named: Named::new(dump, self.ring)?,
            rates: rates::all(dump, &table),
            seconds: span(dump).unwrap_or(1.0).max(1e-6),
        };
        let mut causes = causes::find(&case);
        let mut notes = notes(&case);
        let prediction = self.predict(&case, &mut causes, &mut notes)?;
        let found = Found { case: &case, causes, prediction, notes };
        if self.json { out::json(&found.data()) } else { out::print(&found.text()) }
    }

    /// What the model says of the first cause that it has a part in. Where smaller rings end a loss, the cache is the cause.
    fn predict(
        &self,
        case: &Case,
        causes: &mut [Cause],
        notes: &mut Vec<String>,
    ) -> Result<Option<Prediction>, Fail> {
        let Some(cause) = causes.iter_mut().find(|c| c.asked.is_some()) else {
            if !causes.is_empty() && self.server.is_some() {
                notes.push("the model has no part in these causes: it predicts nothing here".into());
            }
            return Ok(None);
        };
        let Some(asked) = cause.asked.clone() else { return Ok(None) };
        if asked.offered == 0.0 {
            return Ok(None);
        }
        let Some(server) = self.server(notes) else { return Ok(None) };
        let prediction = match predict::predict(server.name(), &asked) {
            Ok(prediction) => prediction,
            Err(fail) => {
                notes.push(format!("the model cannot run this set-up on {}: {fail}", server.name()));
                return Ok(None);
            }
        };
        let smaller = prediction.change.as_ref().filter(|c| c.what == What::Ring);
        if let (Kind::TooLittleCpu, Some(change)) = (cause.cause, smaller) {
            cause.cause = Kind::RingsBeyondDdio;
            cause.evidence.push(format!(
                "an I/O working set of {:.1} MiB against {:.1} MiB of DDIO ways: a frame takes {:.0} cycles, with rings of {} {:.0}",
                prediction.now.io_working_set_mib,
                prediction.ddio_mib,
                prediction.now.frame_cycles,
                change.value,
                change.outcome.frame_cycles
            ));
            cause.set = case.named.line(Setting::RxRing, change.value.into());
        }
        Ok(Some(prediction))
    }
}

/// A server as `--server` takes it.
enum Place {
    Named(String),
    /// This machine, in a file for as long as it is asked about.
    Here(NamedTempFile),
}

impl Place {
    fn name(&self) -> &str {
        match self {
            Place::Named(name) => name,
            Place::Here(file) => file.path().to_str().unwrap_or_default(),
        }
    }
}

/// This machine as a profile in a file.
fn here() -> Result<NamedTempFile, Fail> {
    let text = detect::read(&Sources::at("/"))?.server.text().map_err(Fail::new)?;
    let file = tempfile::Builder::new().suffix(".toml").tempfile();
    let kept = file.and_then(|mut file| file.write_all(text.as_bytes()).map(|()| file));
    kept.map_err(|e| Fail::new(format!("a temporary file: {e}")))
}

/// What a reader must know of the counters.
fn notes(case: &Case) -> Vec<String> {
    let mut all = Vec::new();
    let kept = case.vanished();
    if !case.named.forwards() && kept as f64 > 0.01 * case.received() as f64 {
        all.push(format!(
            "of {} frames that it received the program sent {kept} not on: it kept or dropped them itself, and its own counters tell why",
            case.received()
        ));
    }
    for rates in &case.rates {
        let port = rates.port;
        let quiet = rates.losses.is_empty();
        all.extend(rates.blind.iter().filter(|_| quiet).map(|blind| format!("port {port}: {blind}")));
        if rates.cut {
            all.push(format!("port {port}: telemetry ends at 256 extended counters, and this port has as many: some may be missing"));
        }
        if rates.reset {
            all.push(format!("port {port}: its counters were set back meanwhile"));
        }
        all.extend(
            rates
                .pauses
                .iter()
                .map(|(name, n)| format!("port {port}: {name} counted {n}: flow control is at work")),
        );
    }
    all.dedup();
    all
}
