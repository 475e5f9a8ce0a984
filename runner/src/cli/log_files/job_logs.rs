//! The log files requested by jobs (`write_bw_log`), for the `fio` command.

use crate::{
    cli::{
        log_files::{
            check_directory, check_no_target, path,
            replacement::{Lines, ReplaceableLog, check_replaceable, mark_complete},
        },
        output::print_error,
    },
    dialect::job_logs::{JobLog, JobLogs},
    system::host::ownership::MARK_DELAY,
};
use leadline_export::fio::logs::worker::{WorkerLog, WorkerWindow};
use leadline_protocol::{job::run_spec::RunSpec, plan::Plan, problem::Problem};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    thread::sleep,
};

/// Minimum sampling interval, in ms.
const MIN_SAMPLE_MS: u32 = 10;
/// Default and maximum sampling interval, in ms.
const SAMPLE_MS: u32 = 100;

/// The logs of one run, or of all steps of a study.
pub(crate) struct JobLogFiles {
    steps: Vec<Vec<OpenLog>>,
    sample_ms: Vec<u32>,
    files: Vec<LogFile>,
    errors: Vec<String>,
}

/// One worker's log.
struct OpenLog {
    /// Index of the job in its step.
    job: usize,
    /// Index of the worker in its job.
    worker: u32,
    log: WorkerLog,
    /// Index of the file.
    file: usize,
    /// Buffered lines of a worker that shares its file with others, written when the step ends.
    lines: Option<String>,
}

struct LogFile {
    path: PathBuf,
    replaceable: ReplaceableLog,
    state: FileState,
}

enum FileState {
    /// The file has not been created, because no run that writes to it has been accepted yet.
    Unused,
    Open(BufWriter<File>),
    Failed,
}

impl JobLogFiles {
    /// Returns `None` if no job requests logs. `plans`: plans of all steps.
    ///
    /// # Errors
    /// Same as [`Self::new`].
    pub(crate) fn open(
        steps: &[Vec<JobLogs>],
        plans: impl FnOnce() -> Vec<Plan>,
    ) -> Result<Option<Self>, Vec<Problem>> {
        if steps.iter().flatten().all(|job| job.logs.is_empty()) {
            return Ok(None);
        }
        let plans = plans();
        let targets: Vec<&Path> = plans.iter().flat_map(target_paths).collect();
        Self::new(steps, &targets).map(Some)
    }

    /// `steps`: the logs of each step's jobs. `targets`: paths of all targets.
    ///
    /// # Errors
    /// A directory does not exist or is not writable, a file exists and is not a log, or a file is
    /// a target.
    fn new(steps: &[Vec<JobLogs>], targets: &[&Path]) -> Result<Self, Vec<Problem>> {
        let mut found = Self {
            steps: Vec::new(),
            sample_ms: steps.iter().map(|jobs| sample_ms(jobs)).collect(),
            files: Vec::new(),
            errors: Vec::new(),
        };
        let mut by_path = BTreeMap::new();
        for jobs in steps {
            let mut logs = Vec::new();
            for (job, requested) in jobs.iter().enumerate() {
                for log in &requested.logs {
                    for worker in 0..requested.workers {
                        let number = requested.first_number + worker;
                        let number = (!log.is_shared).then_some(number);
                        let path = path(Path::new(&log.prefix), log.kind, number);
                        let file = match by_path.get(&path) {
                            Some(file) => *file,
                            None => {
                                let file = check_log_file(&path, log, targets);
                                found.files.push(file.map_err(|problem| vec![problem])?);
                                by_path.insert(path, found.files.len() - 1);
                                found.files.len() - 1
                            }
                        };
                        logs.push(OpenLog::new(log, job, worker, file));
                    }
                }
            }
            found.steps.push(logs);
        }
        Ok(found)
    }

    /// Sets the sampling interval that the logs of a step require.
    pub(crate) fn set_interval(&self, step: usize, spec: &mut RunSpec) {
        if let Some(sample_ms) = self.sample_ms.get(step) {
            spec.sample_ms = *sample_ms;
        }
    }

    /// Creates the files for a step whose run has been accepted.
    pub(crate) fn create(&mut self, step: usize) {
        for log in self.steps.get(step).into_iter().flatten() {
            let file = &mut self.files[log.file];
            if matches!(file.state, FileState::Unused) {
                file.state = match file.replaceable.replace(&file.path) {
                    Ok(opened) => FileState::Open(BufWriter::new(opened)),
                    Err(error) => file.fail(&error, &mut self.errors),
                };
            }
        }
    }

    /// Adds a worker's sampling window.
    pub(crate) fn add(&mut self, step: usize, window: &WorkerWindow) {
        let is_for = |log: &&mut OpenLog| log.job == window.job && log.worker == window.worker;
        let logs = self.steps.get_mut(step).into_iter().flatten();
        for log in logs.filter(is_for) {
            let lines = log.log.add(window);
            match &mut log.lines {
                Some(collected) => collected.push_str(&lines),
                None => self.files[log.file].write(&lines, &mut self.errors),
            }
        }
    }

    /// Completes a step's logs.
    pub(crate) fn end(&mut self, step: usize) {
        for log in self.steps.get_mut(step).into_iter().flatten() {
            let mut lines = log.lines.take().unwrap_or_default();
            lines += &log.log.finish();
            self.files[log.file].write(&lines, &mut self.errors);
        }
    }

    /// Completes the files. Returns the run's exit code, or 1 instead of 0 if a file could not be
    /// written.
    pub(crate) fn finish(logs: Option<Self>, code: u8) -> u8 {
        let Some(mut logs) = logs else {
            return code;
        };
        let mut has_marks = false;
        for file in &mut logs.files {
            if let FileState::Open(writer) = &mut file.state {
                match writer.flush() {
                    Ok(()) => has_marks |= mark_complete(writer.get_ref()),
                    Err(error) => file.state = file.fail(&error, &mut logs.errors),
                }
            }
        }
        if has_marks {
            sleep(MARK_DELAY);
        }
        logs.errors.iter().for_each(print_error);
        if code == 0 && !logs.errors.is_empty() {
            1
        } else {
            code
        }
    }
}

impl OpenLog {
    fn new(log: &JobLog, job: usize, worker: u32, file: usize) -> Self {
        Self {
            job,
            worker,
            log: WorkerLog::new(log.kind, log.format, log.interval_ms, log.has_unix_time),
            file,
            lines: log.is_shared.then(String::new),
        }
    }
}

impl LogFile {
    fn write(&mut self, lines: &str, errors: &mut Vec<String>) {
        if let FileState::Open(writer) = &mut self.state
            && let Err(error) = writer.write_all(lines.as_bytes())
        {
            self.state = self.fail(&error, errors);
        }
    }

    /// After an error, nothing more is written to that file.
    fn fail(&mut self, error: &std::io::Error, errors: &mut Vec<String>) -> FileState {
        errors.push(format!("cannot write {}: {error}", self.path.display()));
        // Dropping the writer would try to write its buffer again.
        if let FileState::Open(writer) = std::mem::replace(&mut self.state, FileState::Failed) {
            drop(writer.into_parts());
        }
        FileState::Failed
    }
}

pub(crate) fn target_paths(plan: &Plan) -> Vec<&Path> {
    let targets = plan.jobs.iter().flat_map(|job| &job.targets);
    targets.map(|target| Path::new(&target.path)).collect()
}

fn check_log_file(path: &Path, log: &JobLog, targets: &[&Path]) -> Result<LogFile, Problem> {
    let option = log.kind.option();
    let directory = check_directory(path, option)?;
    check_no_target(directory, path, targets, option)?;
    let lines = Lines {
        kind: log.kind,
        format: log.format,
        is_shared: log.is_shared,
    };
    Ok(LogFile {
        replaceable: check_replaceable(path, lines, option)?,
        path: path.to_owned(),
        state: FileState::Unused,
    })
}

/// Greatest common divisor of the intervals of all logs and `SAMPLE_MS`, at least `MIN_SAMPLE_MS`.
fn sample_ms(jobs: &[JobLogs]) -> u32 {
    let logs = jobs.iter().flat_map(|job| &job.logs);
    let intervals = logs.map(|log| log.interval_ms);
    let used = intervals.filter(|ms| *ms > 0 && *ms < u32::MAX);
    used.fold(SAMPLE_MS, greatest_common_divisor)
        .max(MIN_SAMPLE_MS)
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    match b {
        0 => a,
        _ => greatest_common_divisor(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::sample_ms;
    use crate::dialect::job_logs::{JobLog, JobLogs};
    use leadline_export::fio::logs::{LogFormat, LogKind};

    #[test]
    fn samples_are_short_enough_for_all_logs() {
        for (intervals, expected) in [
            (vec![], 100),
            (vec![0, u32::MAX], 100),
            (vec![1000], 100),
            (vec![500, 250], 50),
            (vec![20, 1000], 20),
            (vec![7], 10),
        ] {
            let log = |interval_ms: &u32| JobLog {
                kind: LogKind::Iops,
                prefix: "a".into(),
                format: LogFormat::default(),
                interval_ms: *interval_ms,
                is_shared: false,
                has_unix_time: false,
            };
            let jobs = JobLogs {
                first_number: 1,
                workers: 1,
                logs: intervals.iter().map(log).collect(),
            };
            assert_eq!(sample_ms(&[jobs]), expected, "{intervals:?}");
        }
    }
}
