//! The hosts there are, and what their runners tell about them. There is one, `local`. Everything is asked anew: what
//! uses a device may have changed a second ago.

use axum::Json;
use axum::extract::State;
use leadline_runner::host::{DeviceList, Doctor, HostFacts};
use leadline_runner::job::OptionDoc;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{ApiError, ProblemResponses};
use crate::extract::Path;
use crate::runs::Runs;
use crate::runs::ask::LOCAL;
use crate::runs::launch::{Runner, RunnerError};

/// One host in a list.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct HostSummary {
    /// Its name here: `local`.
    pub id: String,
    /// What its runner found.
    pub facts: Option<HostFacts>,
    /// Whether its runner answers.
    pub online: bool,
    /// Runs that run on it.
    pub running: u64,
    /// Runs that wait for it.
    pub queued: u64,
    /// Why its runner does not answer.
    pub reason: Option<String>,
}

/// One host with what it can do.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct HostDetail {
    /// What lists show of it.
    #[serde(flatten)]
    pub summary: HostSummary,
    /// What it can do, and what is in the way.
    pub doctor: Option<Doctor>,
}

/// The hosts there are.
#[utoipa::path(get, path = "/hosts", tag = "hosts", responses((status = 200, body = Vec<HostSummary>), ProblemResponses))]
pub async fn list_hosts(
    State(runs): State<Runs>,
    State(runner): State<Runner>,
) -> Json<Vec<HostSummary>> {
    Json(vec![summary(&runs, &runner).await])
}

/// One host with what it can do.
#[utoipa::path(get, path = "/hosts/{host}", tag = "hosts", params(("host" = String, Path, description = "`local`")),
    responses((status = 200, body = HostDetail), ProblemResponses))]
pub async fn get_host(
    State(runs): State<Runs>,
    State(runner): State<Runner>,
    Path(host): Path<String>,
) -> Result<Json<HostDetail>, ApiError> {
    known(&host)?;
    let (summary, doctor) = tokio::join!(summary(&runs, &runner), runner.doctor());
    Ok(Json(HostDetail {
        summary,
        doctor: doctor.ok(),
    }))
}

/// The block devices of a host: what each is, what uses it, and whether a run may read or write it.
#[utoipa::path(get, path = "/hosts/{host}/devices", tag = "hosts", params(("host" = String, Path, description = "`local`")),
    responses((status = 200, body = DeviceList), ProblemResponses))]
pub async fn list_devices(
    State(runner): State<Runner>,
    Path(host): Path<String>,
) -> Result<Json<DeviceList>, ApiError> {
    known(&host)?;
    Ok(Json(runner.devices().await?))
}

/// Every option of a job: its name, default, kind and meaning.
#[utoipa::path(get, path = "/options", tag = "runs", responses((status = 200, body = Vec<OptionDoc>), ProblemResponses))]
pub async fn list_options() -> Json<&'static [OptionDoc]> {
    Json(leadline_runner::job::OPTIONS)
}

async fn summary(runs: &Runs, runner: &Runner) -> HostSummary {
    let (running, queued) = runs.counts();
    let (facts, reason) = match runner.facts().await {
        Ok(facts) => (Some(facts), None),
        Err(error) => (None, Some(error.to_string())),
    };
    HostSummary {
        id: LOCAL.into(),
        online: facts.is_some(),
        facts,
        running,
        queued,
        reason,
    }
}

fn known(host: &str) -> Result<(), ApiError> {
    if host == LOCAL {
        Ok(())
    } else {
        Err(ApiError::NotFound {
            what: format!("host `{host}`"),
        })
    }
}

impl From<RunnerError> for ApiError {
    fn from(error: RunnerError) -> Self {
        Self::Runner(error.to_string())
    }
}
