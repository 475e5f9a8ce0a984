//! Limits how much data is read to verify that regions are blank. All targets of a plan share one
//! limit, so planning stays fast even with many targets.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// Remaining bytes and time.
#[derive(Debug)]
pub(crate) struct ReadLimit {
    bytes: AtomicU64,
    microseconds: AtomicU64,
}

impl ReadLimit {
    pub(crate) fn new(bytes: u64, time: Duration) -> Self {
        Self {
            bytes: bytes.into(),
            microseconds: (time.as_micros() as u64).into(),
        }
    }

    /// Limit for a plan, which must be fast.
    pub(crate) fn for_plan() -> Self {
        Self::new(4 << 30, Duration::from_secs(4))
    }

    /// Limit for one target of a run. It allows more time than a plan's limit, so any target that
    /// the plan read completely is also read completely just before the first write.
    pub(crate) fn for_run() -> Self {
        Self::new(4 << 30, Duration::from_secs(40))
    }

    /// Limit for a target that need not be read, because its contents are confirmed.
    pub(crate) fn zero() -> Self {
        Self::new(0, Duration::ZERO)
    }

    pub(crate) fn permits(&self) -> bool {
        self.bytes.load(Relaxed) > 0 && self.microseconds.load(Relaxed) > 0
    }

    /// Calls `read`, which returns the number of bytes it read, and counts those bytes and the
    /// elapsed time against the limit.
    pub(crate) fn count<E>(&self, read: impl FnOnce() -> Result<u64, E>) -> Result<u64, E> {
        let start = Instant::now();
        let bytes = read()?;
        let subtract = |left: &AtomicU64, used| {
            // The closure always returns `Some`.
            let _ = left.fetch_update(Relaxed, Relaxed, |left| Some(left.saturating_sub(used)));
        };
        subtract(&self.bytes, bytes);
        subtract(&self.microseconds, start.elapsed().as_micros() as u64);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_time_are_limited() {
        let limit = ReadLimit::new(100, Duration::from_secs(60));
        for (bytes, is_permitted) in [(40, true), (59, true), (5, false)] {
            assert_eq!(limit.count(|| Ok::<_, ()>(bytes)), Ok(bytes));
            assert_eq!(limit.permits(), is_permitted, "{bytes}");
        }
        let limit = ReadLimit::new(100, Duration::from_micros(1));
        let slow = || {
            let start = Instant::now();
            while start.elapsed() < Duration::from_micros(2) {}
            Ok::<_, ()>(1)
        };
        assert!(limit.permits());
        assert_eq!(limit.count(slow), Ok(1));
        assert!(!limit.permits());
        assert!(!ReadLimit::zero().permits());
        assert_eq!(ReadLimit::for_run().count(|| Err(())), Err(()));
    }
}
