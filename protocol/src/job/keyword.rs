//! Options with a fixed set of values.

use crate::named_enum::named_enum;

named_enum! {
    names: "lowercase", kind: "sync mode";
    /// Flag passed to open(2) for writes.
    pub enum SyncMode {
        #[strum(to_string = "none", serialize = "0")]
        None,
        /// O_SYNC.
        #[strum(to_string = "sync", serialize = "1")]
        Sync,
        /// O_DSYNC.
        Dsync,
    }
}

named_enum! {
    names: "lowercase", kind: "allocation";
    /// How to allocate a file before a write job.
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
}

named_enum! {
    names: "kebab-case", kind: "file state";
    /// Required file state before the measurement.
    #[derive(Default)]
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
}

named_enum! {
    names: "kebab-case", kind: "cache state";
    /// Required page cache state before the measurement.
    #[derive(Default)]
    pub enum CacheState {
        /// Determined by the other options.
        #[default]
        AsIs,
        /// Pages of the target are written back and evicted.
        Cold,
        /// The target is read into the page cache: `pre_read=1`.
        Warm,
    }
}

named_enum! {
    names: "lowercase", kind: "process";
    /// Arrival process for a rate.
    pub enum RateProcess {
        /// Constant intervals.
        Linear,
        /// Exponentially distributed intervals.
        Poisson,
    }
}

named_enum! {
    names: "lowercase", kind: "advice";
    /// Access pattern passed to posix_fadvise(2).
    pub enum Fadvise {
        /// Derived from `rw`, as in fio.
        #[serde(rename = "1")]
        #[strum(to_string = "1", serialize = "true")]
        ByPattern,
        #[serde(rename = "0")]
        #[strum(to_string = "0", serialize = "none", serialize = "false")]
        None,
        /// POSIX_FADV_RANDOM, which disables readahead.
        Random,
        /// POSIX_FADV_SEQUENTIAL, which doubles readahead.
        Sequential,
    }
}

named_enum! {
    names: "lowercase", kind: "sequencer";
    /// Offsets of the I/Os that follow a random one with `rw=randread:N`.
    #[derive(Default)]
    pub enum RwSequencer {
        /// Each starts where the last one ended.
        #[default]
        Sequential,
        /// All have the same offset.
        Identical,
    }
}

named_enum! {
    names: "lowercase", kind: "processor policy";
    /// How the workers of a job share `cpus_allowed`.
    #[derive(Default)]
    pub enum CpuPolicy {
        /// Every worker may use all of them.
        #[default]
        Shared,
        /// Each worker uses one.
        Split,
    }
}

named_enum! {
    names: "lowercase", kind: "blocks";
    /// Which I/Os `thinktime_blocks` counts; accepted for compatibility.
    pub enum BlocksType {
        Complete,
        Issue,
    }
}

named_enum! {
    names: "lowercase", kind: "generator";
    /// fio's random generators; accepted for compatibility.
    pub enum RandomGenerator {
        Tausworthe,
        Tausworthe64,
        Lfsr,
    }
}

named_enum! {
    names: "lowercase", kind: "mode";
    /// Threads that submit I/Os; accepted for compatibility.
    pub enum SubmitMode {
        Inline,
        Offload,
    }
}

named_enum! {
    names: "lowercase", kind: "jobs";
    /// Jobs that `exitall` ends.
    #[derive(Default)]
    pub enum ExitWhat {
        /// Jobs in the same reporting group (`new_group`).
        #[default]
        Group,
        /// Jobs that have started.
        Stonewall,
        /// All jobs of the run.
        All,
    }
}

named_enum! {
    names: "lowercase", kind: "zone mode";
    /// Zones of a sequential workload. Zoned block devices (`zbd`) are not supported.
    #[derive(Default)]
    pub enum ZoneMode {
        #[default]
        None,
        /// I/O within a zone, then a gap.
        Strided,
    }
}

named_enum! {
    names: "snake_case", kind: "mode";
    /// Source of duplicate blocks.
    #[derive(Default)]
    pub enum DedupeMode {
        /// Any earlier block.
        #[default]
        Repeat,
        /// One of the first unique blocks.
        WorkingSet,
    }
}

named_enum! {
    names: "lowercase", kind: "errors";
    /// I/O types whose failures do not end a job.
    pub enum ContinueOnError {
        #[strum(to_string = "none", serialize = "0")]
        None,
        Read,
        /// Writes, trims and syncs.
        Write,
        /// Reads and writes.
        Io,
        /// Bad blocks.
        Verify,
        #[strum(to_string = "all", serialize = "1")]
        All,
    }
}
