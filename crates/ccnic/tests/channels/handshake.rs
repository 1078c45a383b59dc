//! Who may connect, and who may listen.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use ccnic::{Channel, Config, Error, Listener};

use crate::other::Other;
use crate::traffic::{SMALL, Traffic};

/// Connects, says nothing, and stays.
pub(crate) fn play(path: &Path) {
    let _socket = UnixStream::connect(path).unwrap();
    println!("{}", crate::other::READY);
    loop {
        thread::park();
    }
}

fn with_path(test: impl FnOnce(&Path)) {
    let dir = tempfile::tempdir().unwrap();
    test(&dir.path().join("socket"));
}

#[test]
fn a_mismatch_is_one_line_on_both_sides_and_the_listener_goes_on() {
    with_path(|path| {
        let mut listener = Listener::bind(path, SMALL).unwrap();
        let connect = |config: Config| {
            let path = path.to_owned();
            thread::spawn(move || Channel::connect(path, config))
        };
        let other = connect(Config { ring: 128, events: false, ..SMALL });
        let told = listener.accept().err().unwrap();
        assert!(matches!(told, Error::Mismatch(_)));
        assert_eq!(told.to_string(), "the sides differ: ring 64 here, 128 there; events on here, off there");
        let told = other.join().unwrap().err().unwrap();
        assert!(matches!(told, Error::Mismatch(_)));
        assert_eq!(told.to_string(), "the sides differ: ring 128 here, 64 there; events off here, on there");
        let other = connect(SMALL);
        assert!(listener.accept().unwrap().is_alive());
        other.join().unwrap().unwrap();
    });
}

#[test]
fn nonsense_is_an_error_and_silence_holds_nobody_up() {
    with_path(|path| {
        let mut listener = Listener::bind(path, SMALL).unwrap();
        let mut silent: Vec<_> = (0..3).map(|_| UnixStream::connect(path).unwrap()).collect();
        let mut other = Other::start("silent", path);
        other.listens();
        assert!(listener.accept_within(Duration::ZERO).unwrap().is_none());
        let there = thread::spawn({
            let path = path.to_owned();
            move || Channel::connect(path, SMALL)
        });
        assert!(listener.accept().unwrap().is_alive());
        there.join().unwrap().unwrap();
        for said in [&b"GET / HTTP/1.1\r\n"[..], &[b'x'; 64], &[0; 640]] {
            silent.pop().unwrap().write_all(said).unwrap();
            let told = listener.accept().err().unwrap();
            assert!(matches!(told, Error::Protocol(_)), "{told}");
        }
        drop(UnixStream::connect(path).unwrap()); // a look whether somebody listens
        assert!(listener.accept_within(Duration::from_millis(10)).unwrap().is_none());
    });
}

#[test]
fn a_listener_that_hands_over_no_region_is_an_error() {
    with_path(|path| {
        let listener = UnixListener::bind(path).unwrap();
        let there = thread::spawn({
            let path = path.to_owned();
            move || Channel::connect(path, SMALL)
        });
        drop(listener.accept().unwrap());
        assert!(there.join().unwrap().is_err());
    });
}

#[test]
fn the_socket_is_its_owners_alone_and_goes_with_the_listener() {
    with_path(|path| {
        let listener = Listener::bind(path, SMALL).unwrap();
        let file = fs::symlink_metadata(path).unwrap();
        assert!(file.file_type().is_socket());
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
        drop(listener);
        assert!(!path.exists());
    });
}

#[test]
fn a_live_listener_is_left_alone_and_a_dead_one_replaced() {
    with_path(|path| {
        let listener = Listener::bind(path, SMALL).unwrap();
        let inode = || fs::symlink_metadata(path).unwrap().ino();
        let first = inode();
        let told = Listener::bind(path, SMALL).unwrap_err().to_string();
        assert!(told.ends_with("a listener is alive there; allowed: another path"), "{told}");
        assert_eq!(inode(), first);
        drop(listener);
        drop(UnixListener::bind(path).unwrap()); // its file stays, as that of a process that was killed
        assert!(path.exists());
        let _listener = Listener::bind(path, SMALL).unwrap();
    });
}

#[test]
fn a_file_that_is_no_socket_is_left_alone() {
    with_path(|path| {
        fs::write(path, "mine").unwrap();
        let told = Listener::bind(path, SMALL).unwrap_err().to_string();
        assert!(told.ends_with("it was left alone"), "{told}");
        assert_eq!(fs::read(path).unwrap(), b"mine");
    });
}

#[test]
fn a_listener_takes_only_its_own_file_away() {
    with_path(|path| {
        let listener = Listener::bind(path, SMALL).unwrap();
        fs::remove_file(path).unwrap();
        fs::write(path, "mine").unwrap();
        drop(listener);
        assert_eq!(fs::read(path).unwrap(), b"mine");
    });
}

#[test]
fn sizes_that_cannot_be_are_errors_before_anything_else() {
    with_path(|path| {
        for config in [
            Config { ring: 1000, ..SMALL },
            Config { buffers: 1, ..SMALL },
            Config { bytes: 65536, ..SMALL },
            Config { bytes: 0, ..SMALL },
        ] {
            let told = Listener::bind(path, config).unwrap_err();
            assert!(matches!(&told, Error::Config(what) if what.contains("allowed")), "{told}");
            assert!(matches!(Channel::connect(path, config), Err(Error::Config(_))));
            assert!(!path.exists());
        }
    });
}

/// A listener whose process was killed, and the one that comes after it.
#[test]
fn a_process_that_was_killed_leaves_the_path_to_the_next() {
    with_path(|path| {
        let mut other = Other::start("load listener", path);
        other.listens();
        other.kill();
        other.ends();
        assert!(path.exists());
        let mut listener = Listener::bind(path, SMALL).unwrap();
        let _other = Other::start("load", path);
        let mut side = Traffic::new(listener.accept().unwrap());
        side.run(1000).unwrap();
    });
}
