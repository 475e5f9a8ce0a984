//! Holm's correction for multiple metrics.

/// Returns Holm-adjusted p-values, in the order of `p_values`. If each adjusted p-value is compared
/// with the same level, the family-wise error rate is at most that level (Holm 1979). NaN stays NaN
/// and is not counted.
pub fn adjust(p_values: &[f64]) -> Vec<f64> {
    let indexes = 0..p_values.len();
    let mut order: Vec<usize> = indexes.filter(|i| !p_values[*i].is_nan()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut largest: f64 = 0.0;
    let count = order.len();
    for (position, index) in order.into_iter().enumerate() {
        let factor = (count - position) as f64;
        largest = largest.max((p_values[index] * factor).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::adjust;

    #[test]
    fn adjusts_smallest_p_values_first() {
        let close = |a: Vec<f64>, b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(
            adjust(&[0.01, 0.04, 0.03, 0.005]),
            &[0.03, 0.06, 0.06, 0.02]
        ));
        assert!(close(adjust(&[0.5, 0.6]), &[1.0, 1.0]));
        assert!(adjust(&[]).is_empty());
    }
}
