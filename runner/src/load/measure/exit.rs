//! Why the measuring loop returned.

use crate::load::pattern::io::{Io, Kind};
use std::io;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum LoopExit {
    /// The phase ended.
    TimeUp,
    /// All work is complete.
    Finished,
    /// An I/O failed.
    Failed(IoError),
}

/// A failed I/O.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct IoError {
    pub io: Io,
    /// errno(3); 0 if fewer bytes were transferred than requested.
    pub errno: i32,
}

impl IoError {
    pub(crate) fn operation(&self) -> &'static str {
        match self.io.kind {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Trim => "trim",
            Kind::Sync | Kind::Datasync => "sync",
        }
    }

    pub(crate) fn message(&self) -> String {
        if self.errno == 0 {
            "fewer bytes transferred than requested: end of the target, no space left, or a device that was removed".into()
        } else {
            io::Error::from_raw_os_error(self.errno).to_string()
        }
    }
}
