//! Processor time of this process and of single threads. Source: getrusage(2), which counts in µs or finer, not in
//! ticks.

use std::mem::MaybeUninit;

/// Processor time and context switches, cumulative or of a window.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CpuTimes {
    /// In user mode, in ns.
    pub user_ns: u64,
    /// In the kernel, in ns.
    pub system_ns: u64,
    /// Voluntary and involuntary.
    pub context_switches: u64,
    /// Those in which somebody else was let in before the thread had to wait.
    pub involuntary_switches: u64,
}

impl CpuTimes {
    /// What was spent from one reading to this one.
    pub fn since(self, from: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(from.user_ns),
            system_ns: self.system_ns.saturating_sub(from.system_ns),
            context_switches: self.context_switches.saturating_sub(from.context_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(from.involuntary_switches),
        }
    }
}

/// Of all threads of this process, those that ended and the kernel's workers for its rings included.
pub fn process_times() -> CpuTimes {
    times(libc::RUSAGE_SELF)
}

/// Of the calling thread since it began.
pub fn thread_times() -> CpuTimes {
    times(libc::RUSAGE_THREAD)
}

fn times(who: libc::c_int) -> CpuTimes {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is a whole rusage that getrusage may write; all zeros are valid for it, should the call fail.
    let usage = unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    CpuTimes {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        context_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn work_and_sleep_are_counted() {
        let before = thread_times();
        let begin = Instant::now();
        while thread_times().since(before).user_ns + thread_times().since(before).system_ns
            < 20_000_000
        {
            assert!(
                begin.elapsed() < Duration::from_secs(20),
                "20 ms of work never came"
            );
        }
        let worked = thread_times();
        std::thread::sleep(Duration::from_millis(1));
        assert!(thread_times().context_switches > worked.context_switches);
        assert!(process_times().user_ns + process_times().system_ns >= 20_000_000);
    }
}
