//! Limits for request fields, and the OpenAPI schemas of these fields. The request parsers use the
//! same limits. Lengths are in characters, as in JSON Schema.

use crate::{
    host::LOCAL_HOST,
    job::{
        OPTIONS,
        range::{MAX_JSON_INTEGER, POSITIVE},
        run_spec::{MAX_IDLE_WAIT_SECONDS, MAX_JOBS, SAMPLE_MS_RANGE},
        value_schema::pattern,
    },
    metrics::METRICS,
    status::RunStatus,
    text::plain_pattern,
};
use std::ops::RangeInclusive;
use strum::VariantNames;
use utoipa::{
    Number,
    openapi::{
        Ref, RefOr, Schema,
        schema::{ArrayBuilder, ObjectBuilder, Type},
    },
};

/// Names are shown on one line.
pub const MAX_NAME: usize = 200;
/// Notes are included in lists.
pub const MAX_NOTES: usize = 8 * 1024;
/// Above the importer's limit of 1 MiB, so that the importer reports longer text.
pub const MAX_JOB_TEXT: usize = 2 << 20;
pub const MAX_TAGS: usize = 32;
pub const MAX_TAG: usize = 64;
/// Not allowed in tags, in addition to deceptive characters, because queries contain tags.
pub const NOT_IN_TAGS: [char; 2] = [',', '"'];
/// Longer text does not fit on a chart. Run notes can be longer.
pub const MAX_ANNOTATION: usize = 500;
pub const MAX_CRON: usize = 200;
pub const MAX_QUIET_HOURS: usize = 10;
/// Number of runs in a baseline.
pub const BASELINE_RUNS: RangeInclusive<usize> = 1..=50;
/// In percent. Changes below 0.01 % are rounding errors, and thresholds above 1,000 % are
/// meaningless.
pub const THRESHOLDS: RangeInclusive<f64> = 0.01..=1000.0;
/// Maximum `until_decided.threshold_percent`.
pub const MAX_STUDY_THRESHOLD: f64 = 100.0;

/// Runs or series per page.
pub const MAX_PAGE: u32 = 200;
/// Studies per page. A page lists all their runs.
pub const MAX_STUDY_PAGE: u32 = 100;
/// Two points per pixel on a wide screen.
pub const MAX_POINTS: u32 = 5_000;
/// 300 years, in milliseconds. JSON has no infinity or NaN.
pub const MAX_MS: f64 = 1e13;

/// Names of studies and steps are part of the names of their runs.
pub(crate) const MAX_STEP_NAME: usize = 100;
/// A paragraph of a study.
pub(crate) const MAX_PARAGRAPH: usize = 8 * 1024;

/// Each step is a run in the server's queue.
pub(crate) const MAX_STEPS: usize = 1024;

macro_rules! schemas {
    ($( $(#[doc = $doc:literal])* $name:ident: $schema:expr; )+) => {
        $(
            $(#[doc = $doc])*
            pub struct $name;

            impl utoipa::ToSchema for $name {
                fn name() -> std::borrow::Cow<'static, str> {
                    stringify!($name).into()
                }
            }

            impl utoipa::PartialSchema for $name {
                fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                    $schema.into()
                }
            }
        )+
    };
}

pub(crate) use schemas;

schemas! {
    /// Text on one line, which may be empty.
    Name: text().pattern(Some(format!("({})|^$", plain_pattern("")))).max_length(Some(MAX_NAME));
    /// Text on one line that is not blank.
    Title: text().pattern(Some(plain_pattern(""))).max_length(Some(MAX_NAME));
    Notes: text().max_length(Some(MAX_NOTES));
    Tag: text()
        .pattern(Some(plain_pattern(&NOT_IN_TAGS.iter().collect::<String>())))
        .max_length(Some(MAX_TAG));
    Tags: ArrayBuilder::new()
        .items(Ref::from_schema_name("Tag"))
        .max_items(Some(MAX_TAGS));
    AnnotationText: text()
        .pattern(Some(plain_pattern("")))
        .max_length(Some(MAX_ANNOTATION));
    HostId: text().enum_values(Some([LOCAL_HOST]));
    Jobs: ArrayBuilder::new()
        .items(Ref::from_schema_name("Job"))
        .min_items(Some(1))
        .max_items(Some(MAX_JOBS));
    Steps: ArrayBuilder::new()
        .items(Ref::from_schema_name("StepDefinition"))
        .min_items(Some(1))
        .max_items(Some(MAX_STEPS));
    SampleMs: integer(u64::from(*SAMPLE_MS_RANGE.start())..=u64::from(*SAMPLE_MS_RANGE.end()));
    IdleWaitSeconds: integer(0..=u64::from(MAX_IDLE_WAIT_SECONDS));
    OrderSeed: integer(0..=MAX_JSON_INTEGER);
    Repeats: integer(1..=MAX_STEPS as u64);
    ThresholdPercent: number(THRESHOLDS);
    AnnotationTime: number(0.0..=MAX_MS);
    SeriesTime: number(-MAX_MS..=MAX_MS);
    SeriesPoints: integer(1..=u64::from(MAX_POINTS));
    PageLimit: integer(1..=u64::from(MAX_PAGE));
    StudyLimit: integer(1..=u64::from(MAX_STUDY_PAGE));
    StudyThresholdPercent: ObjectBuilder::new()
        .schema_type(Type::Number)
        .exclusive_minimum(Some(Number::Float(0.0)))
        .maximum(Some(Number::Float(MAX_STUDY_THRESHOLD)));
    BaselineRuns: ArrayBuilder::new()
        .items(integer(1..=MAX_JSON_INTEGER))
        .min_items(Some(*BASELINE_RUNS.start()))
        .max_items(Some(*BASELINE_RUNS.end()));
    StepName: text()
        .pattern(Some(format!("({})|^$", plain_pattern(""))))
        .max_length(Some(MAX_STEP_NAME));
    Paragraph: text().max_length(Some(MAX_PARAGRAPH));
    SweptOption: {
        let names = OPTIONS.iter().flat_map(|option| [&[option.name], option.aliases].concat());
        text().enum_values(Some(names))
    };
    ScalePercent: integer(1..=100);
    ScaleSize: text().pattern(Some(format!("^{}$", pattern::size(POSITIVE))));
    /// By metric name. Short names, such as `read.iops`, are also accepted.
    Thresholds: {
        let tested = METRICS.iter().filter(|metric| metric.is_tested);
        let names = tested.map(|metric| metric.name);
        let names: Schema = text().enum_values(Some(names)).into();
        ObjectBuilder::new()
            .additional_properties(Some(RefOr::from(Ref::from_schema_name("ThresholdPercent"))))
            .property_names(Some(names))
    };
    PageCursor: integer(0..=MAX_JSON_INTEGER);
    /// One or more statuses, separated by commas.
    Statuses: {
        let statuses = RunStatus::VARIANTS.join("|");
        text().pattern(Some(format!("^({statuses})(,({statuses}))*$")))
    };
    /// Five fields, such as `30 2 * * *`, or a nickname, such as `@daily`.
    CronExpression: text()
        .pattern(Some(cron_pattern()))
        .max_length(Some(MAX_CRON));
    /// `HH:MM`.
    LocalTime: text().pattern(Some("^([01][0-9]|2[0-3]):[0-5][0-9]$"));
}

pub(crate) fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

pub(crate) fn integer(range: RangeInclusive<u64>) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(Number::UInt(*range.start() as usize)))
        .maximum(Some(Number::UInt(*range.end() as usize)))
}

fn number(range: RangeInclusive<f64>) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Number)
        .minimum(Some(Number::Float(*range.start())))
        .maximum(Some(Number::Float(*range.end())))
}

/// Matches a subset of the cron syntax: numbers, lists, `*` with steps, and nicknames, but not
/// ranges, names, or days of the month above 28.
fn cron_pattern() -> String {
    let field = |number: &str| {
        let item = format!(r"(\*(/[1-9])?|{number})");
        format!("{item}(,{item})*")
    };
    let fields = [
        "[1-5]?[0-9]",
        "(1?[0-9]|2[0-3])",
        "([1-9]|1[0-9]|2[0-8])",
        "([1-9]|1[0-2])",
        "[0-7]",
    ];
    let fields = fields.map(field).join(" +");
    format!("^({fields}|@(yearly|annually|monthly|weekly|daily|midnight|hourly))$")
}
