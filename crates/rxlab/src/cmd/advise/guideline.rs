//! Ring sizes before any run: the guidelines of rxbisect §4.5, each condition with its numbers.

use model::profile::Server;
use rings::rxbisect;

/// Entries that take a port's bursts at 100 Gbps; other rates in proportion (§4.5).
const BURST_AT_100_GBPS: f64 = 1024.0;
/// Bytes of a frame for which buffers are counted (§4.5), and of a cache line.
const FRAME: u64 = 1500;
const LINE: u64 = 64;

/// Ax and Bx entries of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sizes {
    /// Allocation ring.
    pub ax: u32,
    /// Bisected reception ring.
    pub bx: u32,
}

/// What the guidelines say of a server whose cores are divided over its ports.
#[derive(Clone, Debug)]
pub(crate) struct Guideline {
    /// The advice.
    pub sizes: Sizes,
    /// Frames of a port's burst.
    pub burst: u32,
    /// Cores of all ports, and of one: an Ax ring each.
    pub cores: u32,
    /// The same of the port with the fewest.
    pub per_port: u32,
    /// The same of each.
    pub ports: Vec<u32>,
    /// Smallest and largest ring of the device.
    pub device: (u32, u32),
    /// Bytes that DDIO may fill.
    pub ddio: u64,
    /// The largest power of two with which all posted buffers fit DDIO; 0 for none.
    most_ax: u32,
    /// The smallest with which the Ax rings of a port take a burst.
    least_ax: u32,
}

impl Guideline {
    /// Sizes for a server with so many cores for each of its ports.
    pub(crate) fn new(server: &Server, ports: &[u32]) -> Guideline {
        let device = device(server);
        let fit = |n: u32| n.clamp(device.0, device.1);
        let cores = ports.iter().sum::<u32>();
        let per_port = ports.iter().copied().min().unwrap_or(0).max(1);
        let burst = (BURST_AT_100_GBPS * server.nic.port_gbps / 100.0).ceil() as u32;
        let ddio = server.ddio_bytes();
        let entries = ddio / (u64::from(cores.max(1)) * buffer_bytes());
        let most_ax = if entries == 0 { 0 } else { 1 << entries.ilog2().min(31) };
        let bx = fit(burst.max(1).next_power_of_two());
        // Of all sizes that meet both conditions the smallest: fewer buffers circulate. Where none does, a
        // burst counts for more: without buffers frames drop at any load, beyond DDIO they cost DRAM traffic.
        let least_ax = rxbisect::Sizes::least_ax(burst, per_port);
        Guideline {
            sizes: Sizes { ax: fit(least_ax), bx },
            burst,
            cores,
            per_port,
            ports: ports.to_vec(),
            device,
            ddio,
            most_ax,
            least_ax,
        }
    }

    /// Share of the DDIO capacity that posted buffers of `ax` entries leave free, percent; negative beyond it.
    pub(crate) fn margin_pct(&self, ax: u32) -> f64 {
        (1.0 - self.posted_bytes(ax) as f64 / self.ddio as f64) * 100.0
    }

    fn posted_bytes(&self, ax: u32) -> u64 {
        u64::from(self.cores) * u64::from(ax) * buffer_bytes()
    }

    /// Every condition with its numbers, for rings of `sizes`.
    pub(crate) fn reasons(&self, sizes: Sizes) -> Vec<String> {
        let Sizes { ax, bx } = sizes;
        let holds = |yes: bool| if yes { "holds" } else { "does not hold" };
        let mib = |bytes: u64| bytes as f64 / (1024.0 * 1024.0);
        let posted = self.per_port * ax;
        let mut lines = vec![
            format!(
                "|Bx| takes a burst of {} frames (1024 at 100 Gbps): {bx} >= {} {}",
                self.burst,
                self.burst,
                holds(bx >= self.burst)
            ),
            format!(
                "(1) all posted buffers fit DDIO: {} rings x {ax} x {} B = {:.2} MiB <= {:.2} MiB {}",
                self.cores,
                buffer_bytes(),
                mib(self.posted_bytes(ax)),
                mib(self.ddio),
                holds(self.posted_bytes(ax) <= self.ddio)
            ),
            format!(
                "(2) the Ax rings of {} take a burst without a refill: {} x {ax} = {posted} >= {} {}",
                if self.alike() { "a port" } else { "the port with the fewest" },
                self.per_port,
                self.burst,
                holds(posted >= self.burst)
            ),
            format!(
                "the device takes {} to {} entries; association all-to-all among the {}",
                self.device.0,
                self.device.1,
                if self.alike() {
                    format!("{} cores of a port", self.per_port)
                } else {
                    format!("cores of each port, {}", self.each_port())
                }
            ),
        ];
        lines.extend(self.conflict());
        lines
    }

    /// Whether all ports have as many cores.
    fn alike(&self) -> bool {
        self.ports.iter().all(|cores| *cores == self.per_port)
    }

    /// Cores of each port: `8`, or `12:4`.
    pub(crate) fn each_port(&self) -> String {
        if self.alike() {
            return self.per_port.to_string();
        }
        self.ports.iter().map(u32::to_string).collect::<Vec<_>>().join(":")
    }

    /// What the guideline gives up where its conditions contradict each other.
    fn conflict(&self) -> Option<String> {
        let asked = self.least_ax.max(self.device.0);
        if asked > self.device.1 {
            return Some(format!(
                "(2) asks for |Ax| >= {asked}, more than the device takes: the guideline gives up (2)"
            ));
        }
        (asked > self.most_ax).then(|| {
            format!(
                "(1) allows |Ax| <= {}, {} asks for {asked}: the guideline gives up (1), as frames without a buffer drop and those beyond DDIO only cost DRAM traffic",
                self.most_ax,
                if self.least_ax >= self.device.0 { "(2)" } else { "the device" },
            )
        })
    }
}

/// Smallest and largest power of two that the device takes.
fn device(server: &Server) -> (u32, u32) {
    let least = server.nic.min_ring.max(2).next_power_of_two();
    (least, (1 << server.nic.max_ring.max(1).ilog2()).max(least))
}

/// Bytes of the lines that a frame fills.
fn buffer_bytes() -> u64 {
    FRAME.div_ceil(LINE) * LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn testbed(change: impl FnOnce(&mut Server)) -> Server {
        let mut server = Server::by_name("rxbisect-testbed").unwrap();
        change(&mut server);
        server
    }

    #[test]
    fn the_papers_server_gets_the_papers_sizes() {
        let g = Guideline::new(&testbed(|_| ()), &[8, 8]);
        assert_eq!(g.sizes, Sizes { ax: 128, bx: 1024 });
        // 16 x 128 x 1536 B are 3 of the 4 MiB of 2 ways.
        assert_eq!(g.margin_pct(128), 25.0);
        assert_eq!(g.conflict(), None);
        assert!(g.reasons(g.sizes).iter().all(|r| !r.contains("not hold")), "{:?}", g.reasons(g.sizes));
    }

    #[test]
    fn condition_one_counts_all_ports_and_condition_two_one() {
        let one = Guideline::new(&testbed(|_| ()), &[8]);
        let two = Guideline::new(&testbed(|_| ()), &[4, 4]);
        assert_eq!((one.sizes.ax, two.sizes.ax), (128, 256));
        assert_eq!(one.margin_pct(128), two.margin_pct(128));
    }

    #[test]
    fn ports_of_unequal_cores_count_together_and_the_smallest_alone() {
        let g = Guideline::new(&testbed(|_| ()), &[12, 4]);
        // (2): 4 x 256 take 1024 frames. (1): 16 x 256 x 1536 B are 6 of 4 MiB.
        assert_eq!((g.cores, g.per_port, g.sizes), (16, 4, Sizes { ax: 256, bx: 1024 }));
        assert_eq!(g.margin_pct(256), -50.0);
        let reasons = g.reasons(g.sizes).join("\n");
        for part in [
            "16 rings x 256",
            "of the port with the fewest",
            "4 x 256 = 1024 >= 1024 holds",
            "cores of each port, 12:4",
        ] {
            assert!(reasons.contains(part), "{part}: {reasons}");
        }
        let even = Guideline::new(&testbed(|_| ()), &[8, 8]);
        assert!(!even.reasons(even.sizes).join("").contains("fewest"));
    }

    #[test]
    fn a_burst_grows_with_the_rate_of_the_port() {
        for (gbps, bx) in [(25.0, 256), (40.0, 512), (100.0, 1024), (200.0, 2048), (400.0, 4096)] {
            let g = Guideline::new(&testbed(|s| s.nic.port_gbps = gbps), &[8, 8]);
            assert_eq!(g.sizes.bx, bx, "{gbps}");
        }
    }

    #[test]
    fn a_conflict_is_told_with_what_is_given_up() {
        let small = Guideline::new(&testbed(|s| s.caches.slices = 2), &[8, 8]);
        assert_eq!(small.sizes, Sizes { ax: 128, bx: 1024 });
        let text = small.conflict().unwrap();
        assert!(text.contains("|Ax| <= 16, (2) asks for 128: the guideline gives up (1)"), "{text}");
        assert!(small.margin_pct(128) < 0.0);
        let narrow = Guideline::new(&testbed(|s| s.nic.max_ring = 64), &[8, 8]);
        assert_eq!(narrow.sizes, Sizes { ax: 64, bx: 64 });
        assert!(narrow.conflict().unwrap().contains("gives up (2)"));
        let crowd = |s: &mut Server| (s.caches.slices, s.nic.port_gbps) = (2, 10.0);
        let device = Guideline::new(&testbed(crowd), &[8, 8]);
        assert_eq!(device.sizes.ax, 64);
        assert!(device.conflict().unwrap().contains("the device asks for 64"));
    }
}
