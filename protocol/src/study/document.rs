use crate::job::Job;
use crate::study::Published;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What is asked of `POST /studies` and `POST /studies/plan`, and what a study's file holds.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct StudyDocument {
    /// Its name; `study` when nothing is said.
    pub name: Option<String>,
    /// Why it is worth doing, in one paragraph.
    pub about: Option<String>,
    /// What the author of the published figures had to find out by hand, in one sentence.
    pub missed_by_author: Option<String>,
    /// Figures that others got, to stand beside those from here.
    pub published: Option<Published>,
    /// How its sizes are fitted to the host: all are halved together until they keep within these bounds.
    pub scale: Option<ScaleDocument>,
    /// Whether a step that fails leaves the others be; it ends the study when nothing is said.
    pub continue_on_failure: Option<bool>,
    /// One to 256 runs, done in this order.
    pub steps: Vec<StepDocument>,
    /// The host to run on; `local` when nothing is said.
    pub host: Option<String>,
    /// Words to find its runs by.
    pub tags: Option<Vec<String>>,
    /// The serial number of the device to be overwritten, typed by its owner; its kernel name where it has none. What is
    /// given must be right.
    pub confirm: Option<String>,
}

/// One step as asked.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct StepDocument {
    /// Its name; that of its first job when nothing is said.
    pub name: Option<String>,
    /// What it is there for.
    pub note: Option<String>,
    /// The state wanted before it: options of file and cache, for every job that does not say them itself.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    pub state: Option<Value>,
    /// One to 64 jobs that start together. `$study` in a file name stands for a mark of the study's own.
    #[schema(value_type = Vec<Job>)]
    pub jobs: Vec<Value>,
    /// The sampling grid in milliseconds, from 10 to 10,000; 100 when nothing is said.
    pub sample_ms: Option<u32>,
}

/// The bounds that a study's sizes keep within.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ScaleDocument {
    /// The largest size of one job, such as `1g`.
    pub max_size: Option<String>,
    /// The largest size of one job, in percent of the memory that is available.
    pub memory_percent: Option<u8>,
    /// The sizes of all files together, in percent of the free space.
    pub free_percent: Option<u8>,
    /// What the sizes were elsewhere, and why they are others here.
    pub note: Option<String>,
}
