//! Failed I/Os after which the loop continues (`continue_on_error`), counted by operation and
//! error.

use crate::load::{measure::exit::IoError, pattern::io::Kind};

/// Maximum number of combinations of operation and error to count: more than devices return in
/// practice. Any further combination ends the loop.
const MAX_KINDS: usize = 32;
/// Maximum number of offsets kept for each combination.
const MAX_OFFSETS: usize = 10;

/// Failed I/Os with the same operation and error.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ErrorCount {
    pub first: IoError,
    pub count: u64,
    /// Offsets of the first I/Os.
    pub offsets: Vec<u64>,
}

/// Does not allocate after it is created.
#[derive(Debug, Default)]
pub(crate) struct ErrorLog {
    /// Tolerated read errors (errno(3)).
    reads: Vec<i32>,
    /// Tolerated write, trim and sync errors.
    writes: Vec<i32>,
    counts: Vec<ErrorCount>,
    /// Preallocated offset lists that are not in use yet.
    unused: Vec<Vec<u64>>,
}

impl ErrorLog {
    /// `reads`, `writes`: errors after which the loop continues, for reads and for all other I/Os.
    pub(crate) fn new(reads: &[i32], writes: &[i32]) -> Self {
        Self {
            reads: reads.into(),
            writes: writes.into(),
            counts: Vec::with_capacity(MAX_KINDS),
            unused: (0..MAX_KINDS)
                .map(|_| Vec::with_capacity(MAX_OFFSETS))
                .collect(),
        }
    }

    /// Counts an error after which the loop continues. Returns false for other errors.
    #[cold]
    pub(crate) fn tolerate(&mut self, error: &IoError) -> bool {
        let tolerated = match error.io.kind {
            Kind::Read => &self.reads,
            _ => &self.writes,
        };
        if !tolerated.contains(&error.errno) {
            return false;
        }
        let is_same = |count: &&mut ErrorCount| {
            count.first.io.kind == error.io.kind && count.first.errno == error.errno
        };
        if let Some(count) = self.counts.iter_mut().find(is_same) {
            count.count += 1;
            if count.offsets.len() < MAX_OFFSETS {
                count.offsets.push(error.io.offset);
            }
            return true;
        }
        let Some(mut offsets) = self.unused.pop() else {
            return false;
        };
        offsets.push(error.io.offset);
        self.counts.push(ErrorCount {
            first: *error,
            count: 1,
            offsets,
        });
        true
    }

    pub(crate) fn take(&mut self) -> Vec<ErrorCount> {
        std::mem::take(&mut self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::pattern::io::Io;

    fn error(kind: Kind, errno: i32, offset: u64) -> IoError {
        IoError {
            io: Io {
                offset,
                len: 4096,
                target: 0,
                kind,
            },
            errno,
        }
    }

    #[test]
    fn errors_are_counted_by_kind_and_number() {
        let mut log = ErrorLog::new(&[5], &[28]);
        for offset in 0..20 {
            assert!(log.tolerate(&error(Kind::Read, 5, offset)));
        }
        for kind in [Kind::Write, Kind::Trim, Kind::Sync] {
            assert!(log.tolerate(&error(kind, 28, 7)));
        }
        assert!(!log.tolerate(&error(Kind::Write, 5, 0)));
        assert!(!log.tolerate(&error(Kind::Read, 28, 0)));
        assert!(!log.tolerate(&error(Kind::Read, 0, 0)));
        let counts = log.take();
        let found: Vec<_> = counts
            .iter()
            .map(|count| (count.first.io.kind, count.count))
            .collect();
        let expected = [
            (Kind::Read, 20),
            (Kind::Write, 1),
            (Kind::Trim, 1),
            (Kind::Sync, 1),
        ];
        assert_eq!(found, expected);
        assert_eq!(counts[0].offsets, (0..10).collect::<Vec<u64>>());
    }

    #[test]
    fn no_error_is_tolerated_by_default() {
        assert!(!ErrorLog::default().tolerate(&error(Kind::Read, 5, 0)));
    }
}
