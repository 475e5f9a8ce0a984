//! Which files a run may remove or mark as owned: those that it created itself and those of earlier steps of its study,
//! whose path contains the study's `file_id`. Files that existed before are never removed.

use crate::plan::host_view::PathKind;
use crate::system::host::ownership;
use crate::system::host::resolved_path::{ResolvedPath, Stat};
use crate::system::target::Targets;
use crate::system::target::owned_file::OwnedFile;
use leadline_protocol::problem::Problem;
use std::path::Path;

impl Targets {
    /// Records a file with a valid ownership mark before this run changes it.
    pub(crate) fn record_reused(&mut self, found: &ResolvedPath) {
        let Some(stat) = found.stat else { return };
        if found.kind == PathKind::File && ownership::is_owned(&found.path) {
            self.reused.push(OwnedFile::new(&found.path, stat, false));
        }
    }

    /// Renews the ownership marks of the files that this run created or changed. Call it after the last I/O.
    pub fn mark_owned(&self) {
        for file in self.created.iter().chain(&self.reused) {
            if !file.unlink && file.is_unchanged() {
                // Without user xattrs the file has no mark and counts as foreign.
                let _ = ownership::mark_owned(&file.path);
            }
        }
    }

    /// Treats a file of an earlier step of the study as created by this run. The `file_id` is 64 random bits per study
    /// and enters a path only through `$study`, so a path that contains it cannot be older than the study.
    pub(crate) fn adopt_study_file(&mut self, path: &Path, stat: Stat, unlink: bool) {
        let Some(file_id) = &self.file_id else { return };
        let is_known = self.created.iter().any(|file| file.path == path);
        if unlink && !is_known && path.to_string_lossy().contains(file_id) {
            self.created.push(OwnedFile::new(path, stat, unlink));
        }
    }

    /// Removes the created files of jobs with `unlink=1` and returns their number. Call it at the end of every run, also
    /// after a failure.
    ///
    /// # Errors
    /// `clean_up_failed` for the first file that could not be removed, after trying all of them.
    pub fn clean_up(&mut self) -> Result<usize, Problem> {
        let mut files = std::mem::take(&mut self.created);
        files.retain(|file| file.unlink);
        if files.is_empty() {
            return Ok(0);
        }
        let guard = self.guard();
        let results: Vec<_> = files.iter().map(|file| file.remove(&guard)).collect();
        let removed = results.into_iter().collect::<Result<Vec<bool>, _>>()?;
        Ok(removed.into_iter().filter(|&removed| removed).count())
    }
}
