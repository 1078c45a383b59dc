//! A plan's points before they are run: every option read, one job for each run of the model.

use std::path::PathBuf;

use rayon::prelude::*;

use crate::fail::Fail;
use crate::lab::jobs::{Job, Pair};
use crate::lab::measured::Measured;
use crate::lab::setup::Setup;
use crate::lab::{link, loopback, operations, queues, transfer};
use crate::paper::at::At;
use crate::paper::figure::{Figure, Overrides};
use crate::paper::plan::{Kind, Plan, Runs, Series};
use crate::paper::single::Single;
use crate::paper::slices::slices;
use crate::show::{bar, caller};

/// A plan's runs before they are run.
pub(crate) struct Prepared {
    plan: Plan,
    overrides: Overrides,
    /// One for each point, in the order of `places`.
    pub jobs: Vec<Job>,
    /// Files that its points read.
    pub inputs: Vec<PathBuf>,
    /// Number of the series and swept value.
    places: Vec<(usize, f64)>,
    /// Number of the series, swept value, and what is to be found there, where that is no job.
    others: Vec<(usize, f64, Other)>,
    assumed: Vec<(&'static str, f64, String)>,
}

/// A point of another kind than runs of the model.
enum Other {
    /// Found already: a slice of traffic.
    Found(Measured),
    /// A queueing system.
    Queue(queues::Options),
    /// Connections through a router.
    Tcp(transfer::Options),
    /// Operations on rules.
    Rules(operations::Options),
    /// A coherent link.
    Link(Box<link::Asked>),
    /// Frames there and back, and the command that has them.
    Loopback(Box<loopback::Options>, String),
    /// A run of the model, once.
    Single(Box<Single>),
}

impl Other {
    fn new(plan: &Plan, series: &Series, words: &[String], overrides: Overrides) -> Result<Other, Fail> {
        if plan.kind == Kind::Loopback {
            let mut options = loopback::Options::parse(words)?;
            let mut command = format!("rxlab loopback {}", words.join(" "));
            if let Some(sampling) = overrides.sampling {
                options.sampling = sampling;
                command += &format!(" --sampling {sampling}");
            }
            return Ok(Other::Loopback(Box::new(options), command));
        }
        if plan.kind == Kind::Queue {
            let mut options = queues::Options::parse(words)?;
            options.seed = overrides.seed;
            return Ok(Other::Queue(options));
        }
        if plan.kind == Kind::Rules {
            return Ok(Other::Rules(operations::Options::parse(words)?));
        }
        if plan.kind == Kind::Link {
            return Ok(Other::Link(Box::new(link::Options::parse(words)?)));
        }
        let mut words = words.to_vec();
        if !series.interface.is_empty() {
            words.extend(["--interface".to_string(), series.interface.clone()]);
        }
        let mut options = transfer::Options::parse(&words)?;
        options.seed = overrides.seed;
        options.placements = overrides.placements.unwrap_or(options.placements);
        options.sampling = overrides.sampling.unwrap_or(options.sampling);
        Ok(Other::Tcp(options))
    }

    /// The profile that it reads, if that is a file.
    fn input(&self) -> Option<PathBuf> {
        match self {
            Other::Tcp(options) => Some(PathBuf::from(&options.server)),
            Other::Rules(options) => Some(PathBuf::from(&options.server)),
            Other::Link(asked) => Some(PathBuf::from(asked.server())),
            Other::Loopback(options, _) => Some(PathBuf::from(&options.server)),
            Other::Found(_) | Other::Queue(_) | Other::Single(_) => None,
        }
    }

    /// What is found where `x` is swept, or where its own points are.
    fn find(self, x: f64) -> Result<Vec<(f64, Measured)>, Fail> {
        caller::goes_on()?;
        let found = match self {
            Other::Found(found) => found,
            Other::Queue(options) => options.measure()?,
            Other::Tcp(options) => options.measure()?,
            Other::Rules(options) => options.measure()?,
            Other::Link(asked) => asked.single()?,
            Other::Loopback(options, command) => options.measured(command)?,
            Other::Single(single) => return single.points(x),
        };
        Ok(vec![(x, found)])
    }
}

impl Prepared {
    /// Reads every point's options.
    ///
    /// # Errors
    /// The first option that is not allowed, with plan and series.
    pub(crate) fn new(plan: Plan, overrides: Overrides) -> Result<Prepared, Fail> {
        let (mut jobs, mut places, mut others, mut assumed) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut inputs = Vec::new();
        for (index, series) in plan.series.iter().enumerate() {
            let named = |e: Fail| Fail::new(format!("{}: series {}: {e}", plan.id, series.id));
            for (x, words) in plan.points(series) {
                if plan.kind != Kind::Compare {
                    let other = Other::new(&plan, series, &words, overrides).map_err(named)?;
                    inputs.extend(other.input());
                    others.push((index, x, other));
                    continue;
                }
                let mut setup = Setup::parse(&words).map_err(named)?;
                inputs.extend(setup.inputs());
                setup.seed = overrides.seed;
                setup.placements = overrides.placements.unwrap_or(setup.placements);
                setup.sampling = overrides.sampling.unwrap_or(setup.sampling);
                let ready = setup.ready().map_err(named)?;
                if let Some(count) = plan.slices {
                    let command = format!("rxlab experiment run {} --seed {}", plan.id, overrides.seed);
                    let _bar = bar::working("counting");
                    for (at, found) in slices(&ready, count, &command).map_err(named)? {
                        others.push((index, at, Other::Found(found)));
                    }
                    continue;
                }
                let interface = series.interface.as_str();
                assumed = ready.server.assumed();
                if plan.runs != Runs::Pairs {
                    let single = Single::new(&ready, interface, plan.runs == Runs::Parts).map_err(named)?;
                    others.push((index, x, Other::Single(Box::new(single))));
                    continue;
                }
                let mut job = ready.job(interface, plan.search).map_err(named)?;
                let points = job.empty.iter_mut().chain(&mut job.full);
                points.filter(|_| plan.redraw).for_each(|p| p.arrivals = p.seed);
                job.reproduce += if plan.search { "" } else { " --no-search" };
                jobs.push(job);
                places.push((index, x));
            }
        }
        Ok(Prepared { plan, overrides, jobs, inputs, places, others, assumed })
    }

    /// The plan's id.
    pub(crate) fn id(&self) -> &str {
        &self.plan.id
    }

    /// Names of its series and their interfaces, for conditions.
    pub(crate) fn owners(&self) -> impl Iterator<Item = String> {
        self.plan.series.iter().flat_map(Series::owners)
    }

    /// How many points are no runs of the model: [`Prepared::judge`] finds them.
    pub(crate) fn others(&self) -> usize {
        self.others.len()
    }

    /// Finds what is no run of the model, and judges all; one pair for each job. Tells each that is `done`.
    ///
    /// # Errors
    /// A metric that cannot be read.
    pub(crate) fn judge(self, pairs: Vec<Pair>, done: impl Fn() + Sync) -> Result<Figure, Fail> {
        let plan = self.plan;
        let mut points: Vec<Vec<(f64, At)>> = plan.series.iter().map(|_| Vec::new()).collect();
        for ((index, x), pair) in self.places.into_iter().zip(pairs) {
            points[index].push((x, At::Runs(Box::new(pair))));
        }
        let others: Vec<_> = self
            .others
            .into_par_iter()
            .with_max_len(1)
            .map(|(index, x, other)| Ok((index, other.find(x).inspect(|_| done())?)))
            .collect::<Result<_, Fail>>()?;
        for (index, found) in others {
            points[index].extend(found.into_iter().map(|(x, found)| (x, At::Measured(found))));
        }
        Figure::judged(plan, self.overrides, points, self.assumed)
    }
}
