//! One run from the queue to its end: the durable word that it left the queue, the runner, its events, its exit.

use crate::events::buffer::Live;
use crate::events::journal::{FLUSH, Journal};
use crate::runs::Runs;
use crate::scheduler::states::{Ending, Exit, Stop};
use crate::supervisor::process::Running;
use leadline_protocol::event::{Event, EventBody};
use leadline_protocol::plan::resolved::Target;
use leadline_protocol::report::Report;
use leadline_protocol::result::Failure;
use leadline_protocol::status::RunStatus;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

/// How long a runner may take to print its report when it was asked to stop.
const CANCEL_GRACE: Duration = Duration::from_secs(5);
/// The same when the server stops, which has five seconds for everything.
const SERVER_GRACE: Duration = Duration::from_millis(2_500);
/// How long a killed process may take to go. Longer means that the kernel waits for an I/O of it.
const KILL_GRACE: Duration = Duration::from_secs(1);
/// How long a runner may take to exit when it says no more.
const EXIT_GRACE: Duration = Duration::from_secs(10);

/// How long to wait before an end that could not be kept is tried again.
const KEEP_AGAIN: Duration = Duration::from_secs(2);

/// Conducts a run that left the queue; afterwards its locks are free.
pub(crate) async fn conduct(runs: Runs, number: u64, live: Arc<Live>) {
    let mut leftover = None;
    // Asked now: whoever deletes the run as soon as it has ended does not keep its study from being tidied up after.
    let study = runs.study_of(number).await;
    if let Err(error) = conduct_to_end(&runs, number, live, &mut leftover).await {
        tracing::error!(
            run = number,
            error = format!("{error:#}"),
            "a run could not be kept"
        );
        give_up(&runs, number, &error).await;
    }
    runs.hang_up(number).await;
    if let Some(study) = study {
        runs.end_rest(study).await;
    }
    if let Some(mut running) = leftover {
        // Its device is not free as long as the kernel does I/O for it.
        running.exit().await;
    }
    if let Some(study) = study {
        runs.try_to_tidy_up(study).await;
    }
    runs.release(number);
}

/// The events could not be kept, such as on a full disk. What was kept goes on with a failed end; what was only told
/// is lost, so its listeners are sent away instead of being told more. Nothing else starts on its devices until that
/// end can be kept.
async fn give_up(runs: &Runs, number: u64, error: &anyhow::Error) {
    runs.send_listeners_away(number);
    let reason = format!("The server could not keep its events: {error:#}.");
    while let Err(error) = keep_failed(runs, number, &reason).await {
        tracing::error!(
            run = number,
            error = format!("{error:#}"),
            "its end cannot be kept either; trying again"
        );
        tokio::time::sleep(KEEP_AGAIN).await;
    }
}

async fn keep_failed(runs: &Runs, number: u64, reason: &str) -> anyhow::Result<()> {
    let Some(run) = runs.0.store.summary(number).await? else {
        return Ok(());
    };
    let mut journal = Journal::resume(
        number,
        run.status,
        runs.0.store.clone(),
        Arc::new(Live::new(0)),
    )
    .await?;
    journal
        .move_to(RunStatus::Failed, Some(reason.into()))
        .await
        .map(drop)
}

async fn conduct_to_end(
    runs: &Runs,
    number: u64,
    live: Arc<Live>,
    leftover: &mut Option<Running>,
) -> anyhow::Result<()> {
    let stop = live.stop_asked();
    let mut journal =
        Journal::resume(number, RunStatus::Queued, runs.0.store.clone(), live).await?;
    let run = runs
        .0
        .store
        .run(number)
        .await?
        .ok_or_else(|| anyhow::anyhow!("run #{number} is gone"))?;
    if let Some(reason) = runs.study_over(&run.summary).await? {
        return journal
            .move_to(RunStatus::Cancelled, Some(reason))
            .await
            .map(drop);
    }
    journal.move_to(RunStatus::Preparing, None).await?;
    runs.announce_run(number).await;
    runs.announce_queue();
    let targets = run.resolved.iter().flatten().flat_map(|job| &job.targets);
    let devices: Vec<&str> = targets.filter_map(Target::known_as).collect();
    let mut asked = json!({"jobs": run.requested.jobs, "sample_ms": run.requested.sample_ms, "devices": devices});
    if let Some(mark) = runs.study_mark(&run.summary).await? {
        asked["study"] = mark.into();
    }
    let mut conducted = Conducted {
        runs,
        number,
        journal,
        stop,
        report: None,
        failure: None,
        bad_line: None,
    };
    let (exit, last_words) = conducted.run_it(&asked, leftover).await?;
    conducted.finish(exit, last_words.as_deref()).await
}

struct Conducted<'a> {
    runs: &'a Runs,
    number: u64,
    journal: Journal,
    stop: watch::Receiver<Option<Stop>>,
    report: Option<Report>,
    failure: Option<Failure>,
    bad_line: Option<String>,
}

impl Conducted<'_> {
    /// Starts the runner and listens until it is gone: how it ended, and its last words.
    async fn run_it(
        &mut self,
        asked: &Value,
        leftover: &mut Option<Running>,
    ) -> anyhow::Result<(Exit, Option<String>)> {
        if self.stop.borrow().is_some() {
            return Ok((Exit::NotStarted("it was stopped before".into()), None));
        }
        let mut running = match self.runs.0.runner.start(asked) {
            Ok(running) => running,
            Err(error) => {
                return Ok((
                    Exit::NotStarted(format!(
                        "{}: {error}",
                        self.runs.0.runner.program().display()
                    )),
                    None,
                ));
            }
        };
        if let Err(error) = self.hear_out(&mut running).await {
            running.kill();
            if self.wait(&mut running).await == Exit::Unkillable {
                *leftover = Some(running);
            }
            return Err(error);
        }
        let exit = self.wait(&mut running).await;
        let last_words = running.last_words().await;
        if exit == Exit::Unkillable {
            *leftover = Some(running);
        }
        Ok((exit, last_words))
    }

    /// Takes events until the runner says no more, or was given up.
    async fn hear_out(&mut self, running: &mut Running) -> anyhow::Result<()> {
        let mut flush = interval(FLUSH);
        flush.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut patience: Option<Instant> = None;
        loop {
            tokio::select! {
                heard = running.hear() => match heard {
                    Some(Ok(event)) => self.take(event).await?,
                    Some(Err(why)) => {
                        self.bad_line = Some(why);
                        running.kill();
                    }
                    None => break,
                },
                _ = flush.tick() => self.journal.flush().await?,
                Ok(()) = self.stop.changed() => {
                    running.ask_to_stop();
                    patience = Some(Instant::now() + self.grace());
                }
                () = until(patience) => {
                    running.kill();
                    break;
                }
            }
        }
        Ok(())
    }

    fn grace(&self) -> Duration {
        if *self.stop.borrow() == Some(Stop::Server) {
            SERVER_GRACE
        } else {
            CANCEL_GRACE
        }
    }

    async fn take(&mut self, event: Event) -> anyhow::Result<()> {
        match &event.body {
            EventBody::Report(outcome) => self.report = Some(outcome.report.clone()),
            EventBody::Failed(failure) => self.failure = Some(failure.clone()),
            _ => {}
        }
        if self.journal.take(event.t_ms, event.body).await? {
            self.runs.announce_run(self.number).await;
        }
        Ok(())
    }

    /// Waits for the exit; kills where it does not come.
    async fn wait(&mut self, running: &mut Running) -> Exit {
        let asked = self.stop.borrow().is_some();
        let grace = if asked { KILL_GRACE } else { EXIT_GRACE };
        if let Ok(exit) = tokio::time::timeout(grace, running.exit()).await {
            return exit;
        }
        running.kill();
        tokio::time::timeout(KILL_GRACE, running.exit())
            .await
            .unwrap_or(Exit::Unkillable)
    }

    async fn finish(mut self, exit: Exit, last_words: Option<&str>) -> anyhow::Result<()> {
        let stop = *self.stop.borrow();
        let (report, failure, bad_line) = (
            self.report.as_ref(),
            self.failure.as_ref(),
            self.bad_line.as_deref(),
        );
        let (status, reason) = Ending {
            exit,
            stop,
            report,
            failure,
            bad_line,
            last_words,
        }
        .verdict();
        tracing::info!(
            run = self.number,
            status = status.word(),
            reason,
            "run ended"
        );
        metrics::counter!("leadline_runs_ended_total", "status" => status.word()).increment(1);
        self.journal.move_to(status, reason).await?;
        Ok(())
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
