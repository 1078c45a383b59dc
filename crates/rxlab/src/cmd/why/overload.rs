//! Rings that have no posted buffer although the pool has some: which cores are late, and why.

use super::case::{Asked, Case, Cause, Kind};
use super::programs::Setting;
use super::rates::Rates;
use crate::show::table::num;

/// A queue loses with the others where it loses more than this part of what the worst one does.
const WITH_THE_WORST: f64 = 0.25;
/// How much more a queue is offered than others to be what overloads its core.
const HEAVY: f64 = 1.5;
/// The same where only received frames are known by queue.
const HEAVY_RECEIVED: f64 = 2.0;
/// Losses between fewer looks than this part of them, and smaller than the next, are bursts.
const SELDOM: f64 = 0.5;
/// Share of the frames below which seldom losses are bursts.
const LITTLE: f64 = 0.01;
/// Room that more cores should have.
const ROOM: f64 = 1.1;

/// Why `frames` found no posted buffer at a port.
pub(super) fn explain(case: &Case, rates: &Rates, frames: u64) -> Cause {
    let lost = rates.lost_by_queue();
    let offered: Vec<u64> = rates.queues.iter().zip(&lost).map(|(r, l)| r + l).collect();
    let share = |q: usize| lost[q] as f64 / offered[q].max(1) as f64;
    let worst = (0..lost.len()).map(share).fold(0.0, f64::max);
    let late: Vec<usize> =
        (0..lost.len()).filter(|q| lost[*q] > 0 && share(*q) > WITH_THE_WORST * worst).collect();
    let mut evidence = vec![counted(rates, frames)];
    let with = |kind: Kind, set: String, evidence: Vec<String>, queues: &[usize]| Cause {
        cause: kind,
        port: rates.port,
        frames,
        evidence,
        set,
        asked: Some(asked(case, rates, queues)),
    };
    let look = case.dump.looks.last();
    let lcores = |queues: &[usize]| -> Vec<u32> {
        let of = |q: &usize| case.named.lcore(look?, rates.port, *q as u32);
        let mut all: Vec<u32> = queues.iter().filter_map(of).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let all = rates.queues.len();
    if !late.is_empty() && late.len() < all {
        evidence.extend(late.iter().map(|q| queue_words(rates, &lost, *q, &lcores(&[*q]))));
        let mean = |queues: &mut dyn Iterator<Item = usize>| {
            let each: Vec<u64> = queues.map(|q| offered[q]).collect();
            each.iter().sum::<u64>() as f64 / each.len().max(1) as f64
        };
        let mine = mean(&mut late.iter().copied());
        let others = mean(&mut (0..all).filter(|q| !late.contains(q)));
        let sum: u64 = offered.iter().sum();
        let percent = |n: f64| num(n / sum.max(1) as f64 * 100.0);
        evidence.push(format!(
            "such a queue is offered {}% of the frames, another one {}% and loses hardly any",
            percent(mine),
            percent(others)
        ));
        let starved = case.starved(&case.polling(&lcores(&late)));
        evidence.extend(starved.iter().cloned());
        if mine >= HEAVY * others {
            return with(Kind::QueueImbalance, spread(case, all), evidence, &late);
        }
        return with(Kind::SlowCore, alone(&lcores(&late), &starved), evidence, &late);
    }
    if let Some(heavy) = heavy(rates, &lost) {
        let sum: u64 = rates.queues.iter().sum();
        let percent = num(rates.queues[heavy] as f64 / sum.max(1) as f64 * 100.0);
        evidence.push(format!(
            "queue {heavy} received {percent}% of the frames of {all} queues; the driver does not count losses by queue"
        ));
        return with(Kind::QueueImbalance, spread(case, all), evidence, &[heavy]);
    }
    let starved = case.starved(&case.polling(&lcores(&late)));
    if !starved.is_empty() {
        evidence.extend(starved.iter().cloned());
        return with(Kind::SlowCore, alone(&lcores(&late), &starved), evidence, &[]);
    }
    let part = frames as f64 / rates.offered().max(1) as f64;
    evidence.push(format!("frames were lost in {:.0}% of the times between looks", rates.losing * 100.0));
    let entries = look.and_then(|l| case.named.rx_entries(l.ports.get(&rates.port)?)).map(|e| e.entries);
    if rates.losing < SELDOM && part < LITTLE {
        let set = case.named.line(Setting::RxRing, u64::from(entries.unwrap_or(512)) * 2);
        return with(Kind::Bursts, set, evidence, &[]);
    }
    evidence.extend(busy(case, &case.polling(&lcores(&late))));
    let asked = asked(case, rates, &[]);
    evidence.push(format!(
        "{} core{} took {} Mpps of {} Mpps that came",
        asked.cores,
        if asked.cores == 1 { "" } else { "s" },
        num(asked.done / 1e6),
        num(asked.offered / 1e6)
    ));
    let wanted = (f64::from(asked.cores) * asked.offered / asked.done.max(1.0) * ROOM).ceil();
    let wanted = wanted.clamp(f64::from(asked.cores + 1), 1024.0) as u64;
    with(Kind::TooLittleCpu, case.named.line(Setting::Cores, wanted), evidence, &[])
}

/// The counter that tells, and how much that is.
fn counted(rates: &Rates, frames: u64) -> String {
    let names: Vec<&str> = rates
        .losses
        .iter()
        .filter(|l| l.place == super::counters::Place::Ring)
        .map(|l| l.counter.as_str())
        .collect();
    let part = frames as f64 / rates.offered().max(1) as f64 * 100.0;
    format!(
        "{frames} frames, {}% of what came, found no posted buffer ({}), and the pool had some",
        num(part),
        names.join(", ")
    )
}

fn queue_words(rates: &Rates, lost: &[u64], queue: usize, lcore: &[u32]) -> String {
    let polled = lcore.first().map(|l| format!(", polled by lcore {l},")).unwrap_or_default();
    let (got, lost) = (rates.queues[queue], lost[queue]);
    format!("queue {queue}{polled} received {got} and lost {lost}")
}

/// The queue that received far more than the others do in the mean, where losses are not known by queue.
fn heavy(rates: &Rates, lost: &[u64]) -> Option<usize> {
    let all = rates.queues.len();
    if !lost.is_empty() || all < 2 {
        return None;
    }
    let (heavy, most) = rates.queues.iter().copied().enumerate().max_by_key(|(_, n)| *n)?;
    let others = (rates.queues.iter().sum::<u64>() - most) as f64 / (all - 1) as f64;
    (most as f64 >= HEAVY_RECEIVED * others.max(1.0)).then_some(heavy)
}

/// What spreads frames.
fn spread(case: &Case, queues: usize) -> String {
    let more = case.named.line(Setting::Cores, queues as u64 * 2);
    format!(
        "RSS over more fields (testpmd: --rss-udp); if many flows share the queue: {more}. One flow stays on one core"
    )
}

/// What gives a core back its time.
fn alone(lcores: &[u32], starved: &[String]) -> String {
    let which = match lcores {
        [] => "the polling cores".to_string(),
        some => format!("lcore {}", some.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    };
    if starved.is_empty() {
        return format!(
            "what {which} does beside this queue, its clock, and who shares its physical core; --lcores moves it"
        );
    }
    format!("a CPU for {which} alone: --lcores with another CPU, or isolcpus= and taskset for the rest")
}

/// That polling threads are busy says nothing, and that is told.
fn busy(case: &Case, threads: &[&super::dump::Thread]) -> Vec<String> {
    let one = |t: &&super::dump::Thread| {
        let (run, _) = case.time_of(t)?;
        Some(format!(
            "thread {} had its CPU {:.0}% of the time, as a polling one always has",
            t.name,
            run * 100.0
        ))
    };
    threads.iter().filter_map(one).collect()
}

/// What the cores of `queues` of a port were asked for; of all where none are named.
pub(super) fn asked(case: &Case, rates: &Rates, queues: &[usize]) -> Asked {
    let lost = rates.lost_by_queue();
    let all: Vec<usize> = (0..rates.queues.len()).collect();
    let mine = if queues.is_empty() { &all } else { queues };
    let look = case.dump.looks.last();
    let mut lcores: Vec<u32> =
        mine.iter().filter_map(|q| case.named.lcore(look?, rates.port, *q as u32)).collect();
    lcores.sort_unstable();
    lcores.dedup();
    let shares: Vec<f64> =
        case.polling(&lcores).into_iter().filter_map(|t| Some(case.time_of(t)?.0)).collect();
    let share = if shares.is_empty() { 1.0 } else { shares.iter().sum::<f64>() / shares.len() as f64 };
    let cores = if lcores.is_empty() { mine.len().max(1) } else { lcores.len() };
    let whole = mine.len() == all.len();
    let got = if whole { rates.frames[0] } else { mine.iter().map(|q| rates.queues[*q]).sum() };
    let missed = match lost.len() {
        0 => rates.lost(&[super::counters::Place::Ring]),
        _ => mine.iter().map(|q| lost[*q]).sum(),
    };
    let entries = look.and_then(|l| case.named.rx_entries(l.ports.get(&rates.port)?)).map(|e| e.entries);
    Asked {
        cores: cores as u32,
        offered: (got + missed) as f64 / case.seconds,
        done: got as f64 / case.seconds,
        frame_bytes: rates.mean_bytes().unwrap_or(60.0),
        queues: mine.len() as u32,
        entries,
        share,
        pool: None,
    }
}
