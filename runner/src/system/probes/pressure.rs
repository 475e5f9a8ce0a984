//! Time that tasks waited for I/O. Source: Documentation/accounting/psi.rst.

use leadline_protocol::counters::Pressure;

/// Maximum file size: two lines of about 60 bytes.
pub(crate) const BYTES: usize = 256;

/// The `total` values, in µs since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StallTimes {
    some_us: u64,
    full_us: u64,
}

impl StallTimes {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let total = |kind: &str| {
            let line = text.lines().find(|line| line.starts_with(kind))?;
            line.rsplit_once("total=")?.1.trim().parse().ok()
        };
        Some(Self {
            some_us: total("some ")?,
            full_us: total("full ")?,
        })
    }

    /// Stall times as a percentage of the window, capped at 100 because the kernel updates its
    /// totals only periodically.
    pub(crate) fn share_since(self, from: Self, elapsed_ns: u64) -> Pressure {
        let percent = |to: u64, from: u64| {
            (to.saturating_sub(from) as f64 * 1e5 / elapsed_ns.max(1) as f64).min(100.0)
        };
        Pressure {
            io_some: percent(self.some_us, from.some_us),
            io_full: percent(self.full_us, from.full_us),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_totals() {
        let text = "some avg10=0.00 avg60=0.04 avg300=0.20 total=6310008\nfull avg10=0.00 avg60=0.04 avg300=0.19 total=5604901\n";
        assert_eq!(
            StallTimes::parse(text),
            Some(StallTimes {
                some_us: 6_310_008,
                full_us: 5_604_901
            })
        );
        assert_eq!(StallTimes::parse("some avg10=0.00\n"), None);
    }

    #[test]
    fn window_shares() {
        let at = |some_us, full_us| StallTimes { some_us, full_us };
        for (to, want) in [
            (at(50_000, 20_000), (50.0, 20.0)),
            (at(200_000, 0), (100.0, 0.0)),
            (at(0, 0), (0.0, 0.0)),
        ] {
            let share = to.share_since(at(0, 0), 100_000_000);
            assert_eq!((share.io_some, share.io_full), want);
        }
    }
}
