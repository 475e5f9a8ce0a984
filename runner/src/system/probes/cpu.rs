//! Processor time of the whole host. Source: proc_stat(5), the `cpu` line, in ticks of 10 ms: a window of 100 ms is
//! exact to a tenth of one processor.

use crate::system::probes::rusage::CpuTimes;
use leadline_protocol::counters::CpuUse;

/// Only the first line matters.
pub const BYTES: usize = 512;

/// Ticks of all processors, cumulative or of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostTicks {
    user: u64,
    system: u64,
    idle: u64,
    iowait: u64,
    steal: u64,
}

impl HostTicks {
    /// Reads `cpu user nice system idle iowait irq softirq steal guest guest_nice`; guests are in `user` already.
    pub fn parse(text: &str) -> Option<Self> {
        let mut ticks = text
            .lines()
            .next()?
            .strip_prefix("cpu ")?
            .split_ascii_whitespace()
            .map(|field| field.parse::<u64>().ok());
        let mut next = || ticks.next().flatten();
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

    /// The ticks from one reading to the next. The kernel lets idle and iowait go backwards at times.
    pub fn since(self, from: Self) -> Self {
        Self {
            user: self.user.saturating_sub(from.user),
            system: self.system.saturating_sub(from.system),
            idle: self.idle.saturating_sub(from.idle),
            iowait: self.iowait.saturating_sub(from.iowait),
            steal: self.steal.saturating_sub(from.steal),
        }
    }

    fn percent(self, ticks: u64) -> f64 {
        let all = self.user + self.system + self.idle + self.iowait + self.steal;
        if all == 0 {
            0.0
        } else {
            ticks as f64 * 100.0 / all as f64
        }
    }
}

/// The times of a window of `elapsed_ns` in percent.
pub fn use_of(process: CpuTimes, machine: HostTicks, elapsed_ns: u64) -> CpuUse {
    let of_one = |ns: u64| ns as f64 * 100.0 / elapsed_ns.max(1) as f64;
    CpuUse {
        process_user: of_one(process.user_ns),
        process_system: of_one(process.system_ns),
        host_user: machine.percent(machine.user),
        host_system: machine.percent(machine.system),
        host_iowait: machine.percent(machine.iowait),
        host_steal: machine.percent(machine.steal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_line() {
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
    fn percentages_of_a_window() {
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
        let found = use_of(process, to.since(from), 100_000_000);
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
            use_of(CpuTimes::default(), HostTicks::default(), 0),
            CpuUse::default()
        );
    }
}
