//! fio's log files, written while a run is measured.

use leadline_export::fio::logs::{Log, LogKind};
use leadline_protocol::{problem::Problem, sample::Sample};
use std::{
    fs::File,
    io::{BufWriter, Error, Write},
    path::Path,
};

pub(crate) struct LogFiles(Vec<(Log, BufWriter<File>)>);

impl LogFiles {
    /// Creates `PREFIX_bw.1.log` and the other files.
    ///
    /// # Errors
    /// A file cannot be created.
    pub(crate) fn create(prefix: &Path) -> Result<Self, Vec<Problem>> {
        let create = |kind: LogKind| {
            let path = format!("{}_{}.1.log", prefix.display(), kind.name());
            let file = File::create(&path).map_err(|error| unwritable(&path, &error))?;
            Ok((Log::new(kind), BufWriter::new(file)))
        };
        let files: Result<_, Vec<Problem>> = LogKind::ALL.into_iter().map(create).collect();
        Ok(Self(files?))
    }

    /// Adds a sample that ends at `t_ms`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn add(&mut self, t_ms: f64, sample: &Sample) -> Result<(), Error> {
        for (log, file) in &mut self.0 {
            file.write_all(log.lines(t_ms, sample).as_bytes())?;
        }
        Ok(())
    }

    /// # Errors
    /// A file cannot be written.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let mut files = self.0.iter_mut();
        files.try_for_each(|(_, file)| file.flush())
    }
}

fn unwritable(path: &str, error: &Error) -> Vec<Problem> {
    vec![Problem::invalid(
        "unwritable",
        "--write-logs",
        format!("{path} cannot be created: {error}."),
        "Pass a prefix in a directory that exists and is writable.",
    )]
}
