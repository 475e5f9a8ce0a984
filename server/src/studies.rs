//! Studies, which are sets of runs that are submitted together and executed in order. All runs in a
//! study are queued immediately, except those that a procedure adds later, and a shared lock keeps
//! them in order. The status of a study is not stored; it is derived from its runs.

pub(crate) mod cancel;
pub(crate) mod cleanup;
pub(crate) mod continuation;
pub(crate) mod edit;
pub(crate) mod experiments;
pub(crate) mod interim_looks;
pub(crate) mod procedures;
pub(crate) mod retries;
pub(crate) mod submit;
pub(crate) mod summary;

use crate::{
    error::Error,
    query::page::check_page,
    runs::Runs,
    store::{studies::StoredStudy, study_digest},
};
use leadline_protocol::{
    limits::MAX_STUDY_PAGE,
    run::RunSummary,
    runs_event::RunsEvent,
    study::{
        detail::Study,
        summary::{DamagedStudy, StudyList, StudyQuery},
    },
};

/// Default number of studies per page.
const DEFAULT_LIMIT: u32 = 50;

impl Runs {
    pub(crate) async fn study(&self, number: u64) -> Result<Study, Error> {
        let mut stored = self.stored_study(number).await?;
        for run in &mut stored.runs {
            run.queue = self.scheduler().queue.position(run.number);
        }
        self.store.mark_damaged(&mut stored.runs).await?;
        let verdicts = self.store.study_verdicts(number).await?;
        Ok(summary::study(stored, &verdicts))
    }

    async fn stored_study(&self, number: u64) -> Result<StoredStudy, Error> {
        let stored = self.store.study(number).await?;
        stored.ok_or(Error::study_not_found(number))
    }

    /// A page of studies, newest first.
    pub(crate) async fn studies(&self, query: &StudyQuery) -> Result<StudyList, Error> {
        let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
        check_page(limit, MAX_STUDY_PAGE, query.cursor)?;
        let (mut stored, total) = self.store.studies(query.cursor, limit + 1).await?;
        let has_more = stored.len() > limit as usize;
        stored.truncate(limit as usize);
        let number = |study: &Result<StoredStudy, study_digest::DamagedStudy>| match study {
            Ok(study) => study.number,
            Err(damaged) => damaged.study,
        };
        let last = stored.last().map(|study| number(study).to_string());
        let (intact, damaged): (Vec<_>, Vec<_>) = stored.into_iter().partition(Result::is_ok);
        let damaged = damaged.into_iter().filter_map(Result::err);
        Ok(StudyList {
            studies: intact.iter().flatten().map(summary::summary).collect(),
            damaged: damaged
                .map(|damaged| DamagedStudy {
                    number: damaged.study,
                    detail: damaged.to_string(),
                })
                .collect(),
            next_cursor: if has_more { last } else { None },
            total,
        })
    }

    /// Returns the study of a run.
    pub(crate) async fn study_of_run(
        &self,
        run: &RunSummary,
    ) -> anyhow::Result<Option<StoredStudy>> {
        match run.study {
            Some(study) => self.store.study(study).await,
            None => Ok(None),
        }
    }

    pub(crate) async fn publish_study(&self, number: u64) {
        match self.store.study(number).await {
            Ok(Some(stored)) => {
                let study = Box::new(summary::summary(&stored));
                self.publish(&RunsEvent::Study { study });
            }
            // The study was deleted together with its last run.
            Ok(None) => {}
            Err(error) => tracing::error!(study = number, "cannot publish: {error:#}"),
        }
    }
}
