//! Plans jobs on a simulated host.

mod command_priorities;
mod estimate;
mod findings;
mod fio_differences;
mod fio_options;
pub(crate) mod host;
mod memory;
mod options;
mod overload;
mod problems;
mod steady_state;
mod summary;
mod targets;
mod verify_backlog;

use crate::plan::{resolve, tests::host::TableHost};
use leadline_protocol::{
    job::run_spec::parse_run,
    plan::{Plan, job::ResolvedJob},
};
use serde_json::Value;

fn plan(job: Value) -> Plan {
    plan_on(&TableHost::default(), job)
}

fn plan_on(host: &TableHost, job: Value) -> Plan {
    resolve(&parse_run(&job).expect("a valid job"), host)
}

/// A plan without problems.
fn accepted(job: Value) -> Plan {
    let plan = plan(job.clone());
    assert!(plan.problems.is_empty(), "{job}\n{:#?}", plan.problems);
    plan
}

fn resolved_job(job: Value) -> ResolvedJob {
    accepted(job).jobs.remove(0)
}

/// Replaces options in a job.
pub(crate) fn merge(mut job: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().expect("an object") {
        job[name] = value.clone();
    }
    job
}
