//! Jobs with fio's options. The `options!` table defines each option once: name, aliases, type,
//! default and help. The struct, parser, JSON schema, CLI help and web form are derived from it.

pub mod buffer_pattern;
pub mod direction;
pub mod distribution;
pub mod engine;
pub mod error_list;
pub mod file_service;
pub mod fio;
pub mod keyword;
pub mod list;
mod options_macro;
pub mod parse;
pub mod priority_split;
pub mod range;
pub mod run_spec;
pub mod rw;
pub mod schema;
pub mod size;
pub mod steady_state;
pub mod value;
pub mod value_schema;
pub mod verify_method;
pub mod verify_pattern;

use crate::job::{
    buffer_pattern::BufferPattern,
    direction::PerDirection,
    distribution::Distribution,
    engine::{BufferPages, EngineName, Fallback},
    error_list::ErrorLists,
    file_service::FileService,
    keyword::{
        BlocksType, CacheState, ContinueOnError, CpuPolicy, DedupeMode, ExitWhat, Fadvise,
        Fallocate, FileState, RandomGenerator, RateProcess, RwSequencer, SubmitMode, SyncMode,
        ZoneMode,
    },
    list::{CpuList, Files, Percentiles},
    options_macro::options,
    priority_split::PrioritySplit,
    rw::Rw,
    size::{Bytes, Extent, SizeRange, Split},
    steady_state::SteadyState,
    value::{DecimalPercent, FioValue, Micros, Percent, Seconds, SecondsRange},
    value_schema::ValueSchema,
    verify_method::VerifyMethod,
    verify_pattern::VerifyPattern,
};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct OptionDoc {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// Form section: target, pattern, depth, time, cache, durability, file, rate, data, cpu,
    /// evidence or compatibility (fio options without effect).
    pub group: &'static str,
    /// Value type, such as `size` or `flag`.
    pub kind: &'static str,
    /// All values, if there is a fixed set; otherwise empty.
    pub values: &'static [&'static str],
    /// Null if there is no fixed default.
    pub default: Option<&'static str>,
    pub help: &'static str,
}

impl OptionDoc {
    /// Looks up an option by its name or an alias.
    pub fn find(name: &str) -> Option<&'static Self> {
        OPTIONS
            .iter()
            .find(|option| option.name == name || option.aliases.contains(&name))
    }
}

options! {
    target {
        /// Job name; also used in the names of generated files.
        name: String [range::NAME] = "job",
        /// File or device, shared by all workers. Separate multiple paths with `:`; `\:` is a literal colon.
        filename: Files,
        /// Directory for generated files, named `job.worker.file`.
        directory: String,
        /// Names of generated files. Without $jobnum, all workers share the files.
        filename_format: String = "$jobname.$jobnum.$filenum",
        /// Attach the file to a temporary loop device and use the device as the target. Requires root.
        loop_device ["loop"]: bool = "0",
        /// Files per worker.
        nrfiles ["nr_files"]: u32 [range::NRFILES] = "1",
        /// How a worker chooses its next file: roundrobin, sequential (one file after another) or random, optionally with the I/Os per file, such as random:8; or zipf:1.2, pareto:0.2 or normal:10 (random files with this distribution).
        file_service_type: FileService = "roundrobin",
        /// Size of each worker's region, across all its files. A percentage is relative to the file or device.
        size: Extent [range::JSON_INTEGER],
        /// Bytes to transfer per worker. Default: size.
        io_size ["io_limit"]: Extent [range::JSON_INTEGER],
        /// Size of each file. Default: size / nrfiles.
        filesize: Bytes [range::POSITIVE],
        /// Start of the region in each file.
        offset: Extent [range::JSON_INTEGER] = "0",
        /// Added to the offset for each worker, so that workers use separate regions.
        offset_increment: Extent [range::JSON_INTEGER] = "0",
        /// Alignment of offsets given as a percentage. Default: block size.
        offset_align: Bytes [range::POSITIVE],
    }
    pattern {
        /// I/O pattern: read, write, randread, randwrite, rw, randrw, trim, randtrim, trimwrite or randtrimwrite (each block is trimmed, then written), optionally with fio's `:N` modifier.
        rw ["readwrite"]: Rw = "read",
        /// Offsets within a group of `rw=randread:N`: sequential, or identical (the same offset N times).
        rw_sequencer: RwSequencer = "sequential",
        /// Percentage of reads in a mixed workload.
        rwmixread: Percent = "50",
        /// Percentage of writes in a mixed workload; the last of rwmixread and rwmixwrite applies.
        rwmixwrite: Percent = "50",
        /// Block size. Sizes for read,write,trim may differ.
        bs ["blocksize"]: PerDirection<Bytes> [range::BLOCK] = "4k",
        /// Range of block sizes, such as 4k-64k. Sizes are multiples of the minimum.
        bsrange ["blocksize_range"]: PerDirection<SizeRange> [range::BLOCK],
        /// Block sizes and their percentage of the I/Os, such as 4k/70:64k/30.
        bssplit: PerDirection<Split> [range::BLOCK],
        /// Allow any size within bsrange, not only multiples of the minimum, and bssplit sizes that are not multiples of the smallest one. Requires direct=0.
        bs_unaligned ["blocksize_unaligned"]: bool = "0",
        /// Use the read size for sequential I/Os and the write size for random ones.
        bs_is_seq_rand: bool = "0",
        /// Alignment of random offsets. Default: block size.
        blockalign ["ba"]: PerDirection<Bytes> [range::POSITIVE],
        /// Access distribution: random, zipf:1.2, pareto:0.2, normal:10, zoned:60/10:30/20:8/30:2/40, zoned_abs:60/10g:40/20g or sequence:2:0:1 (these blocks, repeated). zipf, pareto and normal accept the position of the most probable block (0-1), such as zipf:1.2:0.25.
        random_distribution: PerDirection<Distribution> = "random",
        /// With random_distribution=sequence, shift each repetition by the sequence length.
        random_sequence_stride: bool = "0",
        /// Zones of sequential access: none, or strided (transfer zonesize bytes, then skip zoneskip bytes to the next zone). Zones extend to the end of the target.
        zonemode: ZoneMode = "none",
        /// Bytes to transfer in each zone with zonemode=strided.
        zonesize: Bytes,
        /// Bytes to skip between zones with zonemode=strided.
        zoneskip: Bytes = "0",
        /// Length of a zone with zonemode=strided; access wraps around at its end. Default: zonesize.
        zonerange: Bytes,
        /// Percentage of random I/Os in a random workload; the rest is sequential.
        percentage_random: PerDirection<Percent> = "100",
        /// Allow random offsets to repeat before every block is covered.
        norandommap: bool = "0",
        /// Repeat the same random offsets in every run.
        randrepeat: bool = "1",
        /// Random seed for offsets and data, combined with the job and worker numbers.
        randseed: u64 [range::JSON_INTEGER] = "137",
    }
    depth {
        /// I/Os in flight per worker; synchronous engines and trims use 1.
        iodepth: u32 [range::IODEPTH] = "1",
        /// Maximum I/Os per submission; 0 means iodepth. Default: chosen by the engine.
        iodepth_batch_submit ["iodepth_batch"]: u32,
        /// Minimum number of completions to wait for.
        iodepth_batch_complete_min ["iodepth_batch_complete"]: u32 [range::POSITIVE_U32] = "1",
        /// Latency limit. Each worker searches for the highest queue depth, up to iodepth, at which latency_percentile percent of the I/Os stay below the limit, and then ends. A bare number is in microseconds; 0 disables it.
        latency_target: Micros [range::TIME] = "0",
        /// Duration of the test at each queue depth. A bare number is in microseconds.
        latency_window: Micros [range::TIME] = "0",
        /// Percentage of the I/Os that must stay below latency_target. At 100, a single slower I/O fails the test.
        latency_percentile: DecimalPercent = "100",
        /// Keep running after the queue depth for latency_target has been found.
        latency_run: bool = "0",
        /// Number of workers for this job.
        numjobs: u32 [range::NUMJOBS] = "1",
        /// I/O engine: io_uring; libaio (Linux AIO, asynchronous with direct=1); psync, sync, pvsync, pvsync2 (one system call per I/O); mmap (memory mapping, requires direct=0); null (no I/O, measures the runner) or io_uring_nop (no-op requests, measures the ring; Linux 6.10).
        ioengine: EngineName = "io_uring",
        /// Register the I/O buffers with io_uring. Default: on if the locked memory limit permits it.
        fixedbufs: bool,
        /// Poll for completions instead of using interrupts (io_uring, pvsync2); requires direct I/O and a device with poll queues.
        hipri: bool = "0",
        /// Submit from a kernel thread; uses one CPU.
        sqthread_poll: bool = "0",
        /// Time to poll for completions before sleeping; uses CPU time. A bare number is in microseconds.
        spin: Micros [range::SPIN] = "0",
        /// Memory type of the I/O buffers: mmap (base pages), thp (transparent huge pages) or mmaphuge (reserved huge pages).
        mem ["iomem"]: BufferPages = "mmap",
        /// Engine to use if io_uring is not permitted: none (fail) or psync.
        ioengine_fallback: Fallback = "none",
    }
    time {
        /// Maximum duration of the measurement; 0 is unlimited. A bare number is in seconds.
        runtime ["timeout"]: Seconds [range::RUNTIME] = "0",
        /// Repeat the workload until runtime has elapsed.
        time_based: bool = "0",
        /// Warm-up time before the measurement.
        ramp_time: Seconds [range::TIME] = "0",
        /// Delay before this job starts, or a range such as 5-10 for a random delay.
        startdelay: SecondsRange [range::TIME] = "0",
        /// Number of passes over the region.
        loops: u64 [range::POSITIVE] = "1",
        /// End other jobs as soon as a worker of this job ends; see exit_what.
        exitall: bool = "0",
        /// Jobs that exitall ends: group (jobs in the same group; see new_group), stonewall (all jobs that have started) or all.
        exit_what: ExitWhat = "group",
        /// Maximum number of I/Os per worker and pass.
        number_ios: u64 [range::JSON_INTEGER],
        /// I/O types for which the job continues after EIO or EILSEQ: none, read, write (including trims and syncs), io (both), verify or all. The run still fails when it ends. Bad blocks never end verification.
        continue_on_error: ContinueOnError = "none",
        /// Errors that do not end the job, for reads,writes,verification, such as EAGAIN:5,ENOSPC.
        ignore_error: ErrorLists,
        /// Criterion and limit at which the job ends: iops, bw, lat (largest deviation from the mean), iops_slope, bw_slope or lat_slope (per steadystate_check_interval), such as iops:5%.
        steadystate ["ss"]: SteadyState = "iops_slope:0.01%",
        /// Length of the window that steadystate applies to; 0 disables it. A bare number is in seconds.
        steadystate_duration ["ss_dur"]: Seconds [range::STEADY_STATE_WINDOW] = "0",
        /// Initial part of the measurement that steadystate ignores. A bare number is in seconds.
        steadystate_ramp_time ["ss_ramp"]: Seconds [range::TIME] = "0",
        /// Length of the intervals whose values steadystate compares. A bare number is in seconds.
        steadystate_check_interval ["ss_interval"]: Seconds [range::STEADY_STATE_INTERVAL] = "1s",
        /// With rate_iops, the job ends as overloaded once its backlog has exceeded one second of arrivals and grown for this time. A bare number is in seconds; 0 disables it.
        overload_time: Seconds [range::OVERLOAD_TIME] = "0",
    }
    cache {
        /// 1 bypasses the page cache (O_DIRECT), 0 uses it. Required.
        direct: bool,
        /// Evict clean pages of the file from the page cache before the job starts.
        invalidate: bool = "1",
        /// Read the region into the page cache before the job starts.
        pre_read: bool = "0",
        /// Access pattern passed to posix_fadvise: 1 (derived from rw), 0 (none), random or sequential. Controls readahead.
        fadvise_hint: Fadvise = "1",
        /// Drop all caches on the host before the run. Requires root.
        drop_caches: bool = "0",
        /// Initial page cache state: as-is, cold (written back and evicted) or warm (read into the page cache).
        cache_state: CacheState = "as-is",
        /// Memory that each worker locks before the measurement, which leaves less for the page cache.
        lockmem: Bytes = "0",
    }
    durability {
        /// Synchronous writes: 0, sync (O_SYNC) or dsync (O_DSYNC).
        sync: SyncMode = "none",
        /// fsync after every N writes; 0 disables.
        fsync: u32 = "0",
        /// fdatasync after every N writes; 0 disables.
        fdatasync: u32 = "0",
        /// fsync at the end, reported as a separate phase.
        end_fsync: bool = "0",
        /// fsync when the files are closed; the same as end_fsync.
        fsync_on_close: bool = "0",
    }
    file {
        /// File allocation before a write job: written (write every block), none, native, posix, keep or truncate.
        fallocate: Fallocate = "written",
        /// Write the whole region before the job overwrites it, even with fallocate=none.
        overwrite: bool = "0",
        /// Start at the end of the file and extend it.
        file_append: bool = "0",
        /// Create the file when the job opens it, without layout.
        create_on_open: bool = "0",
        /// Create files that do not exist; 0 rejects the job instead, and jobs that only read if layout would write to an existing file.
        allow_file_create: bool = "1",
        /// Only create and write the files; nothing is measured.
        create_only: bool = "0",
        /// Remove files created by this run when it ends.
        unlink: bool = "0",
        /// Initial file state: as-is, fresh (created by this run), written, overwrite (filled first, as with overwrite=1) or append.
        file_state: FileState = "as-is",
    }
    rate {
        /// Maximum bytes per second. Limits for read,write,trim may differ.
        rate: PerDirection<Bytes>,
        /// Maximum I/Os per second. Limits for read,write,trim may differ.
        rate_iops: PerDirection<u64>,
        /// Minimum bytes per second per worker. The run ends and fails if a worker is slower during a rate_cycle.
        rate_min ["ratemin"]: PerDirection<Bytes>,
        /// Minimum I/Os per second per worker. The run ends and fails if a worker is slower during a rate_cycle.
        rate_iops_min: PerDirection<u64>,
        /// Period for rate_min and rate_iops_min, in milliseconds. The first 2 s are not checked.
        rate_cycle ["ratecycle"]: u32 [range::RATE_CYCLE] = "1000",
        /// Maximum latency (lat). The run ends and fails if an I/O is slower. A bare number is in microseconds; 0 disables it.
        max_latency: PerDirection<Micros> [range::TIME],
        /// Arrival process for rate or rate_iops: linear (constant intervals) or poisson (exponential intervals).
        rate_process: RateProcess = "linear",
        /// Weight of this job's workers among all workers with the same flow_id: each worker waits while its share of the I/Os exceeds its share of the weights. 0 disables it.
        flow: u32 = "0",
        /// ID of the group of workers that share I/Os in proportion to flow.
        flow_id: u32 = "0",
        /// Pause of a worker that exceeds its share, once its I/Os are complete, in microseconds; 0 means check again immediately.
        flow_sleep: u32 = "0",
        /// Pause after every thinktime_blocks I/Os, once all of them are complete. A bare number is in microseconds.
        thinktime: Micros [range::TIME] = "0",
        /// Number of I/Os between pauses; also limits the I/Os in flight.
        thinktime_blocks: u32 [range::POSITIVE_U32] = "1",
        /// Part of each pause that the worker spends busy-waiting instead of sleeping. A bare number is in microseconds.
        thinktime_spin: Micros [range::TIME] = "0",
        /// I/O time after which the worker pauses, instead of or in addition to thinktime_blocks. A bare number is in seconds.
        thinktime_iotime: Seconds [range::TIME] = "0",
    }
    data {
        /// Bytes to repeat in the write buffers, such as 0xdeadbeef, -12 or "text".
        buffer_pattern: BufferPattern,
        /// Fill write buffers with zeros.
        zero_buffers: bool = "0",
        /// Stamp every 512 bytes of each write with its offset and a counter, so that no two blocks are equal.
        scramble_buffers: bool = "1",
        /// Refill the buffer for every write.
        refill_buffers: bool = "0",
        /// Compressible percentage of the written data.
        buffer_compress_percentage: Percent = "0",
        /// Percentage of written blocks that are duplicates.
        dedupe_percentage: Percent = "0",
        /// Source of duplicate blocks: repeat (any earlier block) or working_set (one of the first unique blocks).
        dedupe_mode: DedupeMode = "repeat",
        /// Size of the working set, as a percentage of size.
        dedupe_working_set_percentage: Percent = "5",
        /// Divide the working set among all workers of the run, so that they write the same duplicates.
        dedupe_global: bool = "0",
        /// Write a header with a checksum into each block: md5, crc7, crc16, crc32, crc32c, crc64, sha1, sha256, sha512, sha3-224, sha3-256, sha3-384, sha3-512 or xxhash; header-pattern (a header, and verify_pattern instead of a checksum), pattern (only verify_pattern, without a header) or none.
        verify: VerifyMethod = "none",
        /// Read back and check the written blocks after the measurement; requires verify.
        do_verify: bool = "1",
        /// Verify during the measurement: after this many writes, read some of them back and check them. The rest is checked after the measurement; with direct=0, all blocks are checked again. 0 disables it. No effect on mixed jobs.
        verify_backlog: u32 = "0",
        /// Number of writes that verify_backlog reads back at a time. Default: verify_backlog.
        verify_backlog_batch: u32 = "0",
        /// Only check blocks that an earlier run wrote; nothing is written.
        verify_only: bool = "0",
        /// Stop at the first bad block.
        verify_fatal: bool = "0",
        /// Bytes per header and checksum. Default: smallest write.
        verify_interval: Bytes,
        /// Offset of the header in its block; the header and the data at that offset are swapped.
        verify_offset: Bytes = "0",
        /// Bytes to repeat in each verified block, such as 0xff%o; %o is the block's offset (8 bytes). Without verify, it implies verify=header-pattern.
        verify_pattern: VerifyPattern,
    }
    cpu {
        /// CPUs that the workers may run on, such as 0-3,8.
        cpus_allowed: CpuList,
        /// How the workers share these CPUs: shared, or split (each worker uses one).
        cpus_allowed_policy: CpuPolicy = "shared",
        /// Nice value from -20 (highest priority) to 19.
        nice: i32 [range::NICE] = "0",
        /// I/O priority from 0 (highest) to 7, used by I/O schedulers. Default: derived from nice.
        prio ["ioprio"]: u32 [range::PRIO],
        /// I/O priority class: 1 (realtime, requires root), 2 (best effort) or 3 (idle); 0 means best effort.
        prioclass: u32 [range::PRIOCLASS],
        /// Percentage of I/Os with the priority set by cmdprio_class and cmdprio (io_uring, libaio). Values for read,write may differ.
        cmdprio_percentage: PerDirection<Percent> = "0",
        /// Priority class of these I/Os: 1 (realtime, requires root), 2 (best effort) or 3 (idle); 0 means realtime.
        cmdprio_class: PerDirection<u64> [range::PRIOCLASS] = "0",
        /// Priority of these I/Os from 0 (highest) to 7.
        cmdprio: PerDirection<u64> [range::PRIO] = "0",
        /// Priority hint of these I/Os: 1 to 7 select a command duration limit of the device (Linux 6.5).
        cmdprio_hint: PerDirection<u64> [range::PRIO_HINT] = "0",
        /// Percentage of I/Os with a priority, by size: 64k/20 uses cmdprio_class and cmdprio; 64k/25/1/1:64k/75/3/2 sets the class and level.
        cmdprio_bssplit: PerDirection<PrioritySplit> [range::BLOCK],
    }
    evidence {
        /// Sample kernel counters during the run. Use 0 only to measure the sampling overhead.
        probes: bool = "1",
        /// Count request sizes at the device using block tracepoints. Requires root and uses CPU time.
        request_sizes: bool = "0",
        /// Sample the runner's stacks with perf to draw a flame graph. Uses CPU time.
        profile: bool = "0",
    }
    compatibility {
        /// The opposite of direct: 1 uses the page cache, 0 bypasses it.
        buffered: bool,
        /// Description of the job. Not used; give the run a note instead.
        description: String,
        /// Report a job's workers together. Always on.
        group_reporting: bool,
        /// Start a new group of jobs for exit_what. Each job is reported separately.
        new_group: bool,
        /// Use threads instead of processes. Always on.
        thread: bool,
        /// Create a job's files sequentially. Always on.
        create_serialize: bool,
        /// Maximum number of completions to process at once. No effect: all available completions are processed.
        iodepth_batch_complete_max: u32,
        /// Repeat all random values in every run. No effect: randseed and randrepeat apply to offsets, sizes and data.
        allrandrepeat: bool,
        /// Reduce clock readings. No effect: the clock is read once per batch.
        gtod_reduce: bool,
        /// Do not measure lat. No effect: latencies are always measured.
        disable_lat: bool,
        /// Do not measure clat. No effect: latencies are always measured.
        disable_clat: bool,
        /// Do not measure slat. No effect: latencies are always measured.
        disable_slat: bool,
        /// Do not measure the bandwidth. No effect: it is always measured.
        disable_bw_measurement: bool,
        /// Report clat percentiles. Always on.
        clat_percentiles: bool,
        /// Report lat percentiles. Always on.
        lat_percentiles: bool,
        /// Report slat percentiles. Always on.
        slat_percentiles: bool,
        /// Percentiles to report, such as 50:99:99.9. No effect: the report has a fixed list and the whole histogram.
        percentile_list: Percentiles,
        /// Report disk I/O. Always on.
        disk_util: bool,
        /// Write until no space is left. No effect: writes to a device stop at its end anyway, and files require a size, so that part of the filesystem stays free.
        fill_device ["fill_fs"]: bool,
        /// Maximum number of open files per worker; must be at least the number of files, because a worker keeps all its files open.
        openfiles: u32,
        /// Flush files after creating them. No effect: layout always does this.
        create_fsync: bool,
        /// Register the files with io_uring. Always on.
        registerfiles: bool,
        /// Use non-vectored reads and writes. Always on.
        nonvectored: bool,
        /// Random offset generator. No effect: see norandommap and random_distribution.
        random_generator: RandomGenerator,
        /// Submit I/Os from the worker (inline) or from other threads (offload). No effect: due I/Os are submitted while others are in flight, and latencies are also measured from the intended start.
        io_submit_mode: SubmitMode,
        /// Number of threads that verify blocks. No effect: one thread checks the blocks after the measurement, and workers check those of verify_backlog.
        verify_async: u32,
        /// Write bad blocks to files. No effect: the report lists the offset and damage of each bad block.
        verify_dump: bool,
        /// Print failed I/Os. No effect: the report lists the first failed I/Os by operation and error.
        error_dump: bool,
        /// End all jobs after an error. Always on.
        exitall_on_error: bool,
        /// Which I/Os thinktime_blocks counts. No effect: a pause begins once exactly thinktime_blocks I/Os have completed.
        thinktime_blocks_type: BlocksType,
    }
}
