//! Deviations of a test from the specification, as sentences.

use crate::{
    procedure_run::ProcedureRun,
    snia::{
        rounds::Rounds,
        served::memory_class,
        steady_state::{tracked, tracks_all},
        window::Window,
    },
    trend::values::DISTURBANCES,
};
use leadline_protocol::{
    device::DeviceKind,
    format::bytes,
    plan::{job::ResolvedJob, target::TargetKind},
    study::snia::{
        DEFAULT_CELL_SECONDS, DEFAULT_MAX_ROUNDS, DEFAULT_SATURATION_SECONDS,
        PRECONDITIONING_PASSES, SniaClass, SniaPurge, SniaRun, SniaTest, SniaTestName, cell_name,
        results::Deviation,
    },
};

/// With fewer I/Os in a cell, a single I/O changes the IOPS by more than 1 %.
const MIN_IOS: u64 = 100;

struct Deviations(Vec<Deviation>);

impl Deviations {
    fn add(&mut self, code: &str, sentence: impl Into<String>) {
        self.0.push(Deviation {
            code: code.into(),
            sentence: sentence.into(),
        });
    }
}

/// Deviations that follow from the settings. `jobs`: the resolved jobs of any of the test's runs.
pub fn planned(test: &SniaTest, jobs: &[ResolvedJob]) -> Vec<Deviation> {
    let mut found = Deviations(Vec::new());
    add_purge(test, &mut found);
    if let Some(job) = jobs.first() {
        add_target(test, job, &mut found);
    }
    add_settings(test, &mut found);
    found.0
}

/// All deviations so far.
pub(crate) fn deviations(
    test: &SniaTest,
    runs: &[Option<ProcedureRun>],
    rounds: &Rounds,
    steady: Option<Window>,
) -> Vec<Deviation> {
    let resolved = runs.iter().flatten().map(|run| run.run.resolved);
    let jobs = resolved.into_iter().find(|jobs| !jobs.is_empty());
    let mut found = Deviations(planned(test, jobs.unwrap_or_default()));
    let runs: Vec<(SniaRun, &ProcedureRun)> = test
        .runs()
        .into_iter()
        .zip(runs)
        .filter_map(|(role, run)| Some((role, run.as_ref()?)))
        .collect();
    add_storage(&runs, &mut found);
    add_preconditioning(&runs, &mut found);
    add_runs(&runs, steady, &mut found);
    add_few_ios(test, rounds, steady, &mut found);
    found.0
}

fn add_purge(test: &SniaTest, found: &mut Deviations) {
    match test.purge {
        SniaPurge::None => found.add(
            "no_purge",
            "The device was not purged. Earlier writes can influence the result.",
        ),
        SniaPurge::Discard => found.add(
            "purge_substitute",
            "The purge was replaced by discarding the whole active range (BLKDISCARD). A device may ignore discards.",
        ),
        SniaPurge::Operator => found.add(
            "purge_by_operator",
            format!(
                "According to the operator, the device was purged: {}. Leadline did not verify it.",
                test.purge_note.as_deref().unwrap_or("no note")
            ),
        ),
    }
}

fn add_target(test: &SniaTest, job: &ResolvedJob, found: &mut Deviations) {
    if let Some(target) = job.targets.first() {
        let expected = match test.class {
            SniaClass::Enterprise => 1.0,
            SniaClass::Client => 0.75,
        };
        let share = target.size as f64 / target.length.max(1) as f64;
        if (share - expected).abs() > 0.001 {
            found.add(
                "active_range",
                format!(
                    "The active range is {:.1} % of the target ({} of {}) instead of {:.0} %.",
                    share * 100.0,
                    bytes(target.size),
                    bytes(target.length),
                    expected * 100.0
                ),
            );
        }
        match target.kind {
            TargetKind::File => {
                let filesystem = target.filesystem.as_deref().unwrap_or("a filesystem");
                let sentence = format!(
                    "The target is a file on {filesystem}; the specification tests a device."
                );
                found.add("file", sentence);
            }
            TargetKind::Loop => found.add("loop", LOOP),
            TargetKind::Null => found.add("null_engine", "The test did no I/O (ioengine=null)."),
            TargetKind::Device => {}
        }
    }
    if !job.direct {
        found.add(
            "buffered",
            "Buffered I/O: the page cache affects the results.",
        );
    }
    let data = &job.data;
    if data.zero_buffers || data.buffer_compress_percentage > 0 || data.dedupe_percentage > 0 {
        found.add(
            "data",
            "The written data is compressible or has duplicates; the specification uses random data.",
        );
    }
}

const LOOP: &str =
    "The target is a loop device. The results include the filesystem of its backing file.";

fn add_settings(test: &SniaTest, found: &mut Deviations) {
    let is_saturation = test.test == SniaTestName::WriteSaturation;
    let seconds = test.cell_seconds;
    if is_saturation && seconds != DEFAULT_SATURATION_SECONDS {
        let sentence =
            format!("The test ends after {seconds} s instead of {DEFAULT_SATURATION_SECONDS} s.");
        found.add("cell_seconds", sentence);
    }
    if is_saturation {
        return;
    }
    if seconds != DEFAULT_CELL_SECONDS {
        let sentence = format!("Each cell takes {seconds} s instead of {DEFAULT_CELL_SECONDS} s.");
        found.add("cell_seconds", sentence);
    }
    if test.max_rounds < DEFAULT_MAX_ROUNDS {
        let sentence = format!(
            "The test has at most {} rounds instead of {DEFAULT_MAX_ROUNDS}.",
            test.max_rounds
        );
        found.add("max_rounds", sentence);
    }
    add_matrix(test, found);
    if test.test == SniaTestName::Throughput {
        found.add(
            "restarted_offset",
            "Each sequential cell starts at the beginning of the active range, not where the previous one ended.",
        );
    }
}

fn add_matrix(test: &SniaTest, found: &mut Deviations) {
    let name = test.test;
    let is_throughput = name == SniaTestName::Throughput;
    let has_default_blocks = is_throughput || test.blocks == name.default_blocks();
    if test.mixes != name.default_mixes() || !has_default_blocks {
        let all: Vec<(u8, u64)> = name
            .default_mixes()
            .iter()
            .flat_map(|mix| {
                name.default_blocks()
                    .iter()
                    .map(move |block| (*mix, *block))
            })
            .collect();
        let is_measured =
            |(mix, block): &(u8, u64)| test.mixes.contains(mix) && test.blocks.contains(block);
        let measured = all.iter().filter(|cell| is_measured(cell)).count();
        let sentence = format!(
            "The test measures {measured} of the specification's {} cells, or measures them in a different order.",
            all.len()
        );
        found.add("matrix", sentence);
    }
    if !tracks_all(test) {
        let names: Vec<String> = tracked(test)
            .into_iter()
            .map(|tracked| tracked.name)
            .collect();
        let sentence = format!("Steady state is determined from {} only.", names.join(", "));
        found.add("tracking", sentence);
    }
}

fn add_storage(runs: &[(SniaRun, &ProcedureRun)], found: &mut Deviations) {
    let storage = runs
        .iter()
        .find_map(|(_, run)| run.run.host?.storage.as_ref());
    let Some(top) = storage.and_then(|storage| storage.devices.first()) else {
        found.add(
            "write_cache_unknown",
            "The state of the volatile write cache is unknown.",
        );
        return;
    };
    let has_loop = found.0.iter().any(|deviation| deviation.code == "loop");
    match top.kind {
        DeviceKind::Loop if !has_loop => found.add("loop", LOOP),
        DeviceKind::Loop | DeviceKind::Disk => {}
        DeviceKind::Zram | DeviceKind::Ram | DeviceKind::Rom => found.add(
            "not_solid_state",
            format!(
                "The specification applies to solid-state storage, which {} is not.",
                top.name
            ),
        ),
        _ => found.add(
            "partition_or_stack",
            format!("{} is a partition or is built on other devices.", top.name),
        ),
    }
    match &top.write_cache {
        Some(state) => found.add(
            "write_cache_flag_only",
            format!(
                "The kernel treats the write cache as {state}. This is the kernel's setting, not the state of the device."
            ),
        ),
        None => found.add(
            "write_cache_unknown",
            "The state of the volatile write cache is unknown.",
        ),
    }
}

fn add_preconditioning(runs: &[(SniaRun, &ProcedureRun)], found: &mut Deviations) {
    let done = runs
        .iter()
        .find(|(role, run)| *role == SniaRun::Precondition && run.run.is_complete());
    let Some((_, run)) = done else { return };
    let sizes = run.run.resolved.iter().map(|job| job.target.size);
    let required = sizes.sum::<u64>() * u64::from(PRECONDITIONING_PASSES);
    let written = run.run.report.map_or(0, |report| report.write.bytes);
    if written < required {
        let sentence = format!(
            "Preconditioning wrote {} of {}.",
            bytes(written),
            bytes(required)
        );
        found.add("preconditioning", sentence);
    }
}

/// Adds repeated runs, and runs in the window that were disturbed or served by memory.
fn add_runs(runs: &[(SniaRun, &ProcedureRun)], steady: Option<Window>, found: &mut Deviations) {
    for (role, run) in runs {
        if let (SniaRun::Round { round, .. }, Some(status)) = (role, run.first_attempt) {
            let sentence = format!(
                "A run of round {round} was repeated, because the first attempt was {}. The device received its writes twice.",
                status.as_str()
            );
            found.add("repeated", sentence);
        }
    }
    let in_window: Vec<&(SniaRun, &ProcedureRun)> = runs
        .iter()
        .filter(|(role, run)| match (role, steady) {
            (SniaRun::Round { round, .. }, Some(window)) => {
                (window.first()..=window.last).contains(round) && run.run.is_complete()
            }
            _ => false,
        })
        .collect();
    for (role, run) in &in_window {
        let SniaRun::Round { round, .. } = role else {
            continue;
        };
        for finding in run.run.findings {
            if DISTURBANCES.contains(&finding.code.as_str()) {
                found.add("disturbed", format!("Round {round}: {}", finding.sentence));
            }
        }
    }
    let served = in_window.iter().filter_map(|(_, run)| memory_class(run));
    let classes: Vec<&str> = served.map(|class| class.as_str()).collect();
    if let Some(class) = classes.first() {
        let sentence = format!(
            "{} of {} runs in the window were served by memory ({class}).",
            classes.len(),
            in_window.len()
        );
        found.add("served_by_memory", sentence);
    }
}

fn add_few_ios(test: &SniaTest, rounds: &Rounds, steady: Option<Window>, found: &mut Deviations) {
    let Some(window) = steady else { return };
    for cell in 0..test.mixes.len() * test.blocks.len() {
        let values = rounds.values(cell);
        let ios = values[window.indices()]
            .iter()
            .flatten()
            .map(|value| value.ios);
        if let Some(least) = ios.min().filter(|ios| *ios < MIN_IOS) {
            let mix = test.mixes[cell / test.blocks.len()];
            let name = cell_name(mix, test.blocks[cell % test.blocks.len()]);
            found.add(
                "few_ios",
                format!("{name} had only {least} I/Os in a round."),
            );
        }
    }
}
