//! Jobs against a host from a table: what is refused, what comes out, what is to be minded.

pub(crate) mod host;
mod minded;
mod refused;
mod settled;

use serde_json::Value;

use super::{Plan, resolve};
use crate::job::parse_run;
use host::TableHost;

/// The plan of a job on the usual host.
fn plan(job: Value) -> Plan {
    plan_on(&TableHost::default(), job)
}

fn plan_on(host: &TableHost, job: Value) -> Plan {
    resolve(&parse_run(&job).expect("a job that can be read"), host)
}
