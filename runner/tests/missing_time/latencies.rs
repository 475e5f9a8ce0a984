//! Percentiles with unfinished I/Os in cases where the product-limit estimate can be computed by
//! hand.

use super::{
    Case, LENGTH, job,
    outcome::{Claims, EARLY, LATE, Run, lower_bounds, number},
    run_all,
    storage::{Completion, HEALTHY, Storage},
};
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn latencies_include_unfinished_ios() {
    let cases: [Case; 7] = [
        ("younger than the slowest", younger),
        ("older than the slowest", older),
        ("first of 8 I/Os", |case| one_io(case, 8, 0)),
        ("third of 8 I/Os", |case| one_io(case, 8, 2)),
        ("last of 8 I/Os", |case| one_io(case, 8, 7)),
        ("one I/O at depth 32", |case| one_io(case, 32, 100)),
        ("completed after the end", after_the_end),
    ];
    run_all(&cases);
}

fn ms(ms: u64) -> Completion {
    Completion::After(Duration::from_millis(ms))
}

fn percentile(latency: &Value, name: &str) -> f64 {
    number(&latency["percentiles"][name]) / 1e9
}

/// At depth 30, 10 reads take 1 s and 20 take 600 ms; the 30 reads that follow hang. At the end,
/// after 1.5 s, 20 of these are 900 ms old and 10 are 500 ms old.
///
/// 600 ms: 10 of 60 reads were censored earlier, and 20 of the remaining 50 complete, so 60 % take
/// longer. 900 ms: 20 are censored, which leaves 10. 1 s: these 10 complete. So 40 % take 600 ms
/// and 60 % take 1 s, and no value is a lower bound. If unfinished reads were ignored, or counted
/// with their age as latency, the median would be 600 ms.
fn younger(case: &str) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, |io| match io.index {
        0..10 => ms(1000),
        10..30 => ms(600),
        _ => Completion::Never,
    }) else {
        return;
    };
    let changes = json!({"runtime": "1500ms", "iodepth": 30});
    let outcome = Run::start(&job(&storage.file("t1"), changes), &[]).finish(|| storage.release());
    let read = &outcome.report()["read"];
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    claims.equal("completed", read["ios"].as_u64(), Some(30));
    claims.equal("unfinished", read["unfinished"]["ios"].as_u64(), Some(30));
    let oldest = number(&read["unfinished"]["oldest_ns"]) / 1e9;
    claims.within("age", oldest, 0.75..=0.999);
    for latency in [&read["lat_ns"], &read["clat_ns"]] {
        for name in ["10", "30"] {
            claims.within(name, percentile(latency, name), 0.58..=0.75);
        }
        for name in ["50", "60", "90", "99", "99.99"] {
            claims.within(name, percentile(latency, name), 0.98..=1.15);
        }
        claims.within("max", number(&latency["max"]) / 1e9, 0.99..=1.15);
        claims.equal("lower bounds", lower_bounds(latency), vec![]);
        claims.equal("count", latency["count"].as_u64(), Some(30));
        let mean = (10.0 * 1.0 + 20.0 * 0.6) / 30.0;
        claims.within(
            "mean",
            number(&latency["mean"]) / 1e9,
            mean * 0.98..=mean * 1.15,
        );
    }
}

/// At depth 32, 68 of the first 100 reads take 20 ms; the rest hang.
fn older(case: &str) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, |io| match io.index {
        0..68 => ms(20),
        _ => Completion::Never,
    }) else {
        return;
    };
    let changes = json!({"runtime": "2s", "iodepth": 32});
    let outcome = Run::start(&job(&storage.file("t1"), changes), &[]).finish(|| storage.release());
    let read = &outcome.report()["read"];
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.equal("completed", read["ios"].as_u64(), Some(68));
    claims.unfinished(read, 32, 1.96);
    for latency in [&read["lat_ns"], &read["clat_ns"]] {
        let bounds = lower_bounds(latency);
        let percentiles = latency["percentiles"].as_object().unwrap();
        for name in percentiles.keys() {
            let is_exact = name.parse::<f64>().unwrap() <= 68.0;
            let value = percentile(latency, name);
            if is_exact {
                claims.within(name, value, 0.01..=0.4);
            } else {
                claims.within(name, value, 1.6..=2.1);
            }
            claims.equal(name, !bounds.contains(&name.as_str()), is_exact);
        }
        let latest = percentile(latency, "99.99");
        claims.holds(
            "no percentile exceeds max",
            latest * 1e9 <= number(&latency["max"]),
        );
    }
}

/// One I/O never completes while the others continue. No job is stalled, but that I/O is the oldest
/// unfinished one.
fn one_io(case: &str, depth: u64, lost: u64) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, move |io| {
        if io.index == lost {
            Completion::Never
        } else {
            Completion::After(HEALTHY)
        }
    }) else {
        return;
    };
    let changes = json!({"runtime": "3s", "iodepth": depth});
    let outcome = Run::start(&job(&storage.file("t1"), changes), &[]).finish(|| storage.release());
    let read = &outcome.report()["read"];
    let latency = &read["lat_ns"];
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    let unfinished = &read["unfinished"];
    claims.within("unfinished", number(&unfinished["ios"]), 1.0..=depth as f64);
    let oldest = number(&unfinished["oldest_ns"]) / 1e9;
    claims.within("age", oldest, 3.0 - 2.0 * EARLY..=3.0 + LATE);
    claims.equal(
        "max",
        latency["max"].as_u64(),
        unfinished["oldest_ns"].as_u64(),
    );
    let at_least = lower_bounds(latency);
    claims.holds("max is a lower bound", at_least.contains(&"max"));
    claims.holds("the median is exact", !at_least.contains(&"50"));
    claims.within("median", percentile(latency, "50"), 0.009..=0.2);
    claims.equal("note", outcome.finding("unfinished_ios"), Some("note"));
}

/// A blocked worker returns after the end of the run, but before the run stops waiting for it. Its
/// last I/O either counts as unfinished or completes in a longer window.
fn after_the_end(case: &str) {
    let Some(storage) = Storage::new(&["slow", "works"], LENGTH, |io| {
        if io.file == "slow" && io.at.as_secs_f64() >= 0.5 {
            Completion::At(Duration::from_secs(5))
        } else {
            Completion::After(HEALTHY)
        }
    }) else {
        return;
    };
    let named = |name: &str| {
        let changes = json!({"name": name, "runtime": "3s", "ioengine": "psync"});
        job(&storage.file(name), changes)
    };
    let jobs = json!({"jobs": [named("slow"), named("works")]});
    let outcome = Run::start(&jobs, &[]).finish(|| storage.release());
    let (slow, works) = (outcome.job(0), outcome.job(1));
    let mut claims = Claims::about(case, &outcome);
    claims.warned();
    let read = &slow["read"];
    let duration = number(&slow["duration_ms"]) / 1e3;
    let max = number(&read["lat_ns"]["max"]) / 1e9;
    let share = number(&slow["stalls"]["share"]);
    let total = number(&slow["stalls"]["total_ms"]) / 1e3;
    if read["unfinished"]["ios"] == 0 {
        claims.within("window", duration, 5.0 - LATE..=5.0 + LATE);
        claims.within("max", max, 4.5 - LATE..=4.5 + LATE);
        claims.within("stalled seconds", total, 4.5 - EARLY..=4.5 + LATE);
    } else {
        claims.within("window", duration, 3.0 - LATE..=3.0 + LATE);
        claims.unfinished(read, 1, 2.5);
        claims.within("stalled seconds", total, 2.5 - EARLY..=2.5 + LATE);
    }
    claims.within(
        "share",
        share,
        total / duration - 0.03..=total / duration + 0.03,
    );
    claims.no_stall(works);
    healthy_rate(&mut claims, works, 3.0);
}

/// The rate of a healthy psync job must not depend on other jobs.
pub(crate) fn healthy_rate(claims: &mut Claims, job: &Value, seconds: f64) {
    let duration = number(&job["duration_ms"]) / 1e3;
    claims.within(
        "window of the healthy job",
        duration,
        seconds - LATE..=seconds + LATE,
    );
    let rate = number(&job["read"]["ios"]) / seconds;
    let iops = number(&job["read"]["iops"]);
    claims.within("IOPS of the healthy job", iops, rate * 0.95..=rate * 1.05);
}
