//! Executes one run, from the queue to its final status.

use crate::{
    error::Error,
    events::{
        buffer::EventBuffer,
        journal::{COMPLETE, Journal, SHORTENED},
        spool::Spool,
    },
    fail_point,
    runs::Runs,
    scheduler::outcome::{RunEnd, RunnerExit, StopRequest},
    schedules::rejection::NO_CONFIRMATION,
    supervisor::{
        failure::remove_confirmation_codes,
        memory_kills,
        process::{EventResult, RunnerProcess},
    },
};
use leadline_protocol::{
    event::{Event, EventBody},
    plan::{planned_minute, target::Target},
    problem::Problem,
    report::Report,
    result::Failure,
    run::Run,
    status::RunStatus,
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};

/// Timeout for the report after a cancellation request.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for the report during shutdown, which may take five seconds in total.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(2_500);
/// How long the process may take to exit after SIGKILL, or after the report of a stopped run. A
/// process that takes longer is blocked in the kernel by an I/O.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);
/// How long the process may take to exit after the report, a failure or the end of the event
/// stream.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Delay between attempts to store a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// Executes a run that has left the queue, and then releases its locks.
pub(super) async fn supervise(runs: Runs, number: u64, buffer: Arc<EventBuffer>) {
    // Read first: once the run has ended, it may be deleted at any time.
    let study = runs.study_of(number).await;
    let mut unkillable = None;
    if let Err(error) = execute(&runs, number, buffer, &mut unkillable).await {
        tracing::error!(run = number, "cannot store events: {error:#}");
        runs.close_subscribers(number);
        let reason = format!("The server could not store events: {error:#}.");
        store_failure(&runs, number, &reason).await;
    }
    runs.close_subscribers(number);
    runs.publish_run(number).await;
    if let Some(study) = study {
        runs.retry_failed_run(study).await;
        runs.cancel_remaining_steps(study).await;
        runs.continue_study(study).await;
    }
    if let Some(mut process) = unkillable {
        // The device stays locked while the kernel has pending I/O on it.
        runs.hang(number);
        process.wait().await;
    }
    if let Some(study) = study {
        runs.clean_up_study(study).await;
    }
    runs.release(number);
}

/// Marks a run as failed because its events could not be stored for a reason other than a database
/// fault such as a full disk. Retries until the status is stored. Until then, the run holds its
/// locks.
async fn store_failure(runs: &Runs, number: u64, reason: &str) {
    while let Err(error) = try_store_failure(runs, number, reason).await {
        tracing::error!(run = number, "cannot store a failure, retrying: {error:#}");
        sleep(RETRY_INTERVAL).await;
    }
}

async fn try_store_failure(runs: &Runs, number: u64, reason: &str) -> anyhow::Result<()> {
    let Some(run) = runs.store.summary(number).await? else {
        return Ok(());
    };
    let buffer = Arc::new(EventBuffer::new(0));
    let failed = RunStatus::Failed;
    runs.set_status(number, run.status, failed, reason, buffer, SHORTENED)
        .await
}

async fn execute(
    runs: &Runs,
    number: u64,
    buffer: Arc<EventBuffer>,
    unkillable: &mut Option<RunnerProcess>,
) -> anyhow::Result<()> {
    let stop = buffer.stop_requests();
    let store = runs.store.clone();
    let spool = Some(Spool::new(number, &store));
    let mut journal =
        Journal::resume(number, RunStatus::Queued, store, buffer, spool, COMPLETE).await?;
    let published = publish_changes(runs.clone(), number, journal.stored_status());
    let published = tokio::spawn(published);
    let ended = execute_with_journal(runs, number, &mut journal, stop, unkillable).await;
    // If the journal failed, return its error, which caused the error in `ended`.
    journal.close().await?;
    published.await?;
    ended
}

/// Publishes the run after each stored status change, except the final one, which is published
/// after all event streams have ended.
async fn publish_changes(runs: Runs, number: u64, mut status: watch::Receiver<RunStatus>) {
    while status.changed().await.is_ok() {
        if !status.borrow_and_update().is_final() {
            runs.publish_run(number).await;
        }
    }
}

async fn execute_with_journal(
    runs: &Runs,
    number: u64,
    journal: &mut Journal,
    stop: watch::Receiver<Option<StopRequest>>,
    unkillable: &mut Option<RunnerProcess>,
) -> anyhow::Result<()> {
    let run = runs.get(number).await?;
    let skip_reason = match runs.skip_reason(&run.summary).await? {
        Some(reason) => Some(reason),
        None if runs.store.is_changed(number).await? => {
            let error = Error::damaged(number);
            Some(format!("Not started: {error}"))
        }
        None => {
            let study = run.summary.study;
            runs.skip_in_quiet_hours(number, study).await?
        }
    };
    if let Some(reason) = skip_reason {
        journal
            .change_status(RunStatus::Cancelled, Some(reason))
            .await?;
        return Ok(());
    }
    fail_point::reach("before_start");
    journal.change_status(RunStatus::Preparing, None).await?;
    fail_point::reach("after_start");
    runs.publish_queue();
    let mut supervision = Supervision {
        runs,
        number,
        study: run.summary.study,
        journal,
        stop,
        deadline: None,
        report: None,
        failure: None,
        protocol_error: None,
    };
    let input = runner_input(runs, &run).await?;
    let kills = memory_kills::count();
    let (exit, stderr_tail) = supervision.run(&input, unkillable).await?;
    let out_of_memory = memory_kills::count() > kills;
    let stderr_tail = stderr_tail.as_deref();
    supervision.finish(exit, stderr_tail, out_of_memory).await
}

/// Converts a run to the runner's input format.
async fn runner_input(runs: &Runs, run: &Run) -> anyhow::Result<Value> {
    let targets = run.resolved.iter().flatten().flat_map(|job| &job.targets);
    let devices: Vec<&str> = targets.filter_map(Target::device_id).collect();
    let requested = &run.requested;
    let mut input =
        json!({"jobs": requested.jobs, "sample_ms": requested.sample_ms, "devices": devices});
    if let Some(study) = runs.study_of_run(&run.summary).await? {
        input["study"] = study.file_id.into();
        input["idle_wait_seconds"] = study.idle_wait_seconds.into();
    }
    let confirm = runs.store.confirmations(run.summary.number).await?;
    if let Some(first) = confirm.first() {
        // The age of the confirmation was already checked when the run was requested.
        input["accepted_minute"] = json!(planned_minute(first));
        input["confirm"] = json!(confirm);
    }
    Ok(input)
}

struct Supervision<'a> {
    runs: &'a Runs,
    number: u64,
    study: Option<u64>,
    journal: &'a mut Journal,
    stop: watch::Receiver<Option<StopRequest>>,
    /// Time at which to kill the process. Set after its result or after a stop request.
    deadline: Option<Instant>,
    report: Option<Report>,
    failure: Option<Failure>,
    protocol_error: Option<String>,
}

impl Supervision<'_> {
    /// Starts the runner and waits until it exits. Returns the exit status and the last line of
    /// stderr.
    async fn run(
        &mut self,
        input: &Value,
        unkillable: &mut Option<RunnerProcess>,
    ) -> anyhow::Result<(RunnerExit, Option<String>)> {
        if self.stop.borrow().is_some() {
            return Ok((
                RunnerExit::NotStarted("stopped before it started".into()),
                None,
            ));
        }
        let mut process = match self.runs.runner.start(input) {
            Ok(process) => process,
            Err(error) => return Ok((RunnerExit::NotStarted(error.to_string()), None)),
        };
        let read = self.read_events(&mut process).await;
        if read.is_err() {
            process.kill();
        }
        let exit = self.wait(&mut process).await;
        let stderr_tail = process.stderr_tail().await;
        if exit == RunnerExit::Unkillable {
            *unkillable = Some(process);
        }
        read.map(|()| (exit, stderr_tail))
    }

    /// Records events until the last one or until the deadline. The deadline is needed because a
    /// process whose I/O hangs in the kernel can neither exit nor close its output, even after its
    /// report.
    async fn read_events(&mut self, process: &mut RunnerProcess) -> anyhow::Result<()> {
        loop {
            tokio::select! {
                event = next_event(self.journal, process) => match event {
                    Some(Ok(event)) => self.record(event).await?,
                    Some(Err(error)) => {
                        self.protocol_error = Some(error);
                        process.kill();
                    }
                    None => return Ok(()),
                },
                () = self.journal.failed() => anyhow::bail!("cannot store events"),
                Ok(()) = self.stop.changed() => {
                    process.terminate();
                    self.shorten_deadline(self.stop_timeout());
                }
                () = wait_for_deadline(self.deadline) => {
                    process.kill();
                    return Ok(());
                }
            }
        }
    }

    fn stop_timeout(&self) -> Duration {
        match *self.stop.borrow() {
            Some(StopRequest::Shutdown) => SHUTDOWN_TIMEOUT,
            _ => CANCEL_TIMEOUT,
        }
    }

    /// Sets the deadline, unless an earlier one is already set.
    fn shorten_deadline(&mut self, timeout: Duration) {
        let limit = Instant::now() + timeout;
        self.deadline = Some(self.deadline.map_or(limit, |deadline| deadline.min(limit)));
    }

    async fn record(&mut self, event: Event) -> anyhow::Result<()> {
        let event = self.remove_confirmation_codes(event).await?;
        match &event.body {
            EventBody::Report(result) => self.report = Some(result.report.clone()),
            EventBody::Failed(failure) => self.failure = Some(failure.clone()),
            _ => return self.journal.record(event.t_ms, event.body).await,
        }
        let is_stopping = self.stop.borrow().is_some();
        self.shorten_deadline(if is_stopping {
            KILL_TIMEOUT
        } else {
            EXIT_TIMEOUT
        });
        self.journal.record(event.t_ms, event.body).await
    }

    async fn remove_confirmation_codes(&self, event: Event) -> anyhow::Result<Event> {
        let failure = match event.body {
            EventBody::Failed(failure) if failure.problems.iter().any(Problem::is_confirmation) => {
                failure
            }
            _ => return Ok(event),
        };
        let remedy = match self.runs.store.find_start(self.number, self.study).await? {
            Some(_) => NO_CONFIRMATION,
            None => "Plan the run again, and confirm that its data may be lost.",
        };
        Ok(Event {
            body: EventBody::Failed(remove_confirmation_codes(failure, remedy)),
            ..event
        })
    }

    /// Waits until the process exits, and kills it at the deadline.
    async fn wait(&mut self, process: &mut RunnerProcess) -> RunnerExit {
        let now = Instant::now();
        let deadline = self.deadline.unwrap_or(now + EXIT_TIMEOUT);
        if let Ok(exit) = timeout_at(deadline.max(now + KILL_TIMEOUT), process.wait()).await {
            return exit;
        }
        process.kill();
        let exit = timeout(KILL_TIMEOUT, process.wait()).await;
        exit.unwrap_or(RunnerExit::Unkillable)
    }

    async fn finish(
        self,
        exit: RunnerExit,
        stderr_tail: Option<&str>,
        out_of_memory: bool,
    ) -> anyhow::Result<()> {
        let end = RunEnd {
            exit,
            stop: *self.stop.borrow(),
            report: self.report.as_ref(),
            failure: self.failure.as_ref(),
            protocol_error: self.protocol_error.as_deref(),
            stderr_tail,
            out_of_memory,
        };
        let (status, reason) = end.final_status();
        let name = status.as_str();
        tracing::info!(run = self.number, status = name, reason, "run ended");
        metrics::counter!("leadline_runs_ended_total", "status" => name).increment(1);
        self.journal.change_status(status, reason).await?;
        Ok(())
    }
}

/// Waits until the journal can accept an event, and returns the next one. The caller can
/// handle stop requests in the meantime.
async fn next_event(journal: &Journal, process: &mut RunnerProcess) -> Option<EventResult> {
    journal.ready().await;
    process.next_event().await
}

async fn wait_for_deadline(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
