//! When and by which command something was made.

use time::OffsetDateTime;

/// The date and time; where `SOURCE_DATE_EPOCH` is set, that one, so that a report can be made again byte for byte.
pub(crate) fn now() -> OffsetDateTime {
    let set = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|s| s.trim().parse().ok());
    set.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok()).unwrap_or_else(clock)
}

#[allow(clippy::disallowed_methods, reason = "a report and a measurement have a date")]
fn clock() -> OffsetDateTime {
    std::time::SystemTime::now().into()
}

/// Date, time and version: `2026-01-31 09:05 UTC by rxlab 1.2.3`.
pub(crate) fn made() -> String {
    let now = now();
    let (hour, minute) = (now.hour(), now.minute());
    format!("{} {hour:02}:{minute:02} UTC by rxlab {}", now.date(), env!("CARGO_PKG_VERSION"))
}

/// The command line of this process, as a shell takes it.
pub(crate) fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("rxlab".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word that a shell takes as one.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
