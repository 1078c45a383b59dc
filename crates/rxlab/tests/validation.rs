//! docs/validation.md says of each claim what the last recorded run found.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

const PAGE: &str = include_str!("../../../docs/validation.md");
const RESULTS: [&str; 4] = [
    include_str!("../../../docs/results/rxbisect.txt"),
    include_str!("../../../docs/results/ddio-bench.txt"),
    include_str!("../../../docs/results/corec.txt"),
    include_str!("../../../docs/results/ccnic.txt"),
];

/// How many claims hold, as the end of a recorded run says it, and all claims: id, holds, published, obtained.
fn recorded(results: &str) -> (&str, Vec<[&str; 4]>) {
    let (before, end) = results.rsplit_once(" published claims hold.").unwrap();
    let claims = end.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        let known = matches!(cells.get(1)?, &"yes" | &"NO" | &"input");
        known.then(|| [cells[0], cells[1], cells[2], cells[3]])
    });
    (before.lines().last().unwrap(), claims.collect())
}

/// The row of `claim` in the tables of claims, which have seven columns: its cells.
fn row(claim: &str) -> Vec<&'static str> {
    let cells = |line: &'static str| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>();
    let mut rows = PAGE.lines().map(cells).filter(|row| row.len() == 7 && row[0] == claim);
    let row = rows.next().unwrap_or_else(|| panic!("no row for {claim}"));
    assert!(rows.next().is_none(), "two rows for {claim}");
    row
}

#[test]
fn each_claim_is_told_as_it_was_recorded() {
    for results in RESULTS {
        let (hold, claims) = recorded(results);
        assert!(claims.len() > 1 && PAGE.contains(&format!("{hold} claims hold")), "{hold}");
        for [id, holds, published, obtained] in claims {
            let row = row(id);
            let holds = if holds == "NO" { "**no**" } else { holds };
            let told = row[2] == published || row[2].starts_with(&format!("{published} "));
            assert!(told, "{id}: {published} is published, not {}", row[2]);
            assert_eq!([row[3], row[5]], [obtained, holds], "{id}");
        }
    }
}

#[test]
fn each_link_to_a_result_leads_somewhere() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let names = PAGE.split("](results/").skip(1).map(|rest| rest.split([')', '#']).next().unwrap());
    let missing: Vec<&str> = names.filter(|name| !docs.join("results").join(name).is_file()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
