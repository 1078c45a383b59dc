//! A connector against listeners that are hostile, or broken.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::Duration;

use ccnic::{Buf, Channel, Error, Listener, Segment};
use memory::native::send_file;
use memory::{Backing, Region};
use rustix::fs::{MemfdFlags, open};
use rustix::fs::{Mode, OFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create};

use crate::traffic::{NONE, Random, SMALL};

/// A connector, and a listener that says what it likes.
fn met(listener: impl FnOnce(&mut UnixStream)) -> Result<Channel, Error> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let socket = UnixListener::bind(&path).unwrap();
    let connects = thread::spawn(move || Channel::connect(path, SMALL));
    let (mut stream, _) = socket.accept().unwrap();
    listener(&mut stream);
    let met = connects.join();
    drop(stream);
    met.unwrap()
}

/// Says hello as the connector does: alike to the last bit.
fn hello(stream: &mut UnixStream) {
    let mut theirs = [0; 64];
    stream.read_exact(&mut theirs).unwrap();
    stream.write_all(&theirs).unwrap();
}

/// What the connector makes of a file that such a listener hands over.
fn given(file: impl AsFd) -> Result<Channel, Error> {
    met(|stream| {
        hello(stream);
        send_file(stream, file.as_fd()).unwrap();
    })
}

fn refused(file: impl AsFd) -> String {
    given(file).err().unwrap().to_string()
}

/// The memory of a link that was made and not used, as bytes.
fn sound() -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let mut listener = Listener::bind(&path, SMALL).unwrap();
    let there = thread::spawn(move || Channel::connect(path, SMALL).unwrap());
    let channel = listener.accept().unwrap();
    let mut bytes = Vec::new();
    File::from(channel.memory().unwrap().try_clone_to_owned().unwrap()).read_to_end(&mut bytes).unwrap();
    there.join().unwrap();
    bytes
}

fn file(bytes: &[u8], seals: SealFlags) -> OwnedFd {
    let file = memfd_create("other", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    let file = File::from(file);
    file.write_all_at(bytes, 0).unwrap();
    fcntl_add_seals(&file, seals).unwrap();
    file.into()
}

const SEALED: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

/// Uses a link for a while, whatever comes of it.
fn used(mut channel: Channel) {
    for _ in 0..100 {
        let mut bufs = [Buf(0); 4];
        let n = channel.alloc(&mut bufs);
        for buf in &bufs[..n] {
            channel.write(*buf, 0, &[1; 256]).unwrap();
            let _ = channel.send(&[Segment { buf: *buf, off: 0, len: 256, last: true }]);
        }
        let mut segs = [NONE; 8];
        let n = channel.wait(&mut segs, Duration::ZERO).unwrap_or(0);
        segs[..n].iter().for_each(|s| channel.free(&[s.buf]));
    }
}

#[test]
fn the_right_file_is_taken_from_anybody() {
    used(given(file(&sound(), SEALED)).unwrap());
}

#[test]
fn a_file_that_can_change_its_size_is_refused() {
    let sound = sound();
    for seals in [SealFlags::empty(), SealFlags::SHRINK, SealFlags::GROW] {
        let told = refused(file(&sound, seals));
        assert!(told.contains("not sealed against another size"), "{told}");
    }
}

#[test]
fn an_honest_listeners_file_keeps_its_size() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let mut listener = Listener::bind(&path, SMALL).unwrap();
    let there = thread::spawn(move || Channel::connect(path, SMALL).unwrap());
    let channel = listener.accept().unwrap();
    let file = channel.memory().unwrap();
    assert!(fcntl_get_seals(file).unwrap().contains(SEALED | SealFlags::SEAL));
    for bytes in [0, 64, 1 << 30] {
        assert!(ftruncate(file, bytes).is_err());
    }
    assert!(fcntl_add_seals(file, SealFlags::WRITE).is_err());
    there.join().unwrap();
}

#[test]
fn a_file_that_is_too_short_is_refused() {
    let sound = sound();
    for bytes in [0, 1, 64, 100, 128, 4096, sound.len() - 64, sound.len() / 2 / 64 * 64] {
        let told = refused(file(&sound[..bytes], SEALED));
        assert_eq!(told.lines().count(), 1, "{bytes} B: {told}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_refused() {
    let sound = sound();
    refused(file(&sound, SEALED | SealFlags::WRITE));
    refused(file(&sound, SEALED | SealFlags::FUTURE_WRITE));
    let writable = file(&sound, SEALED);
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&writable));
    refused(open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).unwrap());
}

#[test]
fn what_is_no_memory_is_refused() {
    let disk = tempfile::tempfile().unwrap();
    disk.write_all_at(&sound(), 0).unwrap();
    refused(disk);
    refused(File::open("/dev/zero").unwrap());
    refused(File::open("/").unwrap());
    refused(std::io::pipe().unwrap().0);
    refused(UnixStream::pair().unwrap().0);
    // Huge pages could be taken away. Not every machine has any.
    let huge = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
    if let Ok(huge) = memfd_create("huge", huge) {
        ftruncate(&huge, 2 << 20).unwrap();
        fcntl_add_seals(&huge, SEALED).unwrap();
        let told = refused(huge);
        assert!(told.contains("other than ordinary pages"), "{told}");
    }
}

#[test]
fn another_region_is_refused() {
    let region = Region::shared(sound().len(), Backing::Pages).unwrap();
    let told = refused(region.file().unwrap());
    assert!(told.contains("is not in the shared region"), "{told}");
}

#[test]
fn no_file_or_two_or_other_words_are_refused() {
    let two = |stream: &mut UnixStream| {
        use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
        hello(stream);
        let files = [file(&sound(), SEALED), file(&sound(), SEALED)];
        let files = files.each_ref().map(AsFd::as_fd);
        let mut space = [core::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&files)));
        let said = [std::io::IoSlice::new(b"rxlab file")];
        sendmsg(&*stream, &said, &mut control, SendFlags::NOSIGNAL).unwrap();
    };
    let words = |said: &'static [u8]| {
        move |stream: &mut UnixStream| {
            hello(stream);
            stream.write_all(said).unwrap();
        }
    };
    for told in [met(two), met(words(b"rxlab file")), met(words(b"x")), met(words(&[7; 5000]))] {
        let told = told.err().unwrap().to_string();
        assert!(told.contains("something else than one file"), "{told}");
    }
}

#[test]
fn half_a_hello_is_an_error() {
    for said in [0, 1, 32, 63] {
        let told = met(|stream| {
            let mut theirs = [0; 64];
            stream.read_exact(&mut theirs).unwrap();
            stream.write_all(&theirs[..said]).unwrap();
            stream.shutdown(std::net::Shutdown::Both).unwrap();
        });
        let told = told.err().unwrap();
        assert!(matches!(told, Error::Gone | Error::Protocol(_)), "{said} B: {told}");
    }
}

/// Nobody waits for ever: five seconds for each step.
#[test]
fn one_that_falls_silent_is_given_up() {
    let steps: [fn(&mut UnixStream); 3] =
        [|_| {}, |stream| stream.write_all(&[b'r'; 10]).unwrap(), |stream| hello(stream)];
    let waiting = steps.map(|step| thread::spawn(move || met(step).err().unwrap()));
    for told in waiting.map(|thread| thread.join().unwrap()) {
        assert!(matches!(told, Error::Protocol(_)), "{told}");
    }
}

/// Any byte of the header or the directory is changed, or several, or any word: the file is refused, or the link is of no use
/// to anybody, and nothing else happens.
#[test]
fn a_region_with_other_words_is_refused_or_harmless() {
    let sound = sound();
    let directory = sound.len() - 64 * 16;
    let (mut random, mut taken) = (Random(3), 0);
    for n in 0..3000 {
        let mut bytes = sound.clone();
        for _ in 0..1 + random.below(3) {
            let at = match n % 3 {
                0 => random.below(64) as usize,
                _ => directory + random.below(64 * 16) as usize,
            };
            match random.below(3) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = random.next() as u8,
                _ => {
                    let at = at / 8 * 8;
                    let word = crate::hostile::word(&mut random);
                    bytes[at..at + 8].copy_from_slice(&word.to_ne_bytes());
                }
            }
        }
        if let Ok(channel) = given(file(&bytes, SEALED)) {
            taken += 1;
            used(channel);
        }
    }
    println!("{taken} of 3000 were taken");
    assert!(taken > 0 && taken < 3000);
}
