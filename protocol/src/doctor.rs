//! Checks for features that a host supports.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Doctor {
    pub checks: Vec<Check>,
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Check {
    /// What is checked, such as `io_uring`.
    pub name: String,
    pub status: CheckStatus,
    pub detail: String,
    /// Null if the check passed.
    pub remedy: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    Ok,
    /// Results may be affected.
    Warn,
    /// A feature does not work.
    Fail,
}
