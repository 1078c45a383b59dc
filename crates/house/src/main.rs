//! `house [--root DIR] [CRATE...]`: the floors of each crate and its circles.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use house::{ReadError, Room, Tree, read_crate, read_workspace, rooms};

/// Which modules of a crate depend on each other in circles; exit code 1 if there are any
#[derive(Parser)]
struct Args {
    /// The workspace's directory: it has the crates below `crates`
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
    /// Crates to look at; all of them if there are none
    #[arg(value_name = "CRATE")]
    crates: Vec<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let trees = match read(&args.root, &args.crates) {
        Ok(trees) => trees,
        Err(e) => {
            let _ = writeln!(io::stderr(), "house: {e}");
            return ExitCode::from(2);
        }
    };
    match show(&trees, &mut io::stdout().lock()) {
        Ok(true) => ExitCode::from(1),
        Ok(false) => ExitCode::SUCCESS,
        // Whoever read it has gone.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(e) => {
            let _ = writeln!(io::stderr(), "house: cannot write: {e}");
            ExitCode::from(2)
        }
    }
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
