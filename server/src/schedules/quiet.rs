//! Quiet hours: local times at which no scheduled run starts. Pure.

use jiff::{Zoned, civil::Time};
use leadline_protocol::schedule::QuietHours;

/// `None` unless the text is `HH:MM`.
pub(crate) fn parse_time(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    let is_two_digits = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
    if !is_two_digits(hour) || !is_two_digits(minute) {
        return None;
    }
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

/// Returns the quiet hours that contain a time.
pub(crate) fn quiet_at<'a>(hours: &'a [QuietHours], at: &Zoned) -> Option<&'a QuietHours> {
    let at = at.time();
    hours.iter().find(|quiet| {
        let (Some(from), Some(to)) = (parse_time(&quiet.from), parse_time(&quiet.to)) else {
            return false;
        };
        if from < to {
            from <= at && at < to
        } else {
            from <= at || at < to
        }
    })
}

pub(crate) fn reason(quiet: &QuietHours) -> String {
    format!("Quiet hours from {} to {}.", quiet.from, quiet.to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(from: &str, to: &str, at: &str, expected: bool) {
        let (from, to) = (from.to_owned(), to.to_owned());
        let hours = [QuietHours { from, to }];
        let at: Zoned = format!("2026-11-24T{at}[Europe/Berlin]").parse().unwrap();
        assert_eq!(quiet_at(&hours, &at).is_some(), expected, "{hours:?} {at}");
    }

    #[test]
    fn quiet_hours_include_their_start_and_cross_midnight() {
        check("08:00", "18:00", "07:59:59.999", false);
        check("08:00", "18:00", "08:00", true);
        check("08:00", "18:00", "17:59:59.999", true);
        check("08:00", "18:00", "18:00", false);
        check("22:00", "06:00", "23:30", true);
        check("22:00", "06:00", "05:59", true);
        check("22:00", "06:00", "06:00", false);
        check("00:00", "00:00", "12:00", true);
    }

    #[test]
    fn times_have_two_digits() {
        for text in ["8:00", "08:60", "24:00", "0800", "+8:00", "08:00:00", ""] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }
}
