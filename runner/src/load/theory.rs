//! What tests hold random numbers against: how far draws are from the law that they should follow. Seeds are fixed, so that
//! a bound that holds once holds always; the bounds leave a right generator one failure in a million seeds.

/// Kolmogorov's distance of draws from a distribution function, times √n: over 2.7 once in a million.
pub(crate) fn ks_distance(mut draws: Vec<f64>, law: impl Fn(f64) -> f64) -> f64 {
    draws.sort_by(f64::total_cmp);
    let n = draws.len() as f64;
    let gap = |(index, draw): (usize, &f64)| {
        let share = law(*draw);
        (share - index as f64 / n)
            .abs()
            .max(((index + 1) as f64 / n - share).abs())
    };
    draws.iter().enumerate().map(gap).fold(0.0, f64::max) * n.sqrt()
}

/// Fewer than this must not be expected in a cell of χ²: the law of large numbers does not hold there yet.
const FEWEST: f64 = 5.0;

/// Pearson's χ² of counts beside what was expected, in standard deviations of χ² from its mean: over 5.5 once in a million.
/// Cells that expect too few are counted together with their neighbours.
pub(crate) fn chi_square_excess(counts: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(counts.len(), expected.len());
    let mut cells: Vec<(f64, f64)> = Vec::new();
    for (count, want) in counts.iter().zip(expected) {
        match cells.last_mut().filter(|(_, wanted)| *wanted < FEWEST) {
            Some(cell) => *cell = (cell.0 + count, cell.1 + want),
            None => cells.push((*count, *want)),
        }
    }
    let chi_square: f64 = cells
        .iter()
        .map(|(count, want)| (count - want).powi(2) / want.max(FEWEST))
        .sum();
    let freedom = f64::max(cells.len() as f64 - 1.0, 1.0);
    (chi_square - freedom) / (2.0 * freedom).sqrt()
}
