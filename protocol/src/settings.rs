//! Server settings that users change in the web UI.

use crate::limits::Thresholds;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Body of `PUT /settings`, and its response.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Smallest change that matters, in percent, by metric name, such as `read_iops`; 2 for other
    /// metrics. Used by comparisons and trends without a separate threshold. Short names, such as
    /// `read.iops`, are also accepted.
    #[schema(value_type = Thresholds)]
    pub thresholds: BTreeMap<String, f64>,
}
