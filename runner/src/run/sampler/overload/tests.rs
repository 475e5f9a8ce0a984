//! Arrival sequences and their expected results, written before the detector. For 60 s, 1,000 IOPS
//! arrive at a device whose capacity changes. The period is 5 s.

use super::*;
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

const STEP_MS: u64 = 100;
const DURATION_MS: u64 = 60_000;
const RATE: f64 = 1000.0;
/// Backlog limit: one second of arrivals.
const LIMIT: u64 = 1000;
const OPTIONS: OverloadOptions = OverloadOptions {
    backlog: LIMIT,
    duration_ms: 5000,
};

/// A queue that is read every 100 ms.
struct Queue {
    arrived: f64,
    completed: f64,
}

impl Queue {
    /// `backlog`: number of incomplete I/Os at the start of the window.
    fn new(backlog: f64) -> Self {
        Self {
            arrived: backlog,
            completed: 0.0,
        }
    }

    fn step(&mut self, at_ms: u64, arrivals: f64, capacity: f64) -> Mark {
        self.arrived += arrivals;
        let waiting = self.arrived - self.completed;
        self.completed += (capacity * STEP_MS as f64 / 1e3).min(waiting);
        Mark {
            at_ns: (7_000 + at_ms) * NS_PER_MS,
            backlog: (self.arrived - self.completed).round() as u64,
            due: self.arrived.round() as u64,
            completed: self.completed.round() as u64,
        }
    }
}

/// Time until the run ends because of overload, in seconds; `None` if it is not overloaded.
/// `capacity`: I/Os per second that the device can complete at a time in ms.
fn time_to_overload_s(backlog: f64, capacity: impl Fn(u64) -> f64) -> Option<f64> {
    let mut queue = Queue::new(backlog);
    let mut detector = Detector::new(OPTIONS);
    (0..DURATION_MS / STEP_MS).find_map(|step| {
        let at_ms = step * STEP_MS;
        let mark = queue.step(at_ms, RATE * STEP_MS as f64 / 1e3, capacity(at_ms));
        detector
            .push(mark)
            .map(|overload| overload.after_ms as f64 / 1e3)
    })
}

fn is_between(at_ms: u64, from_s: f64, to_s: f64) -> bool {
    (from_s..to_s).contains(&(at_ms as f64 / 1e3))
}

type Case = (&'static str, f64, fn(u64) -> f64);

#[test]
fn hiccups_are_not_overload() {
    let cases: [Case; 15] = [
        ("enough capacity", 0.0, |_| 2000.0),
        ("exactly enough", 0.0, |_| 1000.0),
        (
            "2 % too little: detected only from the whole run",
            0.0,
            |_| 980.0,
        ),
        ("a 3 s pause", 0.0, |t| {
            if is_between(t, 10.0, 13.0) {
                0.0
            } else {
                2000.0
            }
        }),
        ("an 8 s pause", 0.0, |t| {
            if is_between(t, 10.0, 18.0) {
                0.0
            } else {
                2000.0
            }
        }),
        ("a hang until the end", 0.0, |t| {
            if t >= 10_000 { 0.0 } else { 2000.0 }
        }),
        ("a hang from the start", 0.0, |_| 0.0),
        ("slow for 4 s", 0.0, |t| {
            if is_between(t, 10.0, 14.0) {
                300.0
            } else {
                2000.0
            }
        }),
        ("slow for 20 s after a fast start", 0.0, |t| {
            if is_between(t, 10.0, 30.0) {
                300.0
            } else {
                2000.0
            }
        }),
        ("throttled permanently after a fast start", 0.0, |t| {
            if t >= 20_000 { 500.0 } else { 1500.0 }
        }),
        ("garbage collection every 10 s", 0.0, |t| {
            if t % 10_000 < 2000 { 200.0 } else { 2000.0 }
        }),
        ("pauses with just enough capacity in between", 0.0, |t| {
            if t % 4000 < 1900 { 0.0 } else { 2000.0 }
        }),
        ("cold for the first 3 s", 0.0, |t| {
            if t < 3000 { 200.0 } else { 2000.0 }
        }),
        ("a shrinking backlog from the ramp", 20_000.0, |_| 1200.0),
        ("a constant backlog from the ramp", 20_000.0, |_| 1000.0),
    ];
    for (name, backlog, capacity) in cases {
        assert_eq!(time_to_overload_s(backlog, capacity), None, "{name}");
    }
}

#[test]
fn overload_ends_soon_after_the_limit() {
    // Once the backlog exceeds `LIMIT`, a full period must follow. Its parts begin at whole
    // seconds.
    let cases: [(Case, f64, f64); 7] = [
        (("half the capacity", 0.0, |_| 500.0), 7.0, 9.0),
        (("a tenth", 0.0, |_| 100.0), 6.0, 8.0),
        (("20 % too little", 0.0, |_| 800.0), 10.0, 12.0),
        (("a backlog from the ramp", 5000.0, |_| 500.0), 5.0, 5.2),
        (
            ("short pauses in each second", 0.0, |t| {
                if t % 1000 < 500 { 0.0 } else { 1000.0 }
            }),
            7.0,
            9.0,
        ),
        (
            ("a pause during the overload", 0.0, |t| {
                if is_between(t, 6.0, 7.5) { 0.0 } else { 500.0 }
            }),
            12.0,
            15.0,
        ),
        (
            ("slower by 5 % during the run", 0.0, |t| {
                if t > 4000 { 475.0 } else { 500.0 }
            }),
            7.0,
            9.0,
        ),
    ];
    for ((name, backlog, capacity), earliest, latest) in cases {
        let ended = time_to_overload_s(backlog, capacity).unwrap_or(f64::NAN);
        assert!((earliest..=latest).contains(&ended), "{name}: {ended}");
    }
}

#[test]
fn overload_evidence_adds_up() {
    let mut queue = Queue::new(0.0);
    let mut detector = Detector::new(OPTIONS);
    let overload = (0..600)
        .find_map(|step| detector.push(queue.step(step * STEP_MS, 100.0, 500.0)))
        .unwrap();
    let growth = overload.backlog_at_end - overload.backlog_at_start;
    assert_eq!(growth, overload.due - overload.completed);
    assert_eq!((overload.limit, overload.period_ms), (LIMIT, 5000));
    assert!(overload.backlog_at_start > LIMIT);
}

#[test]
fn paused_time_is_ignored() {
    let mut queue = Queue::new(5000.0);
    let mut detector = Detector::new(OPTIONS);
    for step in 0..600 {
        let mark = queue.step(step * STEP_MS, 100.0, 500.0);
        // The runner is stopped (SIGSTOP) for two of every four seconds.
        if step % 40 < 20 {
            assert_eq!(detector.push(mark), None, "{step}");
        }
    }
}

/// Draws a Poisson-distributed number of arrivals.
fn poisson(random: &mut Xoshiro256PlusPlus, mean: f64) -> f64 {
    let (limit, mut product, mut count) = ((-mean).exp(), 1.0, -1.0);
    while product > limit {
        product *= random.random_range(0.0..1.0_f64);
        count += 1.0;
    }
    count
}

/// Share of 300 runs of 60 s that end early. `load`: arrival rate as a share of the capacity of
/// 1,000 I/Os per second.
fn share_ended_early(load: f64) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(31);
    let runs = 300;
    let ended = (0..runs).filter(|_| {
        let mut queue = Queue::new(0.0);
        let rate = load * 1000.0;
        let mut detector = Detector::new(OverloadOptions {
            backlog: rate as u64,
            ..OPTIONS
        });
        (0..600).any(|step| {
            let arrivals = poisson(&mut random, rate / 10.0);
            let mark = queue.step(step * STEP_MS, arrivals, 1000.0);
            detector.push(mark).is_some()
        })
    });
    ended.count() as f64 / f64::from(runs)
}

#[test]
fn random_arrivals_below_the_capacity_never_end_early() {
    for load in [0.5, 0.9, 0.98, 1.0] {
        assert_eq!(share_ended_early(load), 0.0, "{load}");
    }
    for load in [1.2, 1.5, 3.0] {
        assert_eq!(share_ended_early(load), 1.0, "{load}");
    }
}
