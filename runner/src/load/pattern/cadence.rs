//! fsync and fdatasync after every N writes of the clone, on the file written last. Only writes count, also in a mix;
//! where both are due at once, fsync does the work of both (fio io_u.c, `set_io_u_ddir` of 3.42).

use crate::load::pattern::{Io, Kind};

/// Counts writes down to the next sync.
#[derive(Clone, Debug)]
pub(crate) struct Cadence {
    fsync: Countdown,
    fdatasync: Countdown,
    is_due: bool,
    next: Io,
}

#[derive(Clone, Debug)]
struct Countdown {
    every: u32,
    left: u32,
}

impl Cadence {
    /// A sync after every so many writes; 0 for never.
    pub fn new(fsync: u32, fdatasync: u32) -> Self {
        let countdown = |every| Countdown { every, left: every };
        Self {
            fsync: countdown(fsync),
            fdatasync: countdown(fdatasync),
            is_due: false,
            next: Io {
                offset: 0,
                len: 0,
                target: 0,
                kind: Kind::Sync,
            },
        }
    }

    /// Whether there is none at all.
    pub fn is_never(&self) -> bool {
        self.fsync.every == 0 && self.fdatasync.every == 0
    }

    /// The sync that must come before the next I/O, once.
    #[inline]
    pub fn due(&mut self) -> Option<Io> {
        std::mem::take(&mut self.is_due).then_some(self.next)
    }

    /// A write was issued to this target.
    #[inline]
    pub fn wrote(&mut self, target: u16) {
        let (fsync, fdatasync) = (self.fsync.count(), self.fdatasync.count());
        if fsync || fdatasync {
            self.next.kind = if fsync { Kind::Sync } else { Kind::Datasync };
            self.next.target = target;
            self.is_due = true;
        }
    }
}

impl Countdown {
    fn count(&mut self) -> bool {
        if self.every == 0 {
            return false;
        }
        self.left -= 1;
        let done = self.left == 0;
        if done {
            self.left = self.every;
        }
        done
    }
}
