//! When a message is sent again. Pure.

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
/// Delays after failed attempts, in seconds. They add up to a day.
const DELAYS: [u64; 9] = [
    10,
    MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    HOUR,
    2 * HOUR,
    4 * HOUR,
    8 * HOUR,
    8 * HOUR,
];

/// The delay after this number of attempts, in milliseconds; `None` after the last one.
pub(crate) fn delay_ms(attempts: u32) -> Option<u64> {
    let index = attempts.checked_sub(1)?;
    DELAYS.get(index as usize).map(|seconds| seconds * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_attempts_within_a_day() {
        let delays: Vec<u64> = (1..).map_while(delay_ms).collect();
        assert_eq!(delays.len() + 1, 10);
        assert!(delays.is_sorted());
        assert!((23..25).contains(&(delays.iter().sum::<u64>() / 1000 / HOUR)));
    }
}
