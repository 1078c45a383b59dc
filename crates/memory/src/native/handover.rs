//! How a process gives another one a file: over a Unix socket that connects both.

use core::mem::MaybeUninit;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recv, recvmsg, sendmsg,
};

/// What a message with a file says; a message must say something.
const WORD: &[u8] = b"rxlab file";

/// Sends `file` to the other end of `socket`.
///
/// # Errors
/// The other end is gone, or the system refuses.
pub fn send_file(socket: impl AsFd, file: BorrowedFd<'_>) -> io::Result<()> {
    let files = [file];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&files)) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    // A dead peer is an error here, not a signal.
    let sent = retry_on_intr(|| sendmsg(&socket, &[IoSlice::new(WORD)], &mut control, SendFlags::NOSIGNAL))?;
    if sent != WORD.len() {
        return Err(io::ErrorKind::WriteZero.into());
    }
    Ok(())
}

/// Waits for a file from the other end of `socket`.
///
/// # Errors
/// The other end is gone, or sent something else: bytes alone, or several files.
pub fn receive_file(socket: impl AsFd) -> io::Result<OwnedFd> {
    let mut said = [0; WORD.len()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = retry_on_intr(|| {
        recvmsg(&socket, &mut [IoSliceMut::new(&mut said)], &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    if got.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    // Files that are not taken out of it are closed here.
    let mut files: Vec<OwnedFd> = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        })
        .flatten()
        .collect();
    let whole = said[..got.bytes] == *WORD && !got.flags.contains(ReturnFlags::CTRUNC);
    match files.pop() {
        Some(file) if whole && files.is_empty() => Ok(file),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the peer sent something else than one file")),
    }
}

/// Whether the process at the other end of `socket` has closed it, or has died. Does not wait.
pub fn hung_up(socket: impl AsFd) -> bool {
    let look = retry_on_intr(|| recv(&socket, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT));
    match look {
        Ok((_, bytes)) => bytes == 0,
        Err(error) => error != Errno::AGAIN,
    }
}
