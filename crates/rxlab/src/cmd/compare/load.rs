//! The load of a card in software, where none is asked for: it has no line rate of which to offer a part.

use model::profile::NicKind;
use rings::Written;

use crate::fail::Fail;
use crate::lab::setup::Ready;
use crate::show::table::num;
use crate::verdict::probe;

/// What is offered, of what the fastest interface sends when far more comes.
const BELOW_MOST: f64 = 0.9;

/// The setup with a load that one of the interfaces carries, where the card is a core and no `--rate` is given; and a line that
/// says so.
///
/// # Errors
/// A run that the model refuses.
pub(super) fn of_software_card(ready: Ready, all: &[Written]) -> Result<(Ready, Option<String>), Fail> {
    if ready.server.nic.kind != NicKind::Core || !ready.has_no_load() {
        return Ok((ready, None));
    }
    let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
    let looks: Vec<(&Ready, &str)> = texts.iter().map(|text| (&ready, text.as_str())).collect();
    let most = ready.ports.most_gbps(ready.server.nic.port_gbps);
    // What part of the offered frames is sent is the same for bytes of frames and on the wire.
    let shares = probe::all(&looks, "looking for a load")?;
    let sent =
        |look: &probe::Probe| look.report.throughput_gbps / look.report.offered_gbps.max(f64::MIN_POSITIVE);
    let (text, share) = texts
        .iter()
        .zip(shares.iter().map(sent))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .ok_or_else(|| Fail::new("--interfaces: allowed: at least one"))?;
    let rate = num((most * share * BELOW_MOST).clamp(0.01, most));
    let note = format!(
        "a card in software has no line rate: {rate} Gbps are offered, {BELOW_MOST} of what {text} sends when far more comes (--rate for another load)"
    );
    Ok((ready.again(|setup| setup.rate = Some(rate))?, Some(note)))
}
