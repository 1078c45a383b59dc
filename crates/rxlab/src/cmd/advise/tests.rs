//! The advice against an exhaustive sweep, on drawn servers under drawn traffic.

use std::collections::BTreeMap;

use model::Start;
use model::profile::Server;

use super::guideline::{Guideline, Sizes};
use super::refine::{Score, best, powers, refine};
use super::{measure, sized};
use crate::lab::setup::{Ready, Setup};
use crate::show::table::{Table, num, number, words};

/// The advice reaches the best of all settings but for this, in both measures. Where no setting reaches the
/// best of both at once, the server does not count, and the advice is held against the setting that comes nearest.
const BAR: f64 = 0.03;
/// Servers whose settings differ by less do not count.
const SPREAD: f64 = 0.10;

/// A sequence of draws (splitmix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.next() % all.len() as u64) as usize]
    }

    fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A built-in server with another processor, memory and card.
fn server(dice: &mut Dice) -> Server {
    let mut s = Server::by_name(dice.of(&["rxbisect-testbed", "ddio-bench"])).unwrap();
    s.name = "drawn".into();
    s.nic.ports = dice.of(&[1, 1, 2]);
    s.cores = s.nic.ports * dice.of(&[1, 2, 3, 4]);
    s.ghz = (dice.between(1.6, 3.6) * 10.0).round() / 10.0;
    s.caches.slices = dice.of(&[2, 3, 4, 6, 8, 12]);
    s.caches.ways = dice.of(&[6, 8, 11, 12, 16]);
    s.caches.ddio_ways = dice.of(&[1, 2, 2, 3, 4]);
    s.nic.port_gbps = dice.of(&[25.0, 40.0, 50.0, 100.0]);
    s.nic.max_ring = dice.of(&[1024, 2048]);
    s.constants.dram.peak_gbytes.value = dice.between(10.0, 80.0).round();
    s
}

/// Traffic as options of `compare`, without its rate.
fn traffic(dice: &mut Dice) -> Vec<String> {
    let size = dice.of(&["fixed:1500", "fixed:1500", "fixed:1024", "fixed:512", "imix"]);
    let flows = dice.of(&["flows=1k", "flows=100k", "flows=10M", "flows=100k,zipf=0.9", "flows=1M,zipf=1.1"]);
    let arrivals = dice.of(&["constant", "poisson", "bursty:32", "bursty:128", "bursty:512"]);
    let app = dice.of(&["l3fwd", "lb", "lb", "nat", "nat", "nf"]);
    let workload = format!("{size},{flows},arrivals={arrivals}");
    ["--workload", &workload, "--app", app].map(str::to_string).to_vec()
}

/// One drawn machine under its traffic, with as much load as makes settings matter: a little to half more
/// than what the guideline's sizes send.
fn draw(dice: &mut Dice, dir: &std::path::Path) -> (Ready, Guideline, String) {
    let server = server(dice);
    let file = dir.join("drawn.toml");
    std::fs::write(&file, toml::to_string(&server).unwrap()).unwrap();
    let fixed = "--placements 1 --limit-ms 40 --trial-ms 10 --resolution 1 --server";
    let mut options: Vec<String> = fixed.split(' ').map(str::to_string).collect();
    options.push(file.to_str().unwrap().into());
    options.extend(traffic(dice));
    let seed = dice.next() % 1000;
    options.extend(["--seed".into(), seed.to_string()]);
    let overload = dice.between(1.05, 1.5);
    let line = Setup::parse(&options).unwrap().ready().unwrap();
    let guideline = Guideline::new(&line.server, &line.ports.cores);
    let look = sized(&line, guideline.sizes).points("rxbisect", Start::Full).unwrap()[0].run().unwrap();
    let wire = server.nic.port_gbps * f64::from(server.nic.ports);
    let rate = (wire * overload * look.throughput_gbps / look.offered_gbps).min(wire);
    options.extend(["--rate".into(), format!("{rate:.1}")]);
    let c = &server.caches;
    let what = format!(
        "{}x{} cores {} GHz, {}x{} ways of {} DDIO, DRAM {} GB/s, {:.0} of {:.0} Gbps, {} {}, seed {seed}",
        server.nic.ports,
        server.cores / server.nic.ports,
        server.ghz,
        c.slices,
        c.ways,
        c.ddio_ways,
        server.constants.dram.peak_gbytes.value,
        rate,
        wire,
        options[options.iter().position(|o| o == "--app").unwrap() + 1],
        options[options.iter().position(|o| o == "--workload").unwrap() + 1],
    );
    (Setup::parse(&options).unwrap().ready().unwrap(), guideline, what)
}

/// Every pair of sizes that the device takes.
fn sweep(ready: &Ready, device: (u32, u32)) -> BTreeMap<Sizes, Score> {
    let all = powers(device);
    let pairs: Vec<Sizes> = all.iter().flat_map(|&ax| all.iter().map(move |&bx| Sizes { ax, bx })).collect();
    let found = measure(ready, &pairs).unwrap();
    pairs.into_iter().zip(found).collect()
}

/// How far the worst setting is behind the best, the larger of both measures.
fn spread(swept: &BTreeMap<Sizes, Score>) -> f64 {
    let behind = |of: fn(&Score) -> f64| {
        let (lo, hi) = swept.values().map(of).fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
        1.0 - lo / hi.max(1e-9)
    };
    behind(|s| s.no_drop).max(behind(|s| s.sent))
}

/// Draws servers by `seed` until `wanted` count, and holds the advice against the best of all settings.
fn bar(seed: u64, wanted: usize) {
    let dir = tempfile::tempdir().unwrap();
    let mut dice = Dice(seed);
    let mut table = Table::new(&[
        number("spread", "%"),
        number("no-drop", "best Gbps"),
        number("sent", "best Gbps"),
        number("guideline", "Ax/Bx"),
        number("no-drop", "% of best"),
        number("sent", "% of best"),
        number("advice", "Ax/Bx"),
        number("no-drop", "% of best"),
        number("sent", "% of best"),
        number("any", "% of best"),
        number("tried", "settings"),
        words("server and traffic"),
    ]);
    let (mut counted, mut level, mut needed, mut misses) = (0, 0, 0, Vec::new());
    while counted < wanted {
        let (ready, guideline, what) = draw(&mut dice, dir.path());
        let swept = sweep(&ready, guideline.device);
        if spread(&swept) <= SPREAD {
            level += 1;
            continue;
        }
        // The sweep holds what the model says of each setting, so the walk need not run it again.
        let known = |all: &[Sizes]| Ok(all.iter().map(|s| swept[s]).collect());
        let (advice, tried) = refine(guideline.sizes, guideline.device, known).unwrap();
        let top = best(swept.values());
        let share = |s: Sizes| swept[&s].share(top);
        let any = swept.keys().map(|s| share(*s)).fold(0.0, f64::max);
        let bar = if any >= 1.0 - BAR { 1.0 - BAR } else { any - BAR };
        counted += usize::from(any >= 1.0 - BAR);
        if share(guideline.sizes) < bar {
            needed += 1;
        }
        if share(advice) < bar {
            let all: Vec<String> = swept
                .iter()
                .map(|(s, score)| format!("{}/{} {:.1}%", s.ax, s.bx, score.share(top) * 100.0))
                .collect();
            misses.push(format!("{what}: {}", all.join(", ")));
        }
        let pct = |a: f64, b: f64| format!("{:.1}", a / b * 100.0);
        let of = |s: Sizes| {
            let score = swept[&s];
            [format!("{}/{}", s.ax, s.bx), pct(score.no_drop, top.no_drop), pct(score.sent, top.sent)]
        };
        let mut row = vec![format!("{:.0}", spread(&swept) * 100.0), num(top.no_drop), num(top.sent)];
        row.extend(of(guideline.sizes).into_iter().chain(of(advice)));
        row.extend([pct(any, 1.0), format!("{} of {}", tried.len(), swept.len()), what]);
        table.rows.push(row);
    }
    println!("{}", table.text(false));
    println!(
        "{counted} servers; beside them {} without a setting near the best of both measures",
        table.rows.len() - counted
    );
    println!("{level} drawn whose settings differ by less than {}%", SPREAD * 100.0);
    println!("not within {}%: the guideline alone {needed}, the advice {}", BAR * 100.0, misses.len());
    assert!(misses.is_empty(), "{misses:#?}");
}

#[test]
fn the_advice_is_within_3_percent_of_the_best_setting() {
    bar(SETTLED, 2);
}

/// The draw with which the walk was settled, and one that was not looked at before.
const SETTLED: u64 = 2024;
const APART: u64 = 2031;

#[test]
#[ignore = "some minutes: make advice"]
fn the_advice_is_within_3_percent_of_the_best_setting_of_20_servers() {
    bar(SETTLED, 20);
}

#[test]
#[ignore = "some minutes: make advice"]
fn the_advice_is_within_3_percent_of_the_best_setting_of_20_other_servers() {
    bar(APART, 20);
}

/// Two ports with loads of 3:1 on four cores, and more `options`.
fn unequal(options: &str) -> Ready {
    let all = format!(
        "--port-load 3:1 --cores 4 --placements 1 --limit-ms 40 --trial-ms 10 --resolution 1 {options}"
    );
    let words: Vec<String> = all.split_whitespace().map(str::to_string).collect();
    Setup::parse(&words).unwrap().ready().unwrap()
}

#[test]
fn cores_in_proportion_carry_what_an_equal_division_drops() {
    // A core forwards some 15 Gbps of the 50: three get 12.5 each, two of four 18.75.
    let run = |options: &str| unequal(options).points("rxbisect", Start::Full).unwrap()[0].run().unwrap();
    let [divided, equal] = ["--rate 50", "--rate 50 --port-cores equal"].map(run);
    assert_eq!(divided.drops.values().sum::<u64>(), 0, "{:?}", divided.per_port);
    assert!(divided.throughput_gbps > 0.99 * divided.offered_gbps, "{:?}", divided.per_port);
    assert!(equal.throughput_gbps < 0.95 * divided.throughput_gbps, "{:?}", equal.per_port);
    assert!(equal.per_port[0].drop_pct > 5.0 && equal.per_port[1].drops == 0, "{:?}", equal.per_port);
    for r in [&divided, &equal] {
        assert_eq!(r.conservation.buffers, r.conservation.buffers_free);
        let offered = [r.per_port[0].offered_gbps, r.per_port[1].offered_gbps];
        assert!((offered[0] / offered[1] - 3.0).abs() < 0.01, "{offered:?}");
    }
}

#[test]
fn the_advice_for_unequal_ports_is_within_3_percent_of_the_best_setting() {
    let ready = unequal("--rate 55");
    assert_eq!(ready.ports.cores, [3, 1]);
    let guideline = Guideline::new(&ready.server, &ready.ports.cores);
    // One ring of the second port takes a burst alone; all four count for DDIO.
    assert_eq!((guideline.per_port, guideline.cores), (1, 4));
    assert_eq!(guideline.sizes, Sizes { ax: 1024, bx: 1024 });
    let (advice, mut known) =
        refine(guideline.sizes, guideline.device, |sizes| measure(&ready, sizes)).unwrap();
    let all = [64, 1024].map(|ax| [256, 1024, 4096].map(|bx| Sizes { ax, bx })).concat();
    let new: Vec<Sizes> = all.into_iter().filter(|s| !known.contains_key(s)).collect();
    known.extend(new.iter().copied().zip(measure(&ready, &new).unwrap()));
    let top = best(known.values());
    let share = |s: Sizes| known[&s].share(top);
    let any = known.keys().map(|s| share(*s)).fold(0.0, f64::max);
    let bar = if any >= 1.0 - BAR { 1.0 - BAR } else { any - BAR };
    assert!(share(advice) >= bar, "{advice:?}: {} of {any}, {known:?}", share(advice));
}
