//! CPU time of the whole host. Source: the `cpu` line in proc_stat(5), in ticks of 10 ms, so a 100
//! ms window is accurate to a tenth of one CPU.

use crate::system::probes::rusage::CpuTimes;
use leadline_protocol::counters::CpuUse;

/// Bytes to read, because only the first line is needed.
pub(crate) const BYTES: usize = 512;

/// Ticks of all CPUs: user, system, idle, iowait, steal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct HostTicks([u64; 5]);

impl HostTicks {
    /// Parses `cpu user nice system idle iowait irq softirq steal guest guest_nice`. `user`
    /// includes guests.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let fields = text.lines().next()?.strip_prefix("cpu ")?;
        let mut ticks = fields.split_ascii_whitespace().map(str::parse::<u64>);
        let mut next = || ticks.next()?.ok();
        let [user, nice, system, idle] = [next()?, next()?, next()?, next()?];
        let [iowait, irq, softirq, steal] = [(); 4].map(|()| next().unwrap_or(0));
        let system = system.saturating_add(irq).saturating_add(softirq);
        let user = user.saturating_add(nice);
        Some(Self([user, system, idle, iowait, steal]))
    }

    /// The kernel's idle and iowait counters may decrease.
    pub(crate) fn since(self, from: Self) -> Self {
        Self(std::array::from_fn(|at| {
            self.0[at].saturating_sub(from.0[at])
        }))
    }
}

/// `process` is a percentage of one CPU, and `host` of all CPUs.
pub(crate) fn percentages(process: CpuTimes, host: HostTicks, elapsed_ns: u64) -> CpuUse {
    let of_one = |ns: u64| ns as f64 * 100.0 / elapsed_ns.max(1) as f64;
    let ticks = host.0.map(|ticks| ticks as f64);
    let total: f64 = ticks.iter().sum();
    let of_all = ticks.map(|ticks| ticks * 100.0 / total.max(1.0));
    let [host_user, host_system, _idle, host_iowait, host_steal] = of_all;
    CpuUse {
        process_user: of_one(process.user_ns),
        process_system: of_one(process.system_ns),
        host_user,
        host_system,
        host_iowait,
        host_steal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_cpu_line() {
        let time = |user, system, idle, iowait, steal| {
            Some(HostTicks([user, system, idle, iowait, steal]))
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
    fn absurd_counters_do_not_overflow() {
        let most = HostTicks::parse(&format!("cpu {}", format!("{} ", u64::MAX).repeat(8)));
        assert_eq!(most, Some(HostTicks([u64::MAX; 5])));
        let used = percentages(CpuTimes::default(), most.unwrap(), 1);
        assert_eq!((used.host_user, used.host_steal), (20.0, 20.0));
    }

    #[test]
    fn window_percentages() {
        let from = HostTicks([10, 10, 100, 5, 0]);
        let to = HostTicks([15, 12, 111, 4, 2]);
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
