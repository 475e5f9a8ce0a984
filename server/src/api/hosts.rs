//! The hosts there are, and what their runners tell about them. There is one, `local`. Everything is asked anew: what
//! uses a device may have changed a second ago.

use crate::api::extract::Path;
use crate::api::requests::LOCAL;
use crate::error::{ApiError, ProblemResponses};
use crate::runs::Runs;
use crate::supervisor::process::{Runner, RunnerError};
use axum::Json;
use axum::extract::State;
use leadline_protocol::host::DeviceList;
use leadline_protocol::hosts::HostDetail;
use leadline_protocol::hosts::HostSummary;
use leadline_protocol::job::OptionDoc;

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
    Json(leadline_protocol::job::OPTIONS)
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
