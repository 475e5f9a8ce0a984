//! A study, as submitted to `POST /studies` and as stored in study files.

use crate::{
    job::range::MAX_JSON_INTEGER,
    limits::{
        HostId, IdleWaitSeconds, Jobs, OrderSeed, Paragraph, Repeats, SampleMs, ScalePercent,
        ScaleSize, StepName, Steps, StudyThresholdPercent, SweptOption, Tags,
    },
    named_enum::named_enum,
    study::{description::Published, load_curve::LoadCurveDefinition, snia::SniaTestDefinition},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub const MAX_SEED: u64 = MAX_JSON_INTEGER;

/// Body of `POST /studies` and `POST /studies/plan`. It is also the study file format.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyDefinition {
    /// Default: `study`.
    #[schema(value_type = Option<StepName>)]
    pub name: Option<String>,
    /// Purpose, in one paragraph.
    #[schema(value_type = Option<Paragraph>)]
    pub about: Option<String>,
    /// What the author of the published results overlooked, in one sentence.
    #[schema(value_type = Option<Paragraph>)]
    pub missed_by_author: Option<String>,
    /// Published results to compare with.
    pub published: Option<Published>,
    /// Size limits. All sizes are halved together until they are within these limits.
    pub scale: Option<ScaleDefinition>,
    /// Continue after a failed step. Default: false.
    pub continue_on_failure: Option<bool>,
    /// Number of times each step runs, or its maximum with `until_decided`; steps × repeats is at
    /// most 1,024. Default: 1.
    #[schema(value_type = Option<Repeats>)]
    pub repeats: Option<u32>,
    /// End the study as soon as its comparison is decided.
    pub until_decided: Option<UntilDecidedDefinition>,
    /// Order of repeated steps. Default: `interleaved`.
    pub order: Option<RepeatOrder>,
    /// Seed for the order of the steps and for the random seeds of the jobs. Default: random.
    #[schema(value_type = Option<OrderSeed>)]
    pub order_seed: Option<u64>,
    /// Maximum time that each run waits until its devices are idle and little data is left to write
    /// back, in seconds, 0 to 600. Default: 10 for interleaved repeats, otherwise 0.
    #[schema(value_type = Option<IdleWaitSeconds>)]
    pub idle_wait_seconds: Option<u32>,
    /// Options to vary. Each step runs with every combination of their values, with at most 1,024
    /// runs in total.
    pub sweep: Option<Vec<SweepAxis>>,
    /// A test that follows the SNIA performance test specification. It derives the runs from the
    /// study's only job.
    pub snia: Option<SniaTestDefinition>,
    /// A load–latency curve for the study's only job.
    pub load_curve: Option<LoadCurveDefinition>,
    /// 1 to 1,024 steps, in order.
    #[schema(value_type = Steps)]
    pub steps: Vec<StepDefinition>,
    /// Default: `local`.
    #[schema(value_type = Option<HostId>)]
    pub host: Option<String>,
    /// Tags of the runs.
    #[schema(value_type = Option<Tags>)]
    pub tags: Option<Vec<String>>,
    /// `TEXT@CODE` for each target with data to be overwritten, from the plan's `confirmations`.
    pub confirm: Option<Vec<String>>,
}

named_enum! {
    names: "snake_case";
    /// Order of repeated steps.
    #[derive(Default)]
    pub enum RepeatOrder {
        /// Blocks with one repeat of each step, in random order. Slow changes on the host, such as
        /// its temperature, then affect all steps equally.
        #[default]
        Interleaved,
        /// All repeats of the first step, then all repeats of the next step, and so on.
        Sequential,
    }
}

impl RepeatOrder {
    /// Derives the order of a study from the repeat numbers of its runs. Blocks are in order;
    /// sequential steps restart from the first repeat.
    pub fn of_repeats(repeats: impl IntoIterator<Item = u32>) -> Self {
        if repeats.into_iter().is_sorted() {
            Self::Interleaved
        } else {
            Self::Sequential
        }
    }
}

/// When a study of two interleaved steps, A and B, may end before its last repeat.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UntilDecidedDefinition {
    /// 1 to 6 metrics that must all be better, worse or equivalent, such as `read_lat_p99_ns`.
    /// Default: the IOPS of the first direction of step 1 (reads, writes, trims).
    #[schema(value_type = Option<Vec<crate::metrics::ComparedMetricName>>)]
    pub metrics: Option<Vec<String>>,
    /// Smallest change that matters, in percent. Default: 2.
    #[schema(value_type = Option<StudyThresholdPercent>)]
    pub threshold_percent: Option<f64>,
}

/// An option that varies in a sweep.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepAxis {
    /// Option name, such as `iodepth`.
    #[schema(value_type = SweptOption)]
    pub option: String,
    /// Distinct values of the option, in order.
    #[schema(min_items = 1)]
    pub values: Vec<Value>,
}

/// Value of a swept option in one step.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct SweepValue {
    pub option: String,
    /// As given in the axis, such as `4k`.
    pub value: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StepDefinition {
    /// Default: the name of the first job.
    #[schema(value_type = Option<StepName>)]
    pub name: Option<String>,
    #[schema(value_type = Option<Paragraph>)]
    pub note: Option<String>,
    /// Options from the file and cache groups that apply to all jobs in the step. A job's own
    /// options take precedence.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    pub state: Option<Value>,
    /// 1 to 64 jobs that start together. `$study` in a file name is replaced by a unique ID.
    #[schema(value_type = Jobs)]
    pub jobs: Vec<Value>,
    /// Sampling interval in ms, 10 to 10,000. Default: 100.
    #[schema(value_type = Option<SampleMs>)]
    pub sample_ms: Option<u32>,
}

/// Size limits of a study.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScaleDefinition {
    /// Largest size of a job, such as `1g`.
    #[schema(value_type = Option<ScaleSize>)]
    pub max_size: Option<String>,
    /// Largest size of a job, as a percentage of available memory.
    #[schema(value_type = Option<ScalePercent>)]
    pub memory_percent: Option<u8>,
    /// Total size of all files, as a percentage of free space.
    #[schema(value_type = Option<ScalePercent>)]
    pub free_percent: Option<u8>,
    /// Original sizes and the reason for scaling.
    #[schema(value_type = Option<Paragraph>)]
    pub note: Option<String>,
}
