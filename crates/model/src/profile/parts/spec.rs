//! A server of parts from words: `icelake-6346,nic=cx6dx:2,dram=8x3200`.

use std::str::FromStr;

use super::{Card, Parts, Processor, ProfileError, SYNTAX};

/// The card where none is named.
const CARD: &str = "cx5";
/// Where a number of the words is from.
const STATED: &str = "stated: as asked for";

/// Reads one of [`SYNTAX`].
pub(super) fn read(text: &str) -> Result<Parts, ProfileError> {
    let mut words = text.split(',');
    let (processor, model) = Processor::by_name(words.next().unwrap_or_default())?;
    let mut parts = Parts::new(processor, model, Card::by_name(CARD)?)?;
    for word in words {
        let known = word.split_once('=').ok_or_else(|| unknown(word))?;
        match known {
            ("nic", card) => nic(&mut parts, card)?,
            ("dram", memory) => dram(&mut parts, memory)?,
            ("ddio", ways) => {
                let ways: u32 = number(word, ways)?;
                let most = parts.processor.caches.ddio_ways.clone();
                if ways > 0 && most.value == 0.0 && most.range == Some([0.0, 0.0]) {
                    let title = &parts.processor.title;
                    return Err(ProfileError(format!("`{word}`: {title} injects nothing; allowed: ddio=0")));
                }
                parts.set("caches.ddio_ways", ways.into(), STATED);
            }
            ("cores", cores) => parts.set("cores", f64::from(number::<u32>(word, cores)?), STATED),
            _ => return Err(unknown(word)),
        }
    }
    Ok(parts)
}

fn unknown(word: &str) -> ProfileError {
    ProfileError(format!("`{word}` is no part; allowed: {SYNTAX}"))
}

fn number<T: FromStr>(word: &str, value: &str) -> Result<T, ProfileError> {
    value.parse().map_err(|_| ProfileError(format!("`{word}`: `{value}` is no number; allowed: {SYNTAX}")))
}

/// `CARD[:PORTS][@GBPS]`.
fn nic(parts: &mut Parts, text: &str) -> Result<(), ProfileError> {
    let (card, gbps) = text.split_once('@').map_or((text, None), |(card, gbps)| (card, Some(gbps)));
    let (name, ports) = card.split_once(':').unwrap_or((card, "1"));
    parts.card = Card::by_name(name)?;
    parts.ports = number(text, ports)?;
    if let Some(gbps) = gbps {
        let (asked, most): (f64, _) = (number(text, gbps)?, parts.card.port_gbps.value);
        if !(asked > 0.0 && asked <= most) {
            return Err(ProfileError(format!("`{text}`: {gbps} Gbps; allowed: up to {most}")));
        }
        parts.set("nic.port_gbps", asked, STATED);
    }
    Ok(())
}

/// `CHANNELSxMTS`.
fn dram(parts: &mut Parts, text: &str) -> Result<(), ProfileError> {
    let (channels, mts) = text.split_once('x').ok_or_else(|| unknown(text))?;
    let (channels, mts): (u32, f64) = (number(text, channels)?, number(text, mts)?);
    let (most, [low, high]) = (parts.processor.channels.value, parts.memory.mts);
    let name = &parts.memory.name;
    if channels == 0 || f64::from(channels) > most || !(low..=high).contains(&mts) {
        return Err(ProfileError(format!(
            "`dram={text}`: allowed: 1 to {most} channels of {name}, {low} to {high} MT/s"
        )));
    }
    let gbytes = f64::from(channels) * mts * 8.0 / 1000.0;
    parts.set("dram_peak_gbytes", gbytes, format!("{STATED} ({channels} channels, {mts} MT/s)"));
    Ok(())
}
