//! Description of a study and its published results.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct StudyDescription {
    pub name: String,
    /// Purpose, in one paragraph.
    pub about: Option<String>,
    /// What the author of the published results overlooked, in one sentence.
    pub missed_by_author: Option<String>,
    /// Published results to compare with.
    pub published: Option<Published>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Publication and hardware.
    pub source: String,
    /// Column titles with units.
    pub columns: Vec<String>,
    pub rows: Vec<PublishedRow>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// One-based number of the equivalent step; null if there is none.
    pub step: Option<u32>,
    /// One cell per column, as published.
    pub cells: Vec<String>,
}
