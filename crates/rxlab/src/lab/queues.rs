//! A queueing system: one queue for all servers or one for each, simulated and held against exact theory.

use clap::Args;
use queueing::simulate::{customers, simulate};
use queueing::theory::Theory;
use queueing::{Layout, Service, System};

use crate::fail::Fail;
use crate::lab::alone;
use crate::lab::measured::Measured;

/// The highest load: a run's length grows with the square of the time in which a queue forgets.
const MOST: f64 = 0.98;

/// A system, and how it is simulated.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Servers
    #[arg(long, value_name = "N", default_value_t = 4)]
    servers: u32,
    /// One queue that all servers take from (shared), or one for each (split)
    #[arg(long, value_name = "shared|split", default_value = "shared")]
    layout: String,
    /// How service times are distributed
    #[arg(long, value_name = "exponential|deterministic", default_value = "exponential")]
    service: String,
    /// Share of its time that a server is busy
    #[arg(long, value_name = "SHARE", default_value_t = 0.9)]
    load: f64,
    /// Customers to simulate [default: 2 million / (1 - load)^2]
    #[arg(long, value_name = "N")]
    customers: Option<u64>,
    /// Seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
}

impl Options {
    /// Reads options as a command line has them.
    ///
    /// # Errors
    /// In one line: the option that is not allowed.
    pub(crate) fn parse(words: &[String]) -> Result<Options, Fail> {
        let options: Options = alone::parse(words)?;
        options.system()?;
        Ok(options)
    }

    /// The system that the options describe.
    ///
    /// # Errors
    /// In one line: the option that is not allowed.
    pub(crate) fn system(&self) -> Result<System, Fail> {
        let bad = |flag: &str, value: &dyn std::fmt::Display, allowed: &str| {
            Err(Fail::new(format!("--{flag} {value}: allowed: {allowed}")))
        };
        let Some(layout) = Layout::ALL.into_iter().find(|l| l.name() == self.layout) else {
            return bad("layout", &self.layout, "shared, split");
        };
        let Some(service) = Service::ALL.into_iter().find(|s| s.name() == self.service) else {
            return bad("service", &self.service, "exponential, deterministic");
        };
        if !(1..=64).contains(&self.servers) {
            return bad("servers", &self.servers, "1 to 64");
        }
        if !(self.load >= 0.01 && self.load <= MOST) {
            return bad("load", &self.load, &format!("0.01 to {MOST}"));
        }
        match self.customers {
            Some(n) if !(3200..=u64::from(u32::MAX)).contains(&n) => {
                bad("customers", &n, &format!("3200 to {}", u32::MAX))
            }
            _ => Ok(System { servers: self.servers, layout, service, load: self.load }),
        }
    }

    /// Simulates the system and compares with theory.
    ///
    /// # Errors
    /// A value that is not allowed.
    pub(crate) fn measure(&self) -> Result<Measured, Fail> {
        let system = self.system()?;
        let number = self.customers.unwrap_or_else(|| customers(&system));
        let found = simulate(&system, number, self.seed);
        let exact = Theory::new(&system);
        let (mean, p99) = (exact.mean(), exact.percentile(0.99));
        let (mean_ratio, p99_ratio) = (found.mean.value / mean, found.p99.value / p99);
        let off = |ratio: f64| (ratio - 1.0).abs() * 100.0;
        Ok(Measured {
            fields: vec![
                ("sojourn_mean", found.mean.value),
                ("sojourn_p99", found.p99.value),
                ("theory_mean", mean),
                ("theory_p99", p99),
                ("mean_ratio", mean_ratio),
                ("p99_ratio", p99_ratio),
                ("mean_off_pct", off(mean_ratio)),
                ("p99_off_pct", off(p99_ratio)),
                ("mean_ci_pct", found.mean.half_width / found.mean.value * 100.0),
                ("p99_ci_pct", found.p99.half_width / found.p99.value * 100.0),
                ("customers", found.customers as f64),
            ],
            reproduce: format!(
                "rxlab queue --servers {} --layout {} --service {} --load {} --customers {number} --seed {}",
                self.servers, self.layout, self.service, self.load, self.seed
            ),
        })
    }
}
