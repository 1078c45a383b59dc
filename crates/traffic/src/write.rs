//! A source written as a capture, for demonstrations and for other tools.

use crate::{Arrival, HEAD, Source, TraceError};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes the next `packets` frames of `source` as a classic pcap file with nanosecond stamps, each snapped
/// to 128 B. Returns how many there were. The file appears when it is complete.
///
/// # Errors
/// The file, or its neighbour `*.part`, cannot be written.
pub fn write_pcap(path: impl AsRef<Path>, source: &mut dyn Source, packets: u64) -> Result<u64, TraceError> {
    let path = path.as_ref();
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = write(&part, source, packets).and_then(|n| fs::rename(&part, path).map(|()| n));
    written.map_err(|source| {
        // Removes what is half written. If there is nothing to remove, that is no second error.
        let _ = fs::remove_file(&part);
        TraceError::Write { path: path.into(), source }
    })
}

fn write(path: &Path, source: &mut dyn Source, packets: u64) -> io::Result<u64> {
    let mut file = BufWriter::new(File::create(path)?);
    // Magic (ns), version 2.4, no zone, no accuracy, snap length, Ethernet.
    for word in [0xa1b2_3c4d, 2 | 4 << 16, 0, 0, HEAD as u32, 1] {
        file.write_all(&u32::to_le_bytes(word))?;
    }
    let (mut out, mut written) = (Arrival::EMPTY, 0);
    while written < packets && source.next(&mut out) {
        let ns = out.at / 1000;
        let seconds = u32::try_from(ns / 1_000_000_000).map_err(io::Error::other)?;
        let bytes = out.bytes();
        for word in [seconds, (ns % 1_000_000_000) as u32, bytes.len() as u32, u32::from(out.len)] {
            file.write_all(&word.to_le_bytes())?;
        }
        file.write_all(bytes)?;
        written += 1;
    }
    file.into_inner()?.sync_all()?;
    Ok(written)
}
