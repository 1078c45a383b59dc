//! A profile from its text, by component or in the flat form: `[constants]` with the name of every constant.

use std::collections::BTreeSet;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::declare::Declared;
use super::ranges::MACHINE;
use super::{ProfileError, Server, declared};

/// Names of the constants that a text has in the flat form.
pub(super) type Flat = BTreeSet<&'static str>;

/// The profile, and what it has in the flat form. Values are not checked yet.
pub(super) fn read(text: &str) -> Result<(Server, Flat), ProfileError> {
    let mut table = DeTable::parse(text).map_err(|e| ProfileError(e.to_string()))?;
    let flat = lift(table.get_mut())?;
    let server = Server::deserialize(Deserializer::from(table)).map_err(|mut e| {
        e.set_input(Some(text));
        unread(text, &e)
    })?;
    Ok((server, flat))
}

/// Puts what is written in the flat form where it belongs.
fn lift(profile: &mut DeTable<'_>) -> Result<Flat, ProfileError> {
    let mut flat = Flat::new();
    for Declared { name, place, .. } in declared() {
        let constants = profile.get_mut("constants").and_then(|c| below(c.get_mut()));
        let Some((written, value)) = constants.and_then(|c| c.remove_entry(*name)) else { continue };
        let (tables, key) = place.rsplit_once('.').unwrap_or(("", place));
        let table = tables.split('.').try_fold(&mut *profile, |table, key| {
            let empty = || Spanned::new(written.span(), DeValue::Table(DeTable::new()));
            below(table.entry(Spanned::new(written.span(), key.into())).or_insert_with(empty).get_mut())
        });
        let key = Spanned::new(written.span(), key.into());
        match table {
            Some(table) if !table.contains_key(&key) => table.insert(key, value),
            Some(_) => return Err(ProfileError(format!("constants.{name} is given again as {place}"))),
            None => return Err(ProfileError(format!("constants.{name}: {tables} is no table"))),
        };
        flat.insert(*name);
    }
    Ok(flat)
}

fn below<'t, 'i>(value: &'t mut DeValue<'i>) -> Option<&'t mut DeTable<'i>> {
    if let DeValue::Table(table) = value { Some(table) } else { None }
}

/// Why a text is no profile: a number that no field of its kind can hold, else what its reader says.
fn unread(text: &str, e: &toml::de::Error) -> ProfileError {
    let root = toml::Value::Table(text.parse().unwrap_or_default());
    let number = |path: &str| {
        let value = path.split('.').try_fold(&root, |table, key| table.get(key))?;
        value.as_float().or(value.as_integer().map(|i| i as f64))
    };
    let machine = MACHINE.iter().map(|n| (n.name, n.name.to_owned(), &n.range));
    let constants = declared().flat_map(|d| {
        let flat = (d.name, format!("constants.{}.value", d.name), &d.range);
        [flat, (d.place, format!("{}.value", d.place), &d.range)]
    });
    let refused = |(name, path, range): (_, String, &super::Range)| range.check(name, number(&path)?).err();
    let written = machine.chain(constants).find_map(refused);
    written.unwrap_or_else(|| ProfileError(e.to_string()))
}
