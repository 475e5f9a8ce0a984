//! Creates runs. The runner first plans the run, with the same code that the run itself uses, and
//! then the run is queued.

use crate::{
    error::Error,
    events::buffer::EventBuffer,
    fail_point,
    runs::{Runs, run_detached},
    scheduler::{
        locks::{locks_for, uses_devices},
        queue::Locks,
    },
    store::{
        confirmations::CreateError,
        keys::{IdempotencyKey, KeyUse},
        new_run::NewRun,
    },
};
use leadline_protocol::{
    device::DeviceList,
    host::LOCAL_HOST,
    plan::{Confirmation, Plan, job::ResolvedJob},
    report::foreign::Source,
    run::{RerunRequest, Run, RunRequest},
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Stops runaway scripts before they fill the disk.
const MAX_QUEUED: usize = 5_000;
/// Queue slots reserved for single runs. The remaining slots are enough for three studies of the
/// maximum size.
const RESERVED: usize = 1_000;

/// A run or a study.
pub(crate) struct Submitted<T> {
    pub created: T,
    /// Whether an earlier request with the same idempotency key created it.
    pub replayed: bool,
}

impl<T> Submitted<T> {
    pub(crate) fn new(created: T) -> Self {
        Self {
            created,
            replayed: false,
        }
    }

    pub(crate) fn replayed(earlier: Result<T, Error>) -> Result<Self, Error> {
        match earlier {
            Ok(created) => Ok(Self {
                created,
                replayed: true,
            }),
            Err(Error::NotFound { what }) => Err(Error::created_and_deleted(&what)),
            Err(error) => Err(error),
        }
    }
}

impl Runs {
    /// Plans a run. If its jobs are text, the plan shows how the text was interpreted.
    pub(crate) async fn plan(&self, request: RunRequest) -> Result<Plan, Error> {
        let imported = self.with_imported_jobs(request).await?;
        let mut plan = if imported.problems.is_empty() {
            self.plan_jobs(&imported.request).await?
        } else {
            Plan::rejected(imported.problems)
        };
        plan.import = imported.import;
        Ok(plan)
    }

    async fn plan_jobs(&self, request: &RunRequest) -> Result<Plan, Error> {
        let mut run = json!({"jobs": request.jobs});
        if let Some(sample_ms) = request.sample_ms {
            run["sample_ms"] = sample_ms.into();
        }
        if let Some(confirm) = &request.confirm {
            run["confirm"] = json!(confirm);
        }
        Ok(self.runner.plan(&run).await?)
    }

    /// Plans and queues a run. If a request with the same key has already created one, returns it.
    pub(crate) async fn submit(
        &self,
        request: RunRequest,
        key: Option<IdempotencyKey>,
    ) -> Result<Submitted<Run>, Error> {
        if let Some(key) = &key
            && let Some(earlier) = self.store.find_key(key).await?
        {
            return self.replay(earlier).await;
        }
        self.check_capacity()?;
        let imported = self.with_imported_jobs(request).await?;
        if !imported.problems.is_empty() {
            return Err(Error::Rejected(imported.problems));
        }
        let request = imported.request;
        let plan = self.plan_jobs(&request).await?;
        if !plan.problems.is_empty() {
            return Err(Error::Rejected(plan.problems));
        }
        let new = self.new_run(request, plan).await?;
        let runs = self.clone();
        // Runs in its own task, because a run that has been stored must be queued.
        run_detached(async move { runs.enqueue_run(new, key.as_ref()).await }).await
    }

    /// Queues a run's jobs again, with changes.
    pub(crate) async fn rerun(
        &self,
        number: u64,
        change: RerunRequest,
        key: Option<IdempotencyKey>,
    ) -> Result<Submitted<Run>, Error> {
        let old = self.get(number).await?;
        if old.summary.source != Source::Leadline {
            return Err(Error::foreign_rerun(number, old.summary.source));
        }
        if self.store.is_changed(number).await? {
            return Err(Error::damaged(number));
        }
        let patch = change.patch.unwrap_or_default();
        let jobs = apply_patch(&old.requested.jobs, &patch);
        let request = RunRequest {
            jobs,
            job_text: None,
            variables: None,
            sample_ms: Some(old.requested.sample_ms),
            host: old.summary.host,
            name: Some(
                change
                    .name
                    .unwrap_or_else(|| rerun_name(old.summary.name, &patch)),
            ),
            tags: Some(change.tags.unwrap_or(old.summary.tags)),
            notes: None,
            confirm: change.confirm,
        };
        self.submit(request, key).await
    }

    async fn new_run(&self, request: RunRequest, plan: Plan) -> Result<NewRun, Error> {
        let devices = self.devices_for(&plan.jobs).await?;
        let first_name = plan.jobs.first().map(|job| job.name.clone());
        Ok(NewRun {
            name: request.name.or(first_name).unwrap_or_default(),
            host: request.host.unwrap_or_else(|| LOCAL_HOST.into()),
            tags: request.tags.unwrap_or_default(),
            notes: request.notes.unwrap_or_default(),
            requested: request.jobs,
            sample_ms: plan.sample_ms,
            confirm: required_confirmations(&plan.confirmations, request.confirm.as_deref()),
            locks: locks_for(&plan.jobs, &devices),
            resolved: plan.jobs,
        })
    }

    /// The host's devices; empty if the jobs use none.
    pub(crate) async fn devices_for(&self, jobs: &[ResolvedJob]) -> Result<DeviceList, Error> {
        if uses_devices(jobs) {
            Ok(self.runner.devices().await?)
        } else {
            Ok(DeviceList::default())
        }
    }

    async fn enqueue_run(
        &self,
        new: NewRun,
        key: Option<&IdempotencyKey>,
    ) -> Result<Submitted<Run>, Error> {
        let admission = self.admission.lock().await;
        self.check_capacity()?;
        let now_ms = crate::clock::now_ms();
        fail_point::reach("before_insert");
        let number = match self.store.insert_run(&new, key, now_ms).await? {
            Ok(number) => number,
            Err(CreateError::KeyUsed(earlier)) => return self.replay(earlier).await,
            Err(CreateError::ConfirmationUsed(entry)) => {
                return Err(Error::confirmation_used(&entry));
            }
        };
        fail_point::reach("after_insert");
        self.enqueue(number, new.locks);
        drop(admission);
        self.publish_run(number).await;
        self.publish_queue();
        // Read the run before starting it, so the response shows it as queued.
        let run = self.get(number).await?;
        self.start_ready_runs();
        Ok(Submitted::new(run))
    }

    /// Queues a stored run.
    pub(crate) fn enqueue(&self, number: u64, locks: Locks) {
        self.enqueue_at(number, number, locks);
    }

    /// Queues a stored run at another run's queue position.
    pub(crate) fn enqueue_at(&self, number: u64, queue_order: u64, locks: Locks) {
        let mut scheduler = self.scheduler();
        // The first event is stored when the run is inserted.
        let buffer = Arc::new(EventBuffer::new(1));
        scheduler.active_runs.insert(number, buffer);
        scheduler.queue.push_at(number, queue_order, locks);
    }

    /// Fails if the server is stopping, if the database does not accept writes, or if the queue is
    /// full.
    fn check_capacity(&self) -> Result<(), Error> {
        self.check_room(1, MAX_QUEUED)
    }

    /// Like `check_capacity`, but for all runs in a study.
    pub(crate) fn check_study_capacity(&self, runs: usize) -> Result<(), Error> {
        self.check_room(runs, MAX_QUEUED - RESERVED)
    }

    fn check_room(&self, runs: usize, limit: usize) -> Result<(), Error> {
        self.check_accepting()?;
        let (_, waiting) = self.scheduler().queue.counts();
        if waiting + runs > limit {
            return Err(Error::QueueFull(waiting));
        }
        Ok(())
    }

    async fn replay(&self, earlier: KeyUse) -> Result<Submitted<Run>, Error> {
        match earlier {
            KeyUse::Replayed { run, .. } => Submitted::replayed(self.get(run).await),
            KeyUse::Reused => Err(Error::key_reused()),
        }
    }
}

/// Returns the submitted confirmations that the plan requires.
pub(crate) fn required_confirmations(
    needed: &[Confirmation],
    given: Option<&[String]>,
) -> Vec<String> {
    let is_needed = |entry: &&String| {
        let text = |needed: &Confirmation| entry.starts_with(&format!("{}@", needed.text));
        needed.iter().any(text)
    };
    let given = given.unwrap_or_default().iter();
    given.filter(is_needed).cloned().collect()
}

/// Sets options in all jobs; null removes an option. Patched options come last, because the last
/// option wins if two control the same setting (`rwmixread`, `rwmixwrite`).
fn apply_patch(jobs: &[Value], patch: &Map<String, Value>) -> Vec<Value> {
    let patched = |job: &Value| {
        let mut options = job.as_object().cloned().unwrap_or_default();
        for (name, value) in patch {
            options.shift_remove(name);
            if !value.is_null() {
                options.insert(name.clone(), value.clone());
            }
        }
        Value::Object(options)
    };
    let mut jobs: Vec<Value> = jobs.iter().map(patched).collect();
    if patched_direct(patch) == Some(true) && !patch.contains_key("cache_state") {
        for job in jobs.iter_mut().filter_map(Value::as_object_mut) {
            // Direct I/O bypasses the cache, so warming it has no effect.
            if job.get("cache_state").is_some_and(|state| state == "warm") {
                job.shift_remove("cache_state");
            }
        }
    }
    jobs
}

/// Returns the value of `direct`, if the patch sets it.
fn patched_direct(patch: &Map<String, Value>) -> Option<bool> {
    match patch.get("direct")? {
        Value::Bool(value) => Some(*value),
        Value::Number(value) => Some(value.as_u64() != Some(0)),
        _ => None,
    }
}

/// The name of a rerun. If the patch sets `direct`, the name ends with the I/O mode, which replaces
/// the modes of earlier reruns.
fn rerun_name(name: String, patch: &Map<String, Value>) -> String {
    const MODES: [&str; 2] = [", buffered", ", direct"];
    let Some(direct) = patched_direct(patch) else {
        return name;
    };
    let mut base = name.as_str();
    while let Some(rest) = MODES.iter().find_map(|mode| base.strip_suffix(mode)) {
        base = rest;
    }
    match base {
        "" => name,
        _ => format!("{base}{}", MODES[usize::from(direct)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patch_sets_replaces_and_removes_options() {
        let jobs = [json!({"rw": "read", "direct": 0, "bs": "4k"}), json!({})];
        let patch = json!({"direct": 1, "bs": null});
        assert_eq!(
            apply_patch(&jobs, patch.as_object().unwrap()),
            [json!({"rw": "read", "direct": 1}), json!({"direct": 1})]
        );
    }

    #[test]
    fn direct_reruns_do_not_warm_the_cache() {
        let jobs = [
            json!({"direct": 0, "cache_state": "warm"}),
            json!({"cache_state": "cold"}),
        ];
        let check = |patch: Value, expected: [Value; 2]| {
            assert_eq!(apply_patch(&jobs, patch.as_object().unwrap()), expected);
        };
        check(
            json!({"direct": 1}),
            [
                json!({"direct": 1}),
                json!({"cache_state": "cold", "direct": 1}),
            ],
        );
        check(
            json!({"direct": 0}),
            [
                json!({"cache_state": "warm", "direct": 0}),
                json!({"cache_state": "cold", "direct": 0}),
            ],
        );
    }

    #[test]
    fn rerun_names_end_with_one_mode() {
        let check = |name: &str, patch: Value, expected: &str| {
            assert_eq!(
                rerun_name(name.into(), patch.as_object().unwrap()),
                expected
            );
        };
        check("disk", json!({}), "disk");
        check("disk", json!({"bs": "8k"}), "disk");
        check("disk", json!({"direct": 1}), "disk, direct");
        check("disk, buffered", json!({"direct": 1}), "disk, direct");
        check(
            "disk, direct, buffered",
            json!({"direct": true}),
            "disk, direct",
        );
        check("disk, direct", json!({"direct": 0}), "disk, buffered");
        check("", json!({"direct": 1}), "");
        check("disk, buffered", json!({"direct": null}), "disk, buffered");
    }
}
