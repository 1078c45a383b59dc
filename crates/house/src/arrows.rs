//! Which file depends on which.

use std::path::PathBuf;

use crate::resolve::targets;
use crate::tree::{FileId, Tree};

/// One place where a file names something of another.
#[derive(Clone, Debug)]
pub struct Arrow {
    pub(crate) from: FileId,
    pub(crate) to: FileId,
    /// The file where the name stands.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
    /// What is named, from the module that defines it.
    pub names: String,
    /// The name as it stands there.
    pub written: String,
}

/// All places where a file names something of the crate: of itself too, and of those above and below it.
pub(crate) fn arrows(tree: &Tree) -> Vec<Arrow> {
    let mut all = Vec::new();
    for name in &tree.names {
        let from = tree.scopes[name.scope].file;
        for target in targets(tree, name) {
            let module = tree.module(target.file);
            let names = target.item.map_or(module.clone(), |item| format!("{module}::{item}"));
            let (path, written) = (tree.files[from].path.clone(), name.path.join("::"));
            all.push(Arrow { from, to: target.file, path, line: name.line, names, written });
        }
    }
    all
}
