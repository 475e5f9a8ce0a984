//! Exact distributions of rank sums.

/// Sums of probabilities up to each index.
pub(crate) fn cumulative(mut probabilities: Vec<f64>) -> Vec<f64> {
    let mut sum = 0.0;
    for probability in &mut probabilities {
        sum += *probability;
        *probability = sum;
    }
    probabilities
}

/// Twice the mean rank of each value, from 2 for the smallest: an integer also with ties.
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
        // The mean of start + 1 to start + ties, doubled.
        let doubled = 2 * start + ties + 1;
        for index in &order[start..start + ties] {
            ranks[*index] = doubled;
        }
        start += ties;
    }
    ranks
}

/// P(sum = s) of ranks that are each included with probability 1/2.
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

/// P(sum = s) of `chosen` ranks that are drawn without replacement.
pub(crate) fn drawn_sums(ranks: &[usize], chosen: usize) -> Vec<f64> {
    let total: usize = ranks.iter().sum();
    // Probability of each number of drawn ranks and each sum, after the ranks so far: the next one
    // is drawn with probability missing / left.
    let mut probabilities = vec![vec![0.0; total + 1]; chosen + 1];
    probabilities[0][0] = 1.0;
    for (index, rank) in ranks.iter().enumerate() {
        let left = (ranks.len() - index) as f64;
        for drawn in (0..=chosen.min(index)).rev() {
            let share = (chosen - drawn) as f64 / left;
            for sum in (0..=total).rev() {
                let probability = probabilities[drawn][sum];
                if probability > 0.0 {
                    probabilities[drawn][sum] = probability * (1.0 - share);
                    if drawn < chosen {
                        probabilities[drawn + 1][sum + rank] += probability * share;
                    }
                }
            }
        }
    }
    probabilities.swap_remove(chosen)
}

/// P that a sum is at least as far from the center as `observed`, in both directions.
pub(crate) fn two_sided(probabilities: &[f64], observed: usize) -> f64 {
    let at_most: f64 = probabilities[..=observed].iter().sum();
    let at_least: f64 = probabilities[observed..].iter().sum();
    (2.0 * at_most.min(at_least)).min(1.0)
}
