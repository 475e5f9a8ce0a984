//! Types that cross a process or network boundary. Pure: no I/O, clocks or threads.
//!
//! - `job`: fio's options, and parsing of jobs and runs
//! - `json`: parsing of documents written by people
//! - `units`: parsing of sizes, times and percentages
//! - `plan`: resolved jobs and targets, phases and cost
//! - `problem`: errors with a field, a detail and a remedy
//! - `event`: the event stream of a run; `status`, `phase`, `sample` and `result` are its payloads
//! - `counters`, `histogram`: counts of a sampling window
//! - `report`: results of the measured window; `report_summary`: its key figures
//! - `evidence`, `gauge`, `verdict`, `finding`: where the I/O went
//! - `metrics`: the table of metrics
//! - `limits`: limits for request fields, and their schemas
//! - `named_enum`: the macro for enums whose values have names
//! - `run`, `runs_event`, `workload_summary`, `annotation`, `query`, `series`, `compare`, `trend`:
//!   runs in the HTTP API; `schedule`, `webhook`, `settings`: schedules, notifications and settings
//!   of the server
//! - `import`: jobs in the syntax of other tools
//! - `study`: studies and their parsing, plan and files
//! - `host`, `device`, `doctor`: facts about a host
//! - `format`: numbers in text; `text`: text that is safe to display
#![forbid(unsafe_code)]

pub mod annotation;
pub mod compare;
pub mod counters;
pub mod device;
pub mod doctor;
pub mod event;
pub mod evidence;
pub mod finding;
pub mod format;
pub mod gauge;
pub mod histogram;
pub mod host;
pub mod import;
pub mod job;
pub mod json;
pub mod limits;
pub mod metrics;
mod named_enum;
pub mod phase;
pub mod plan;
pub mod problem;
pub mod query;
pub mod report;
pub mod report_summary;
pub mod result;
pub mod run;
pub mod runs_event;
pub mod sample;
pub mod schedule;
pub mod series;
pub mod settings;
pub mod status;
pub mod study;
pub mod text;
pub mod trend;
pub mod units;
pub mod verdict;
pub mod webhook;
pub mod workload_summary;
