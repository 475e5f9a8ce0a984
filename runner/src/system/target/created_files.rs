//! Files that this run made, and their removal: never anything that was there before, never anything that took their
//! place. A step of a study takes over what an earlier step made, which it knows by the study's mark in the name.

use crate::plan::host_view::PathKind;
use crate::system::guard::Guard;
use crate::system::host::ownership;
use crate::system::host::resolved_path::{ResolvedPath, Stat};
use crate::system::target::Targets;
use crate::system::target::open::remove_beneath;
use leadline_protocol::problem::Problem;
use std::path::{Path, PathBuf};

/// One file that this run made.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) path: PathBuf,
    stat: Stat,
    unlink: bool,
}

impl Made {
    /// Keeps in mind a file just made; `unlink`: the job wants it removed in the end.
    pub(crate) fn new(path: &Path, stat: Stat, unlink: bool) -> Self {
        Self {
            path: path.into(),
            stat,
            unlink,
        }
    }

    fn is_there(&self) -> bool {
        let place = ResolvedPath::find(&self.path);
        place.kind == PathKind::File
            && place.path == self.path
            && place.stat.is_some_and(|now| now.is_same(&self.stat))
    }

    /// Removes it, if it is still the same regular file.
    pub(crate) fn remove(&self, guard: &Guard) -> Result<bool, Problem> {
        if !self.is_there() {
            return Ok(false);
        }
        remove_beneath(guard, &self.path)
            .map(|()| true)
            .map_err(|error| {
                let sentence = format!(
                    "{} cannot be removed: {}.",
                    self.path.display(),
                    std::io::Error::from(error)
                );
                Problem::environment("clean_up_failed", "unlink", sentence, "Remove it by hand.")
            })
    }
}

impl Targets {
    /// Keeps in mind a file of an earlier run of ours that is going to be changed.
    pub(crate) fn remember(&mut self, place: &ResolvedPath) {
        if let Some(stat) = place
            .stat
            .filter(|_| place.kind == PathKind::File && ownership::is_owned(&place.path))
        {
            self.ours.push(Made::new(&place.path, stat, false));
        }
    }

    /// Marks the files that this run or an earlier one of ours made as they are now, so that a later run knows them. To be
    /// called when the I/O is over.
    pub fn mark_owned(&self) {
        for made in self
            .made
            .iter()
            .chain(&self.ours)
            .filter(|made| !made.unlink && made.is_there())
        {
            // Without user attributes there are no marks: the file is then taken for somebody else's.
            let _ = ownership::mark_owned(&made.path);
        }
    }

    /// Takes over a file that an earlier step of the study made. A mark is 64 bits drawn for this one study, and `$study` is
    /// the only way into a name: what carries it was not there before.
    pub(crate) fn adopt(&mut self, path: &Path, stat: Stat, unlink: bool) {
        let is_marked = self
            .study
            .as_ref()
            .is_some_and(|mark| path.to_string_lossy().contains(mark.as_str()));
        if is_marked && unlink && self.made.iter().all(|made| made.path != path) {
            self.made.push(Made::new(path, stat, unlink));
        }
    }

    /// Removes the files that this run made for jobs with `unlink=1`, and tells how many. To be called at the end of
    /// every run, also a failed one.
    ///
    /// # Errors
    /// `clean_up_failed` for the first that could not be removed; the others are removed all the same.
    pub fn clean_up(&mut self) -> Result<usize, Problem> {
        let made: Vec<Made> = self.made.drain(..).filter(|made| made.unlink).collect();
        if made.is_empty() {
            return Ok(0);
        }
        let guard = self.guard();
        let results: Vec<_> = made.iter().map(|made| made.remove(&guard)).collect();
        let removed: Vec<bool> = results.into_iter().collect::<Result<_, _>>()?;
        Ok(removed.into_iter().filter(|&removed| removed).count())
    }
}
