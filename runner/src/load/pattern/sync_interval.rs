//! Issues fsync and fdatasync after every N writes by the worker, on the target of the last write.
//! Only writes count, even in mixed workloads (fio up to 3.33 repeats a sync after reads). If both
//! are due, only fsync is issued (fio 3.42, io_u.c, `set_io_u_ddir`).

use crate::load::pattern::io::{Io, Kind};

#[derive(Clone, Debug)]
pub(crate) struct SyncInterval {
    fsync: Countdown,
    fdatasync: Countdown,
    is_due: bool,
    next: Io,
}

#[derive(Clone, Debug)]
struct Countdown {
    /// Number of writes per interval; 0 for never.
    every: u32,
    left: u32,
}

impl SyncInterval {
    /// Number of writes between two syncs; 0 for never.
    pub(crate) fn new(fsync: u32, fdatasync: u32) -> Self {
        let countdown = |every| Countdown { every, left: every };
        Self {
            fsync: countdown(fsync),
            fdatasync: countdown(fdatasync),
            is_due: false,
            next: Io {
                kind: Kind::Sync,
                ..Io::default()
            },
        }
    }

    pub(crate) fn is_disabled(&self) -> bool {
        self.fsync.every == 0 && self.fdatasync.every == 0
    }

    /// Number of writes until the next sync is due, at least 1.
    #[inline]
    pub(crate) fn writes_left(&self) -> usize {
        self.fsync.left().min(self.fdatasync.left())
    }

    /// Returns the sync if one is due, which is then no longer due.
    #[inline]
    pub(crate) fn take_due(&mut self) -> Option<Io> {
        std::mem::take(&mut self.is_due).then_some(self.next)
    }

    #[inline]
    pub(crate) fn count_write(&mut self, target: u16) {
        let fsync = self.fsync.count();
        let fdatasync = self.fdatasync.count();
        if fsync || fdatasync {
            self.next.kind = if fsync { Kind::Sync } else { Kind::Datasync };
            self.next.target = target;
            self.is_due = true;
        }
    }
}

impl Countdown {
    /// Number of writes left in the interval; `usize::MAX` if it never ends.
    #[inline]
    fn left(&self) -> usize {
        if self.every == 0 {
            usize::MAX
        } else {
            self.left as usize
        }
    }

    /// Counts a write. Returns true at the end of an interval.
    fn count(&mut self) -> bool {
        if self.every == 0 {
            return false;
        }
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.left = self.every;
        true
    }
}
