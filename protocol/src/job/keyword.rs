//! Options with a fixed set of values.

use crate::job::value::Keyword;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantNames};
use utoipa::ToSchema;

/// Flag of open(2) for writes.
#[derive(
    Clone, Copy, Debug, Deserialize, EnumString, Eq, PartialEq, Serialize, ToSchema, VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum SyncMode {
    #[strum(to_string = "none", serialize = "0")]
    None,
    /// O_SYNC.
    #[strum(to_string = "sync", serialize = "1")]
    Sync,
    /// O_DSYNC.
    Dsync,
}

impl Keyword for SyncMode {
    const KIND: &'static str = "sync mode";
}

/// Allocation of a file before the job writes it.
#[derive(
    Clone,
    Copy,
    Debug,
    Deserialize,
    EnumString,
    Eq,
    IntoStaticStr,
    PartialEq,
    Serialize,
    ToSchema,
    VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Fallocate {
    /// Write every block.
    Written,
    /// No allocation.
    #[strum(to_string = "none", serialize = "0")]
    None,
    /// fallocate(2): unwritten extents.
    Native,
    /// posix_fallocate(3).
    #[strum(to_string = "posix", serialize = "1")]
    Posix,
    /// fallocate(2) with FALLOC_FL_KEEP_SIZE.
    Keep,
    /// ftruncate(2): a hole.
    Truncate,
}

impl Keyword for Fallocate {
    const KIND: &'static str = "allocation";
}

impl Fallocate {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Required state of the file before the measurement.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Deserialize,
    EnumString,
    Eq,
    IntoStaticStr,
    PartialEq,
    Serialize,
    ToSchema,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum FileState {
    /// Determined by the other options.
    #[default]
    AsIs,
    /// Created by this run.
    Fresh,
    /// Every block of the region is written.
    Written,
    /// Every block is written, then overwritten: `overwrite=1`.
    Overwrite,
    /// Writes extend the file: `file_append=1`.
    Append,
}

impl Keyword for FileState {
    const KIND: &'static str = "file state";
}

impl FileState {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Required state of the page cache before the measurement.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Deserialize,
    EnumString,
    Eq,
    IntoStaticStr,
    PartialEq,
    Serialize,
    ToSchema,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum CacheState {
    /// Determined by the other options.
    #[default]
    AsIs,
    /// Pages of the target are written back and evicted.
    Cold,
    /// The target is read into the page cache: `pre_read=1`.
    Warm,
}

impl Keyword for CacheState {
    const KIND: &'static str = "cache state";
}

impl CacheState {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Arrival process of a rate.
#[derive(
    Clone, Copy, Debug, Deserialize, EnumString, Eq, PartialEq, Serialize, ToSchema, VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum RateProcess {
    /// Constant intervals.
    Linear,
    /// Exponentially distributed intervals.
    Poisson,
}

impl Keyword for RateProcess {
    const KIND: &'static str = "process";
}

/// Access pattern passed to posix_fadvise(2).
#[derive(
    Clone, Copy, Debug, Deserialize, EnumString, Eq, PartialEq, Serialize, ToSchema, VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Fadvise {
    /// Derived from `rw`, as in fio.
    #[serde(rename = "1")]
    #[strum(to_string = "1", serialize = "true")]
    ByPattern,
    #[serde(rename = "0")]
    #[strum(to_string = "0", serialize = "none", serialize = "false")]
    None,
    /// POSIX_FADV_RANDOM: no readahead.
    Random,
    /// POSIX_FADV_SEQUENTIAL: doubled readahead.
    Sequential,
}

impl Keyword for Fadvise {
    const KIND: &'static str = "advice";
}
