//! Exact distributions of rank sums.

/// Tolerance for equal values. The logarithm of a double is at most 710, so the difference of two
/// logarithms has an error of up to 2e-13. No measurement has 12 significant digits.
const LOGARITHM_ERROR: f64 = 1e-12;

/// Cumulative sums of probabilities.
pub(crate) fn cumulative(mut probabilities: Vec<f64>) -> Vec<f64> {
    let mut sum = 0.0;
    for probability in &mut probabilities {
        sum += *probability;
        *probability = sum;
    }
    probabilities
}

/// Returns twice the mean rank of each value, starting at 2 for the smallest. This is an integer
/// even with ties.
pub(crate) fn doubled_ranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let value = values[order[start]];
        let ties = order[start..]
            .iter()
            .take_while(|index| values[**index] == value)
            .count();
        // Twice the mean of the ranks from start + 1 to start + ties.
        let doubled = 2 * start + ties + 1;
        for index in &order[start..start + ties] {
            ranks[*index] = doubled;
        }
        start += ties;
    }
    ranks
}

/// Equalizes logarithms whose magnitudes differ only by rounding errors. For example, 100 to 102
/// and 0.3 to 0.306 are equal changes, so their ranks must not depend on the last bit of a
/// logarithm.
pub(crate) fn merge_equal(mut logarithms: Vec<f64>) -> Vec<f64> {
    let mut order: Vec<usize> = (0..logarithms.len()).collect();
    order.sort_by(|a, b| logarithms[*a].abs().total_cmp(&logarithms[*b].abs()));
    let (mut last, mut merged) = (0.0, 0.0);
    for index in order {
        let size = logarithms[index].abs();
        if size - last > LOGARITHM_ERROR {
            merged = size;
        }
        last = size;
        logarithms[index] = logarithms[index].signum() * merged;
    }
    logarithms
}

/// P(sum = s) if each rank is included with probability 1/2.
pub(crate) fn signed_sums(ranks: &[usize]) -> Vec<f64> {
    let total: usize = ranks.iter().sum();
    let mut probabilities = vec![0.0; total + 1];
    probabilities[0] = 1.0;
    let mut reached = 0;
    for rank in ranks {
        reached += rank;
        for sum in (0..=reached).rev() {
            let included = if sum >= *rank {
                probabilities[sum - rank]
            } else {
                0.0
            };
            probabilities[sum] = f64::midpoint(probabilities[sum], included);
        }
    }
    probabilities
}

/// Shifts the ranks to start at 0 and divides them by their greatest common divisor. This preserves
/// the order of sums of the same number of ranks and reduces the number of distinct sums.
pub(crate) fn reduced(mut ranks: Vec<usize>) -> Vec<usize> {
    let smallest = ranks.iter().copied().min().unwrap_or(0);
    let divisor = |a: usize, b: usize| -> usize {
        let (mut a, mut b) = (a, b);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let unit = ranks.iter().map(|rank| rank - smallest).fold(0, divisor);
    for rank in &mut ranks {
        *rank = (*rank - smallest) / unit.max(1);
    }
    ranks
}

/// P(sum = s) of `chosen` ranks drawn without replacement, up to the largest possible sum.
pub(crate) fn drawn_sums(ranks: &[usize], chosen: usize) -> Vec<f64> {
    let mut ranks = ranks.to_vec();
    ranks.sort_unstable();
    let sum_of_last = |end: usize, count: usize| ranks[end - count..end].iter().sum::<usize>();
    let largest = sum_of_last(ranks.len(), chosen);
    // For the ranks processed so far: probability of each number of drawn ranks and each sum. The
    // next rank is drawn with probability (ranks still to draw) / (ranks left).
    let mut probabilities = vec![vec![0.0; largest + 1]; chosen + 1];
    probabilities[0][0] = 1.0;
    for (index, rank) in ranks.iter().enumerate() {
        let left = ranks.len() - index;
        let fewest = chosen.saturating_sub(left);
        for drawn in (fewest..=chosen.min(index)).rev() {
            let share = (chosen - drawn) as f64 / left as f64;
            let (few, more) = probabilities.split_at_mut(drawn + 1);
            let from = &mut few[drawn][sum_of_last(drawn, drawn)..=sum_of_last(index, drawn)];
            if let Some(to) = more.first_mut() {
                let start = sum_of_last(drawn, drawn) + rank;
                for (to, from) in to[start..].iter_mut().zip(from.iter()) {
                    *to += from * share;
                }
            }
            for probability in from {
                *probability *= 1.0 - share;
            }
        }
    }
    probabilities.swap_remove(chosen)
}

/// Returns twice the probability of the smaller tail that contains `observed`, at most 1. With
/// ties, the distribution of a rank sum is not symmetric; doubling the tail bounds the error in
/// each direction, as the interval does.
pub(crate) fn two_sided(probabilities: &[f64], observed: usize) -> f64 {
    let at_most: f64 = probabilities[..=observed].iter().sum();
    let at_least: f64 = probabilities[observed..].iter().sum();
    (2.0 * at_most.min(at_least)).min(1.0)
}
