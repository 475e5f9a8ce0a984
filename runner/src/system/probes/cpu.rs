//! CPU time of the whole host. Source: proc_stat(5), the `cpu` line, in ticks of 10 ms: a window of 100 ms is exact to a
//! tenth of one CPU.

use crate::system::probes::rusage::CpuTimes;
use leadline_protocol::counters::CpuUse;

/// Only the first line is needed.
pub(crate) const BYTES: usize = 512;

/// Ticks of all CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct HostTicks {
    user: u64,
    system: u64,
    idle: u64,
    iowait: u64,
    steal: u64,
}

impl HostTicks {
    /// Reads `cpu user nice system idle iowait irq softirq steal guest guest_nice`. `user` includes guests.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let fields = text.lines().next()?.strip_prefix("cpu ")?;
        let mut ticks = fields.split_ascii_whitespace().map(str::parse::<u64>);
        let mut next = || ticks.next()?.ok();
        let [user, nice, system, idle] = [next()?, next()?, next()?, next()?];
        let [iowait, irq, softirq, steal] = [(); 4].map(|()| next().unwrap_or(0));
        Some(Self {
            user: user + nice,
            system: system + irq + softirq,
            idle,
            iowait,
            steal,
        })
    }

    /// The kernel's idle and iowait may decrease.
    pub(crate) fn since(self, from: Self) -> Self {
        Self {
            user: self.user.saturating_sub(from.user),
            system: self.system.saturating_sub(from.system),
            idle: self.idle.saturating_sub(from.idle),
            iowait: self.iowait.saturating_sub(from.iowait),
            steal: self.steal.saturating_sub(from.steal),
        }
    }
}

/// `process` in percent of one CPU, `host` in percent of all CPUs.
pub(crate) fn percentages(process: CpuTimes, host: HostTicks, elapsed_ns: u64) -> CpuUse {
    let of_one = |ns: u64| ns as f64 * 100.0 / elapsed_ns.max(1) as f64;
    let total = host.user + host.system + host.idle + host.iowait + host.steal;
    let of_all = |ticks: u64| ticks as f64 * 100.0 / total.max(1) as f64;
    CpuUse {
        process_user: of_one(process.user_ns),
        process_system: of_one(process.system_ns),
        host_user: of_all(host.user),
        host_system: of_all(host.system),
        host_iowait: of_all(host.iowait),
        host_steal: of_all(host.steal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_cpu_line() {
        let time = |user, system, idle, iowait, steal| {
            Some(HostTicks {
                user,
                system,
                idle,
                iowait,
                steal,
            })
        };
        for (text, want) in [
            (
                "cpu  91052 5 8614 151790 806 1 129 23 0 0\ncpu0 1 1 1 1\n",
                time(91057, 8744, 151_790, 806, 23),
            ),
            ("cpu 1 2 3 4\n", time(3, 3, 4, 0, 0)),
            ("cpu 1 2 3\n", None),
            ("cpu0 1 2 3 4 5\n", None),
            ("", None),
        ] {
            assert_eq!(HostTicks::parse(text), want, "{text}");
        }
    }

    #[test]
    fn window_percentages() {
        let from = HostTicks {
            user: 10,
            system: 10,
            idle: 100,
            iowait: 5,
            steal: 0,
        };
        let to = HostTicks {
            user: 15,
            system: 12,
            idle: 111,
            iowait: 4,
            steal: 2,
        };
        let process = CpuTimes {
            user_ns: 50_000_000,
            system_ns: 20_000_000,
            ..CpuTimes::default()
        };
        let found = percentages(process, to.since(from), 100_000_000);
        let want = CpuUse {
            process_user: 50.0,
            process_system: 20.0,
            host_user: 25.0,
            host_system: 10.0,
            host_iowait: 0.0,
            host_steal: 10.0,
        };
        assert_eq!(found, want);
        assert_eq!(
            percentages(CpuTimes::default(), HostTicks::default(), 0),
            CpuUse::default()
        );
    }
}
