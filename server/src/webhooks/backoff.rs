//! Determines when a message is sent again. Pure.

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
/// Delays after failed attempts, in seconds. Together, they span a day.
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

/// Maximum delay that a receiver can request, in seconds.
const MAX_REQUESTED: u64 = 8 * HOUR;

/// Returns the delay after this number of attempts, in milliseconds, or `None` after the last
/// attempt. `requested` is the delay that the receiver has requested, in seconds.
pub(crate) fn delay_ms(attempts: u32, requested: Option<u64>) -> Option<u64> {
    let index = attempts.checked_sub(1)?;
    let delay = *DELAYS.get(index as usize)?;
    let requested = requested.unwrap_or(0).min(MAX_REQUESTED);
    Some(delay.max(requested) * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_attempts_within_a_day() {
        let delays: Vec<u64> = (1..)
            .map_while(|attempts| delay_ms(attempts, None))
            .collect();
        assert_eq!(delays.len() + 1, 10);
        assert!(delays.is_sorted());
        assert!((23..25).contains(&(delays.iter().sum::<u64>() / 1000 / HOUR)));
    }

    #[test]
    fn receivers_can_request_longer_delays() {
        assert_eq!(delay_ms(1, Some(120)), Some(120_000));
        assert_eq!(delay_ms(1, Some(3)), Some(10_000));
        assert_eq!(delay_ms(1, Some(u64::MAX)), Some(MAX_REQUESTED * 1000));
        assert_eq!(delay_ms(10, Some(120)), None);
    }
}
