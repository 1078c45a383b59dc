//! What each port gets: its part of the traffic, and its cores.

use packet::SteerBy;
use traffic::{Line, Rate, Source, Workload};

use crate::fail::Fail;

/// The largest number of a load: it says how the traffic is divided, not how much it is.
const LOADS: u32 = 1000;

/// How traffic and cores are divided over the ports in use, which are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ports {
    /// Parts of the traffic, without a common divisor.
    pub loads: Vec<u16>,
    /// Cores.
    pub cores: Vec<u32>,
    /// Whether the user has said anything of it: only then are ports told apart in results.
    pub stated: bool,
}

/// What `--port-cores` says.
enum Cores {
    Equal,
    Each(Vec<u32>),
}

impl Ports {
    /// From options: `cores` and `ports` in use, as far as they are stated, each with what there is.
    ///
    /// # Errors
    /// The first option that is not allowed, and what is.
    pub(crate) fn new(
        (cores, most_cores): (Option<u32>, u32),
        (ports, most_ports): (Option<u32>, u32),
        (load, division): (Option<&str>, Option<&str>),
        server: &str,
    ) -> Result<Ports, Fail> {
        let loads = load.map(|text| numbers("--port-load", text, LOADS)).transpose()?;
        let division = match division {
            Some("equal") => Some(Cores::Equal),
            Some(text) => Some(Cores::Each(numbers("--port-cores", text, most_cores)?)),
            None => None,
        };
        let stated = loads.is_some() || division.is_some();
        let of_each = match &division {
            Some(Cores::Each(each)) => Some(each.iter().sum()),
            _ => None,
        };
        let cores = cores.or(of_each).unwrap_or(most_cores);
        within("--cores", cores, most_cores, &format!("cores of {server}"))?;
        let entries = match (&loads, &division) {
            (Some(loads), _) => Some(loads.len() as u32),
            (_, Some(Cores::Each(each))) => Some(each.len() as u32),
            _ => None,
        };
        let most_ports = most_ports.min(cores);
        let ports = ports.or(entries).unwrap_or(most_ports);
        within("--ports", ports, most_ports, &format!("ports of {server}"))?;
        let loads = reduced(loads.unwrap_or_else(|| vec![1; ports as usize]));
        one_each("--port-load", load, loads.len(), ports)?;
        let equal = loads.iter().all(|load| *load == 1);
        let cores = match division {
            Some(Cores::Each(each)) => {
                let text = division_text(&each);
                one_each("--port-cores", Some(&text), each.len(), ports)?;
                if each.iter().sum::<u32>() != cores {
                    return Err(Fail::new(format!(
                        "--port-cores {text}: allowed: numbers that add up to the {cores} cores in use"
                    )));
                }
                each
            }
            None if !equal => divide(cores, &loads),
            _ if !cores.is_multiple_of(ports) => {
                return Err(Fail::new(format!(
                    "--cores {cores}: allowed: a multiple of the {ports} ports in use, or with --port-cores N:M"
                )));
            }
            _ => vec![cores / ports; ports as usize],
        };
        Ok(Ports { loads, cores, stated })
    }

    /// Ports in use.
    pub(crate) fn count(&self) -> u32 {
        self.cores.len() as u32
    }

    /// Cores of all ports.
    pub(crate) fn all_cores(&self) -> u32 {
        self.cores.iter().sum()
    }

    /// Whether every port gets as much traffic as the others.
    pub(crate) fn even_load(&self) -> bool {
        self.loads.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// The cores of all ports, where they have as many.
    pub(crate) fn even_cores(&self) -> Option<u32> {
        let first = self.cores.first().copied()?;
        self.cores.iter().all(|cores| *cores == first).then_some(first)
    }

    /// Most cores of a port.
    pub(crate) fn most_cores(&self) -> u32 {
        self.cores.iter().copied().max().unwrap_or(0)
    }

    /// Fewest cores of a port.
    pub(crate) fn fewest_cores(&self) -> u32 {
        self.cores.iter().copied().min().unwrap_or(0)
    }

    /// What all ports together can carry with their load divided so, the busiest at its line rate of `gbps`.
    pub(crate) fn most_gbps(&self, gbps: f64) -> f64 {
        gbps * (self.all_loads() / f64::from(self.loads.iter().copied().max().unwrap_or(1)))
    }

    /// The least that a port of line rate `gbps` is offered of `all` Gbps.
    pub(crate) fn least_gbps(&self, gbps: f64, all: f64) -> f64 {
        let least = f64::from(self.loads.iter().copied().min().unwrap_or(1));
        gbps.min(all * least / self.all_loads())
    }

    fn all_loads(&self) -> f64 {
        self.loads.iter().map(|load| f64::from(*load)).sum()
    }

    /// Of `flows`, how many are dealt to `port`.
    pub(crate) fn share(&self, port: u32, flows: u64) -> u64 {
        self.line(port, Line::GBPS).share(flows)
    }

    fn line(&self, port: u32, gbps: f64) -> Line<'_> {
        Line { port, loads: &self.loads, gbps }
    }

    /// The frames of `port`, whose line rate is `gbps`. Where ports steer and the workload does not say otherwise,
    /// each core of the port is a partition.
    pub(crate) fn source(
        &self,
        (port, gbps): (u32, f64),
        workload: &Workload,
        steer: SteerBy,
        rate: Rate,
        seed: u64,
    ) -> Box<dyn Source> {
        let line = self.line(port, gbps);
        match workload {
            Workload::Generated(spec) if spec.partitions == 0 && steer == SteerBy::Port => {
                let mut spec = spec.clone();
                spec.partitions = self.cores.get(port as usize).copied().unwrap_or(1);
                Workload::Generated(spec).source_on(line, rate, seed)
            }
            _ => workload.source_on(line, rate, seed),
        }
    }

    /// `3:1`.
    pub(crate) fn load_text(&self) -> String {
        division_text(&self.loads)
    }

    /// `12:4`.
    pub(crate) fn cores_text(&self) -> String {
        division_text(&self.cores)
    }

    /// Both, where the user has said anything of it.
    pub(crate) fn told(&self) -> Option<String> {
        let (loads, cores) = (self.load_text(), self.cores_text());
        self.stated.then(|| format!("{loads} over {} ports with {cores} cores", self.count()))
    }

    /// How cores are divided, and why.
    pub(crate) fn why(&self) -> String {
        let (loads, cores) = (self.load_text(), self.cores_text());
        let wanted = divide(self.all_cores(), &self.loads);
        if wanted == self.cores {
            return format!(
                "cores are divided among the ports in proportion to the traffic: {loads} of it, {cores} cores"
            );
        }
        format!(
            "cores are divided among the ports as stated, {cores}; in proportion to the traffic ({loads}) they would be {}",
            division_text(&wanted)
        )
    }
}

/// `cores` divided in proportion to `loads`, at least one for each: who deserves less gets that one, the others
/// divide the rest by largest remainders, of which the first counts among equals.
fn divide(cores: u32, loads: &[u16]) -> Vec<u32> {
    let load = |p: usize| u64::from(loads[p]);
    let mut given = vec![1; loads.len()];
    // Ports that deserve a core or more, and what is left for them.
    let mut open: Vec<usize> = (0..loads.len()).collect();
    let mut rest = u64::from(cores);
    let all = loop {
        let all: u64 = open.iter().map(|&p| load(p)).sum();
        let Some(small) = open.iter().position(|&p| load(p) * rest < all) else { break all.max(1) };
        open.remove(small);
        rest = rest.saturating_sub(1);
    };
    let whole = |p: usize| load(p) * rest / all;
    let over = rest - open.iter().map(|&p| whole(p)).sum::<u64>();
    open.sort_by_key(|&p| (std::cmp::Reverse(load(p) * rest % all), p));
    for (turn, p) in (0..).zip(open) {
        given[p] = whole(p) as u32 + u32::from(turn < over);
    }
    given
}

/// Loads that say the same without a common divisor: 2:2 is 1:1.
fn reduced(loads: Vec<u16>) -> Vec<u16> {
    let divisor = loads.iter().fold(0, |a, b| gcd(a, *b)).max(1);
    loads.into_iter().map(|load| load / divisor).collect()
}

fn gcd(a: u16, b: u16) -> u16 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// `12:4`, each from 1 to `most`.
fn numbers<N: TryFrom<u32>>(flag: &str, text: &str, most: u32) -> Result<Vec<N>, Fail> {
    let number = |word: &str| {
        let n = word.parse::<u32>().ok().filter(|n| (1..=most).contains(n))?;
        N::try_from(n).ok()
    };
    let equal = if flag == "--port-cores" { "equal, or " } else { "" };
    text.split(':').map(number).collect::<Option<Vec<N>>>().ok_or_else(|| {
        Fail::new(format!(
            "{flag} {text}: allowed: {equal}a whole number from 1 to {most} for each port, such as 3:1"
        ))
    })
}

fn one_each(flag: &str, text: Option<&str>, found: usize, ports: u32) -> Result<(), Fail> {
    if found == ports as usize {
        return Ok(());
    }
    let text = text.unwrap_or_default();
    Err(Fail::new(format!("{flag} {text}: allowed: {ports} numbers, one for each port in use")))
}

fn within(flag: &str, value: u32, most: u32, what: &str) -> Result<(), Fail> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    Err(Fail::new(format!("{flag} {value}: allowed: 1 to {most} {what}")))
}

fn division_text<N: ToString>(parts: &[N]) -> String {
    parts.iter().map(N::to_string).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cores: Option<u32>, ports: Option<u32>, load: &str, division: &str) -> Result<Ports, String> {
        let given = |text| if str::is_empty(text) { None } else { Some(text) };
        Ports::new((cores, 16), (ports, 4), (given(load), given(division)), "it").map_err(|e| e.to_string())
    }

    #[test]
    fn cores_follow_the_load() {
        for (cores, loads, expected) in [
            (16, vec![3, 1], vec![12, 4]),
            (16, vec![1, 3], vec![4, 12]),
            (16, vec![1, 1], vec![8, 8]),
            (3, vec![1, 1], vec![2, 1]),      // remainders are equal: the first
            (16, vec![2, 1], vec![11, 5]),    // 10.67 and 5.33
            (16, vec![1000, 1], vec![15, 1]), // at least one
            (4, vec![1000, 1, 1, 1], vec![1, 1, 1, 1]),
            (10, vec![1, 1, 1], vec![4, 3, 3]),
            (10, vec![6, 6, 1], vec![5, 4, 1]), // of the nine beside the one that the last gets
            (5, vec![7], vec![5]),
        ] {
            assert_eq!(divide(cores, &loads), expected, "{cores} cores, {loads:?}");
        }
    }

    /// Every number of cores over three ports with all kinds of loads.
    #[test]
    fn a_division_is_whole_fair_and_the_same_for_the_same() {
        for cores in 3..=32 {
            for n in 0..1000u16 {
                let loads = [1 + n % 10, 1 + n / 10 % 10 * 7, 1 + n / 100 * n % 97];
                let given = divide(cores, &loads);
                assert_eq!(given.iter().sum::<u32>(), cores, "{loads:?}");
                assert!(given.iter().all(|n| *n >= 1), "{loads:?}: {given:?}");
                let all = loads.iter().map(|l| f64::from(*l)).sum::<f64>();
                let small = loads.iter().any(|l| f64::from(*l) * f64::from(cores) < all);
                for (a, load) in loads.iter().enumerate() {
                    let quota = f64::from(*load) * f64::from(cores) / all;
                    assert!(small || (f64::from(given[a]) - quota).abs() < 1.0, "{loads:?}: {given:?}");
                    for (b, other) in loads.iter().enumerate() {
                        assert!(load <= other || given[a] >= given[b], "{loads:?}: {given:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_stated_counts() {
        let ports = |load, division| read(Some(16), Some(2), load, division).unwrap();
        assert_eq!(ports("", "").cores, [8, 8]);
        assert!(!ports("", "").stated);
        assert_eq!((ports("6:2", "").loads, ports("6:2", "").cores), (vec![3, 1], vec![12, 4]));
        assert_eq!(ports("3:1", "equal").cores, [8, 8]);
        assert_eq!(ports("3:1", "10:6").cores, [10, 6]);
        assert_eq!((ports("", "10:6").loads, ports("", "10:6").cores), (vec![1, 1], vec![10, 6]));
        // The numbers say how many ports and cores there are, where nothing else does.
        let alone = read(None, None, "", "3:2:1").unwrap();
        assert_eq!((alone.count(), alone.all_cores()), (3, 6));
        assert_eq!(read(None, None, "1:2:1", "").unwrap().cores, [4, 8, 4]);
        assert_eq!(read(None, None, "", "").unwrap().count(), 4);
    }

    #[test]
    fn what_is_not_allowed_is_named() {
        for (cores, ports, load, division, part) in [
            (None, None, "3:0", "", "--port-load 3:0: allowed: a whole number from 1 to 1000"),
            (None, None, "3:1001", "", "from 1 to 1000"),
            (None, None, "0.7:0.3", "", "such as 3:1"),
            (None, None, "3:", "", "--port-load 3:: allowed"),
            (None, None, "3:-1", "", "--port-load 3:-1"),
            (None, Some(3), "3:1", "", "--port-load 3:1: allowed: 3 numbers"),
            (None, None, "1:1:1:1:1", "", "--ports 5: allowed: 1 to 4"),
            (Some(1), None, "3:1", "", "--ports 2: allowed: 1 to 1"),
            (Some(16), Some(2), "", "12:3", "add up to the 16 cores"),
            (None, None, "", "12:5", "--cores 17: allowed: 1 to 16"),
            (None, None, "", "17:1", "equal, or a whole number from 1 to 16"),
            (None, None, "3:1", "8:4:4", "--port-cores 8:4:4: allowed: 2 numbers"),
            (None, None, "", "most", "--port-cores most: allowed: equal"),
            (Some(3), Some(2), "", "", "multiple of the 2 ports in use"),
            (Some(3), Some(2), "2:1", "equal", "multiple of the 2 ports in use"),
        ] {
            let error = read(cores, ports, load, division).unwrap_err();
            assert!(error.contains(part) && !error.contains('\n'), "{part}: {error}");
        }
        for text in ["", ":", "::", "9999999999:1", "\u{663}:1", "equal:equal"] {
            assert!(read(None, None, text, "").is_err() || text.is_empty(), "{text}");
            assert!(read(None, None, "", text).is_err() || text.is_empty(), "{text}");
        }
    }

    #[test]
    fn the_busiest_port_is_the_limit() {
        let ports = read(Some(16), Some(2), "3:1", "").unwrap();
        assert_eq!(ports.most_gbps(75.0), 100.0);
        assert_eq!(ports.least_gbps(75.0, 100.0), 25.0);
        assert!(ports.why().contains("3:1 of it, 12:4 cores"), "{}", ports.why());
        let equal = read(Some(16), Some(2), "3:1", "equal").unwrap();
        assert!(equal.why().contains("8:8; in proportion"), "{}", equal.why());
        assert_eq!(read(Some(16), Some(2), "", "").unwrap().most_gbps(100.0), 200.0);
    }
}
