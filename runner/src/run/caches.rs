//! The page cache as the jobs want it to be: the host's dropped, the targets' emptied, filled, advised. Dirty pages may take a
//! device long; nobody who asks for an end waits for them.
//!
//! Not here: how each is done (`target`).

use crate::load::worker::Broken;
use crate::run::{End, Open, Run, whole};
use crate::system::probes::region::Region;
use crate::system::probes::residency::ResidencyMethod;
use crate::system::target::OpenTarget;
use crate::system::target::cache::{advise, drop_caches, evict, invalidate, pre_read};
use crate::system::target::cancellable::run_unless_stopped;
use leadline_protocol::format::bytes;
use leadline_protocol::job::value::CacheState;
use leadline_protocol::phase::{Phase, PhaseChange, PhaseState};
use leadline_protocol::plan::resolved::ResolvedJob;
use rustix::io::Errno;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;

impl Run<'_, '_> {
    /// Each thing in a phase of its own, as far as some job asks for it.
    pub(crate) fn set_caches(&mut self, open: &Open) -> Result<(), End> {
        if self.plan.jobs.iter().any(|job| job.target.drop_caches) {
            self.in_phase(Phase::DropCaches, |run| {
                Ok(run.run_unless_stopped(drop_caches)??)
            })?;
        }
        if self.plan.jobs.iter().any(|job| job.target.invalidate) {
            self.in_phase(Phase::Invalidate, |run| run.empty_caches(open))?;
        }
        if self.plan.jobs.iter().any(|job| job.target.pre_read) {
            self.in_phase(Phase::PreRead, |run| run.pre_read(open))?;
        }
        self.each(
            open,
            |_| true,
            |job, opened| Ok(advise(opened, job.target.fadvise_hint, range(opened)).map_err(unset)?),
        )
    }

    fn empty_caches(&mut self, open: &Open) -> Result<(), End> {
        let cold = |job: &ResolvedJob| job.target.cache_state == CacheState::Cold;
        let drop_clean = |opened: &OpenTarget| invalidate(opened, range(opened));
        self.each(
            open,
            |job| job.target.invalidate && !cold(job),
            |_, opened| self.empty(opened, drop_clean),
        )?;
        self.each(open, cold, |_, opened| self.empty(opened, evict))?;
        let jobs = self.plan.jobs.iter().zip(open).filter(|(job, _)| cold(job));
        let stayed: u64 = jobs
            .flat_map(|(_, clones)| clones.iter().take(1).flatten())
            .filter_map(cached_bytes)
            .sum();
        if stayed > 0 {
            let note = format!(
                "{} stayed in the page cache: mapped, locked, or read again by somebody",
                bytes(stayed)
            );
            let (phase, state) = (Phase::Invalidate, PhaseState::Progress);
            let note = Some(note);
            self.teller.change(PhaseChange {
                phase,
                state,
                done_bytes: None,
                total_bytes: None,
                planned_ms: None,
                note,
            });
        }
        Ok(())
    }

    fn each(
        &self,
        open: &Open,
        wanted: impl Fn(&ResolvedJob) -> bool,
        act: impl Fn(&ResolvedJob, &OpenTarget) -> Result<(), End>,
    ) -> Result<(), End> {
        let mut jobs = self
            .plan
            .jobs
            .iter()
            .zip(open)
            .filter(|(job, _)| wanted(job));
        jobs.try_for_each(|(job, clones)| {
            clones
                .iter()
                .flatten()
                .try_for_each(|opened| act(job, opened))
        })
    }

    fn empty(
        &self,
        opened: &OpenTarget,
        how: fn(&OpenTarget) -> Result<(), Errno>,
    ) -> Result<(), End> {
        let opened = opened.try_clone().map_err(unset)?;
        Ok(self
            .run_unless_stopped(move || how(&opened))?
            .map_err(unset)?)
    }

    fn run_unless_stopped<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, End> {
        run_unless_stopped(self.stop.flag(), work)
            .map_err(unset)?
            .ok_or(End::Stopped)
    }

    fn pre_read(&mut self, open: &Open) -> Result<(), End> {
        for (_, clones) in self
            .plan
            .jobs
            .iter()
            .zip(open)
            .filter(|(job, _)| job.target.pre_read)
        {
            for opened in clones.iter().flatten() {
                let teller = &mut *self.teller;
                let read = pre_read(
                    opened,
                    range(opened),
                    &mut |change| teller.change(change),
                    self.stop.flag(),
                );
                whole(read.map_err(|error| Broken {
                    doing: "reading the target into the page cache",
                    error: error.into(),
                })?)?;
            }
        }
        Ok(())
    }
}

fn unset(error: impl Into<io::Error>) -> Broken {
    Broken {
        doing: "setting the page cache",
        error: error.into(),
    }
}

/// Bytes of a target's region that are in the page cache; `None` where that cannot be told.
fn cached_bytes(opened: &OpenTarget) -> Option<u64> {
    let means = ResidencyMethod::detect(opened.fd.as_fd()).ok()?;
    means
        .residency(
            opened.fd.as_fd(),
            &Region::of(std::iter::once(range(opened))),
        )
        .ok()
        .map(|found| found.cached)
}

/// The bytes of a target that a job works on.
fn range(opened: &OpenTarget) -> Range<u64> {
    opened.target.offset..opened.target.offset + opened.target.size
}
