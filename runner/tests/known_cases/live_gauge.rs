//! The live gauge for writes in situations where the device's byte counts are misleading: partial
//! pages, other programs, older dirty pages, large folios, and memory below the device.

use crate::{
    foreign_io::{ForeignIo, Kind},
    scratch::program::{of_type, start, with},
    state::{BYTES, State, prepare},
    test_targets::{Target, TestTarget, TestTargets},
};
use serde_json::{Value, json};
use std::{
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader},
    os::unix::fs::FileExt,
};

const MEMORY: Option<&str> = Some("page_cache");
const DEVICE: Option<&str> = Some("device");

struct Case {
    name: &'static str,
    test_target: TestTarget,
    options: Value,
    /// Action before the run.
    before: fn(&Target),
    /// Action after the first 0.5 s of the run.
    during: fn(&Target),
    has_neighbor: bool,
    /// Layers that the gauge may show at the end; `None` is an unknown layer with a reason.
    served_by: &'static [Option<&'static str>],
}

fn nothing(_: &Target) {}

fn flush(target: &Target) {
    File::open(&target.path).unwrap().sync_data().unwrap();
}

/// Dirties every page.
fn write_all(target: &Target) {
    let file = OpenOptions::new().write(true).open(&target.path).unwrap();
    file.write_all_at(&vec![7; BYTES as usize], 0).unwrap();
}

/// Reads the file in large blocks, so the page cache contains large folios.
fn warm(target: &Target) {
    assert_eq!(fs::read(&target.path).unwrap().len() as u64, BYTES);
}

fn cases() -> Vec<Case> {
    let case = |name, test_target, options, served_by| Case {
        name,
        test_target,
        options,
        before: nothing,
        during: nothing,
        has_neighbor: false,
        served_by,
    };
    let partial_page = json!({"bs": 512, "rate_iops": 500});
    let slow = json!({"rate_iops": 500});
    vec![
        Case {
            // Flushes the pages that were dirtied in the first third of the run. The device writes
            // whole pages, which contain more bytes than the job issued.
            during: flush,
            ..case("partial pages", TestTarget::Ext4, partial_page, &[MEMORY])
        },
        Case {
            has_neighbor: true,
            ..case("neighbor", TestTarget::Ext4, slow.clone(), &[MEMORY])
        },
        Case {
            before: write_all,
            during: flush,
            ..case(
                "older pages",
                TestTarget::Ext4,
                slow.clone(),
                &[MEMORY, None],
            )
        },
        Case {
            before: warm,
            ..case("folios", TestTarget::Xfs, slow.clone(), &[MEMORY, None])
        },
        case("tmpfs", TestTarget::Tmpfs, slow.clone(), &[MEMORY]),
        case(
            "above a cached loop",
            TestTarget::OnCachedLoop,
            slow,
            &[MEMORY],
        ),
        case(
            "through a cached loop",
            TestTarget::OnCachedLoop,
            json!({"direct": 1, "rate_iops": 500}),
            &[None],
        ),
        case("direct", TestTarget::Ext4, json!({"direct": 1}), &[DEVICE]),
        case(
            "synced",
            TestTarget::Ext4,
            json!({"fdatasync": 1, "rate_iops": 200}),
            &[DEVICE],
        ),
    ]
}

#[test]
fn write_gauge_shows_the_serving_layer() {
    let Some(targets) = TestTargets::create() else {
        return;
    };
    for case in cases() {
        for engine in ["io_uring", "psync"] {
            check(&case, engine, &targets);
        }
    }
}

fn check(case: &Case, engine: &str, targets: &TestTargets) {
    let target = targets.target(case.test_target);
    prepare(State::Cold, &target);
    (case.before)(&target);
    let _neighbor = case
        .has_neighbor
        .then(|| ForeignIo::start(Kind::Writes, &target));
    let job = json!({"name": "writes", "filename": target.path, "size": BYTES, "bs": "4k", "rw": "randwrite",
        "direct": 0, "invalidate": 0, "ioengine": engine, "runtime": "1500ms", "time_based": 1});
    let events = events(&with(&job, case.options.clone()), targets, || {
        (case.during)(&target);
    });
    let last = of_type(&events, "sample").last().unwrap();
    let gauge = &last["gauge"];
    let layer = gauge["served_by"].as_str();
    assert!(
        case.served_by.contains(&layer),
        "{} ({engine}): {gauge}",
        case.name
    );
    assert_eq!(
        layer.is_none(),
        gauge["served_by_unknown"].is_string(),
        "{} ({engine}): {gauge}",
        case.name
    );
}

/// Runs the job, and calls `during` after 0.5 s of the measurement.
fn events(job: &Value, targets: &TestTargets, during: impl Fn()) -> Vec<Value> {
    let root = targets.root().to_str().unwrap();
    let mut child = start(job, &["--events", "--target-root", root]);
    child.stdin.take();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut events: Vec<Value> = Vec::new();
    let mut samples = 0;
    for line in &mut lines {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        samples += usize::from(event["type"] == "sample");
        let is_due = samples == 5 && event["type"] == "sample";
        events.push(event);
        if is_due {
            during();
        }
    }
    assert_eq!(child.wait().unwrap().code(), Some(0), "{job}");
    events
}
