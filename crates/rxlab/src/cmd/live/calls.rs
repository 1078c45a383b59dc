//! What the client of a TCP server saw, as a table.

use live::LiveReport;

use crate::show::out;
use crate::show::table::{Table, num, number, words};

/// A table of the runs that served connections; nothing where there are none.
pub(super) fn text(rows: &[(&str, &LiveReport)]) -> String {
    let mut table = Table::new(&[
        words("interface"),
        number("connections", ""),
        number("requests", ""),
        number("rate", "k/s"),
        number("mean", "us"),
        number("median", "us"),
        number("p99", "us"),
        number("longest", "us"),
        number("repeated by", "client"),
        number("repeated by", "server"),
        number("lost", "frames"),
    ]);
    for (label, calls) in rows.iter().filter_map(|(label, r)| Some((label, r.calls.as_ref()?))) {
        table.rows.push(vec![
            (*label).into(),
            calls.flows.to_string(),
            calls.requests.to_string(),
            num(calls.per_second / 1000.0),
            num(calls.mean_us),
            num(calls.p50_us),
            num(calls.p99_us),
            num(calls.max_us),
            calls.client_retransmissions.to_string(),
            calls.server_retransmissions.to_string(),
            (calls.client_lost + calls.server_lost).to_string(),
        ]);
    }
    if table.rows.is_empty() { String::new() } else { format!("\n{}", table.text(out::colour())) }
}
