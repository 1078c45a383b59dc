//! The modules of one crate, and what is named in them.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// One library or program: its files, its scopes, all names in them.
#[derive(Debug)]
pub struct Tree {
    /// The crate's directory below `crates`.
    pub name: String,
    /// The first is the root.
    pub(crate) files: Vec<File>,
    /// The first is the root's.
    pub(crate) scopes: Vec<Scope>,
    pub(crate) names: Vec<Name>,
    /// Where each macro by example is defined: such names follow the order of the text, not scopes.
    pub(crate) macros: BTreeMap<String, ScopeId>,
}

/// An index into [`Tree::files`].
pub(crate) type FileId = usize;
/// An index into [`Tree::scopes`].
pub(crate) type ScopeId = usize;

/// A module that has a file of its own.
#[derive(Debug)]
pub(crate) struct File {
    /// As it is shown: from the workspace's directory on.
    pub(crate) path: PathBuf,
    /// Its path from the root on, which itself has none.
    pub(crate) module: Vec<String>,
    /// The file that its parent module belongs to.
    pub(crate) above: Option<FileId>,
}

/// A module, with or without a file of its own.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) file: FileId,
    pub(crate) above: Option<ScopeId>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) globs: Vec<Glob>,
}

/// A name that a scope has.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) what: What,
    pub(crate) seen: Seen,
}

/// What a scope's name stands for.
#[derive(Debug)]
pub(crate) enum What {
    /// Something that this scope defines.
    Item,
    /// A module below.
    Module(ScopeId),
    /// What a `use` names.
    Import(Vec<String>),
}

/// `use path::*`.
#[derive(Debug)]
pub(crate) struct Glob {
    pub(crate) path: Vec<String>,
    pub(crate) seen: Seen,
}

/// From where a name can be used.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen {
    Everywhere,
    /// In this scope and below.
    Below(ScopeId),
    /// In this scope alone: a `use` inside a function.
    Only(ScopeId),
}

/// A path in the text.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) scope: ScopeId,
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    pub(crate) how: How,
}

/// Where a path stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// In a `use`: it may end in a module.
    Import,
    /// In a type, an expression, a pattern: it ends in an item.
    Path,
    /// Before a `!`.
    Macro,
}

impl Tree {
    /// Whether `scope` is `root` or lies below it.
    pub(crate) fn is_below(&self, scope: ScopeId, root: ScopeId) -> bool {
        let mut at = Some(scope);
        while let Some(here) = at {
            if here == root {
                return true;
            }
            at = self.scopes[here].above;
        }
        false
    }

    /// A file and those above it, up to the root's.
    pub(crate) fn upwards(&self, file: FileId) -> Vec<FileId> {
        std::iter::successors(Some(file), |&f| self.files[f].above).collect()
    }

    /// The path of a file's module as it is written from anywhere.
    pub(crate) fn module(&self, file: FileId) -> String {
        let path = self.files[file].module.iter().map(String::as_str);
        std::iter::once("crate").chain(path).collect::<Vec<_>>().join("::")
    }
}
