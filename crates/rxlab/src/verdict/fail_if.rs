//! `--fail-if 'drops>0'`: conditions on results, for scripts. One that is met ends the program with code 1.

use std::fmt;

use crate::fail::Fail;
use crate::lab::jobs::Pair;
use crate::show::table::plain;

/// Short names of the fields that are asked for most.
const ALIASES: [(&str, &str); 4] = [
    ("drops", "drop_pct"),
    ("p99", "latency_p99_us"),
    ("sent", "throughput_gbps"),
    ("no_drop", "no_drop_gbps"),
];

/// How a command ended that ran.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    /// As asked for.
    Done,
    /// A condition of `--fail-if` is met: which one, by what. The program ends with code 1.
    Met(String),
}

/// A comparison of a field with a number.
#[derive(Debug)]
pub(crate) struct Condition {
    text: String,
    /// The interface or series whose rows count; all without it.
    of: Option<String>,
    name: &'static str,
    op: Op,
    limit: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Other,
}

/// Longer ones first: `<=` is no `<` with a number that begins with `=`.
const OPS: [(&str, Op); 6] = [
    ("<=", Op::AtMost),
    (">=", Op::AtLeast),
    ("==", Op::Equal),
    ("!=", Op::Other),
    ("<", Op::Less),
    (">", Op::More),
];

impl Op {
    fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Op::Less => a < b,
            Op::AtMost => a <= b,
            Op::More => a > b,
            Op::AtLeast => a >= b,
            Op::Equal => a == b,
            Op::Other => a != b,
        }
    }
}

/// A row that conditions are held against.
pub(crate) struct Shown {
    /// Names by which a condition may ask for it alone.
    pub of: Vec<String>,
    /// Which one it is, for people.
    pub label: String,
    /// Its fields by name; NaN for what was not found.
    pub fields: Vec<(&'static str, f64)>,
}

impl Shown {
    fn value(&self, name: &str) -> Option<f64> {
        self.fields.iter().find(|f| f.0 == name).map(|f| f.1).filter(|v| !v.is_nan())
    }
}

/// The rows of a comparison, as its table shows them.
pub(crate) fn rows(pairs: &[Pair]) -> Vec<Shown> {
    let shown = pairs.iter().flat_map(Pair::shown);
    shown
        .map(|(row, start)| Shown {
            of: vec![row.interface.clone(), row.label.clone()],
            label: started(&row.label, start),
            fields: row.fields(),
        })
        .collect()
}

/// A row's label: its start is told where there are two.
pub(crate) fn started(label: &str, start: &str) -> String {
    if matches!(start, "empty" | "full") { format!("{label} from {start} rings") } else { label.into() }
}

/// Reads conditions on the fields called `names`, of rows of all or of one of `owners`.
///
/// # Errors
/// The first that is none, and what is allowed.
pub(crate) fn read(
    texts: &[String],
    names: impl IntoIterator<Item = &'static str>,
    owners: &[String],
) -> Result<Vec<Condition>, Fail> {
    let names: Vec<&'static str> = names.into_iter().collect();
    texts.iter().map(|text| Condition::read(text, &names, owners)).collect()
}

/// Holds all conditions against all rows.
///
/// # Errors
/// A condition on a field that no row has: to say that it is not met would be no answer.
pub(crate) fn judge(conditions: &[Condition], rows: &[Shown]) -> Result<Outcome, Fail> {
    let met = conditions.iter().map(|c| c.met(rows)).collect::<Result<Vec<_>, _>>()?;
    let met: Vec<String> = met.into_iter().flatten().collect();
    Ok(if met.is_empty() { Outcome::Done } else { Outcome::Met(met.join("; ")) })
}

impl Outcome {
    /// What both say.
    pub(crate) fn and(self, other: Outcome) -> Outcome {
        match (self, other) {
            (Outcome::Met(a), Outcome::Met(b)) => Outcome::Met(format!("{a}; {b}")),
            (Outcome::Done, one) | (one, Outcome::Done) => one,
        }
    }
}

/// A condition without the owner before its dot, if it is that one's.
fn of_owner<'a>(text: &'a str, owner: &str) -> Option<&'a str> {
    text.trim_start().strip_prefix(owner)?.trim_start().strip_prefix('.')
}

impl Condition {
    fn read(text: &str, names: &[&'static str], owners: &[String]) -> Result<Condition, Fail> {
        let bad = |allowed: &str| Fail::new(format!("--fail-if '{text}': allowed: {allowed}"));
        let form = || bad("NAME OP NUMBER such as 'drops>0', with < <= > >= == or !=");
        // An interface with its parameters has signs of its own.
        let owned =
            owners.iter().filter(|owner| of_owner(text, owner).is_some()).max_by_key(|owner| owner.len());
        let (of, rest) = match owned {
            Some(owner) => (Some(owner.as_str()), of_owner(text, owner).unwrap_or_default()),
            None => (None, text),
        };
        let at = rest.find(['<', '>', '=', '!']).ok_or_else(form)?;
        let (left, right) = rest.split_at(at);
        let (sign, op) = OPS.into_iter().find(|(sign, _)| right.starts_with(sign)).ok_or_else(form)?;
        let number: f64 = right[sign.len()..].trim().parse().map_err(|_| form())?;
        if !number.is_finite() {
            return Err(form());
        }
        let (of, name) = match left.trim().split_once('.') {
            Some((of, name)) => (Some(of.trim()), name.trim()),
            None => (of, left.trim()),
        };
        if let Some(of) = of.filter(|of| owners.iter().all(|owner| owner != of)) {
            return Err(bad(&format!("{} before the dot, not `{of}`", owners.join(", "))));
        }
        let full = ALIASES.iter().find(|(short, _)| *short == name).map_or(name, |(_, full)| full);
        let name = names.iter().find(|known| **known == full).ok_or_else(|| {
            let short = ALIASES.iter().filter(|(_, full)| names.contains(full)).map(|(short, _)| short);
            let all = short.chain(names).copied().collect::<Vec<_>>().join(", ");
            bad(&format!("one of {all}, not `{name}`"))
        })?;
        Ok(Condition { text: text.into(), of: of.map(str::to_string), name, op, limit: number })
    }

    /// The first row that meets it, and how many others do.
    fn met(&self, rows: &[Shown]) -> Result<Option<String>, Fail> {
        let asked = |row: &&Shown| self.of.as_ref().is_none_or(|of| row.of.contains(of));
        let values: Vec<(&Shown, f64)> =
            rows.iter().filter(asked).filter_map(|row| Some((row, row.value(self.name)?))).collect();
        if values.is_empty() {
            return Err(Fail::new(format!(
                "--fail-if {self}: no row has a value of {}; allowed: a field that was found",
                self.name
            )));
        }
        let mut met = values.into_iter().filter(|(_, v)| self.op.holds(*v, self.limit));
        Ok(met.next().map(|(row, v)| {
            let others = match met.count() {
                0 => String::new(),
                n => format!(", and {n} more"),
            };
            format!("{self} is met by {}: {} {}{others}", row.label, self.name, plain(v))
        }))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["drop_pct", "throughput_gbps", "no_drop_gbps"];

    fn shown() -> Vec<Shown> {
        let row = |of: &str, drops, sent, no_drop| Shown {
            of: vec![of.into()],
            label: started(of, "full"),
            fields: vec![("drop_pct", drops), ("throughput_gbps", sent), ("no_drop_gbps", no_drop)],
        };
        vec![row("privring", 16.5, 163.0, f64::NAN), row("shring", 0.0, 196.0, f64::NAN)]
    }

    fn outcome(texts: &[&str]) -> Result<Outcome, String> {
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_string()).collect();
        let owners = ["privring", "shring"].map(str::to_string);
        let conditions = read(&texts, NAMES, &owners).map_err(|e| e.to_string())?;
        judge(&conditions, &shown()).map_err(|e| e.to_string())
    }

    #[test]
    fn every_comparison_is_held_against_every_row() {
        for (text, met) in [
            ("drops>0", true),
            ("drops > 16.5", false),
            ("drops>=16.5", true),
            ("drop_pct<0", false),
            ("drops<=0", true),
            ("drops==16.5", true),
            ("drops==1", false),
            ("drops!=0", true),
            ("sent<163", false),
            ("sent<1.631e2", true),
            ("drops>-1", true),
            ("shring.drops>0", false),
            ("privring . drops > 0", true),
            ("shring.sent<=196", true),
        ] {
            let found = outcome(&[text]).unwrap();
            assert_eq!(matches!(found, Outcome::Met(_)), met, "{text}: {found:?}");
        }
    }

    #[test]
    fn what_meets_a_condition_is_named() {
        let Outcome::Met(line) = outcome(&["drops>0", "shring.sent>1", "sent>1"]).unwrap() else { panic!() };
        assert_eq!(
            line,
            "'drops>0' is met by privring from full rings: drop_pct 16.5; 'shring.sent>1' is met by shring from full rings: \
             throughput_gbps 196; 'sent>1' is met by privring from full rings: throughput_gbps 163, and 1 more"
        );
    }

    #[test]
    fn what_is_no_condition_is_an_error_and_no_answer() {
        for (text, part) in [
            ("", "NAME OP NUMBER"),
            ("drops", "NAME OP NUMBER"),
            ("drops>", "NAME OP NUMBER"),
            ("drops=0", "NAME OP NUMBER"),
            ("drops=>0", "NAME OP NUMBER"),
            ("drops><0", "NAME OP NUMBER"),
            ("drops>x", "NAME OP NUMBER"),
            ("drops>NaN", "NAME OP NUMBER"),
            ("drops>inf", "NAME OP NUMBER"),
            ("drips>0", "drops, sent, no_drop, drop_pct, throughput_gbps, no_drop_gbps, not `drips`"),
            (">0", "not ``"),
            ("p99>0", "not `p99`"),
            ("corec.drops>0", "privring, shring before the dot, not `corec`"),
            ("no_drop<100", "no row has a value of no_drop_gbps"),
            ("\u{663}>\u{663}", "NAME OP NUMBER"),
        ] {
            let error = outcome(&[text]).unwrap_err();
            assert!(error.contains(part) && error.contains(text), "{text}: {error}");
        }
    }
}
