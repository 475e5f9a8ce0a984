//! Goodness-of-fit tests for random numbers. Seeds are fixed, so a bound that holds once always
//! holds. With the bounds used, a correct generator fails for one seed in a million.

/// Kolmogorov–Smirnov distance between samples and a cumulative distribution function, times √n.
/// Exceeds 2.7 for one seed in a million.
pub(crate) fn ks_distance(mut samples: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let n = samples.len() as f64;
    let gap = |(index, sample): (usize, &f64)| {
        let share = cdf(*sample);
        let below = (share - index as f64 / n).abs();
        let above = ((index + 1) as f64 / n - share).abs();
        below.max(above)
    };
    samples.iter().enumerate().map(gap).fold(0.0, f64::max) * n.sqrt()
}

/// Minimum expected count per cell for the χ² approximation.
const MIN_EXPECTED: f64 = 5.0;

/// Pearson's χ² of observed against expected counts, in standard deviations above its mean. Exceeds
/// 5.5 for one seed in a million. Cells whose expected count is too small are merged with the next
/// cell.
pub(crate) fn chi_square_excess(counts: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(counts.len(), expected.len());
    let mut cells: Vec<(f64, f64)> = Vec::new();
    for (count, expected) in counts.iter().zip(expected) {
        match cells.last_mut() {
            Some(cell) if cell.1 < MIN_EXPECTED => *cell = (cell.0 + count, cell.1 + expected),
            _ => cells.push((*count, *expected)),
        }
    }
    let chi_square: f64 = cells
        .iter()
        .map(|(count, expected)| (count - expected).powi(2) / expected.max(MIN_EXPECTED))
        .sum();
    let degrees = f64::max(cells.len() as f64 - 1.0, 1.0);
    (chi_square - degrees) / (2.0 * degrees).sqrt()
}
