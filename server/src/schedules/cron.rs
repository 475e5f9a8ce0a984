//! Cron expressions in a time zone. Pure.

use crate::store::schedules::Definition;
use croner::{
    Cron,
    parser::{CronParser, Seconds, Year},
};
use jiff::{Timestamp, Zoned, tz::TimeZone};

/// A cron expression with its time zone.
#[derive(Clone, Debug)]
pub(crate) struct ZonedCron {
    cron: Cron,
    zone: TimeZone,
}

/// # Errors
/// What is wrong with the expression.
pub(crate) fn parse_cron(text: &str) -> Result<Cron, String> {
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    parser.parse(text).map_err(|error| error.to_string())
}

/// `None` for an unknown name.
pub(crate) fn parse_zone(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok()
}

/// # Errors
/// The stored expression or zone is not supported by this version.
pub(crate) fn zoned_cron(definition: &Definition) -> anyhow::Result<ZonedCron> {
    let cron = parse_cron(&definition.cron).map_err(anyhow::Error::msg)?;
    let zone = parse_zone(&definition.time_zone);
    let unknown = || anyhow::anyhow!("the time zone {} is unknown", definition.time_zone);
    Ok(ZonedCron::new(cron, zone.ok_or_else(unknown)?))
}

impl ZonedCron {
    pub(crate) fn new(cron: Cron, zone: TimeZone) -> Self {
        Self { cron, zone }
    }

    /// The expression in English.
    pub(crate) fn describe(&self) -> String {
        self.cron.describe()
    }

    /// The first due time after `after_ms`; `None` if there is none, such as on February 30th.
    pub(crate) fn next_after(&self, after_ms: u64) -> Option<u64> {
        let next = self
            .cron
            .find_next_occurrence(&self.local(after_ms)?, false);
        next.ok().and_then(|next| milliseconds(&next))
    }

    /// The last due time at or before `until_ms`.
    pub(crate) fn last_until(&self, until_ms: u64) -> Option<u64> {
        let last = self
            .cron
            .find_previous_occurrence(&self.local(until_ms)?, true);
        last.ok().and_then(|last| milliseconds(&last))
    }

    /// Local time.
    pub(crate) fn local(&self, at_ms: u64) -> Option<Zoned> {
        let at = Timestamp::from_millisecond(i64::try_from(at_ms).ok()?).ok()?;
        Some(at.to_zoned(self.zone.clone()))
    }
}

fn milliseconds(time: &Zoned) -> Option<u64> {
    time.timestamp().as_millisecond().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zoned(cron: &str, zone: &str) -> ZonedCron {
        ZonedCron::new(parse_cron(cron).unwrap(), parse_zone(zone).unwrap())
    }

    fn ms(text: &str) -> u64 {
        let time: Timestamp = text.parse().unwrap();
        time.as_millisecond().try_into().unwrap()
    }

    /// `expected` are the next due times in UTC.
    fn check(cron: &str, zone: &str, after: &str, expected: &[&str]) {
        let cron = zoned(cron, zone);
        let mut at = ms(after);
        for expected in expected {
            at = cron.next_after(at).unwrap();
            assert_eq!(at, ms(expected), "{cron:?} {expected}");
            assert_eq!(cron.last_until(at), Some(at));
        }
    }

    #[test]
    fn due_times_are_local() {
        let from = "2026-11-24T12:00:00Z";
        check("30 2 * * *", "UTC", from, &["2026-11-25T02:30:00Z"]);
        check(
            "30 2 * * *",
            "Asia/Kolkata",
            from,
            &["2026-11-24T21:00:00Z"],
        );
        check("*/20 * * * *", "UTC", from, &["2026-11-24T12:20:00Z"]);
        check(
            "0 9 * * MON-FRI",
            "UTC",
            "2026-11-27T10:00:00Z",
            &["2026-11-30T09:00:00Z"],
        );
        check("0 9 * * 0", "UTC", from, &["2026-11-29T09:00:00Z"]);
        check("@daily", "UTC", from, &["2026-11-25T00:00:00Z"]);
    }

    /// 2:00 to 3:00 does not exist in Berlin on March 29th.
    #[test]
    fn skipped_local_times_start_after_the_gap() {
        let (zone, from) = ("Europe/Berlin", "2026-03-28T12:00:00Z");
        let after_gap = ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"];
        check("30 2 * * *", zone, from, &after_gap);
        let hourly = [
            "2026-03-29T00:00:00Z",
            "2026-03-29T01:00:00Z",
            "2026-03-29T02:00:00Z",
        ];
        check("0 * * * *", zone, "2026-03-28T23:30:00Z", &hourly);
    }

    /// 2:00 to 3:00 exists twice in Berlin on October 25th.
    #[test]
    fn repeated_local_times_start_once() {
        let (zone, from) = ("Europe/Berlin", "2026-10-24T12:00:00Z");
        check(
            "30 2 * * *",
            zone,
            from,
            &["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
        );
        let hourly = [
            "2026-10-25T00:00:00Z",
            "2026-10-25T01:00:00Z",
            "2026-10-25T02:00:00Z",
        ];
        check("0 * * * *", zone, "2026-10-24T23:30:00Z", &hourly);
    }

    #[test]
    fn invalid_expressions_and_zones_are_rejected() {
        for text in [
            "",
            "* * * *",
            "0 0 0 * * *",
            "61 * * * *",
            "x * * * *",
            "0 0 * * * 2027",
        ] {
            assert!(parse_cron(text).is_err(), "{text}");
        }
        assert!(parse_zone("Mars/Olympus").is_none());
        assert_eq!(zoned("0 0 30 2 *", "UTC").next_after(0), None);
    }
}
