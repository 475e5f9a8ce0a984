//! System calls per I/O, from a separate run under `perf stat`: tracepoints slow down every call.

use crate::child::{self, Invocation};
use anyhow::Result;
use std::fs::read_to_string;
use tempfile::NamedTempFile;

/// System calls that perform, submit or wait for I/O.
const EVENTS: &str =
    "syscalls:sys_enter_io_uring_enter,syscalls:sys_enter_pread64,syscalls:sys_enter_pwrite64";

/// Returns standard output and the number of calls; `None` if perf is missing or not permitted.
pub fn count(cpus: &str, invocation: &Invocation) -> Result<Option<(String, f64)>> {
    let counts = NamedTempFile::new()?;
    let path = counts.path().to_string_lossy();
    let perf_args = ["stat", "-x,", "-o", path.as_ref(), "-e", EVENTS, "--"].map(String::from);
    let program = invocation.program.to_string_lossy().into_owned();
    let args = perf_args
        .into_iter()
        .chain([program])
        .chain(invocation.args.iter().cloned())
        .collect();
    let Ok((output, _)) = child::run(
        cpus,
        &Invocation {
            program: "perf".into(),
            args,
            input: invocation.input.clone(),
        },
    ) else {
        return Ok(None);
    };
    Ok(sum(&read_to_string(counts.path())?).map(|calls| (output, calls)))
}

/// Adds up the counts in perf's CSV lines (`count,unit,event,...`); `None` if an event was not
/// counted.
fn sum(text: &str) -> Option<f64> {
    text.lines()
        .filter(|line| line.contains("syscalls:"))
        .map(|line| line.split(',').next()?.parse::<f64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_calls_unless_a_count_is_missing() {
        let text = "# started on today\n\n68587,,syscalls:sys_enter_io_uring_enter,1007308230,100.00,,\n112,,syscalls:sys_enter_pread64,1007308230,100.00,,\n";
        assert_eq!(sum(text), Some(68_699.0));
        assert_eq!(
            sum("<not counted>,,syscalls:sys_enter_pread64,0,100.00,,\n"),
            None
        );
    }
}
