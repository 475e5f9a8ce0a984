//! Cron expressions in a time zone. Pure.

use crate::{schedules::expression::parse, store::schedules::Definition};
use croner::Cron;
use jiff::{
    SignedDuration, Timestamp, Zoned,
    civil::DateTime,
    tz::{AmbiguousOffset, TimeZone},
};

/// Longer than any clock change. Some time zones have skipped or repeated a whole day.
const MAX_CHANGE: SignedDuration = SignedDuration::from_hours(25);

/// A cron expression with its time zone.
#[derive(Clone, Debug)]
pub(crate) struct ZonedCron {
    cron: Cron,
    zone: TimeZone,
    /// True if neither minute nor hour contains `*`. As in cron(5), clock changes then neither skip
    /// nor repeat due times. Otherwise, due times follow the clock: skipped local times do not
    /// occur, and repeated local times occur twice.
    is_fixed_time: bool,
}

/// Returns `None` if the name is unknown.
pub(crate) fn parse_zone(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok()
}

/// # Errors
/// The stored expression or zone is not supported by this version.
pub(crate) fn zoned_cron(definition: &Definition) -> anyhow::Result<ZonedCron> {
    let cron = parse(&definition.cron).map_err(anyhow::Error::msg)?;
    let zone = parse_zone(&definition.time_zone);
    let unknown = || anyhow::anyhow!("the time zone {} is unknown", definition.time_zone);
    Ok(ZonedCron::new(cron, zone.ok_or_else(unknown)?))
}

/// A day in the time zone.
pub(crate) struct Day {
    pub start_ms: u64,
    /// Start of the next day, which is the end of this one.
    pub end_ms: u64,
    /// Whether no clock change affects the day. All regular days have the same due times in local
    /// time.
    pub is_regular: bool,
}

impl ZonedCron {
    pub(crate) fn new(cron: Cron, zone: TimeZone) -> Self {
        let pattern = &cron.pattern;
        let is_fixed_time = !pattern.minutes.from_wildcard && !pattern.hours.from_wildcard;
        Self {
            cron,
            zone,
            is_fixed_time,
        }
    }

    /// The first due time after `after_ms`; `None` if the date never occurs, such as February 30th.
    pub(crate) fn next_after(&self, after_ms: u64) -> Option<u64> {
        let after = self.local(after_ms)?;
        if self.is_fixed_time {
            return self.next_fixed(&after);
        }
        let next = self.cron.find_next_occurrence(&after, false).ok()?;
        milliseconds(next.timestamp())
    }

    /// The last due time at or before `until_ms`.
    pub(crate) fn last_until(&self, until_ms: u64) -> Option<u64> {
        let until = self.local(until_ms)?;
        if self.is_fixed_time {
            return self.last_fixed(&until);
        }
        let last = self.cron.find_previous_occurrence(&until, true).ok()?;
        milliseconds(last.timestamp())
    }

    /// `instant` is monotonic, and maps the local time of `after` to `after` or an earlier instant,
    /// so only later local times need to be checked.
    fn next_fixed(&self, after: &Zoned) -> Option<u64> {
        let mut local = after.datetime();
        loop {
            local = self.cron.find_next_occurrence(&local, false).ok()?;
            let next = self.instant(local)?;
            if next > after.timestamp() {
                return milliseconds(next);
            }
        }
    }

    fn last_fixed(&self, until: &Zoned) -> Option<u64> {
        // If the clock repeats local times, local times later than `until` may have been due before
        // it.
        let mut local = until.datetime().checked_add(MAX_CHANGE).ok()?;
        let mut is_inclusive = true;
        loop {
            local = self
                .cron
                .find_previous_occurrence(&local, is_inclusive)
                .ok()?;
            is_inclusive = false;
            let last = self.instant(local)?;
            if last <= until.timestamp() {
                return milliseconds(last);
            }
        }
    }

    /// The first occurrence of a local time. A local time that the clock skips occurs at the moment
    /// of the clock change.
    fn instant(&self, local: DateTime) -> Option<Timestamp> {
        let ambiguous = self.zone.to_ambiguous_timestamp(local);
        match ambiguous.offset() {
            AmbiguousOffset::Gap { after, .. } => {
                let before_gap = after.to_timestamp(local).ok()?;
                let change = self.zone.following(before_gap).next()?;
                Some(change.timestamp())
            }
            _ => ambiguous.earlier().ok(),
        }
    }

    /// Returns the day that contains a time.
    pub(crate) fn day(&self, at_ms: u64) -> Option<Day> {
        let start = self.local(at_ms)?.start_of_day().ok()?;
        let end = start.tomorrow().ok()?.start_of_day().ok()?;
        // Due times that a clock change skips at the end of a day occur on the next day.
        let since = start.timestamp().checked_sub(MAX_CHANGE).ok()?;
        let change = self.zone.following(since).next();
        Some(Day {
            start_ms: milliseconds(start.timestamp())?,
            end_ms: milliseconds(end.timestamp())?,
            is_regular: change.is_none_or(|change| change.timestamp() > end.timestamp()),
        })
    }

    /// Converts to local time.
    pub(crate) fn local(&self, at_ms: u64) -> Option<Zoned> {
        let at = Timestamp::from_millisecond(i64::try_from(at_ms).ok()?).ok()?;
        Some(at.to_zoned(self.zone.clone()))
    }
}

fn milliseconds(time: Timestamp) -> Option<u64> {
    time.as_millisecond().try_into().ok()
}

#[cfg(test)]
mod tests;
