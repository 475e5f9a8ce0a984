//! The interface of a target.

use std::path::Path;

use anyhow::Result;

use crate::work::Work;

pub trait Target {
    fn path(&self) -> &Path;

    /// Fills the page cache for a buffered workload, drops it for a direct one.
    fn prepare(&self, work: &Work) -> Result<()>;
}
