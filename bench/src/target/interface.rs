//! Trait for targets: a path, and page cache preparation before each run.

use crate::work::Work;
use anyhow::Result;
use std::path::Path;

pub trait Target {
    fn path(&self) -> &Path;

    /// Fills the page cache for a buffered workload and drops it for a direct workload.
    fn prepare(&self, work: &Work) -> Result<()>;
}
