//! Short forms of experiments, to be run on many servers that differ in their constants: one placement, one start, windows
//! that nobody waits to settle, and of long sweeps that only a largest or least value is taken of every other point.

use memory::Ps;
use model::profile::Spread;
use model::{Span, Start};
use rayon::prelude::*;

use crate::fail::Fail;
use crate::lab::draws::{self, RESOLUTION_PCT};
use crate::lab::fields::{self, FIELDS, NO_DROP};
use crate::lab::point::Point;
use crate::lab::search::{self, Search};
use crate::lab::setup::Setup;
use crate::lab::span;
use crate::paper::metric::{self, Sample, Samples};
use crate::paper::plan::{Claim, Kind, Plan, Runs};
use crate::show::bar;

/// Functions whose answer is a place on the x axis: all of its points are wanted.
const PLACES: [&str; 6] =
    ["@", "first_at_least", "argmax", "last_at_line_rate", "second_step", "largest_fall"];
/// A sweep of so many points is thinned.
const LONG: usize = 6;

/// First warm-ups for which a short form waits. A quick look, which waits for less than one, had 79% of ddio-bench's writes hit
/// with 2 ways where settled runs have 68.
const WARM: u64 = 3;

/// A plan in its short form.
pub(crate) struct Short {
    plan: Plan,
    points: Vec<ShortPoint>,
}

struct ShortPoint {
    series: usize,
    x: f64,
    point: Point,
    search: Option<Search>,
}

impl Short {
    /// The short form of `plan`; `None` where it has no claims that depend on the constants of a server: queueing theory,
    /// captures, slices of traffic, connections.
    ///
    /// # Errors
    /// An option that is not allowed.
    pub(crate) fn new(mut plan: Plan, seed: u64) -> Result<Option<Short>, Fail> {
        let other = plan.kind != Kind::Compare || plan.slices.is_some() || plan.runs == Runs::Parts;
        if other || plan.claims.is_empty() || plan.series.iter().any(|s| s.capture.is_some()) {
            return Ok(None);
        }
        let metrics: Vec<&String> = plan.claims.iter().flat_map(|c| &c.metric).collect();
        let named = |id: &str| {
            let word = |c: char| !(c.is_alphanumeric() || c == '_');
            metrics.iter().any(|m| m.split(word).any(|name| name == id))
        };
        let thin = !metrics.iter().any(|m| PLACES.iter().any(|place| m.contains(place)))
            && plan.claims.iter().all(|c| c.published.split_whitespace().count() == 1);
        plan.series.retain(|s| named(&s.id));
        for sweep in plan.series.iter_mut().filter_map(|s| s.sweep.as_mut()) {
            let last = sweep.values.len().saturating_sub(1);
            if thin && sweep.values.len() >= LONG {
                let kept = |i: &usize| i.is_multiple_of(2) || *i == last;
                sweep.values = (0..=last).filter(kept).map(|i| sweep.values[i]).collect();
            }
        }
        let mut points = Vec::new();
        for (series, of) in plan.series.iter().enumerate() {
            let named = |e: Fail| Fail::new(format!("{}: series {}: {e}", plan.id, of.id));
            for (x, words) in plan.points(of) {
                let mut setup = Setup::parse(&words).map_err(named)?;
                (setup.seed, setup.placements) = (seed, 1);
                let ready = setup.ready().map_err(named)?;
                let start = if plan.runs == Runs::Once { Start::Empty } else { Start::Full };
                let search = ready.search().filter(|_| plan.search);
                let search = search
                    .map(|s| Search { resolution_pct: s.resolution_pct.max(RESOLUTION_PCT / 2.0), ..s });
                for point in ready.points(&of.interface, start).map_err(named)? {
                    let span = short(&point);
                    let point = point.with(|s| s.span = Some(span));
                    points.push(ShortPoint { series, x, point, search });
                }
            }
        }
        Ok(Some(Short { plan, points }))
    }

    /// Its claims.
    pub(crate) fn claims(&self) -> &[Claim] {
        &self.plan.claims
    }

    /// The plan's id.
    pub(crate) fn id(&self) -> &str {
        &self.plan.id
    }

    /// The spreads of the constants of its points.
    ///
    /// # Errors
    /// Never in practice: the table of spreads is the program's own.
    pub(crate) fn spreads(&self) -> Result<Vec<Spread>, Fail> {
        let mut all: Vec<Spread> = Vec::new();
        for p in &self.points {
            for spread in draws::spreads(&p.point)? {
                if !all.iter().any(|s| is_same(s, &spread)) {
                    all.push(spread);
                }
            }
        }
        Ok(all)
    }

    /// What the claims' metrics give at what was found at its points.
    fn obtained(&self, found: &[Vec<(&'static str, f64)>]) -> Result<Vec<Vec<f64>>, Fail> {
        let mut samples: Vec<Samples> =
            self.plan.series.iter().map(|s| Samples { id: s.id.clone(), points: Vec::new() }).collect();
        for (p, fields) in self.points.iter().zip(found) {
            samples[p.series].points.push(Sample { x: p.x, fields: fields.clone() });
        }
        let one = |c: &Claim| {
            let values: Result<Vec<Vec<f64>>, String> =
                c.metric.iter().map(|m| metric::eval(m, &samples)).collect();
            let values = values.map_err(|e| Fail::new(format!("{}: {}: {e}", self.plan.id, c.id)))?;
            Ok(values.into_iter().flatten().collect())
        };
        self.plan.claims.iter().map(one).collect()
    }
}

/// A window as long as that of a quick look, behind a warm-up of [`WARM`] first ones: with a surplus of two percent a transmit
/// ring takes some 20 ms to fill.
fn short(point: &Point) -> Span {
    let first = span::first(&[point]);
    Span { warm: Ps(first.warm.0 * WARM), ..span::quick(point) }
}

/// Whether two constants are one: of the same name, value and origin. What two servers assume alike is one assumption.
pub(crate) fn is_same(a: &Spread, b: &Spread) -> bool {
    a.name == b.name && a.value == b.value && a.origin == b.origin
}

/// Constants with other values.
pub(crate) type Server = Vec<(Spread, f64)>;

/// Runs plans with the constants of each server: of each server, plan and claim the values. All points of all run side by
/// side; what has run before is not run again.
///
/// # Errors
/// The first run that the model refuses.
pub(crate) fn run(plans: &[&Short], servers: &[Server]) -> Result<Vec<Vec<Vec<Vec<f64>>>>, Fail> {
    let points: Vec<&ShortPoint> = plans.iter().flat_map(|plan| &plan.points).collect();
    let tasks: Vec<(&Server, &ShortPoint)> =
        servers.iter().flat_map(|server| points.iter().map(move |p| (server, *p))).collect();
    let bar = bar::progress(tasks.len() as u64, "running short forms");
    let found: Vec<Result<_, Fail>> = tasks
        .into_par_iter()
        .with_max_len(1)
        .map(|(server, p)| p.run(server).inspect(|_| bar.inc(1)))
        .collect();
    bar.finish_and_clear();
    let mut found = found.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter();
    let mut all = Vec::new();
    for _ in servers {
        let of_plan = |plan: &&Short| {
            let mine: Vec<_> = found.by_ref().take(plan.points.len()).collect();
            plan.obtained(&mine)
        };
        all.push(plans.iter().map(of_plan).collect::<Result<_, _>>()?);
    }
    Ok(all)
}

impl ShortPoint {
    /// Every field that it gives with constants that are others.
    fn run(&self, server: &Server) -> Result<Vec<(&'static str, f64)>, Fail> {
        let mine = self.point.server.spreads().map_err(Fail::new)?;
        let values: Vec<(&'static str, f64)> = server
            .iter()
            .filter(|(spread, _)| mine.iter().any(|s| is_same(s, spread)))
            .map(|(spread, value)| (spread.name, *value))
            .collect();
        let point = self.point.with(|s| draws::set(&mut s.server, &values));
        let report = point.run()?;
        let no_drop = match &self.search {
            Some(search) => search::edge(&point, search, || ())?.no_drop_gbps,
            None => f64::NAN,
        };
        let fields = FIELDS.iter().map(|f| (f.name, fields::value(&report, f.name)));
        Ok(fields.chain([(NO_DROP.name, no_drop)]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(id: &str) -> Option<Short> {
        Short::new(Plan::find(id).unwrap(), 1).unwrap()
    }

    #[test]
    fn what_no_constant_moves_has_no_short_form() {
        for id in ["corec/fig3", "corec/table4", "corec/table5", "rxbisect/fig4", "rxbisect/table3"] {
            assert!(short(id).is_none(), "{id}");
        }
    }

    #[test]
    fn only_what_a_claim_needs_is_run() {
        let fig18 = short("rxbisect/fig18").unwrap();
        let ids: Vec<&str> = fig18.plan.series.iter().map(|s| s.id.as_str()).collect();
        assert_eq!(ids, ["lb_privring", "lb_small", "lb_shring", "nat_privring", "nat_small", "nat_shring"]);
        // Nine values of which the largest counts; eight of which the place counts.
        assert_eq!(short("rxbisect/fig14").unwrap().plan.series[0].sweep.as_ref().unwrap().values.len(), 5);
        assert_eq!(short("rxbisect/fig3").unwrap().points.len(), 8);
    }

    #[test]
    fn servers_that_assume_alike_have_one_constant() {
        let all = |id: &str| short(id).unwrap().spreads().unwrap();
        let (rxbisect, ddio) = (all("rxbisect/fig2"), all("ddio-bench/ways"));
        let idle = |all: &[Spread]| all.iter().find(|s| s.name == "dram_idle_ns").unwrap().clone();
        assert!(is_same(&idle(&rxbisect), &idle(&ddio)));
        assert!(!rxbisect.iter().any(|s| s.name == "l3fwd_cycles"));
    }
}
