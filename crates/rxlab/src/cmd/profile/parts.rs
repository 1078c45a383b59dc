//! `rxlab profile parts`: processors and cards that combine.

use model::profile::parts::{Card, Processor, SYNTAX};

use crate::fail::Fail;
use crate::show::out;
use crate::show::table::{Table, num, number, words};

/// All parts, as tables.
///
/// # Errors
/// As `print`.
pub(super) fn run() -> Result<(), Fail> {
    let mut processors = Table::new(&[
        words("processor"),
        words("what"),
        words("memory"),
        number("PCIe", "GT/s"),
        words("cards write to"),
        words("models"),
    ]);
    for p in Processor::all().map_err(Fail::new)? {
        let models: Vec<_> = p.models.list.iter().map(|m| m.name.as_str()).collect();
        let ways = p.caches.ddio_ways.value;
        processors.rows.push(vec![
            p.name,
            p.title,
            format!("{}x {}-{}", p.channels.value, p.memory, p.mts.value),
            num(p.pcie_gts.value),
            if ways > 0.0 { format!("{ways} ways of the LLC") } else { "DRAM".into() },
            models.join(" "),
        ]);
    }
    let mut cards =
        Table::new(&[words("card"), words("what"), number("a port", "Gbps"), words("rings"), words("slot")]);
    for c in Card::all().map_err(Fail::new)? {
        let slot =
            c.pcie_gts.zip(c.pcie_lanes).map(|(gts, lanes)| format!("{} GT/s x{}", gts.value, lanes.value));
        let rings = format!("{} to {}", c.min_ring.value, c.max_ring.value);
        cards.rows.push(vec![c.name, c.title, num(c.port_gbps.value), rings, slot.unwrap_or_default()]);
    }
    let colour = out::colour();
    out::print(&format!("--server {SYNTAX}\n\n{}\n{}", processors.text(colour), cards.text(colour)))
}
