//! Host settings that changed during the measurement.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct HostChange {
    /// For example, `I/O scheduler of vda`.
    pub setting: String,
    /// Null if it did not exist.
    pub before: Option<String>,
    /// Null if it no longer exists.
    pub after: Option<String>,
}
