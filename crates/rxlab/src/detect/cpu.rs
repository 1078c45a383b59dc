//! Processors: what they are called, how many sockets, cores and threads there are.

use std::collections::BTreeSet;

use serde::Serialize;

use super::files::{Files, cpus, cpus_of_mask};

/// What was found of the processors.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Processor {
    /// `GenuineIntel`, `AuthenticAMD`, or the implementer of an Arm.
    pub vendor: String,
    pub family: u32,
    pub model: u32,
    pub stepping: u32,
    /// As it calls itself.
    pub name: String,
    /// Sockets with a CPU that is online.
    pub sockets: u32,
    /// Cores of the socket that is described.
    pub cores: u32,
    /// Threads of a core.
    pub threads: u32,
    /// A machine that another one hosts.
    pub guest: bool,
    /// Clock, GHz, where something tells it.
    pub ghz: Option<f64>,
    /// Where the names are from, the counts, and the clock.
    #[serde(skip)]
    pub from: [String; 3],
    /// The first CPU of the socket.
    #[serde(skip)]
    pub first: u32,
    /// The CPUs of the socket that are online.
    #[serde(skip)]
    pub cpus: Vec<u32>,
}

const CPUINFO: &str = "/proc/cpuinfo";
const CPUS: &str = "/sys/devices/system/cpu";

/// The value of the first of some keys that `/proc/cpuinfo` has, in its first entry with it.
fn entry<'t>(text: &'t str, keys: &[&str]) -> Option<&'t str> {
    let of = |wanted: &&str| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == *wanted).then(|| value.trim())
        })
    };
    keys.iter().find_map(of)
}

/// Reads `/proc/cpuinfo` and the topology in sysfs: of the socket that CPU `beside` is on, or the first.
pub(crate) fn read(files: &Files, beside: Option<u32>) -> Option<Processor> {
    let info = files.text(CPUINFO)?;
    let mut p = Processor::default();
    let number = |keys: &[&str]| entry(&info, keys).and_then(super::files::number).unwrap_or_default() as u32;
    if let Some(implementer) = entry(&info, &["CPU implementer"]) {
        p.vendor = implementer.to_owned();
        (p.family, p.model) = (number(&["CPU architecture"]), number(&["CPU part"]));
        p.stepping = number(&["CPU revision"]);
    } else {
        p.vendor = entry(&info, &["vendor_id", "vendor", "cpu"]).unwrap_or_default().to_owned();
        (p.family, p.model) = (number(&["cpu family", "family"]), number(&["model"]));
        p.stepping = number(&["stepping"]);
    }
    let name = entry(&info, &["model name", "cpu", "Processor", "machine", "model"])
        .unwrap_or("a processor without a name");
    p.name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    p.guest = entry(&info, &["flags"]).is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    p.from[0] = CPUINFO.into();
    topology(files, &info, beside, &mut p);
    (p.ghz, p.from[2]) = clock(files, &info, &p).unzip_or_default();
    Some(p)
}

trait UnzipOr {
    fn unzip_or_default(self) -> (Option<f64>, String);
}

impl UnzipOr for Option<(f64, String)> {
    fn unzip_or_default(self) -> (Option<f64>, String) {
        self.map_or((None, String::new()), |(ghz, from)| (Some(ghz), from))
    }
}

/// CPUs that take part, by their numbers.
fn online(files: &Files, info: &str) -> Vec<u32> {
    let listed = files.text(&format!("{CPUS}/online")).and_then(|list| cpus(&list));
    let number = |name: &String| name.strip_prefix("cpu")?.parse().ok();
    let with_topology = || {
        let all = files.names(CPUS).iter().filter_map(number).collect::<Vec<u32>>();
        all.into_iter()
            .filter(|n| !files.names(&format!("{CPUS}/cpu{n}/topology")).is_empty())
            .collect::<Vec<_>>()
    };
    let told = || {
        let of = |line: &str| {
            line.split_once(':').filter(|(key, _)| key.trim() == "processor")?.1.trim().parse().ok()
        };
        info.lines().filter_map(of).collect::<Vec<u32>>()
    };
    let mut all = listed.unwrap_or_default();
    if all.is_empty() {
        all = with_topology();
    }
    if all.is_empty() {
        all = told();
    }
    all
}

fn topology(files: &Files, info: &str, beside: Option<u32>, p: &mut Processor) {
    let all = online(files, info);
    let of = |cpu: u32, key: &str| files.text(&format!("{CPUS}/cpu{cpu}/topology/{key}"));
    let package = |cpu: u32| of(cpu, "physical_package_id").unwrap_or_default();
    let siblings = |cpu: u32| {
        let list = of(cpu, "thread_siblings_list").and_then(|list| cpus(&list));
        let mask = || of(cpu, "thread_siblings").and_then(|mask| cpus_of_mask(&mask));
        list.or_else(mask).unwrap_or_else(|| vec![cpu])
    };
    let first = beside.filter(|cpu| all.contains(cpu)).or(all.first().copied()).unwrap_or_default();
    let socket = package(first);
    p.sockets = all.iter().map(|cpu| package(*cpu)).collect::<BTreeSet<_>>().len().max(1) as u32;
    p.cpus = all.iter().copied().filter(|cpu| package(*cpu) == socket).collect();
    p.first = p.cpus.first().copied().unwrap_or_default();
    let cores: BTreeSet<Vec<u32>> = p.cpus.iter().map(|cpu| siblings(*cpu)).collect();
    p.cores = cores.len().max(1) as u32;
    p.threads = cores.iter().map(Vec::len).max().unwrap_or(1) as u32;
    p.from[1] = format!("{CPUS}/cpu*/topology");
}

/// The clock: the base of cpufreq, the name, the rate of the TSC.
fn clock(files: &Files, info: &str, p: &Processor) -> Option<(f64, String)> {
    let base = format!("{CPUS}/cpu{}/cpufreq/base_frequency", p.first);
    if let Some(khz) = files.number(&base) {
        return Some((khz as f64 / 1e6, base));
    }
    if let Some(ghz) = in_name(&p.name) {
        return Some((ghz, format!("the name in {}", p.from[0])));
    }
    // The kernel's delay loop counts the TSC, which runs at the base clock: two BogoMIPS a cycle.
    let bogomips: f64 = entry(info, &["bogomips"])?.parse().ok()?;
    let invariant = entry(info, &["flags"])?.contains("constant_tsc");
    invariant.then(|| {
        ((bogomips / 20.0).round() / 100.0, "half of bogomips in /proc/cpuinfo, the TSC's rate".into())
    })
}

/// `... @ 2.30GHz`.
pub(crate) fn in_name(name: &str) -> Option<f64> {
    let (_, rest) = name.split_once('@')?;
    let ghz: f64 = rest.trim().strip_suffix("GHz")?.trim().parse().ok()?;
    (ghz > 0.0).then_some(ghz)
}
