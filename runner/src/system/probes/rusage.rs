//! CPU time of this process and of individual threads. Source: getrusage(2), which has a resolution
//! of 1 µs or better.

use std::mem::MaybeUninit;

/// CPU time, context switches and page faults, cumulative or in a window.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CpuTimes {
    pub user_ns: u64,
    pub system_ns: u64,
    /// Voluntary and involuntary context switches.
    pub context_switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
}

impl CpuTimes {
    pub fn plus(self, other: Self) -> Self {
        Self {
            user_ns: self.user_ns + other.user_ns,
            system_ns: self.system_ns + other.system_ns,
            context_switches: self.context_switches + other.context_switches,
            major_faults: self.major_faults + other.major_faults,
            minor_faults: self.minor_faults + other.minor_faults,
        }
    }

    pub fn since(self, from: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(from.user_ns),
            system_ns: self.system_ns.saturating_sub(from.system_ns),
            context_switches: self.context_switches.saturating_sub(from.context_switches),
            major_faults: self.major_faults.saturating_sub(from.major_faults),
            minor_faults: self.minor_faults.saturating_sub(from.minor_faults),
        }
    }
}

/// CPU time of this process, including io_uring workers and threads that have exited.
pub fn process_times() -> CpuTimes {
    times(libc::RUSAGE_SELF)
}

/// CPU time of the calling thread.
pub fn thread_times() -> CpuTimes {
    times(libc::RUSAGE_THREAD)
}

fn times(who: libc::c_int) -> CpuTimes {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage writes at most one rusage; an all-zero value is valid if it fails.
    let usage = unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    CpuTimes {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        context_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
        major_faults: usage.ru_majflt as u64,
        minor_faults: usage.ru_minflt as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn counts_work_and_sleep() {
        let before = thread_times();
        let begin = Instant::now();
        while thread_times().since(before).user_ns + thread_times().since(before).system_ns
            < 20_000_000
        {
            assert!(
                begin.elapsed() < Duration::from_secs(20),
                "no 20 ms of CPU time"
            );
        }
        let worked = thread_times();
        std::thread::sleep(Duration::from_millis(1));
        assert!(thread_times().context_switches > worked.context_switches);
        assert!(process_times().user_ns + process_times().system_ns >= 20_000_000);
    }
}
