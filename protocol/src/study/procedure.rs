//! Studies whose runs follow a procedure: the procedure defines the jobs from one base job, and
//! determines the next runs from the results.

use crate::study::{
    load_curve::{LoadCurve, LoadCurveResults},
    snia::{SniaTest, results::SniaResults},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A procedure with all its settings.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Procedure {
    Snia(SniaTest),
    LoadCurve(LoadCurve),
}

/// The results of a procedure so far.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProcedureResults {
    Snia(SniaResults),
    LoadCurve(LoadCurveResults),
}
