//! Jobs against a host from a table: what is refused, what comes out, what is to be minded.

pub(crate) mod host;
pub(crate) mod minded;
pub(crate) mod refused;
pub(crate) mod settled;

use crate::plan::resolve;
use crate::plan::tests::host::TableHost;
use leadline_protocol::job::parse::parse_run;
use leadline_protocol::plan::Plan;
use serde_json::Value;

/// The plan of a job on the usual host.
fn plan(job: Value) -> Plan {
    plan_on(&TableHost::default(), job)
}

fn plan_on(host: &TableHost, job: Value) -> Plan {
    resolve(&parse_run(&job).expect("a job that can be read"), host)
}
