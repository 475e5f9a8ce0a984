//! Timestamped notes on runs.

use crate::limits::{AnnotationText, AnnotationTime};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A timestamped note on a run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Annotation {
    /// Unique across all runs; never reused.
    pub number: u64,
    /// Milliseconds since the start of the run, as in its events.
    pub t_ms: f64,
    pub text: String,
    /// Unix time in milliseconds.
    pub created_at_ms: u64,
}

/// Body of `POST /runs/{n}/annotations`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnnotationRequest {
    /// Milliseconds since the start of the run, as in its events.
    #[schema(value_type = AnnotationTime)]
    pub t_ms: f64,
    /// One line of 1 to 500 characters.
    #[schema(value_type = AnnotationText)]
    pub text: String,
}
