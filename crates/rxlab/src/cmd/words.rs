//! Every command with its options as JSON, for programs that write command lines: from clap's own definition.

use std::any::TypeId;
use std::path::PathBuf;

use clap::{Arg, ArgAction, Command};
use serde_json::{Value, json};

/// All commands below `program` that have `--json`, by the words that call them, and the options of all.
pub(crate) fn all(program: &Command) -> String {
    let mut program = program.clone();
    program.build();
    let mut commands = Vec::new();
    walk(&program, &[], &mut commands);
    format!("{:#}\n", json!({ "commands": commands }))
}

fn walk(command: &Command, path: &[&str], found: &mut Vec<Value>) {
    if command.get_arguments().any(|arg| arg.get_long() == Some("json")) {
        let said = |text: Option<&clap::builder::StyledStr>| text.map(ToString::to_string);
        let shown = |arg: &&Arg| !matches!(arg.get_long(), Some("json" | "help" | "version"));
        found.push(json!({
            "words": path,
            "about": said(command.get_about()),
            "more": said(command.get_after_help()),
            "options": command.get_arguments().filter(shown).map(option).collect::<Vec<_>>(),
        }));
    }
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help" && !inner.is_hide_set())
    {
        walk(inner, &[path, &[inner.get_name()]].concat(), found);
    }
}

fn option(arg: &Arg) -> Value {
    let many = matches!(arg.get_action(), ArgAction::Append)
        || arg.get_num_args().is_some_and(|range| range.max_values() > 1);
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    json!({
        // What is given without a name has none.
        "flag": arg.get_long(),
        "name": arg.get_id().as_str(),
        "value": arg.get_action().takes_values().then(|| kind(arg)),
        "shown": arg.get_value_names().map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>()),
        "many": many,
        "joined_by": arg.get_value_delimiter(),
        "required": arg.is_required_set(),
        "default": defaults,
        "help": arg.get_long_help().or(arg.get_help()).map(ToString::to_string),
    })
}

/// The type of an option's value.
fn kind(arg: &Arg) -> &'static str {
    let of = arg.get_value_parser().type_id();
    let whole = [
        TypeId::of::<u8>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<i64>(),
    ];
    if whole.iter().any(|kind| of == *kind) {
        "integer"
    } else if of == TypeId::of::<f64>() {
        "number"
    } else if of == TypeId::of::<PathBuf>() {
        "path"
    } else {
        "text"
    }
}
