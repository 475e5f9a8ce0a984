//! What was asked, in fio's words. One table, `options!`, declares every option once: its name, fio's aliases, its
//! type, its default and its one-line help; the struct, the parser, the JSON schema and the form in the browser
//! follow from it. Unknown names are an error that names the nearest known one; every bad field is told at once.
//!
//! Not here: what the options amount to on this host (`plan`), other tools' languages (`dialect`).

pub mod parse;
pub mod value;

use crate::job::value::{
    BufferPages, Bytes, CacheState, CpuList, Distribution, EngineName, Extent, Fadvise, Fallback,
    Fallocate, FileState, Files, FioValue, Flag, Micros, PerDirection, Percent, Range, RateProcess,
    Rw, Seconds, Split, SyncMode,
};
use serde::Serialize;
use utoipa::ToSchema;

/// One option as documented: what the form, the schema and the handbook tell about it.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct OptionDoc {
    /// fio's name, or ours where fio has no such option.
    pub name: &'static str,
    /// Other names that it is known by: fio's, where fio has several.
    pub aliases: &'static [&'static str],
    /// Where it stands in the form: target, pattern, depth, time, cache, durability, file, rate, data, cpu or evidence.
    pub group: &'static str,
    /// What values look like, such as `size` or `flag`.
    pub kind: &'static str,
    /// The value when nothing is said, as one would write it; null when there is none.
    pub default: Option<&'static str>,
    /// One line about it.
    pub help: &'static str,
}

macro_rules! options {
    ($( $group:ident { $( #[doc = $help:literal] $name:ident $([$($alias:literal),+])? : $type:ty $(= $default:literal)? ),+ $(,)? } )+) => {
        /// One job as asked: `None` where nothing was said.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Job { $($( #[doc = $help] pub $name: Option<$type>, )+)+ }

        /// Every option there is, in the order of the form.
        pub const OPTIONS: &[OptionDoc] = &[ $($( OptionDoc {
            name: stringify!($name),
            aliases: &[$($($alias),+)?],
            group: stringify!($group),
            kind: <$type as FioValue>::KIND,
            default: options!(@default $($default)?),
            help: $help.trim_ascii(),
        } ),+ ),+ ];

        impl Job {
            /// Sets one option from its text. `None`: there is no such option.
            fn set(&mut self, name: &str, text: &str) -> Option<Result<(), String>> {
                match name {
                    $($( stringify!($name) $($(| $alias)+)? => Some(<$type>::read(text).map(|value| self.$name = Some(value))), )+)+
                    _ => None,
                }
            }
        }
    };
    (@default $default:literal) => { Some($default) };
    (@default) => { None };
}

options! {
    target {
        /// Name of the job; names its generated files too.
        name: String = "job",
        /// File or device; several separated by `:` (write `\:` for a colon). Shared by all clones.
        filename: Files,
        /// Directory of generated files, named `job.clone.file`.
        directory: String,
        /// Attach the file to a loop device of the run's own, and work on that: raw, without a disk to spare. Needs root.
        loop_device ["loop"]: Flag = "0",
        /// How many files each clone spreads its I/O over, in turn.
        nrfiles: u32 = "1",
        /// Length of the region that one clone works on, over all its files; a percentage is of the file or device.
        size: Extent,
        /// Bytes to move before the job ends; where that is not said or 0, the size of the region.
        io_size ["io_limit"]: Extent,
        /// Length of each file, where that is not size / nrfiles.
        filesize: Bytes,
        /// Where the region begins in each file.
        offset: Extent = "0",
        /// Added to the offset once per clone, so that clones work on regions of their own.
        offset_increment: Extent = "0",
    }
    pattern {
        /// read, write, randread, randwrite, rw, randrw, trim or randtrim; `:N` as in fio.
        rw ["readwrite"]: Rw = "read",
        /// Share of reads in a mix, in percent.
        rwmixread: Percent = "50",
        /// Share of writes in a mix, in percent; the later of the two counts.
        rwmixwrite: Percent = "50",
        /// Bytes of one I/O; read,write,trim may differ.
        bs ["blocksize"]: PerDirection<Bytes> = "4k",
        /// Smallest and largest I/O, such as 4k-64k; sizes are multiples of the smallest.
        bsrange ["blocksize_range"]: PerDirection<Range>,
        /// Sizes with their share of the I/Os in percent, such as 4k/70:64k/30.
        bssplit: PerDirection<Split>,
        /// Random offsets are multiples of this; fio's default is the block size.
        blockalign ["ba"]: PerDirection<Bytes>,
        /// Which blocks are liked: random, zipf:1.2, pareto:0.2, normal:10 or zoned:60/10:30/20:8/30:2/40.
        random_distribution: PerDirection<Distribution> = "random",
        /// Share of random I/Os in a random job, in percent; the others follow on.
        percentage_random: PerDirection<Percent> = "100",
        /// Random offsets may repeat before every block had its turn.
        norandommap: Flag = "0",
        /// The same offsets at every run.
        randrepeat: Flag = "1",
        /// Seed of offsets and data; jobs and clones differ by their number.
        randseed: u64 = "137",
    }
    depth {
        /// I/Os that each clone keeps in flight; psync, and trims, go one at a time.
        iodepth: u32 = "1",
        /// I/Os handed to the kernel at once; 0 is the queue depth.
        iodepth_batch_submit ["iodepth_batch"]: u32 = "1",
        /// I/Os to wait for before new ones are submitted.
        iodepth_batch_complete_min ["iodepth_batch_complete"]: u32 = "1",
        /// Clones of this job that run at the same time.
        numjobs: u32 = "1",
        /// The system interface: io_uring, psync, null (no I/O at all, to measure the runner), or io_uring_nop (empty entries, to measure the ring; Linux 6.10).
        ioengine: EngineName = "io_uring",
        /// Register the I/O buffers with io_uring, which saves looking up their pages; where not said, as locked memory allows.
        fixedbufs: Flag,
        /// Poll the device for completions instead of waiting for interrupts; takes direct I/O and a device with poll queues.
        hipri: Flag = "0",
        /// A thread of the kernel takes the submissions; it costs a processor.
        sqthread_poll: Flag = "0",
        /// Look for completions this long before going to sleep; it costs a processor. A bare number is microseconds.
        spin: Micros = "0",
        /// Pages of the I/O buffers: mmap (small ones), thp (the kernel's huge ones, where it has some) or mmaphuge (reserved huge ones).
        mem ["iomem"]: BufferPages = "mmap",
        /// What to do where io_uring is not allowed: none (fail, and say why) or psync.
        ioengine_fallback: Fallback = "none",
    }
    time {
        /// The longest the measurement may take; 0 has no limit. A bare number is seconds.
        runtime ["timeout"]: Seconds = "0",
        /// Start over at the end of the region until runtime is over.
        time_based: Flag = "0",
        /// Work done before the measurement begins and left out of it.
        ramp_time: Seconds = "0",
        /// Pause before this job begins.
        startdelay: Seconds = "0",
        /// How often the region is worked through.
        loops: u64 = "1",
        /// The most I/Os; the job may end earlier.
        number_ios: u64,
    }
    cache {
        /// Past the page cache (O_DIRECT): 1, or through it: 0. Must be said.
        direct: Flag,
        /// Drop the file's clean pages from the page cache before the job begins.
        invalidate: Flag = "1",
        /// Read the region into the page cache before the job begins.
        pre_read: Flag = "0",
        /// Tell the kernel what the pattern is: 1 (by the pattern), 0, random or sequential. Decides about readahead.
        fadvise_hint: Fadvise = "1",
        /// Drop all caches of the whole host first. Global; needs root.
        drop_caches: Flag = "0",
        /// The state of the cache to begin with: as-is, cold (written back and dropped) or warm (read in).
        cache_state: CacheState = "as-is",
    }
    durability {
        /// Every write waits for the device: 0, sync (O_SYNC) or dsync (O_DSYNC).
        sync: SyncMode = "none",
        /// fsync after every N writes; 0 never.
        fsync: u32 = "0",
        /// fdatasync after every N writes; 0 never.
        fdatasync: u32 = "0",
        /// fsync at the end, reported as a phase of its own.
        end_fsync: Flag = "0",
    }
    file {
        /// How the file gets its blocks before a job writes it: written (every block holds data), none, native, posix, keep or truncate.
        fallocate: Fallocate = "written",
        /// Write the whole file before the job overwrites it, also with fallocate=none.
        overwrite: Flag = "0",
        /// Begin at the end of the file and grow it.
        file_append: Flag = "0",
        /// Create the file when the job opens it, without laying it out.
        create_on_open: Flag = "0",
        /// Remove afterwards the files that this run made.
        unlink: Flag = "0",
        /// The state of the file to begin with: as-is, fresh (not there), written, overwrite (written, then again) or append.
        file_state: FileState = "as-is",
    }
    rate {
        /// The most bytes per second; read,write,trim may differ.
        rate: PerDirection<Bytes>,
        /// The most I/Os per second; read,write,trim may differ.
        rate_iops: PerDirection<u64>,
        /// When I/Os of a rate are due: linear (evenly) or poisson (at random moments, like requests of many independent users).
        rate_process: RateProcess = "linear",
        /// Pause after thinktime_blocks I/Os, from when all of them are complete. A bare number is microseconds.
        thinktime: Micros = "0",
        /// I/Os between two pauses; no more than these are in flight.
        thinktime_blocks: u32 = "1",
    }
    data {
        /// Write zeros.
        zero_buffers: Flag = "0",
        /// Fresh data for every write instead of one prepared buffer.
        refill_buffers: Flag = "0",
        /// Share of written data that compresses away, in percent.
        buffer_compress_percentage: Percent = "0",
        /// Share of written blocks that repeat an earlier one, in percent.
        dedupe_percentage: Percent = "0",
    }
    cpu {
        /// Processors that the clones may run on, such as 0-3,8.
        cpus_allowed: CpuList,
        /// Priority from -20 (most) to 19 (least).
        nice: i32 = "0",
    }    evidence {
        /// Read the kernel's counters beside the run; 0 only to measure what that costs.
        probes: Flag = "1",
        /// Count the sizes of requests at the device (block tracepoints). Needs root and costs processor time.
        request_sizes: Flag = "0",
        /// Take stacks of the runner in the measured window for a flame graph (perf). Costs processor time.
        profile: Flag = "0",
    }
}
