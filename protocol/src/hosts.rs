use crate::host::{Doctor, HostFacts};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
