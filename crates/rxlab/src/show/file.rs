//! Files that commands write: every reason against one is told before the run; it is written beside the target and
//! renamed, so that a failure leaves what was there.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::fail::Fail;

/// Mode of a new file, of which the umask takes its part.
const NEW_MODE: u32 = 0o666;
/// What makes a file or directory writable for anyone: root may write without, but the owner has asked not to.
const ANY_WRITE: u32 = 0o222;

/// A file to be written after the run.
pub(crate) struct Target {
    flag: &'static str,
    path: PathBuf,
    /// Files that the command reads.
    inputs: Vec<PathBuf>,
}

/// A directory of files to be written after the run.
pub(crate) struct Folder {
    flag: &'static str,
    path: PathBuf,
    inputs: Vec<PathBuf>,
}

impl Target {
    /// Checks that `path`, given with the option `flag`, can be written, and is none of `inputs`.
    ///
    /// # Errors
    /// Names the file, and why it cannot be or must not be written.
    pub(crate) fn new(flag: &'static str, path: &Path, inputs: &[PathBuf]) -> Result<Target, Fail> {
        let target = Target { flag, path: path.into(), inputs: inputs.to_vec() };
        target.check()?;
        Ok(target)
    }

    /// The same of an option that may be absent.
    ///
    /// # Errors
    /// As `new`.
    pub(crate) fn asked(
        flag: &'static str,
        path: Option<&Path>,
        inputs: &[PathBuf],
    ) -> Result<Option<Target>, Fail> {
        path.map(|path| Target::new(flag, path, inputs)).transpose()
    }

    /// Writes the file whole or not at all, with the permissions of the one that it replaces.
    ///
    /// # Errors
    /// Names the file.
    pub(crate) fn write(&self, text: &str) -> Result<(), Fail> {
        // A run takes minutes: what lies there now may be something else.
        self.check()?;
        self.replace(text).map_err(|e| self.fail(&format!("cannot be written: {e}")))
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        let mut part = beside(directory(&self.path))?;
        part.write_all(text.as_bytes())?;
        if let Ok(old) = fs::metadata(&self.path) {
            // Only root may give a file away; the owner's own files need not be given.
            let _ = std::os::unix::fs::fchown(part.as_file(), Some(old.uid()), Some(old.gid()));
            part.as_file().set_permissions(old.permissions())?;
        }
        // Some file systems tell of a full disk only here.
        part.as_file().sync_all()?;
        part.persist(&self.path)?;
        Ok(())
    }

    fn check(&self) -> Result<(), Fail> {
        let named = !self.path.as_os_str().as_encoded_bytes().ends_with(b"/");
        if self.path.file_name().is_none() || !named {
            return Err(self.fail("is a directory; expected a file name"));
        }
        match fs::symlink_metadata(&self.path) {
            Ok(found) => self.check_existing(&found)?,
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(e) => return Err(self.fail(&e.to_string())),
        }
        writable(directory(&self.path)).map_err(|why| self.fail(&why))
    }

    fn check_existing(&self, found: &Metadata) -> Result<(), Fail> {
        let kind = found.file_type();
        if kind.is_symlink() {
            return Err(self.fail("is a symbolic link; expected the file itself, or a new name"));
        }
        if kind.is_dir() {
            return Err(self.fail("is a directory; expected a file name"));
        }
        if !kind.is_file() {
            return Err(self.fail("is a device, a pipe or a socket; expected a file, or a new name"));
        }
        if let Some(input) = self.inputs.iter().find(|input| self.is(found, input)) {
            return Err(self.fail(&format!("is the input {}; expected another file", input.display())));
        }
        if stdout_file().is_some_and(|out| same(&out, found)) {
            return Err(self.fail("is where results are printed to; expected another file"));
        }
        if found.mode() & ANY_WRITE == 0 {
            return Err(self.fail("is read-only; expected a file that may be replaced, or a new name"));
        }
        // Neither creates nor truncates: the system tells whether it would be allowed.
        let opened = OpenOptions::new().write(true).open(&self.path);
        opened.map(|_| ()).map_err(|e| self.fail(&format!("cannot be written: {e}")))
    }

    /// Whether the target, as `found`, is the file `input`, by whichever name.
    fn is(&self, found: &Metadata, input: &Path) -> bool {
        let path = |p: &Path| fs::canonicalize(p).ok();
        fs::metadata(input).is_ok_and(|input| same(&input, found))
            || path(input).is_some_and(|input| path(&self.path) == Some(input))
    }

    fn fail(&self, why: &str) -> Fail {
        Fail::new(format!("{} {}: {why}", self.flag, self.path.display()))
    }
}

impl Folder {
    /// Checks that files called `names` can be written into `path`, which need not be there.
    ///
    /// # Errors
    /// Names the directory or the file, and why it cannot be or must not be written.
    pub(crate) fn new(
        flag: &'static str,
        path: &Path,
        inputs: &[PathBuf],
        names: impl IntoIterator<Item = String>,
    ) -> Result<Folder, Fail> {
        // Without the slash at its end, behind which a link is what it leads to.
        let folder = Folder { flag, path: path.components().collect(), inputs: inputs.to_vec() };
        match fs::symlink_metadata(&folder.path) {
            Ok(found) if found.is_symlink() => {
                Err(folder.fail("is a symbolic link; expected the directory itself, or a new name"))
            }
            Ok(found) if !found.is_dir() => Err(folder.fail("is no directory; expected one, or a new name")),
            Ok(_) => names.into_iter().try_for_each(|name| folder.target(&name).check()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let there = folder.path.ancestors().skip(1).find(|dir| named(dir).exists());
                writable(named(there.unwrap_or(Path::new("")))).map_err(|why| folder.fail(&why))
            }
            Err(e) => Err(folder.fail(&e.to_string())),
        }?;
        Ok(folder)
    }

    /// Writes one of the files, whole or not at all.
    ///
    /// # Errors
    /// Names it.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), Fail> {
        fs::create_dir_all(&self.path).map_err(|e| self.fail(&e.to_string()))?;
        self.target(name).write(text)
    }

    fn target(&self, name: &str) -> Target {
        Target { flag: self.flag, path: self.path.join(name), inputs: self.inputs.clone() }
    }

    fn fail(&self, why: &str) -> Fail {
        Fail::new(format!("{} {}: {why}", self.flag, self.path.display()))
    }
}

fn directory(path: &Path) -> &Path {
    named(path.parent().unwrap_or(Path::new("")))
}

/// The empty path is this directory.
fn named(dir: &Path) -> &Path {
    if dir.as_os_str().is_empty() { Path::new(".") } else { dir }
}

/// Whether files can be made in `dir`: makes one, and removes it.
fn writable(dir: &Path) -> Result<(), String> {
    let found = fs::metadata(dir).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => format!("the directory {} does not exist", dir.display()),
        _ => format!("{}: {e}", dir.display()),
    })?;
    if !found.is_dir() {
        return Err(format!("{} is no directory", dir.display()));
    }
    if found.mode() & ANY_WRITE == 0 {
        return Err(format!("the directory {} is read-only", dir.display()));
    }
    beside(dir).map(|_| ()).map_err(|e| format!("the directory {}: {e}", dir.display()))
}

/// A new file in `dir` that is gone again unless it gets a name.
fn beside(dir: &Path) -> io::Result<NamedTempFile> {
    let mode = fs::Permissions::from_mode(NEW_MODE);
    let part = tempfile::Builder::new().prefix(".rxlab-").suffix(".part").permissions(mode).tempfile_in(dir);
    // What tempfile adds is the path of that file, which means nothing to a reader.
    part.map_err(|e| io::Error::from(e.kind()))
}

fn same(a: &Metadata, b: &Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// The file that stdout was redirected to.
fn stdout_file() -> Option<Metadata> {
    let out = File::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
    out.metadata().ok().filter(Metadata::is_file)
}
