//! A case: how to create the situation, its job, and the expected shares.

use crate::scratch::program::{JSON, runner, spawn};
use serde_json::Value;
use std::{any::Any, ops::RangeInclusive, path::Path};

#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub name: &'static str,
    /// Creates the situation in an empty directory. Returns an error if the host does not support
    /// it.
    pub prepare: fn(&Path) -> Result<Situation, String>,
}

/// Computes the truth for each direction after the run, from the result or from an independent
/// counter, but never from the verdict.
pub(crate) type Expected = Box<dyn FnOnce(&Value) -> Vec<Truth>>;

pub(crate) struct Situation {
    /// The job without `ioengine`, which is set by the test.
    pub job: Value,
    /// Called with the runner's process ID once the run has started, for example to drop a cache or
    /// to use the disk during the measurement.
    pub during_run: Option<Box<dyn FnOnce(u32)>>,
    pub truth: Expected,
    /// Loop devices, mounts and processes that must exist during the run.
    #[expect(dead_code, reason = "dropped after the run")]
    pub resources: Vec<Box<dyn Any>>,
}

/// The share of one direction's I/Os that each layer served (0 to 1). Shares are ranges if the
/// situation does not determine them exactly.
#[derive(Debug)]
pub(crate) struct Truth {
    /// `read` or `write`.
    pub direction: &'static str,
    /// Served from any memory: page cache, cache of a backing file, tmpfs, zram. For writes, data
    /// that is only in memory at the end.
    pub memory: RangeInclusive<f64>,
    /// Served as zeros from holes or unwritten extents, without device I/O.
    pub zeros: RangeInclusive<f64>,
    /// Served by a device that is not memory.
    pub device: RangeInclusive<f64>,
}

/// Runs the job with `directory` as the target root.
pub(crate) fn measure(
    job: &Value,
    directory: &Path,
    during_run: Option<Box<dyn FnOnce(u32)>>,
) -> Result<Value, String> {
    let mut command = runner();
    let child = spawn(command.args(JSON).arg("--target-root").arg(directory), job);
    if let Some(action) = during_run {
        action(child.id());
    }
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    if output.status.code() != Some(0) {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}
