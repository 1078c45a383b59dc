//! `rxlab schema`: what programs that read `--json` may rely on.

use clap::Args;

use crate::cmd::words;
use crate::fail::Fail;
use crate::show::out;
use crate::show::schema;
use crate::show::table::{Table, words};

/// Options of `schema`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  rxlab schema\n  rxlab schema compare\n  rxlab schema experiment run\n  rxlab schema --commands"
)]
pub(crate) struct Schema {
    /// The command whose JSON is to be described, such as `experiment run`; without it, all that there are
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Print every command with its options as JSON, for a program that writes command lines
    #[arg(long, conflicts_with = "command")]
    commands: bool,
}

/// Runs it.
///
/// # Errors
/// A command that has no JSON.
pub(crate) fn run(options: &Schema, program: &clap::Command) -> Result<(), Fail> {
    if options.commands {
        return out::print(&words::all(program));
    }
    if options.command.is_empty() {
        return list();
    }
    out::plain_json(&schema::of(&options.command.join(" "))?)
}

fn list() -> Result<(), Fail> {
    let mut table = Table::new(&[words("command"), words("what it writes with --json")]);
    for (command, what) in schema::all()? {
        table.rows.push(vec![command.into(), what]);
    }
    out::print(&table.text(out::colour()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_json(command: &clap::Command, path: &str, found: &mut Vec<String>) {
        if command.get_arguments().any(|arg| arg.get_long() == Some("json")) {
            found.push(path.trim_start().to_string());
        }
        for inner in command.get_subcommands() {
            with_json(inner, &format!("{path} {}", inner.get_name()), found);
        }
    }

    #[test]
    fn every_command_with_json_has_a_schema() {
        let mut found = Vec::new();
        with_json(&crate::call::command(), "", &mut found);
        found.sort();
        let described: Vec<&str> = schema::all().unwrap().into_iter().map(|(command, _)| command).collect();
        assert_eq!(found, described);
    }
}
