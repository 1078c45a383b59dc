//! `rxlab profile check`: whether the model takes a profile, and what in it is still open.

use std::collections::BTreeMap;

use model::profile::{Server, ranges};
use serde::Serialize;

use crate::fail::Fail;
use crate::show::out;
use crate::show::table::{Table, number, words};

/// What is told of a profile.
#[derive(Serialize)]
struct Checked {
    name: String,
    /// Numbers by the kind of their origin.
    origins: BTreeMap<String, u32>,
    /// Numbers beside the constants whose origin the profile does not tell.
    silent: u32,
    /// What is assumed.
    open: Vec<Open>,
}

#[derive(Serialize)]
struct Open {
    place: &'static str,
    value: f64,
    origin: String,
}

fn checked(server: &Server) -> Result<Checked, Fail> {
    let written = toml::Value::try_from(server).map_err(Fail::new)?;
    let value = |place: &str| {
        let found = place.split('.').try_fold(&written, |table, key| table.get(key))?;
        found.as_float().or(found.as_integer().map(|n| n as f64))
    };
    let machine: Vec<(&'static str, f64)> =
        ranges().filter_map(|(place, _)| Some((place, value(place)?))).collect();
    let told = machine.iter().filter_map(|(place, value)| {
        server.origins.get(*place).map(|origin| (*place, *value, origin.clone()))
    });
    let constants = server.stated().map(|(d, c)| (d.place, c.value, c.origin.clone()));
    let all: Vec<_> = told.chain(constants).collect();
    let mut found = Checked {
        name: server.name.clone(),
        origins: BTreeMap::new(),
        silent: (machine.len() - server.origins.len().min(machine.len())) as u32,
        open: Vec::new(),
    };
    for (place, value, origin) in all {
        let (kind, why) = origin.split_once(": ").unwrap_or((&origin, ""));
        *found.origins.entry(kind.to_owned()).or_default() += 1;
        if kind == "assumed" {
            found.open.push(Open { place, value, origin: why.to_owned() });
        }
    }
    Ok(found)
}

/// Tells of a profile that was read, and so is one.
///
/// # Errors
/// As `print`.
pub(super) fn run(server: &Server, json: bool) -> Result<(), Fail> {
    let found = checked(server)?;
    if json {
        return out::json(&found);
    }
    let mut kinds: Vec<String> = found.origins.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    if found.silent > 0 {
        kinds.push(format!("{} without an origin", found.silent));
    }
    let mut text = format!("{}: the model takes it; its numbers: {}\n", found.name, kinds.join(", "));
    if !found.open.is_empty() {
        let mut table =
            Table::new(&[words("assumed"), number("value", ""), words("why, and what it may be")]);
        let row = |o: &Open| vec![o.place.into(), o.value.to_string(), o.origin.clone()];
        table.rows = found.open.iter().map(row).collect();
        text += &format!(
            "\n{}\nrxlab profile explain FIELD says how to measure one\n",
            table.text(out::colour())
        );
    }
    out::print(&text)
}
