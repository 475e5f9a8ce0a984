//! Studies planned on a simulated host: rejected documents, planned steps and scaled sizes.

use crate::plan::{
    study::resolve,
    tests::{
        host::{GIB, MIB, TableHost},
        merge,
    },
};
use leadline_protocol::study::{
    parse::parse_study,
    plan::{StepPlan, StudyPlan},
};
use serde_json::{Value, json};

fn job(changes: Value) -> Value {
    let job = json!({"filename": "f", "size": "1g", "rw": "randread", "direct": 1});
    merge(job, &changes)
}

fn steps(jobs: &[Value]) -> Value {
    json!({"steps": jobs.iter().map(|job| json!({"jobs": [job]})).collect::<Vec<_>>()})
}

fn with(study: Value, name: &str, value: Value) -> Value {
    merge(study, &json!({name: value}))
}

fn planned(study: Value) -> StudyPlan {
    planned_on(&TableHost::default(), study)
}

fn planned_on(host: &TableHost, study: Value) -> StudyPlan {
    resolve(&parse_study(study).expect("a valid study"), host)
}

/// Checks the fields of a document's problems.
fn check(study: Value, expected: &[&str]) {
    let problems = parse_study(study.clone()).err().unwrap_or_default();
    let fields: Vec<&str> = problems
        .iter()
        .map(|problem| problem.field.as_deref().unwrap_or_default())
        .collect();
    assert_eq!(fields, expected, "{study}");
    assert!(
        problems
            .iter()
            .all(|problem| !problem.remedy.is_empty() && !problem.detail.is_empty())
    );
}

#[test]
fn problems_in_all_steps_are_reported_together() {
    let good = || job(json!({}));
    check(steps(&[good()]), &[]);
    check(json!([]), &[""]);
    check(json!({"name": "s"}), &["steps"]);
    check(json!({"steps": {}}), &["steps"]);
    check(json!({"steps": []}), &["steps"]);
    check(steps(&vec![good(); 1025]), &["steps"]);
    check(
        json!({"steps": [7, {"jobs": []}]}),
        &["steps[0]", "steps[0].jobs", "steps[1].jobs"],
    );
    check(
        steps(&[
            good(),
            job(json!({"bs": "x"})),
            job(json!({"rw": "up", "iodpeth": 1})),
        ]),
        &[
            "steps[1].jobs[0].bs",
            "steps[2].jobs[0].rw",
            "steps[2].jobs[0].iodpeth",
        ],
    );
    let study = json!({"name": 1, "stpes": 1, "continue_on_failure": "no", "scale": {"max_size": "x", "mem": 1, "free_percent": 0},
        "steps": [{"jobs": [good()], "note": [], "sample_ms": 1, "status": {}}]});
    check(
        study,
        &[
            "name",
            "continue_on_failure",
            "stpes",
            "steps[0].note",
            "steps[0].status",
            "steps[0].sample_ms",
            "scale.max_size",
            "scale.free_percent",
            "scale.mem",
        ],
    );
    let table = |rows: Value| {
        with(
            steps(&[good()]),
            "published",
            json!({"source": "s", "columns": ["IOPS"], "rows": rows}),
        )
    };
    check(
        table(json!([{"step": 1, "cells": ["1"]}, {"cells": ["2"]}])),
        &[],
    );
    check(
        table(json!([{"step": 2, "cells": ["1"]}, {"cells": []}])),
        &["published.rows[0]", "published.rows[1]"],
    );
    check(
        with(steps(&[good()]), "published", json!({"columns": []})),
        &["published"],
    );
}

/// The invalid value is in the sweep and not in the step, so the problem must refer to the sweep.
#[test]
fn problems_with_a_swept_value_identify_the_sweep() {
    let sweep = json!([{"option": "iodepth", "values": [1, 0]}]);
    let study = steps(&[job(json!({"ioengine": "io_uring"}))]);
    let problems = planned(with(study, "sweep", sweep)).problems;
    assert_eq!(problems[0].field.as_deref(), Some("sweep.iodepth"));
}

#[test]
fn step_state_sets_options_in_its_jobs() {
    let step = |state: Value| json!({"steps": [{"jobs": [job(json!({"invalidate": 1})), job(json!({}))], "state": state}]});
    let plan = planned(step(json!({"invalidate": 0, "pre_read": 1})));
    let values: Vec<_> = plan.steps[0]
        .jobs
        .iter()
        .map(|job| (&job["invalidate"], &job["pre_read"]))
        .collect();
    assert_eq!(values, [(&json!(1), &json!(1)), (&json!(0), &json!(1))]);
    check(step(json!({"bs": "4k"})), &["steps[0].state.bs"]);
    check(
        step(json!({"invalidate": "x", "invalidte": 1})),
        &["steps[0].state.invalidate", "steps[0].state.invalidte"],
    );
}

#[test]
fn step_problems_include_the_step_path() {
    let plan = planned(steps(&[
        job(json!({})),
        job(json!({"filename": "/etc/passwd"})),
        job(json!({"filename": "/dev/nope"})),
    ]));
    let fields: Vec<_> = plan
        .problems
        .iter()
        .map(|problem| problem.field.clone().unwrap())
        .collect();
    assert_eq!(
        fields,
        ["steps[1].jobs[0].filename", "steps[2].jobs[0].filename"]
    );
    assert!(plan.steps.iter().all(|step| step.plan.problems.is_empty()));
}

#[test]
fn steps_use_files_from_earlier_steps() {
    let laid_out = |study: Value| -> Vec<(u64, bool)> {
        let steps = planned(study).steps;
        steps
            .iter()
            .map(|step| &step.plan.jobs[0].targets[0])
            .map(|target| (target.layout_bytes, target.existed))
            .collect()
    };
    let write = |changes: Value| merge(job(json!({"rw": "randwrite"})), &changes);
    // Layout writes the file once. `unlink` keeps it, because it existed before that step.
    let sequence = [
        job(json!({})),
        job(json!({})),
        write(json!({"unlink": 1})),
        job(json!({})),
    ];
    assert_eq!(
        laid_out(steps(&sequence)),
        [(GIB, false), (0, true), (0, true), (0, true)]
    );
    let once = [job(json!({"unlink": 1})), job(json!({}))];
    assert_eq!(laid_out(steps(&once)), [(GIB, false), (GIB, false)]);
    // A complete initial write creates the whole file, and appended data follows it.
    let appended = [
        write(json!({"fallocate": "none"})),
        write(json!({"file_append": 1})),
        job(json!({"size": "2g"})),
    ];
    assert_eq!(
        laid_out(steps(&appended)),
        [(0, false), (0, true), (0, true)]
    );
    let codes: Vec<_> = planned(steps(&[
        write(json!({"fallocate": "none"})),
        job(json!({})),
    ]))
    .steps[1]
        .plan
        .findings
        .iter()
        .map(|finding| finding.code.clone())
        .collect();
    assert!(!codes.contains(&"unwritten_blocks".to_owned()), "{codes:?}");
}

#[test]
fn file_names_contain_the_file_id() {
    let mut generated = job(json!({"directory": "x-$study"}));
    generated.as_object_mut().unwrap().shift_remove("filename");
    let plan = planned(steps(&[job(json!({"filename": "$study.data"})), generated]));
    assert_eq!(
        plan.steps[1].jobs[0]["directory"],
        format!("x-{}", plan.file_id)
    );
    assert_eq!(plan.file_id.len(), 16);
    assert_eq!(
        plan.steps[0].jobs[0]["filename"],
        format!("{}.data", plan.file_id)
    );
    assert_eq!(plan.steps[0].run(&plan.file_id, 0)["study"], plan.file_id);
}

/// Checks the divisor for sizes of 1 GiB and 256 MiB.
fn check_scale(scale: Value, host: &TableHost, divisor: u64) {
    let study = with(
        steps(&[
            job(json!({})),
            job(json!({"filename": "g", "size": "256m", "io_limit": "128m"})),
        ]),
        "scale",
        scale.clone(),
    );
    let plan = planned_on(host, study);
    assert_eq!(
        plan.scaled.divided_by, divisor,
        "{scale}: {}",
        plan.scaled.sentence
    );
    assert_eq!(
        (plan.scaled.requested_bytes, plan.scaled.largest_bytes),
        (GIB, GIB / divisor)
    );
    let sizes: Vec<u64> = plan
        .steps
        .iter()
        .map(|step| step.plan.jobs[0].target.size)
        .collect();
    assert_eq!(sizes, [GIB / divisor, 256 * MIB / divisor]);
    assert_eq!(
        plan.steps[1].plan.jobs[0].timing.io_size,
        128 * MIB / divisor
    );
}

#[test]
fn sizes_are_halved_until_they_meet_all_limits() {
    let host = |memory: u64, free: u64| TableHost {
        memory,
        free,
        ..TableHost::default()
    };
    let plenty = || host(100 * GIB, 100 * GIB);
    check_scale(json!({}), &plenty(), 1);
    check_scale(
        json!({"max_size": "1g", "memory_percent": 25, "free_percent": 10}),
        &plenty(),
        1,
    );
    check_scale(json!({"max_size": "1023m"}), &plenty(), 2);
    check_scale(json!({"max_size": "16m"}), &plenty(), 64);
    check_scale(json!({"memory_percent": 25}), &host(2 * GIB, 100 * GIB), 2);
    // The limit applies to both files together.
    check_scale(json!({"free_percent": 10}), &host(GIB, 12 * GIB), 2);
    check_scale(
        json!({"memory_percent": 50, "free_percent": 10}),
        &host(GIB, 4 * GIB),
        4,
    );
    // The largest size stays at 1 MiB or more.
    check_scale(json!({"max_size": "4k"}), &plenty(), 1024);
}

#[test]
fn scaling_is_explained() {
    let host = TableHost {
        memory: 2 * GIB,
        ..TableHost::default()
    };
    let plan = planned_on(
        &host,
        with(
            steps(&[job(json!({}))]),
            "scale",
            json!({"memory_percent": 25, "note": "The author had 64 GiB."}),
        ),
    );
    assert_eq!(
        plan.scaled.sentence,
        "Sizes are divided by 2 (at most 512 MiB instead of 1 GiB) to stay within 25 % of the available memory (2 GiB)."
    );
    assert_eq!(plan.scaled.note.as_deref(), Some("The author had 64 GiB."));
    assert_eq!(plan.steps[0].jobs[0]["size"], "512m");
}

#[test]
fn first_write_of_repeated_steps_is_reported() {
    let codes = |changes: Value, repeats: u32| -> Vec<bool> {
        let study = with(steps(&[job(changes)]), "repeats", json!(repeats));
        let plan = planned(study);
        let is_reported = |step: &StepPlan| {
            let mut findings = step.plan.findings.iter();
            findings.any(|finding| finding.code == "first_write_in_repeats")
        };
        plan.steps.iter().map(is_reported).collect()
    };
    let write = |changes: Value| merge(json!({"rw": "write", "fallocate": "none"}), &changes);
    assert_eq!(codes(write(json!({})), 3), [true, false, false]);
    assert_eq!(codes(write(json!({})), 1), [false]);
    let state = |state: &str| json!({"rw": "write", "file_state": state});
    assert_eq!(codes(state("overwrite"), 2), [false; 2]);
    assert_eq!(codes(state("fresh"), 2), [false; 2]);
    assert_eq!(codes(state("as-is"), 2), [false; 2], "laid out");
    assert_eq!(codes(write(json!({"unlink": 1})), 2), [false; 2]);
    assert_eq!(codes(json!({}), 2), [false; 2]);
}
