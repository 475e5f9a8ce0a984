//! fio's log files, written while a run is measured.

use leadline_export::fio::logs::{Log, LogKind};
use leadline_protocol::{problem::Problem, sample::Sample};
use rustix::fs::{Access, access};
use std::{
    fs::File,
    io::{BufWriter, Error, Write},
    path::{Path, PathBuf},
};

/// The files are created when the run is accepted, so that a rejected run changes nothing.
pub(crate) struct LogFiles {
    prefix: PathBuf,
    files: Vec<(Log, BufWriter<File>)>,
}

impl LogFiles {
    /// # Errors
    /// The directory of the files does not exist or is not writable.
    pub(crate) fn new(prefix: &Path) -> Result<Self, Vec<Problem>> {
        let directory = match prefix.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        access(directory, Access::EXISTS | Access::WRITE_OK)
            .map_err(|error| unwritable(directory, &error.into()))?;
        Ok(Self {
            prefix: prefix.to_owned(),
            files: Vec::new(),
        })
    }

    /// Creates `PREFIX_bw.1.log` and the other files.
    ///
    /// # Errors
    /// A file cannot be created.
    pub(crate) fn create(&mut self) -> Result<(), Error> {
        for kind in LogKind::ALL {
            let path = format!("{}_{}.1.log", self.prefix.display(), kind.name());
            let file = BufWriter::new(File::create(path)?);
            self.files.push((Log::new(kind), file));
        }
        Ok(())
    }

    /// Adds a sample that ends at `t_ms`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn add(&mut self, t_ms: f64, sample: &Sample) -> Result<(), Error> {
        for (log, file) in &mut self.files {
            file.write_all(log.lines(t_ms, sample).as_bytes())?;
        }
        Ok(())
    }

    /// # Errors
    /// A file cannot be written.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let mut files = self.files.iter_mut();
        files.try_for_each(|(_, file)| file.flush())
    }
}

fn unwritable(directory: &Path, error: &Error) -> Vec<Problem> {
    vec![Problem::invalid(
        "unwritable",
        "--write-logs",
        format!(
            "{} is not a writable directory: {error}.",
            directory.display()
        ),
        "Pass a prefix in a directory that exists and is writable.",
    )]
}
