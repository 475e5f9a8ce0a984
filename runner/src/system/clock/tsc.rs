//! Computes CLOCK_MONOTONIC from the time stamp counter (TSC) if that is the kernel's clock source.
//! A reading takes 10 ns instead of the 25 ns of clock_gettime(2), which matters for I/O served
//! from the page cache.
//!
//! At least every 256 ms, this clock is synchronized with CLOCK_MONOTONIC, so it follows NTP rate
//! adjustments. If the counter cannot be used, every reading calls clock_gettime.

use crate::system::clock::{Clock, Monotonic, NS_PER_MS};
use std::{cell::Cell, fs::read_to_string};

/// Shortest interval over which the rate is measured: an error of 30 ns is 30 ppm of this interval.
const MIN_SPAN_NS: u64 = NS_PER_MS;
/// Longest interval between two anchors. Ticks × rate must stay below 2^64, which corresponds to 4
/// s.
const MAX_SPAN_NS: u64 = 256 * NS_PER_MS;
/// Number of paired readings of both clocks per anchor. The narrowest pair is used, because the
/// thread may be preempted between the two readings.
const TRIES: u32 = 5;
/// Fractional bits of a rate.
const FRACTION: u32 = 32;

/// Returns true if the counter is the kernel's clock source.
pub(crate) fn is_trusted() -> bool {
    let source = read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    cfg!(target_arch = "x86_64") && source.is_ok_and(|name| name.trim() == "tsc")
}

/// Each thread needs its own clock, because readings update `anchor`.
#[derive(Debug)]
pub(crate) struct Tsc {
    trusted: bool,
    anchor: Cell<Anchor>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Anchor {
    ticks: u64,
    /// This clock's time at `ticks`.
    clock_ns: u64,
    /// CLOCK_MONOTONIC time at `ticks`.
    monotonic_ns: u64,
    /// ns per tick × 2^32.
    rate: u64,
    /// Ticks after which a new anchor is needed.
    span: u64,
}

impl Tsc {
    /// `trusted`: whether the counter is the kernel's clock source. If not, every reading calls
    /// clock_gettime.
    pub(crate) fn new(trusted: bool) -> Self {
        let (ticks, ns) = read_both();
        Self {
            trusted,
            anchor: Cell::new(Anchor {
                ticks,
                clock_ns: ns,
                monotonic_ns: ns,
                ..Anchor::default()
            }),
        }
    }

    /// Replaces a stale anchor. The clock never goes backward: if it is ahead, it runs slower until
    /// the next anchor.
    #[cold]
    fn synchronize(&self) -> u64 {
        let old = self.anchor.get();
        let (ticks, monotonic_ns) = read_both();
        let passed_ns = monotonic_ns.saturating_sub(old.monotonic_ns);
        if !self.trusted || ticks <= old.ticks || passed_ns < MIN_SPAN_NS {
            return monotonic_ns.max(old.clock_ns);
        }
        let passed = ticks - old.ticks;
        let clock_ns = monotonic_ns.max(old.clock_ns + scaled(passed, old.rate));
        let rate = quotient(passed_ns, passed);
        let span = quotient((2 * passed_ns).min(MAX_SPAN_NS), rate.max(1));
        let slower = quotient(clock_ns - monotonic_ns, span.max(1));
        self.anchor.set(Anchor {
            ticks,
            clock_ns,
            monotonic_ns,
            rate: rate.saturating_sub(slower),
            span,
        });
        clock_ns
    }
}

impl Clock for Tsc {
    #[inline]
    fn now_ns(&self) -> u64 {
        let anchor = self.anchor.get();
        let passed = ticks().wrapping_sub(anchor.ticks);
        if passed >= anchor.span {
            self.synchronize()
        } else {
            anchor.clock_ns + ((passed * anchor.rate) >> FRACTION)
        }
    }

    fn sleep_until(&self, due_ns: u64) {
        Monotonic.sleep_until(due_ns);
    }
}

fn scaled(ticks: u64, rate: u64) -> u64 {
    ((u128::from(ticks) * u128::from(rate)) >> FRACTION) as u64
}

/// `a` / `b` × 2^32.
fn quotient(a: u64, b: u64) -> u64 {
    ((u128::from(a) << FRACTION) / u128::from(b)) as u64
}

/// Reads the counter and CLOCK_MONOTONIC at nearly the same time (within about 10 ns).
fn read_both() -> (u64, u64) {
    let read = || {
        let before = ticks();
        let ns = Monotonic.now_ns();
        let width = ticks().wrapping_sub(before);
        (width, before.wrapping_add(width / 2), ns)
    };
    let (_, ticks, ns) = (0..TRIES).map(|_| read()).min().unwrap_or_else(read);
    (ticks, ns)
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn ticks() -> u64 {
    // SAFETY: every x86_64 processor has this instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Permitted deviation from CLOCK_MONOTONIC.
    const TOLERANCE_NS: u64 = 1000;

    fn check(clock: &Tsc) {
        let end_ns = Monotonic.now_ns() + 400 * NS_PER_MS;
        let mut last_ns = 0;
        while last_ns < end_ns {
            let before_ns = Monotonic.now_ns();
            let now_ns = clock.now_ns();
            let after_ns = Monotonic.now_ns();
            assert!(now_ns >= last_ns, "{now_ns} after {last_ns}");
            assert!(
                (before_ns - TOLERANCE_NS..=after_ns + TOLERANCE_NS).contains(&now_ns),
                "{before_ns} {now_ns} {after_ns} {clock:?}"
            );
            last_ns = now_ns;
        }
    }

    #[test]
    fn follows_clock_monotonic_and_never_goes_backward() {
        check(&Tsc::new(is_trusted()));
    }

    #[test]
    fn follows_clock_monotonic_without_a_trusted_counter() {
        check(&Tsc::new(false));
    }

    #[test]
    fn is_exact_after_a_long_sleep() {
        let clock = Tsc::new(is_trusted());
        check(&clock);
        std::thread::sleep(std::time::Duration::from_millis(700));
        check(&clock);
    }
}
