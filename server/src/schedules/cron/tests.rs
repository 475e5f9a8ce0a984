//! Tests due times of cron expressions, including around clock changes.

use super::*;

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;

fn zoned(cron: &str, zone: &str) -> ZonedCron {
    ZonedCron::new(parse(cron).unwrap(), parse_zone(zone).unwrap())
}

fn ms(text: &str) -> u64 {
    let time: Timestamp = text.parse().unwrap();
    time.as_millisecond().try_into().unwrap()
}

/// `expected`: the next due times, in UTC.
fn check(cron: &str, zone: &str, after: &str, expected: &[&str]) {
    let cron = zoned(cron, zone);
    let mut at = ms(after);
    for expected in expected {
        at = cron.next_after(at).unwrap();
        assert_eq!(at, ms(expected), "{cron:?} {expected}");
        assert_eq!(cron.last_until(at), Some(at));
    }
}

/// `expected`: the local times of all due times on a day.
fn check_day(cron: &str, zone: &str, date: &str, expected: &[&str]) {
    let cron = zoned(cron, zone);
    let from: Zoned = format!("{date}T00:00[{zone}]").parse().unwrap();
    let until = from.tomorrow().unwrap();
    let (from, until) = (
        milliseconds(from.timestamp()),
        milliseconds(until.timestamp()),
    );
    let due = std::iter::successors(cron.next_after(from.unwrap() - 1), |due| {
        cron.next_after(*due)
    });
    let due: Vec<u64> = due.take_while(|due| *due < until.unwrap()).collect();
    let local = due.iter().map(|due| cron.local(*due).unwrap());
    let local: Vec<String> = local
        .map(|at| at.strftime("%H:%M%:z").to_string())
        .collect();
    assert_eq!(local, expected, "{cron:?} {date}");
    let last = std::iter::successors(cron.last_until(until.unwrap() - 1), |due| {
        cron.last_until(due - 1)
    });
    let mut reversed: Vec<u64> = last.take_while(|due| *due >= from.unwrap()).collect();
    reversed.reverse();
    assert_eq!(reversed, due, "{cron:?} {date}");
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

/// 2:00 to 3:00 does not exist in Berlin on March 28th.
#[test]
fn fixed_times_in_a_dst_gap_start_after_it() {
    let check = |cron, expected: &[&str]| check_day(cron, "Europe/Berlin", "2027-03-28", expected);
    check("30 2 * * *", &["03:00+02:00"]);
    check("30 2,14 * * *", &["03:00+02:00", "14:30+02:00"]);
    check("15,45 2 * * *", &["03:00+02:00"]);
    check(
        "0 1-4 * * *",
        &["01:00+01:00", "03:00+02:00", "04:00+02:00"],
    );
    check(
        "30 1-3 * * *",
        &["01:30+01:00", "03:00+02:00", "03:30+02:00"],
    );
    check(
        "0 */2 28 * *",
        &[
            "00:00+01:00",
            "04:00+02:00",
            "06:00+02:00",
            "08:00+02:00",
            "10:00+02:00",
            "12:00+02:00",
            "14:00+02:00",
            "16:00+02:00",
            "18:00+02:00",
            "20:00+02:00",
            "22:00+02:00",
        ],
    );
    check("*/30 2 * * *", &[]);
    check_day(
        "15,45 2 * * *",
        "Australia/Lord_Howe",
        "2026-10-04",
        &["02:30+11:00", "02:45+11:00"],
    );
    // The whole day was skipped: the clock went from December 29th to 31st.
    check_day(
        "0 9 * * *",
        "Pacific/Apia",
        "2011-12-31",
        &["00:00+14:00", "09:00+14:00"],
    );
}

/// 2:00 to 3:00 exists twice in Berlin on October 31st.
#[test]
fn fixed_times_repeated_by_dst_start_once() {
    let check = |cron, expected: &[&str]| check_day(cron, "Europe/Berlin", "2027-10-31", expected);
    check("30 2 * * *", &["02:30+02:00"]);
    check("30 2,14 * * *", &["02:30+02:00", "14:30+01:00"]);
    check("15,45 2 * * *", &["02:15+02:00", "02:45+02:00"]);
    check(
        "30 1-3 * * *",
        &["01:30+02:00", "02:30+02:00", "03:30+01:00"],
    );
    check(
        "*/30 2 * * *",
        &["02:00+02:00", "02:30+02:00", "02:00+01:00", "02:30+01:00"],
    );
}

/// Finds due times by checking the local time of every minute from `from` until `until`.
fn expected_due_times(cron: &ZonedCron, from: u64, until: u64) -> Vec<u64> {
    let mut due = Vec::new();
    let mut latest: Option<DateTime> = None;
    for at in (from..until).step_by(MINUTE as usize) {
        let local = cron.local(at).unwrap().datetime();
        let is_due = |local: DateTime| cron.cron.is_time_matching(&local).unwrap();
        let is_start = if cron.is_fixed_time {
            // All local times since the latest one: more than one after a gap.
            let mut passed = latest.map_or(local, |latest| latest + SignedDuration::from_mins(1));
            let mut is_start = false;
            while passed <= local {
                is_start |= is_due(passed);
                passed += SignedDuration::from_mins(1);
            }
            is_start
        } else {
            is_due(local)
        };
        latest = Some(latest.map_or(local, |latest| latest.max(local)));
        if is_start {
            due.push(at);
        }
    }
    due
}

#[test]
fn due_times_match_a_check_of_every_minute() {
    for (zone, from) in [
        ("Europe/Berlin", "2027-03-26T23:00:00Z"),
        ("Europe/Berlin", "2027-10-29T22:00:00Z"),
        ("America/New_York", "2026-10-31T04:00:00Z"),
        ("Australia/Lord_Howe", "2026-04-03T13:00:00Z"),
        ("Australia/Lord_Howe", "2026-10-02T13:30:00Z"),
        ("America/Havana", "2026-10-31T04:00:00Z"),
        ("Asia/Beirut", "2026-03-27T22:00:00Z"),
        ("Pacific/Apia", "2011-12-28T10:00:00Z"),
    ] {
        for minute in ["0", "7,59", "1-59/7", "*", "*/20"] {
            for hour in ["2", "0-5", "1,2,3,23", "*", "*/2"] {
                check_every_minute(&format!("{minute} {hour} * * *"), zone, ms(from));
            }
        }
    }
}

fn check_every_minute(cron: &str, zone: &str, from: u64) {
    let cron = zoned(cron, zone);
    let until = from + 72 * HOUR;
    let expected = expected_due_times(&cron, from, until);
    let due = std::iter::successors(cron.next_after(from - 1), |due| cron.next_after(*due));
    let due: Vec<u64> = due.take_while(|due| *due < until).collect();
    assert_eq!(due, expected, "{cron:?}");
    for at in (from..until).step_by((47 * MINUTE) as usize) {
        let last = expected.iter().rev().find(|due| **due <= at).copied();
        let found = cron.last_until(at).filter(|due| *due >= from);
        assert_eq!(found, last, "{cron:?} {at}");
    }
}

#[test]
fn unknown_zones_and_dates_have_no_due_times() {
    assert!(parse_zone("Mars/Olympus").is_none());
    assert_eq!(zoned("0 0 30 2 *", "UTC").next_after(0), None);
}
