//! Round sequences, whose expected windows were written by an author who had not seen the code, and
//! tests with parsed study runs.

use crate::{
    group::ComparedRun,
    procedure_run::ProcedureRun,
    snia::{early_end, results, rounds::Rounds, steady_state::first_window, window::Window},
    tests::{direction, run},
};
use leadline_protocol::{
    run::Run,
    status::RunStatus,
    study::snia::{
        SniaClass, SniaPurge, SniaTest, SniaTestName,
        results::{CellValue, SniaState},
    },
};
use serde_json::{Value, json};

const KIB: u64 = 1 << 10;

fn test(mixes: &[u8], blocks: &[u64]) -> SniaTest {
    SniaTest {
        test: SniaTestName::Iops,
        class: SniaClass::Enterprise,
        purge: SniaPurge::None,
        purge_note: None,
        cell_seconds: 60,
        max_rounds: 25,
        mixes: mixes.to_vec(),
        blocks: blocks.to_vec(),
    }
}

fn value(iops: f64) -> CellValue {
    CellValue {
        iops,
        bytes_per_second: 0.0,
        lat_mean_ns: None,
        lat_p99999_ns: None,
        lat_max_ns: None,
        ios: 1000,
    }
}

fn cases(name: &str) -> Vec<Value> {
    let cases: Value = serde_json::from_str(include_str!("cases.json")).unwrap();
    cases[name].as_array().unwrap().clone()
}

#[test]
fn first_steady_window_ends_the_test() {
    let test = test(&[0], &[4 * KIB]);
    for case in cases("windows") {
        let max = case["max_rounds"].as_u64().unwrap() as usize;
        let mut rounds = Rounds::default();
        let mut has_gap = false;
        for round in case["rounds"].as_array().unwrap() {
            if round == "gap" {
                has_gap = true;
            } else if rounds.len() < max {
                let value = round.as_f64().map(value);
                rounds.push(vec![value], std::mem::take(&mut has_gap));
            }
        }
        let window = first_window(&test, &rounds);
        let expected = case["steady_at_round"].as_u64();
        let steady_at = window.map(|window| u64::from(window.last));
        assert_eq!(steady_at, expected, "{case}");
        if let Some(window) = window {
            assert_eq!(
                json!([window.first(), window.last]),
                case["window"],
                "{case}"
            );
        }
    }
}

#[test]
fn variables_must_be_steady_in_the_same_window() {
    let cells = [
        "rnd_1024k_rw100",
        "",
        "",
        "",
        "rnd_64k_rw65",
        "",
        "",
        "",
        "rnd_4k_rw0",
    ];
    let blocks = [1024 * KIB, 64 * KIB, 4 * KIB];
    for case in cases("variables") {
        let count = case["rnd_4k_rw0"].as_array().unwrap().len();
        let mut rounds = Rounds::default();
        let mut single = Rounds::default();
        for round in 0..count {
            let values = cells.map(|cell| Some(value(case[cell][round].as_f64().unwrap_or(1.0))));
            single.push(vec![values[8]], false);
            rounds.push(values.to_vec(), false);
        }
        let at = |window: Option<Window>| window.map(|window| u64::from(window.last));
        let all = first_window(&test(&[100, 65, 0], &blocks), &rounds);
        assert_eq!(at(all), case["steady_at_round"].as_u64(), "{case}");
        let one = first_window(&test(&[0], &[4 * KIB]), &single);
        let expected = case["steady_at_round_if_only_4k_rw0"].as_u64();
        assert_eq!(at(one), expected, "{case}");
    }
}

/// A run whose jobs are cells with these IOPS. The run starts at `second`.
fn cells_run(number: u64, second: u64, iops: &[f64]) -> Run {
    let run = run(number, 1.0, "device", "6.1");
    let mut run = serde_json::to_value(run).unwrap();
    let jobs: Vec<Value> = iops
        .iter()
        .map(|iops| {
            json!({"name": "cell", "engine": "psync", "workers": 1, "duration_ms": 60_000.0, "ended_by": "runtime",
                "read": direction(0.0, 0), "write": direction(*iops, 9), "trim": direction(0.0, 0),
                "sync": run["report"]["sync"], "user_ns_per_io": null, "system_ns_per_io": null, "errors": 0, "decisions": []})
        })
        .collect();
    run["report"]["jobs"] = jobs.into();
    run["report"]["started_at_ms"] = (second * 1000).into();
    run["report"]["duration_ms"] = 60_000.0.into();
    serde_json::from_value(run).unwrap()
}

fn inputs(runs: &[Run]) -> Vec<Option<ProcedureRun<'_>>> {
    let run = |run| {
        Some(ProcedureRun {
            run: ComparedRun::new(run, None),
            first_attempt: None,
        })
    };
    runs.iter().map(run).collect()
}

/// Preconditioning and rounds with one cell, in sequence.
fn series(iops: &[f64]) -> Vec<Run> {
    let all = [&[1.0], iops].concat();
    let numbered = (1..).zip(all);
    numbered
        .map(|(number, iops)| cells_run(number, number * 61, &[iops]))
        .collect()
}

#[test]
fn steady_tests_list_their_deviations() {
    let test = test(&[0], &[4 * KIB]);
    let runs = series(&[2000.0, 1000.0, 1010.0, 990.0, 1000.0, 1005.0]);
    let found = results(&test, &inputs(&runs));
    assert_eq!(found.state, SniaState::Steady);
    assert_eq!(
        found.badge.as_deref(),
        Some("steady (RW0 4k IOPS only, rounds 2–6)")
    );
    let window = found.tracking[0].window.unwrap();
    assert!((window.average - 1001.0).abs() < 1e-9 && window.is_steady);
    // The least-squares line passes through the average in the middle of the window, round 4.
    assert!((window.slope * 4.0 + window.intercept - window.average).abs() < 1e-9);
    assert!((found.cells[0].value.unwrap().iops - 1001.0).abs() < 1e-9);
    assert!(
        found.label.starts_with("Follows SNIA SSS PTS 2.0.2, with "),
        "{}",
        found.label
    );
    let codes: Vec<&str> = found
        .deviations
        .iter()
        .map(|found| found.code.as_str())
        .collect();
    for code in ["no_purge", "matrix", "tracking", "write_cache_unknown"] {
        assert!(codes.contains(&code), "{codes:?}");
    }
    let end = early_end(&test, &inputs(&runs));
    assert_eq!(end.as_deref(), Some("steady state in round 6"));
    assert_eq!(early_end(&test, &inputs(&runs[..6])), None);
}

#[test]
fn interruptions_restart_the_window() {
    let test = test(&[0], &[4 * KIB]);
    let iops = [1000.0; 9];
    let runs = series(&iops);
    assert_eq!(
        early_end(&test, &inputs(&runs)).as_deref(),
        Some("steady state in round 5")
    );
    // A pause of an hour before round 4.
    let mut paused = runs.clone();
    for run in &mut paused[4..] {
        run.report.as_mut().unwrap().started_at_ms += 3_600_000;
    }
    assert_eq!(
        early_end(&test, &inputs(&paused)).as_deref(),
        Some("steady state in round 8")
    );
    // The run of round 3 was interrupted and repeated.
    let mut repeated = inputs(&runs);
    repeated[3].as_mut().unwrap().first_attempt = Some(RunStatus::Interrupted);
    assert_eq!(
        early_end(&test, &repeated).as_deref(),
        Some("steady state in round 8")
    );
    let round = &results(&test, &repeated).rounds[2];
    assert!(round.interruption.is_some());
    // The repeat of a failed run does not interrupt the round.
    repeated[3].as_mut().unwrap().first_attempt = Some(RunStatus::Failed);
    assert_eq!(
        early_end(&test, &repeated).as_deref(),
        Some("steady state in round 5")
    );
    let deviations = results(&test, &repeated).deviations;
    assert!(deviations.iter().any(|found| found.code == "repeated"));
}

#[test]
fn incomplete_and_cached_tests_get_no_badge() {
    let test = test(&[0], &[4 * KIB]);
    let mut runs = series(&[1000.0; 6]);
    // Cancelled in round 4.
    for run in &mut runs[4..] {
        run.summary.status = RunStatus::Cancelled;
        run.report = None;
    }
    let cancelled = results(&test, &inputs(&runs));
    assert_eq!(cancelled.state, SniaState::Incomplete);
    assert_eq!((cancelled.badge, cancelled.window), (None, None));
    assert!(
        cancelled.label.starts_with("Incomplete"),
        "{}",
        cancelled.label
    );
    // Served by the page cache.
    let mut runs = series(&[1000.0; 6]);
    let verdict = run(1, 1.0, "page_cache", "6.1").verdict;
    runs[3].verdict = verdict;
    let cached = results(&test, &inputs(&runs));
    assert_eq!((cached.state, cached.badge), (SniaState::Steady, None));
    assert!(
        cached
            .deviations
            .iter()
            .any(|found| found.code == "served_by_memory")
    );
    // The maximum number of rounds was reached.
    let rising: Vec<f64> = (0..25).map(|round| 1000.0 * 1.1_f64.powi(round)).collect();
    let runs = series(&rising);
    let ended = results(&test, &inputs(&runs));
    assert_eq!(ended.state, SniaState::NotReached);
    assert!(
        ended.sentence.contains("rounds 21 to 25"),
        "{}",
        ended.sentence
    );
    assert!(ended.cells[0].value.is_some() && ended.badge.is_none());
}
