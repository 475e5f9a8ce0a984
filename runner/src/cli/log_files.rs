//! fio's log files, written while a run is measured. A log replaces only an earlier log. Other
//! files are never changed, even if they appear between the check and the start of the run.

pub(crate) mod job_logs;
mod replacement;

use crate::{
    cli::log_files::replacement::{Lines, ReplaceableLog, check_replaceable, mark_complete},
    system::host::ownership::MARK_DELAY,
};
use leadline_export::fio::logs::{Log, LogKind};
use leadline_protocol::{problem::Problem, sample::Sample};
use rustix::fs::{Access, access};
use std::{
    fs::{self, File},
    io::{self, BufWriter, Error, Write},
    path::{Path, PathBuf},
    thread::sleep,
};

const OPTION: &str = "--write-logs";

/// The files are created when the run is accepted, so a rejected run changes nothing.
pub(crate) struct LogFiles {
    files: Vec<LogFile>,
    errors: Vec<String>,
}

struct LogFile {
    log: Log,
    path: PathBuf,
    replaceable: ReplaceableLog,
    /// `None` before the run is accepted.
    file: Option<BufWriter<File>>,
}

impl LogFiles {
    /// `targets`: paths of the run's targets.
    ///
    /// # Errors
    /// The files' directory does not exist or is not writable, a file exists and is not a log, or a
    /// file is a target.
    pub(crate) fn new(prefix: &Path, targets: &[&Path]) -> Result<Self, Vec<Problem>> {
        let directory = check_directory(prefix, OPTION).map_err(|problem| vec![problem])?;
        let file = |kind: LogKind| {
            let path = path(prefix, kind, Some(1));
            check_no_target(directory, &path, targets, OPTION)?;
            Ok(LogFile {
                log: Log::new(kind),
                replaceable: check_replaceable(&path, Lines::for_run(kind), OPTION)?,
                path,
                file: None,
            })
        };
        let files: Result<_, Problem> = LogKind::OF_RUN.into_iter().map(file).collect();
        Ok(Self {
            files: files.map_err(|problem| vec![problem])?,
            errors: Vec::new(),
        })
    }

    /// Creates `PREFIX_bw.1.log` and the other files.
    pub(crate) fn create(&mut self) {
        self.for_each_log(|log| {
            let file = log.replaceable.replace(&log.path)?;
            log.file = Some(BufWriter::new(file));
            Ok(())
        });
    }

    /// Adds a sample that ends at `t_ms`.
    pub(crate) fn add(&mut self, t_ms: f64, sample: &Sample) {
        self.for_each_log(|log| match &mut log.file {
            Some(file) => file.write_all(log.log.lines(t_ms, sample).as_bytes()),
            None => Ok(()),
        });
    }

    /// Completes the files. Returns why files could not be written.
    pub(crate) fn finish(mut self) -> Vec<String> {
        let mut has_marks = false;
        self.for_each_log(|log| {
            if let Some(file) = &mut log.file {
                file.flush()?;
                has_marks |= mark_complete(file.get_ref());
            }
            Ok(())
        });
        if has_marks {
            sleep(MARK_DELAY);
        }
        self.errors
    }

    /// After an error, nothing more is written to that file.
    fn for_each_log(&mut self, mut write: impl FnMut(&mut LogFile) -> io::Result<()>) {
        let errors = &mut self.errors;
        self.files.retain_mut(|log| match write(log) {
            Ok(()) => true,
            Err(error) => {
                errors.push(format!("cannot write {}: {error}", log.path.display()));
                // Dropping the writer would try to write its buffer again.
                if let Some(file) = log.file.take() {
                    drop(file.into_parts());
                }
                false
            }
        });
    }
}

/// Returns the path of a log, named as in fio (init.c, `gen_log_name`). `number`: worker number.
fn path(prefix: &Path, kind: LogKind, number: Option<u32>) -> PathBuf {
    let number = number.map_or_else(String::new, |number| format!(".{number}"));
    let mut name = prefix.as_os_str().to_owned();
    name.push(format!("_{}{number}.log", kind.name()));
    name.into()
}

/// Returns the directory that contains the logs.
///
/// # Errors
/// It does not exist or is not writable.
fn check_directory<'a>(prefix: &'a Path, option: &str) -> Result<&'a Path, Problem> {
    let directory = match prefix.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    access(directory, Access::EXISTS | Access::WRITE_OK).map_err(|error| {
        let directory = directory.display();
        Problem::invalid(
            "unwritable",
            option,
            format!(
                "{directory} is not a writable directory: {}.",
                Error::from(error)
            ),
            "Pass a prefix in a directory that exists and is writable.",
        )
    })?;
    Ok(directory)
}

/// # Errors
/// The run uses the file as a target.
fn check_no_target(
    directory: &Path,
    path: &Path,
    targets: &[&Path],
    option: &str,
) -> Result<(), Problem> {
    let canonical = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    let canonical = canonical.join(path.file_name().unwrap_or_default());
    if !targets.contains(&canonical.as_path()) {
        return Ok(());
    }
    Err(Problem::invalid(
        "log_is_target",
        option,
        format!("{} is a target of the run.", path.display()),
        "Pass another prefix.",
    ))
}
