//! Handlers for hosts and job options.

use crate::{
    api::{
        extract::Path,
        problem::{ApiError, ProblemResponses},
        query_string::Query,
    },
    runs::Runs,
    supervisor::host_cache::{HostCache, MaxAge},
};
use axum::{Json, extract::State};
use leadline_protocol::{
    device::DeviceList,
    host::{HostDetail, HostSummary, LOCAL_HOST},
    job::{OPTIONS, OptionDoc},
    query::HostQuery,
};

/// List hosts
///
/// Results are up to 30 seconds old, or older while a run is active.
#[utoipa::path(get, path = "/hosts", tag = "hosts", params(HostQuery),
    responses((status = 200, body = Vec<HostSummary>), ProblemResponses))]
pub(crate) async fn list_hosts(
    State(runs): State<Runs>,
    State(hosts): State<HostCache>,
    Query(query): Query<HostQuery>,
) -> Json<Vec<HostSummary>> {
    let max_age = max_age(&runs, &query);
    Json(vec![summary(&runs, &hosts, max_age).await])
}

/// Get a host with its checks
///
/// Results are up to 30 seconds old, or older while a run is active.
#[utoipa::path(get, path = "/hosts/{host}", tag = "hosts", params(HostQuery),
    responses((status = 200, body = HostDetail), ProblemResponses))]
pub(crate) async fn get_host(
    State(runs): State<Runs>,
    State(hosts): State<HostCache>,
    Path(host): Path<String>,
    Query(query): Query<HostQuery>,
) -> Result<Json<HostDetail>, ApiError> {
    require_local(&host)?;
    let max_age = max_age(&runs, &query);
    let (summary, doctor) = tokio::join!(summary(&runs, &hosts, max_age), hosts.doctor(max_age));
    Ok(Json(HostDetail {
        summary,
        doctor: doctor.ok(),
    }))
}

/// List a host's block devices, their users, and whether runs may read from or write to them
///
/// Results are up to 30 seconds old, or older while a run is active.
#[utoipa::path(get, path = "/hosts/{host}/devices", tag = "hosts", params(HostQuery),
    responses((status = 200, body = DeviceList), ProblemResponses))]
pub(crate) async fn list_devices(
    State(runs): State<Runs>,
    State(hosts): State<HostCache>,
    Path(host): Path<String>,
    Query(query): Query<HostQuery>,
) -> Result<Json<DeviceList>, ApiError> {
    require_local(&host)?;
    Ok(Json(hosts.devices(max_age(&runs, &query)).await?))
}

/// List all job options
#[utoipa::path(get, path = "/options", tag = "runs",
    responses((status = 200, body = Vec<OptionDoc>), ProblemResponses))]
pub(crate) async fn list_options() -> Json<&'static [OptionDoc]> {
    Json(OPTIONS)
}

/// While a run is active, cached results are used unless a refresh is requested, because a runner
/// process would take CPU time from the run.
fn max_age(runs: &Runs, query: &HostQuery) -> MaxAge {
    if query.refresh.unwrap_or_default() {
        MaxAge::Zero
    } else if runs.counts().0 > 0 {
        MaxAge::Unlimited
    } else {
        MaxAge::Default
    }
}

async fn summary(runs: &Runs, hosts: &HostCache, max_age: MaxAge) -> HostSummary {
    let facts = hosts.facts(max_age).await;
    let (running, queued) = runs.counts();
    HostSummary {
        id: LOCAL_HOST.into(),
        online: facts.is_ok(),
        running,
        queued,
        reason: facts.as_ref().err().map(ToString::to_string),
        facts: facts.ok(),
    }
}

fn require_local(host: &str) -> Result<(), ApiError> {
    if host == LOCAL_HOST {
        return Ok(());
    }
    Err(ApiError::not_found(format!("host `{host}`")))
}
