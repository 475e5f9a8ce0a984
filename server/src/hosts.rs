//! The hosts there are, and what their runners tell about them. There is one, `local`.

use axum::Json;
use axum::extract::{Path, State};
use leadline_runner::host::{DeviceList, Doctor, HostFacts};
use leadline_runner::job::OptionDoc;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::App;
use crate::error::{ApiError, Problems};

const LATER: ApiError = ApiError::NotBuilt { what: "This call", remedy: "" };

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
#[utoipa::path(get, path = "/hosts", tag = "hosts", responses((status = 200, body = Vec<HostSummary>), Problems))]
pub async fn list_hosts(State(_app): State<App>) -> Result<Json<Vec<HostSummary>>, ApiError> {
    Err(LATER)
}

/// One host with what it can do.
#[utoipa::path(get, path = "/hosts/{host}", tag = "hosts", params(("host" = String, Path, description = "`local`")),
    responses((status = 200, body = HostDetail), Problems))]
pub async fn get_host(State(_app): State<App>, Path(_n): Path<String>) -> Result<Json<HostDetail>, ApiError> {
    Err(LATER)
}

/// The block devices of a host: what each is, what uses it, and whether a run may read or write it.
#[utoipa::path(get, path = "/hosts/{host}/devices", tag = "hosts", params(("host" = String, Path, description = "`local`")),
    responses((status = 200, body = DeviceList), Problems))]
pub async fn list_devices(State(_app): State<App>, Path(_n): Path<String>) -> Result<Json<DeviceList>, ApiError> {
    Err(LATER)
}

/// Every option of a job: its name, default, kind and meaning.
#[utoipa::path(get, path = "/options", tag = "runs", responses((status = 200, body = Vec<OptionDoc>), Problems))]
pub async fn list_options() -> Json<&'static [OptionDoc]> {
    Json(leadline_runner::job::OPTIONS)
}
