//! Types that cross a process or network boundary: jobs, plans, samples, reports, verdicts, events,
//! and the bodies of the HTTP interface. Pure: no I/O, clocks or threads.
#![forbid(unsafe_code)]

pub mod compare;
pub mod counters;
pub mod event;
pub mod evidence;
pub mod finding;
pub mod format;
pub mod gauge;
pub mod histogram;
pub mod host;
pub mod hosts;
pub mod job;
pub mod metrics;
pub mod phase;
pub mod plan;
pub mod problem;
pub mod query;
pub mod report;
pub mod result;
pub mod run;
pub mod sample;
pub mod series;
pub mod status;
pub mod study;
pub mod summary;
pub mod units;
pub mod verdict;
pub mod workload;
