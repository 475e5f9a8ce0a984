//! Latency percentiles when some I/Os are still in flight at the end of a run. The latency of such
//! an I/O is only known to exceed its current age (right-censored). The product-limit estimator
//! includes both completed and unfinished I/Os: Kaplan and Meier, Nonparametric Estimation from
//! Incomplete Observations, JASA 53 (1958).

use leadline_protocol::histogram::{BUCKETS, bucket_of, midpoint_of, percentiles, sparse};

/// Tolerance for rounding errors in the product.
const EPSILON: f64 = 1e-9;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Percentile {
    pub ns: u64,
    /// Whether `ns` is only a lower bound.
    pub is_bound: bool,
}

/// Estimates the `wanted` percentiles, which must be in ascending order. Returns an empty list if
/// there are no I/Os. `counts`: completed I/Os per bucket. `slowest_ns`: latency of the slowest
/// completed I/O. `ages_ns`: ages of the unfinished I/Os.
pub(super) fn estimate_percentiles(
    counts: &[u64; BUCKETS],
    slowest_ns: u64,
    ages_ns: &[u64],
    wanted: &[f64],
) -> Vec<Percentile> {
    let exact = |ns| Percentile {
        ns,
        is_bound: false,
    };
    if ages_ns.is_empty() {
        let values = percentiles(&sparse(counts), wanted);
        return values.into_iter().map(exact).collect();
    }
    let mut unfinished = [0; BUCKETS];
    for age_ns in ages_ns {
        let is_older = *age_ns >= slowest_ns;
        // An unfinished I/O in the same bucket as the slowest completed one has no effect on the
        // tail if it is younger.
        let bucket = bucket_of(*age_ns);
        let is_same = bucket == bucket_of(slowest_ns);
        unfinished[bucket - usize::from(is_same && !is_older)] += 1;
    }
    let completed_shares = completed_shares(counts, &unfinished);
    let bounds = lower_bounds(counts, &unfinished, wanted);
    let estimate = |percent: &f64| {
        let share = percent / 100.0 - EPSILON;
        let reached = completed_shares.iter().find(|(_, sum)| *sum >= share);
        reached.map(|(bucket, _)| midpoint_of(*bucket))
    };
    wanted
        .iter()
        .zip(bounds)
        .map(|(percent, bound_ns)| match estimate(percent) {
            Some(ns) => exact(ns),
            None => Percentile {
                ns: bound_ns.max(slowest_ns),
                is_bound: true,
            },
        })
        .collect()
}

/// The estimated share of I/Os that complete by the end of each bucket that contains completions.
fn completed_shares(counts: &[u64; BUCKETS], unfinished: &[u64; BUCKETS]) -> Vec<(usize, f64)> {
    let mut at_risk = counts.iter().chain(unfinished).sum::<u64>();
    let mut surviving = 1.0;
    let mut shares = Vec::new();
    for (bucket, (&completed, &censored)) in counts.iter().zip(unfinished).enumerate() {
        if completed > 0 {
            surviving *= 1.0 - completed as f64 / at_risk as f64;
            shares.push((bucket, 1.0 - surviving));
        }
        at_risk -= completed + censored;
    }
    shares
}

/// Percentiles under the assumption that every unfinished I/O completed at the end of the run.
fn lower_bounds(counts: &[u64; BUCKETS], unfinished: &[u64; BUCKETS], wanted: &[f64]) -> Vec<u64> {
    let mut all = *counts;
    for (sum, count) in all.iter_mut().zip(unfinished) {
        *sum += count;
    }
    percentiles(&sparse(&all), wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every latency below 128 ns has its own bucket.
    fn found(completed: &[(usize, u64)], ages_ns: &[u64], wanted: &[f64]) -> Vec<(u64, bool)> {
        let mut counts = [0; BUCKETS];
        completed.iter().for_each(|(ns, n)| counts[*ns] = *n);
        let slowest_ns = completed.last().map_or(0, |(ns, _)| *ns as u64);
        let found = estimate_percentiles(&counts, slowest_ns, ages_ns, wanted);
        found
            .iter()
            .map(|value| (value.ns, value.is_bound))
            .collect()
    }

    #[test]
    fn ranks_are_exact_if_all_ios_completed() {
        let completed = [(10, 999), (90, 1)];
        assert_eq!(
            found(&completed, &[], &[50.0, 99.9, 99.99]),
            [(10, false), (10, false), (90, false)]
        );
    }

    #[test]
    fn old_ios_bound_the_tail() {
        // 32 of 1,000 I/Os hang, so only the latencies of the fastest 96.8 % are known.
        let completed = [(10, 968)];
        let ages = [100; 32];
        assert_eq!(
            found(&completed, &ages, &[50.0, 96.8, 96.9, 99.9]),
            [(10, false), (10, false), (100, true), (100, true)]
        );
    }

    #[test]
    fn young_ios_have_no_effect() {
        let completed = [(10, 500), (50, 500)];
        assert_eq!(
            found(&completed, &[1, 2, 3], &[50.0, 99.0, 100.0]),
            [(10, false), (50, false), (50, false)]
        );
    }

    #[test]
    fn younger_ios_in_the_slowest_bucket_do_not_cause_bounds() {
        let (age_ns, slowest_ns) = (14_085_000, 14_090_000);
        assert_eq!(bucket_of(age_ns), bucket_of(slowest_ns));
        let mut counts = [0; BUCKETS];
        counts[bucket_of(slowest_ns)] = 1;
        let found = estimate_percentiles(&counts, slowest_ns, &[age_ns], &[99.0]);
        assert!(!found[0].is_bound);
        let older = estimate_percentiles(&counts, slowest_ns, &[slowest_ns + 1], &[99.0]);
        assert!(older[0].is_bound);
    }

    #[test]
    fn textbook_example() {
        // Survival 0.9 after 6, 0.9 × 7/8 after 10; the rest is censored.
        let completed = [(6, 1), (10, 1)];
        let ages = [8, 20, 20, 20, 20, 20, 20, 20];
        assert_eq!(
            found(&completed, &ages, &[10.0, 21.25, 40.0]),
            [(6, false), (10, false), (20, true)]
        );
    }

    #[test]
    fn all_percentiles_are_bounds_if_no_io_completed() {
        assert_eq!(found(&[], &[7, 9], &[50.0, 99.0]), [(7, true), (9, true)]);
        assert_eq!(found(&[], &[], &[50.0]), []);
    }
}
