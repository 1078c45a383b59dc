//! `rxlab manual`: pages for `man` and completions for shells, from clap's own definition.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::fail::Fail;
use crate::show::file::Folder;
use crate::show::out;

/// Options of `manual`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  rxlab manual --out manual\n  man manual/rxlab-compare.1")]
pub(crate) struct Manual {
    /// Where to write a page for each command, and for each shell what it completes commands by
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Runs it.
///
/// # Errors
/// The directory cannot be written.
pub(crate) fn run(options: &Manual, program: &clap::Command) -> Result<(), Fail> {
    let mut program = program.clone();
    program.build();
    let mut files = Vec::new();
    pages(&program, "rxlab", &mut files)?;
    for shell in Shell::value_variants() {
        let mut text = Vec::new();
        clap_complete::generate(*shell, &mut program, "rxlab", &mut text);
        files.push((format!("completions.{shell}"), text));
    }
    let folder = Folder::new("--out", &options.out, &[], files.iter().map(|(name, _)| name.clone()))?;
    for (name, text) in &files {
        folder.write(name, &String::from_utf8_lossy(text))?;
    }
    out::print(&format!("{}: {} files\n", options.out.display(), files.len()))
}

/// The page of a command, called `name`, and those of the commands below it.
fn pages(command: &clap::Command, name: &str, files: &mut Vec<(String, Vec<u8>)>) -> Result<(), Fail> {
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text).map_err(|e| Fail::new(format!("manual: {e}")))?;
    files.push((format!("{name}.1"), text));
    let named = |inner: &&clap::Command| inner.get_name() != "help" && !inner.is_hide_set();
    command
        .get_subcommands()
        .filter(named)
        .try_for_each(|inner| pages(inner, &format!("{name}-{}", inner.get_name()), files))
}
