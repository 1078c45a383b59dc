//! The plans that come with the program, and how one is found.

use super::Plan;
use crate::fail::Fail;

/// The plans that come with the program, by id.
macro_rules! plans {
    ($($id:literal),* $(,)?) => {
        &[$(($id, include_str!(concat!("../../../../../experiments/", $id, ".toml")))),*]
    };
}
const BUILT_IN: &[(&str, &str)] = plans![
    "rxbisect/table2",
    "rxbisect/fig2",
    "rxbisect/fig3",
    "rxbisect/fig4",
    "rxbisect/fig9",
    "rxbisect/fig10",
    "rxbisect/fig11",
    "rxbisect/fig12",
    "rxbisect/fig13",
    "rxbisect/fig14",
    "rxbisect/fig15",
    "rxbisect/table3",
    "rxbisect/fig16",
    "rxbisect/fig17",
    "rxbisect/fig18",
    "ddio-bench/descriptors",
    "ddio-bench/cores",
    "ddio-bench/ways",
    "corec/fig3",
    "corec/fig4",
    "corec/fig5",
    "corec/fig6",
    "corec/fig7",
    "corec/fig8",
    "corec/fig9",
    "corec/fig10",
    "corec/table2",
    "corec/table3",
    "corec/table4",
    "corec/table5",
    "nic/fig2a",
    "nic/fig2b",
    "nic/fig2c",
    "nic/fig2d",
    "nic/fig3",
    "nic/fig4a",
    "nic/fig4b",
    "nic/fig4c",
    "nic/fig4d",
    "nic/fig5a",
    "nic/fig5b",
    "nic/fig5c",
    "nic/fig5d",
    "nic/fig6",
    "ccnic/fig2",
    "ccnic/fig3",
    "ccnic/fig7",
    "ccnic/fig8",
    "ccnic/fig9",
    "ccnic/fig11",
    "ccnic/fig12",
    "ccnic/fig13",
    "ccnic/fig14a",
    "ccnic/fig14b",
    "ccnic/fig15",
    "ccnic/fig16",
    "ccnic/fig17",
    "ccnic/fig18",
    "ccnic/fig19",
    "ccnic/fig20",
    "ccnic/fig21",
    "ceio/fig4",
    "ceio/fig9",
    "ceio/fig10a",
    "ceio/fig10b",
    "ceio/fig11",
    "ceio/fig12",
    "ceio/table2",
    "ceio/table3",
    "ceio/table4",
    "ceio/limits",
    "ceio/finding",
];

impl Plan {
    /// A built-in plan by its id, or a file whose name ends with `.toml`.
    pub(crate) fn find(id: &str) -> Result<Plan, Fail> {
        if id.ends_with(".toml") {
            let text = std::fs::read_to_string(id)
                .map_err(|e| Fail::new(format!("{id}: {e}; expected a plan file")))?;
            return Plan::parse(id, &text);
        }
        match BUILT_IN.iter().find(|(name, _)| *name == id) {
            Some((name, text)) => Plan::parse(name, text),
            None => {
                let known: Vec<_> = BUILT_IN.iter().map(|p| p.0).collect();
                Err(Fail::new(format!(
                    "unknown experiment `{id}`; allowed: {}, or a plan file *.toml",
                    known.join(", ")
                )))
            }
        }
    }

    /// The built-in plans of a paper: those whose id begins with `paper/`.
    ///
    /// # Errors
    /// There is no such paper.
    pub(crate) fn of_paper(paper: &str) -> Result<Vec<Plan>, Fail> {
        let mine = |p: &Plan| p.id.split_once('/').is_some_and(|(name, _)| name == paper);
        let plans: Vec<Plan> = Plan::all()?.into_iter().filter(mine).collect();
        if plans.is_empty() {
            let mut papers: Vec<_> =
                BUILT_IN.iter().filter_map(|p| p.0.split_once('/')).map(|p| p.0).collect();
            papers.sort_unstable();
            papers.dedup();
            return Err(Fail::new(format!("unknown paper `{paper}`; allowed: {}", papers.join(", "))));
        }
        Ok(plans)
    }

    /// All built-in plans.
    pub(crate) fn all() -> Result<Vec<Plan>, Fail> {
        BUILT_IN.iter().map(|(name, text)| Plan::parse(name, text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::judge::Rule;
    use crate::paper::plan::Claim;

    /// Cells of one CSV line; quotes may hold commas.
    fn csv(line: &str) -> Vec<String> {
        let (mut cells, mut quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                c => cells.last_mut().unwrap().push(c),
            }
        }
        cells
    }

    #[test]
    fn every_plan_parses_and_is_named_as_it_is_found() {
        for &(name, _) in BUILT_IN {
            assert_eq!(Plan::find(name).unwrap().id, name);
        }
    }

    #[test]
    fn plans_carry_the_published_claims_word_for_word() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/published/claims.csv");
        let Ok(text) = std::fs::read_to_string(path) else {
            use std::io::Write;
            let test = "plans_carry_the_published_claims_word_for_word";
            writeln!(std::io::stderr(), "skipped: {test}: no list of published results at {path}").unwrap();
            return;
        };
        let rows: Vec<Vec<String>> = text.lines().skip(1).map(csv).collect();
        let claims: Vec<Claim> = Plan::all().unwrap().into_iter().flat_map(|p| p.claims).collect();
        for claim in &claims {
            let row = rows
                .iter()
                .find(|r| r[0] == claim.id)
                .unwrap_or_else(|| panic!("{} is not published", claim.id));
            let rule: Rule = serde_json::from_value(row[7].clone().into()).unwrap();
            let tolerance = row[8].parse().unwrap_or(0.0);
            let (given, listed) =
                ((&claim.published, claim.rule, claim.tolerance), (&row[5], rule, tolerance));
            assert_eq!(given, listed, "{}", claim.id);
            assert_eq!(claim.unit, row[6], "{}", claim.id);
        }
        for prefix in ["rxb-", "ddio-desc", "cor-", "x-"] {
            for row in rows.iter().filter(|r| r[0].starts_with(prefix)) {
                assert!(claims.iter().any(|c| c.id == row[0]), "{} is in no plan", row[0]);
            }
        }
    }
}
