//! The modules of this workspace do not depend on each other in circles.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use house::{read_workspace, rooms};

/// Crates that still have circles. It only gets shorter: one without a circle must not be here.
const OPEN: &[&str] = &[];

/// Circles of a crate that a message tells.
const TOLD: usize = 8;

#[test]
fn no_crate_has_a_circle_of_modules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let trees = read_workspace(&root).unwrap();
    let mut wrong = String::new();
    let mut open = OPEN.to_vec();
    for tree in &trees {
        let circles: Vec<String> = rooms(tree)
            .iter()
            .flat_map(|room| room.circles().into_iter().map(|c| format!("in {}: {c}", room.name)))
            .collect();
        if OPEN.contains(&tree.name.as_str()) {
            open.retain(|name| circles.is_empty() || *name != tree.name);
            continue;
        }
        for circle in circles.iter().take(TOLD) {
            wrong += &format!("crate {} {circle}", tree.name);
        }
        if circles.len() > TOLD {
            wrong += &format!("and {} more: cargo run -p house {}\n", circles.len() - TOLD, tree.name);
        }
    }
    assert!(wrong.is_empty(), "modules depend on each other in circles\n{wrong}");
    assert!(open.is_empty(), "without a circle, so no longer to be listed in OPEN: {open:?}");
    assert!(trees.len() > 10, "only {} crates were found", trees.len());
}
