//! Percentiles with unfinished I/Os, where the product-limit estimate can be computed by hand.

use super::{
    Case, LENGTH, job,
    outcome::{Claims, Run, names, number},
    run_all,
    storage::{Answer, Storage},
};
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn percentiles_include_unfinished_ios() {
    let cases: [Case; 2] = [
        ("younger than the slowest", younger),
        ("older than the slowest", older),
    ];
    run_all(&cases);
}

fn ms(ms: u64) -> Answer {
    Answer::After(Duration::from_millis(ms))
}

fn percentile(latency: &Value, name: &str) -> f64 {
    number(&latency["percentiles"][name]) / 1e9
}

/// At depth 30, 10 reads take 1 s and 20 take 600 ms; the 30 reads that follow hang. At the end,
/// after 1.5 s, 20 of these are 900 ms old and 10 are 500 ms old.
///
/// 600 ms: 10 of 60 were censored before, 20 of 50 end: 60 % take longer. 900 ms: 20 censored, 10
/// are left. 1 s: all of these end. So 40 % take 600 ms and 60 % take 1 s, and no value is a lower
/// bound. Without the unfinished reads the median were 600 ms, as with their age as latency.
fn younger(case: &str) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, |io| match io.index {
        0..10 => ms(1000),
        10..30 => ms(600),
        _ => Answer::Never,
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
        claims.equal("lower bounds", names(latency), vec![]);
        claims.equal("count", latency["count"].as_u64(), Some(30));
        let mean = (10.0 * 1.0 + 20.0 * 0.6) / 30.0;
        claims.within("mean", number(&latency["mean"]) / 1e9, mean * 0.98..=mean * 1.15);
    }
}

/// At depth 32, 68 of the first 100 reads take 20 ms; the others hang.
fn older(case: &str) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, |io| match io.index {
        0..68 => ms(20),
        _ => Answer::Never,
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
        let bounds = names(latency);
        let percentiles = latency["percentiles"].as_object().unwrap();
        for name in percentiles.keys() {
            let reached = name.parse::<f64>().unwrap() <= 68.0;
            let value = percentile(latency, name);
            if reached {
                claims.within(name, value, 0.019..=0.4);
            } else {
                claims.within(name, value, 1.6..=2.1);
            }
            claims.equal(name, !bounds.contains(&name.as_str()), reached);
        }
        let latest = percentile(latency, "99.99");
        claims.holds("no percentile exceeds max", latest * 1e9 <= number(&latency["max"]));
    }
}

#[test]
fn debug_one() {
    let Some(storage) = Storage::new(&["t1"], LENGTH, |io| {
        if io.index % 100 == 0 {
            eprintln!("{io:?}");
        }
        if io.index == 100 {
            Answer::Never
        } else {
            ms(10)
        }
    }) else {
        return;
    };
    let changes = json!({"runtime": "2s", "iodepth": 32});
    let outcome = Run::start(&job(&storage.file("t1"), changes), &[]).finish(|| storage.release());
    let mut claims = Claims::about("debug", &outcome);
    for (at, sample) in outcome.samples() { eprintln!("{:?} {} {}", *at - storage.first_io().unwrap(), sample["in_flight"], sample["read"]["ios"]); }
    claims.healthy();
    claims.holds("no", false);
}
