//! Tests due times with a fake clock.

use super::*;
use crate::schedules::{
    cron::{ZonedCron, parse_zone},
    expression::parse,
};
use StartResult::{Missed, Pending, Skipped};
use jiff::Timestamp;
use leadline_protocol::schedule::QuietHours;

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

fn ms(text: &str) -> u64 {
    let time: Timestamp = text.parse().unwrap();
    time.as_millisecond().try_into().unwrap()
}

/// A schedule whose clock is set by the test.
struct Fake {
    cron: ZonedCron,
    quiet_hours: Vec<QuietHours>,
    handled_until_ms: u64,
    /// Due times with a row in the database.
    stored: Vec<u64>,
    active_until_ms: u64,
    /// Duration of each run or study.
    duration_ms: u64,
    step_ms: u64,
    log: Vec<(u64, Start)>,
}

impl Fake {
    fn new(cron: &str, zone: &str, at: &str) -> Self {
        Self {
            cron: ZonedCron::new(parse(cron).unwrap(), parse_zone(zone).unwrap()),
            quiet_hours: Vec::new(),
            handled_until_ms: ms(at),
            stored: Vec::new(),
            active_until_ms: 0,
            duration_ms: MINUTE / 2,
            step_ms: MINUTE,
            log: Vec::new(),
        }
    }

    fn tick(&mut self, now_ms: u64) {
        let state = State {
            cron: &self.cron,
            quiet_hours: &self.quiet_hours,
            handled_until_ms: self.handled_until_ms,
            active: (now_ms < self.active_until_ms).then_some("run #1"),
        };
        let Some(decision) = decide(&state, now_ms) else {
            return;
        };
        self.handled_until_ms = decision.handled_until_ms;
        for start in decision.starts {
            // The database also rejects duplicate due times.
            if self.stored.contains(&start.due_at_ms) {
                continue;
            }
            self.stored.push(start.due_at_ms);
            if start.result == Pending {
                assert!(now_ms >= self.active_until_ms, "concurrent starts");
                self.active_until_ms = now_ms + self.duration_ms;
            }
            self.log.push((now_ms, start));
        }
    }

    /// Ticks twice per step, one second apart.
    fn run(&mut self, from_ms: u64, to_ms: u64) {
        for now_ms in (from_ms..=to_ms).step_by(self.step_ms as usize) {
            self.tick(now_ms);
            self.tick(now_ms + 1000);
        }
    }

    fn due(&self, result: StartResult) -> Vec<u64> {
        let with = self.log.iter().filter(|(_, start)| start.result == result);
        with.map(|(_, start)| start.due_at_ms).collect()
    }
}

#[test]
fn each_due_time_starts_once() {
    let from = ms("2026-11-24T12:00:30Z");
    let mut fake = Fake::new("0 * * * *", "UTC", "2026-11-24T12:00:30Z");
    fake.run(from, from + DAY);
    assert_eq!(fake.due(Pending).len(), 24);
    assert_eq!(fake.log.len(), 24);
    assert!(fake.log.iter().all(|(_, start)| !start.is_catch_up));
    assert_eq!(fake.due(Pending)[0], ms("2026-11-24T13:00:00Z"));
}

#[test]
fn downtime_causes_one_catch_up() {
    let from = ms("2026-11-24T12:00:30Z");
    let mut fake = Fake::new("0 * * * *", "UTC", "2026-11-24T12:00:30Z");
    fake.run(from + 5 * HOUR, from + 7 * HOUR);
    let (_, missed) = &fake.log[0];
    assert_eq!((missed.result, missed.count), (Missed, 4));
    assert_eq!(missed.due_at_ms, ms("2026-11-24T16:00:00Z"));
    let (_, caught_up) = &fake.log[1];
    assert_eq!(caught_up.due_at_ms, ms("2026-11-24T17:00:00Z"));
    // The server started 30 s after this due time, too early for a catch-up.
    assert!(!caught_up.is_catch_up);
    let mut fake = Fake::new("0 * * * *", "UTC", "2026-11-24T12:00:30Z");
    fake.run(from + 5 * HOUR + 10 * MINUTE, from + 7 * HOUR);
    assert!(fake.log[1].1.is_catch_up, "{:?}", fake.log);
    assert_eq!(fake.due(Pending).len(), 3, "17:00, 18:00 and 19:00");
}

#[test]
fn no_start_while_the_previous_one_is_active() {
    let from = ms("2026-11-24T12:00:30Z");
    let mut fake = Fake::new("0 * * * *", "UTC", "2026-11-24T12:00:30Z");
    fake.duration_ms = 2 * HOUR + 30 * MINUTE;
    fake.run(from, from + 6 * HOUR);
    // Started at 13 and 16. Missed at 14, 15, 17 and 18, because the previous run is still active.
    assert_eq!(fake.due(Pending).len(), 2);
    assert_eq!(fake.due(Missed).len(), 4);
    let reason = fake.log[1].1.reason.as_deref();
    assert_eq!(reason, Some("The previous run is still active (run #1)."));
}

#[test]
fn quiet_hours_are_skipped() {
    let from = ms("2026-11-24T12:00:30Z");
    let mut fake = Fake::new("0 * * * *", "Europe/Berlin", "2026-11-24T12:00:30Z");
    let quiet = |from: &str, to: &str| QuietHours {
        from: from.into(),
        to: to.into(),
    };
    fake.quiet_hours = vec![quiet("22:00", "06:00"), quiet("12:00", "12:30")];
    fake.run(from, from + DAY);
    assert_eq!(fake.due(Skipped).len(), 9);
    assert_eq!(fake.due(Pending).len(), 15);
    assert_eq!(
        fake.due(Skipped)[0],
        ms("2026-11-24T21:00:00Z"),
        "22:00 in Berlin"
    );
    // A catch-up must not run in quiet hours either.
    let mut fake = Fake::new("0 21 * * *", "Europe/Berlin", "2026-11-24T12:00:30Z");
    fake.quiet_hours = vec![quiet("22:00", "06:00")];
    fake.tick(ms("2026-11-24T23:00:00Z"));
    assert_eq!(fake.due(Skipped), [ms("2026-11-24T20:00:00Z")]);
    // Missed and skipped due times are counted separately.
    let mut fake = Fake::new("0 * * * *", "Europe/Berlin", "2026-11-24T12:00:30Z");
    fake.quiet_hours = vec![quiet("22:00", "06:00")];
    fake.tick(ms("2026-11-25T12:30:00Z"));
    let counts: Vec<_> = fake.log.iter().map(|(_, s)| (s.result, s.count)).collect();
    assert_eq!(counts, [(Skipped, 8), (Missed, 15), (Pending, 1)]);
}

#[test]
fn a_clock_that_is_set_back_does_not_repeat_starts() {
    let from = ms("2026-11-24T12:00:30Z");
    let mut fake = Fake::new("0 * * * *", "UTC", "2026-11-24T12:00:30Z");
    fake.run(from, from + 5 * HOUR);
    assert_eq!(fake.due(Pending).len(), 5);
    fake.run(from + 2 * HOUR, from + 7 * HOUR);
    assert_eq!(fake.due(Pending).len(), 7, "17:00 was handled");
    // The date was wrong by ten years. The schedule runs once on the wrong date, and continues
    // normally afterward.
    fake.tick(from + 3650 * DAY);
    assert_eq!(fake.due(Pending).len(), 8);
    assert_eq!(fake.due(Missed).len(), 1);
    fake.active_until_ms = 0;
    fake.run(from + 6 * HOUR, from + 10 * HOUR);
    // The due time at 19:00 has already been handled.
    assert_eq!(fake.due(Pending).len(), 11);
    assert_eq!(fake.due(Missed).len(), 1);
}

#[test]
fn many_missed_due_times_are_counted_quickly() {
    let mut fake = Fake::new("* * * * *", "Europe/Berlin", "2026-11-24T12:00:30Z");
    fake.tick(ms("2036-11-24T12:00:30Z"));
    // Three leap days; a catch-up starts for the last due time.
    assert_eq!(fake.log[0].1.count, 3653 * 24 * 60 - 1);
    assert_eq!(fake.due(Pending).len(), 1);
}

#[test]
fn missed_due_times_are_counted_individually() {
    for zone in [
        "UTC",
        "Europe/Berlin",
        "Australia/Lord_Howe",
        "America/Havana",
    ] {
        for cron in [
            "*/10 * * * *",
            "0,30 0-5,23 * * *",
            "5 */4 1-20 * 1",
            "30 2 * * *",
        ] {
            let mut fake = Fake::new(cron, zone, "2026-10-01T12:00:30Z");
            let quiet = |from: &str, to: &str| QuietHours {
                from: from.into(),
                to: to.into(),
            };
            fake.quiet_hours = vec![quiet("22:00", "02:10"), quiet("12:00", "12:30")];
            let to = ms("2027-05-03T07:07:00Z");
            let mut expected = std::collections::BTreeMap::new();
            let mut at = fake.handled_until_ms;
            let last = fake.cron.last_until(to).unwrap();
            while let Some(due) = fake.cron.next_after(at).filter(|due| *due < last) {
                let state = State {
                    cron: &fake.cron,
                    quiet_hours: &fake.quiet_hours,
                    handled_until_ms: 0,
                    active: None,
                };
                let entry = expected.entry(quiet_reason(&state, due).is_some());
                let (count, latest) = entry.or_insert((0, 0));
                (*count, *latest) = (*count + 1, due);
                at = due;
            }
            fake.tick(to);
            let found = fake.log.iter().map(|(_, start)| start);
            let found = found.filter(|start| start.due_at_ms < last);
            let found =
                found.map(|start| (start.result == Skipped, (start.count, start.due_at_ms)));
            let found: std::collections::BTreeMap<_, _> = found.collect();
            assert_eq!(found, expected, "{cron} {zone}");
        }
    }
}

/// One start per day, regardless of clock changes on these days.
#[test]
fn daylight_saving_time_neither_loses_nor_repeats_a_day() {
    for (zone, dates) in [
        ("Europe/Berlin", ["2026-03-27", "2026-10-23"]),
        ("America/New_York", ["2026-03-06", "2026-10-30"]),
        ("Australia/Lord_Howe", ["2026-04-03", "2026-10-02"]),
    ] {
        for cron in ["30 2 * * *", "0 3 * * *", "59 1 * * *", "0 2 * * *"] {
            for date in dates {
                let from = format!("{date}T12:00:30Z");
                let mut fake = Fake::new(cron, zone, &from);
                fake.step_ms = 10 * MINUTE;
                fake.run(ms(&from), ms(&from) + 4 * DAY);
                assert_eq!(fake.due(Pending).len(), 4, "{cron} {zone} {date}");
                assert_eq!(fake.log.len(), 4);
            }
        }
    }
}
