//! Results measured by other programs.

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

named_enum! {
    names: "snake_case";
    /// The program that measured a run.
    #[derive(Default)]
    pub enum Source {
        #[default]
        Leadline,
        Fio,
        /// Leadline, whose result was exported in fio's format and imported.
        LeadlineExport,
    }
}

impl Source {
    /// For sentences, such as `Run #3 is a result of fio`.
    pub fn description(self) -> &'static str {
        match self {
            Self::Leadline => "Leadline",
            Self::Fio => "fio",
            Self::LeadlineExport => "Leadline in fio's format",
        }
    }
}

named_enum! {
    names: "snake_case";
    pub enum LatencyKind {
        /// Completion latency, excluding submission.
        Clat,
        /// Total latency.
        Lat,
    }
}

/// A result of another program.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ForeignResult {
    pub source: Source,
    /// As printed by the program, such as `fio-3.33`.
    pub version: String,
    /// Hosts that ran the jobs; empty if unknown.
    pub hostnames: Vec<String>,
    /// Number of results that were combined, one per job or worker.
    pub added_results: u32,
    /// The latency whose percentiles and buckets are in `lat_ns`; null if there are none.
    pub percentiles_of: Option<LatencyKind>,
    /// Options of the jobs, by name.
    pub settings: BTreeMap<String, String>,
}
