//! `house [--root DIR] [CRATE...]`: the floors of each crate and its circles. `house [--root DIR] --picture`: the
//! crates themselves by floors.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use house::{ReadError, Room, Tree, picture, read_crate, read_workspace, rooms};

/// Which modules of a crate depend on each other in circles; exit code 1 if there are any
#[derive(Parser)]
struct Args {
    /// The workspace's directory: it has the crates below `crates`
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
    /// Print a Mermaid flowchart of the crates by floors instead, as docs/architecture.md has it
    #[arg(long, conflicts_with = "crates")]
    picture: bool,
    /// Crates to look at; all of them if there are none
    #[arg(value_name = "CRATE")]
    crates: Vec<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let mut out = io::stdout().lock();
    let written = if args.picture {
        picture(&args.root).map(|text| write!(out, "{text}").map(|()| false))
    } else {
        read(&args.root, &args.crates).map(|trees| show(&trees, &mut out))
    };
    match written {
        Ok(Ok(true)) => ExitCode::from(1),
        Ok(Ok(false)) => ExitCode::SUCCESS,
        // Whoever read it has gone.
        Ok(Err(e)) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Ok(Err(e)) => failed(&format!("cannot write: {e}")),
        Err(e) => failed(&e.to_string()),
    }
}

fn failed(why: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "house: {why}");
    ExitCode::from(2)
}

fn read(root: &Path, names: &[String]) -> Result<Vec<Tree>, ReadError> {
    if names.is_empty() {
        return read_workspace(root);
    }
    let mut trees = Vec::new();
    for name in names {
        trees.extend(read_crate(root, name)?);
    }
    Ok(trees)
}

/// Writes all there is; whether there is a circle.
fn show(trees: &[Tree], out: &mut impl Write) -> io::Result<bool> {
    let mut any = false;
    for tree in trees {
        writeln!(out, "{}", tree.name)?;
        for room in rooms(tree) {
            any |= show_room(&room, out)?;
        }
    }
    Ok(any)
}

fn show_room(room: &Room, out: &mut impl Write) -> io::Result<bool> {
    writeln!(out, "  {}", room.name)?;
    for (number, floor) in room.floors().iter().enumerate().rev() {
        let group = |group: &Vec<String>| match group.as_slice() {
            [one] => one.clone(),
            several => format!("({})", several.join(" ")),
        };
        writeln!(out, "    floor {number}: {}", floor.iter().map(group).collect::<Vec<_>>().join(" "))?;
    }
    let circles = room.circles();
    for circle in &circles {
        for line in circle.to_string().lines() {
            writeln!(out, "    {line}")?;
        }
    }
    Ok(!circles.is_empty())
}
