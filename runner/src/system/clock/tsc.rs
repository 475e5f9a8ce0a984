//! CLOCK_MONOTONIC, told by the processor's time stamp counter where the kernel itself trusts it: 10 ns a reading instead
//! of the 25 of clock_gettime(2), which an I/O from the page cache would feel.
//!
//! The counter is anchored to CLOCK_MONOTONIC again and again, at most every 256 ms, so that it follows what NTP does
//! to the clock's rate. Where it cannot be used, every reading is one of CLOCK_MONOTONIC.

use crate::system::clock::{Clock, MILLISECOND_NS, Monotonic};
use std::cell::Cell;
use std::fs::read_to_string;

/// The shortest time over which the counter's rate is measured: 30 ns of doubt are then 30 ppm of it.
const FIRST_SPAN_NS: u64 = MILLISECOND_NS;
/// The longest time between two anchors. Ticks × rate must stay below 2^64, which is 4 s × 2^32.
const LONGEST_SPAN_NS: u64 = 256 * MILLISECOND_NS;
/// Readings of both clocks for an anchor; the narrowest counts, as we may lose the processor between the two.
const TRIES: u32 = 5;
/// Fraction bits of a rate.
const FRACTION: u32 = 32;

/// The counter as a clock, of one thread.
#[derive(Debug)]
pub struct Tsc {
    trusted: bool,
    anchor: Cell<Anchor>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Anchor {
    /// The counter at the anchor.
    ticks: u64,
    /// What this clock told then, in ns.
    told_ns: u64,
    /// What CLOCK_MONOTONIC told then, in ns.
    seen_ns: u64,
    /// ns of a tick × 2^32.
    rate: u64,
    /// Ticks for which it holds.
    span: u64,
}

impl Tsc {
    /// Looks whether the kernel uses the counter for its own clock.
    pub fn new() -> Self {
        let source =
            read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        let trusted = cfg!(target_arch = "x86_64") && source.is_ok_and(|name| name.trim() == "tsc");
        let (ticks, ns) = read_both();
        Self {
            trusted,
            anchor: Cell::new(Anchor {
                ticks,
                told_ns: ns,
                seen_ns: ns,
                ..Anchor::default()
            }),
        }
    }

    /// Whether it is the counter that tells the time.
    pub fn is_trusted(&self) -> bool {
        self.trusted
    }

    /// Anchors anew when the old anchor is stale. Told time never goes back: where it ran ahead, it runs slower until
    /// the next anchor.
    #[cold]
    fn anchor_anew(&self) -> u64 {
        let old = self.anchor.get();
        let (ticks, seen_ns) = read_both();
        let passed_ns = seen_ns.saturating_sub(old.seen_ns);
        if !self.trusted || ticks <= old.ticks || passed_ns < FIRST_SPAN_NS {
            return seen_ns.max(old.told_ns);
        }
        let passed = ticks - old.ticks;
        let told_ns = seen_ns.max(old.told_ns + scaled(passed, old.rate));
        let rate = ((u128::from(passed_ns) << FRACTION) / u128::from(passed)) as u64;
        let span_ns = (2 * passed_ns).min(LONGEST_SPAN_NS);
        let span = (u128::from(span_ns) << FRACTION) as u64 / rate.max(1);
        let slower = ((u128::from(told_ns - seen_ns) << FRACTION) / u128::from(span.max(1))) as u64;
        self.anchor.set(Anchor {
            ticks,
            told_ns,
            seen_ns,
            rate: rate.saturating_sub(slower),
            span,
        });
        told_ns
    }
}

impl Clock for Tsc {
    #[inline]
    fn now_ns(&self) -> u64 {
        let anchor = self.anchor.get();
        let passed = ticks().wrapping_sub(anchor.ticks);
        if passed >= anchor.span {
            self.anchor_anew()
        } else {
            anchor.told_ns + ((passed * anchor.rate) >> FRACTION)
        }
    }

    fn sleep_until(&self, due_ns: u64) {
        Monotonic.sleep_until(due_ns);
    }
}

fn scaled(ticks: u64, rate: u64) -> u64 {
    ((u128::from(ticks) * u128::from(rate)) >> FRACTION) as u64
}

/// The counter and CLOCK_MONOTONIC at the same moment, to some 10 ns.
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
    // SAFETY: every processor of this architecture has the instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far it may be from CLOCK_MONOTONIC, in ns.
    const DOUBT_NS: u64 = 1000;

    fn check(clock: &Tsc) {
        let end_ns = Monotonic.now_ns() + 400 * MILLISECOND_NS;
        let mut last_ns = 0;
        while last_ns < end_ns {
            let before_ns = Monotonic.now_ns();
            let now_ns = clock.now_ns();
            let after_ns = Monotonic.now_ns();
            assert!(now_ns >= last_ns, "{now_ns} after {last_ns}");
            assert!(
                (before_ns - DOUBT_NS..=after_ns + DOUBT_NS).contains(&now_ns),
                "{before_ns} {now_ns} {after_ns} {clock:?}"
            );
            last_ns = now_ns;
        }
    }

    #[test]
    fn it_tells_the_kernels_time_and_never_goes_back() {
        check(&Tsc::new());
    }

    #[test]
    fn without_a_trusted_counter_it_still_does() {
        check(&Tsc {
            trusted: false,
            ..Tsc::new()
        });
    }

    #[test]
    fn after_a_long_sleep_it_is_right_at_once() {
        let clock = Tsc::new();
        check(&clock);
        std::thread::sleep(std::time::Duration::from_millis(700));
        check(&clock);
    }
}
