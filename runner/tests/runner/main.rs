//! Tests of the runner binary and library that share one test binary, so that they are linked once
//! and run in parallel.

mod access_times;
mod command_priorities;
mod compare;
mod compare_fio;
mod control_group;
mod cost;
mod device_faults;
mod devices;
mod documents;
mod evidence;
mod examples;
mod experiments;
mod false_verdicts;
mod faults;
mod fio_command;
mod fio_examples;
mod fio_logs;
mod fio_output;
mod guard;
mod job_ends;
mod late_errors;
mod load_curve;
mod log_files;
mod missing_counters;
mod plan;
mod probe;
mod run;
#[path = "../scratch/mod.rs"]
mod scratch;
mod seeds;
mod snia;
mod state;
mod studies;
mod study_cleanup;
mod study_state;
mod target;
mod tolerated_errors;
mod tracing;
mod written_data;
