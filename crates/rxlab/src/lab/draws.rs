//! Servers whose assumed and fitted constants are others, within their spreads: designed samples, and jobs on them.
//!
//! A Latin hypercube has each constant at as many different values as there are draws, evenly by its spread, whatever their
//! number. Low-discrepancy sequences need many more draws than constants before their pairs are even; so none is used.

use memory::Ps;
use model::Span;
use model::profile::{Server, Spread};
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;

use crate::fail::Fail;
use crate::lab::jobs::Job;
use crate::lab::point::Point;
use crate::lab::search::Search;
use crate::lab::span;

/// How finely a no-drop rate is searched in a draw, percent.
pub(crate) const RESOLUTION_PCT: f64 = 4.0;

/// Constants by their names, with the values of a draw.
pub(crate) type Values = Vec<(&'static str, f64)>;

/// The spreads of the constants that have a part in runs of `point`.
///
/// # Errors
/// Never in practice: the table of spreads is the program's own.
pub(crate) fn spreads(point: &Point) -> Result<Vec<Spread>, Fail> {
    let server = &point.server;
    let mut all = server.spreads().map_err(Fail::new)?;
    all.retain(|s| {
        server.apps.concern(s.place, point.app.kind())
            && (point.emulated || s.name != "emulator_cycles")
            && (point.antagonist.is_some() || !s.place.starts_with("constants.antagonist."))
    });
    Ok(all)
}

/// A Latin hypercube of `count` draws: each constant takes the middle of each of `count` shares once, in an order of its own.
pub(crate) fn hypercube(spreads: &[Spread], count: u32, seed: u64) -> Vec<Values> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut draws: Vec<Values> = (0..count).map(|_| Vec::new()).collect();
    for spread in spreads {
        let mut order: Vec<u32> = (0..count).collect();
        order.shuffle(&mut rng);
        for (draw, place) in draws.iter_mut().zip(order) {
            draw.push((spread.name, spread.at((f64::from(place) + 0.5) / f64::from(count))));
        }
    }
    draws
}

/// Gives a server the constants of a draw.
pub(crate) fn set(server: &mut Server, values: &[(&'static str, f64)]) {
    values.iter().for_each(|(name, value)| server.set(name, *value));
}

/// A short window for runs of all jobs: what one of the profile's own takes to settle at the least, and half as long. Nobody
/// asks whether rates have settled. It is the stated one where one is stated.
pub(crate) fn short(jobs: &[Job]) -> Option<Span> {
    let stated = jobs.first().and_then(|job| job.span);
    let spans = || jobs.iter().filter_map(|job| job.full.first()).map(span::quick);
    stated.or_else(|| spans().max_by_key(|s| s.window().1))
}

/// The job on a server with the constants of a draw: the first placement alone, over a window, with a coarse search of
/// trials half as long.
pub(crate) fn job(job: &Job, values: &[(&'static str, f64)], span: Option<Span>) -> Job {
    let drawn = |points: &[Point]| {
        points.iter().take(1).map(|point| point.with(|s| set(&mut s.server, values))).collect()
    };
    let coarse = |s: Search| Search {
        resolution_pct: s.resolution_pct.max(RESOLUTION_PCT),
        trial: Ps(s.trial.0 / 2),
        ..s
    };
    Job {
        empty: drawn(&job.empty),
        full: drawn(&job.full),
        others: Vec::new(),
        search: job.search.map(coarse),
        span,
        label: job.label.clone(),
        written: job.written.clone(),
        reproduce: job.reproduce.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::lab::setup::Setup;

    fn all() -> Vec<Spread> {
        Server::by_name("rxbisect-testbed").unwrap().spreads().unwrap()
    }

    #[test]
    fn each_constant_takes_each_share_once_and_the_seed_decides_the_order() {
        let (spreads, count) = (all(), 8);
        let draws = hypercube(&spreads, count, 7);
        assert_eq!(draws, hypercube(&spreads, count, 7));
        assert_ne!(draws, hypercube(&spreads, count, 8));
        for (i, spread) in spreads.iter().enumerate() {
            let shares = draws.iter().map(|draw| (spread.share(draw[i].1) * f64::from(count)) as u32);
            assert_eq!(shares.collect::<BTreeSet<_>>().len(), count as usize, "{}", spread.name);
        }
    }

    #[test]
    fn constants_of_what_does_not_run_are_left_out() {
        let names = |options: &str| -> Vec<&str> {
            let words: Vec<String> = options.split_whitespace().map(str::to_string).collect();
            let ready = Setup::parse(&words).unwrap().ready().unwrap();
            let point = ready.points("privring", model::Start::Full).unwrap().remove(0);
            spreads(&point).unwrap().iter().map(|s| s.name).collect()
        };
        let lb = names("--app lb");
        assert!(lb.contains(&"lb_cycles") && lb.contains(&"dram_idle_ns"), "{lb:?}");
        for other in ["nat_cycles", "emulator_cycles", "stream_lines", "esp_frame_cycles"] {
            assert!(!lb.contains(&other), "{other}");
        }
        let ipsec = names("--app ipsec --emulated --antagonist stream:2");
        for one in ["l3fwd_cycles", "esp_frame_cycles", "emulator_cycles", "stream_lines"] {
            assert!(ipsec.contains(&one), "{one}");
        }
        assert!(!names("--app lb --app-cycles 900").contains(&"lb_cycles"), "what is stated is known");
    }

    #[test]
    fn a_drawn_job_differs_in_its_server_alone() {
        let ready = Setup::parse(&[]).unwrap().ready().unwrap();
        let whole = ready.job("rxbisect", true).unwrap();
        let span = short(std::slice::from_ref(&whole));
        let drawn = job(&whole, &[("dram_idle_ns", 91.0)], span);
        assert_eq!((drawn.empty.len(), drawn.full.len(), drawn.others.len()), (1, 1, 0));
        assert_eq!(drawn.full[0].server.constants.dram.idle_ns.value, 91.0);
        assert_eq!(drawn.full[0].interface, whole.full[0].interface);
        assert!(drawn.search.is_some_and(|s| s.resolution_pct == RESOLUTION_PCT) && drawn.span.is_some());
    }
}
