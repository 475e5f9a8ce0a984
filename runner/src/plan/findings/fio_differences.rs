//! Notes about options that fio applies differently. docs/fio-differences.md lists the reasons.

mod conditions;

use crate::plan::{
    findings::fio_differences::conditions::*,
    issues::Issues,
    phases::{has_flush, has_verify},
};
use leadline_protocol::{finding::Severity, job::Job, plan::job::ResolvedJob};
use serde_json::json;

struct Difference {
    option: &'static str,
    /// Whether the difference affects the job, given as requested and as resolved.
    applies: fn(&Job, &ResolvedJob) -> bool,
    sentence: &'static str,
}

pub(crate) fn add_findings(requested: &Job, job: &ResolvedJob, issues: &mut Issues) {
    let differences = match job.is_measured() {
        true => MEASURED,
        false if job.target.create_only => &[],
        false => VERIFY_ONLY,
    };
    let differences = differences.iter();
    for Difference {
        option, sentence, ..
    } in differences.filter(|difference| (difference.applies)(requested, job))
    {
        issues.finding(
            Severity::Note,
            "fio_difference",
            *sentence,
            json!({"option": option}),
            "See docs/fio-differences.md before comparing results with fio.",
        );
    }
}

const VERIFY_ONLY: &[Difference] = &[
    Difference {
        option: "verify_only",
        applies: |_, _| true,
        sentence: "verify_only reads the whole region in offset order, and does not count these reads as I/Os of the job; fio repeats the job's access pattern, and counts them.",
    },
    Difference {
        option: "verify_only",
        applies: writes_part_of_region,
        sentence: "The job writes only part of its region. All other blocks count as bad unless they contain verified data; fio checks only the blocks that the job writes.",
    },
];

const MEASURED: &[Difference] = &[
    Difference {
        option: "verify",
        applies: |_, job| has_verify(job),
        sentence: "Written blocks are read back in a separate phase; fio adds these reads to the read statistics, skips them if time_based uses up the time, and leaves a verify.state file behind.",
    },
    Difference {
        option: "verify",
        applies: |_, job| has_verify(job) && is_io_size_above_region(job),
        sentence: "The job writes io_size bytes; with verify, fio writes the region once.",
    },
    Difference {
        option: "verify_backlog",
        applies: |_, job| job.verify_backlog().is_some(),
        sentence: "A last, incomplete batch is verified after the measurement; fio verifies it within the job.",
    },
    Difference {
        option: "rw",
        applies: |_, job| reads_backward(job),
        sentence: "Backward access starts with the last block and covers the region; fio starts elsewhere, and may end early.",
    },
    Difference {
        option: "rw",
        applies: |_, job| sequential_step(job) > 0 && !wraps_exactly(job),
        sentence: "Access with gaps wraps around until all bytes are transferred; fio may stop at the end of the region.",
    },
    Difference {
        option: "rw",
        applies: |_, job| starts_over_by_direction(job),
        sentence: "Reads and writes each cover the region before they start over; in fio, both start over when one of them reaches its end.",
    },
    Difference {
        option: "fsync",
        applies: |_, job| is_mixed(job) && sync_interval(job) > 0,
        sentence: "Only writes count toward the next sync; fio 3.33 and earlier repeats the sync after each read in between.",
    },
    Difference {
        option: "fsync",
        applies: |_, job| syncs_at_end_of_pass(job),
        sentence: "A sync after the last write of a pass is issued once; fio repeats it before the next pass.",
    },
    Difference {
        option: "fsync",
        applies: |_, job| {
            sync_interval(job) > 0 && job.ring.ioengine.has_ring() && job.in_flight() > 1
        },
        sentence: "Each sync is issued once; with io_uring and several I/Os in flight, fio issues syncs until the first one completes.",
    },
    Difference {
        option: "bs",
        applies: |_, job| divides_size_by_direction(job),
        sentence: "The job ends when the next I/O would exceed its size; fio may transfer more.",
    },
    Difference {
        option: "bs",
        applies: |_, job| runs_below_page_size(job),
        sentence: "Blocks below the page size are supported with mmap and fsync; fio rejects them.",
    },
    Difference {
        option: "bs",
        applies: |_, job| has_one_map_per_direction(job),
        sentence: "Each direction covers the region once; with different block sizes, fio shares one map and may end early.",
    },
    Difference {
        option: "random_distribution",
        applies: |_, job| uses_normal_distribution(job),
        sentence: "The normal distribution is centered in the region and has the specified standard deviation; fio uses a narrower distribution and scatters the blocks.",
    },
    Difference {
        option: "number_ios",
        applies: |_, job| job.timing.time_based && job.timing.number_ios.is_some(),
        sentence: "The job ends after number_ios I/Os; fio ignores number_ios with time_based.",
    },
    Difference {
        option: "thinktime",
        applies: |_, job| job.timing.thinktime_us > 0 && job.in_flight() > 1,
        sentence: "The pause starts when no I/O is in flight, so the I/Os per pause are exact; fio may submit more.",
    },
    Difference {
        option: "steadystate",
        applies: |_, job| job.timing.steady_state.is_some() && job.numjobs > 1,
        sentence: "The job's workers are evaluated together; fio does this only with group_reporting.",
    },
    Difference {
        option: "rate_iops",
        applies: |_, job| limits_ios_of_different_sizes(job),
        sentence: "The rate counts I/Os; fio counts bytes in units of the smallest block size, so it starts fewer I/Os.",
    },
    Difference {
        option: "io_size",
        applies: |_, job| ends_within_a_block(job),
        sentence: "The number of bytes is rounded down to whole blocks; fio rounds it up.",
    },
    Difference {
        option: "io_size",
        applies: |_, job| repeats_io_size(job),
        sentence: "The job transfers loops × io_size; fio transfers the larger of io_size and loops × size.",
    },
    Difference {
        option: "iodepth_batch_submit",
        applies: |_, job| collects_submissions(job),
        sentence: "Completions are collected before each submission; fio submits after the first completion, so its submissions are smaller.",
    },
    Difference {
        option: "end_fsync",
        applies: |_, job| has_flush(job),
        sentence: "The final fsync is a separate phase; fio includes it in the runtime and thus in the bandwidth.",
    },
    Difference {
        option: "end_fsync",
        applies: |_, job| has_flush(job) && has_multiple_passes(job),
        sentence: "The final fsync is issued once; fio issues one after every pass.",
    },
    Difference {
        option: "startdelay",
        applies: delays_clones_separately,
        sentence: "The job's workers start together, after one random delay; in fio, each of them draws its own.",
    },
    Difference {
        option: "size",
        applies: truncates_last_block,
        sentence: "The file ends with the last whole block; fio creates it with the requested size.",
    },
    Difference {
        option: "size",
        applies: |_, job| extends_existing_files(job),
        sentence: "The existing file is extended; fio removes it and creates a new one.",
    },
    Difference {
        option: "offset_increment",
        applies: aligns_increments,
        sentence: "Each increment is aligned to the block size; fio aligns the sum of the offset and the increments.",
    },
    Difference {
        option: "fallocate",
        applies: |_, job| writes_instead_of_allocating(job),
        sentence: "Layout writes the file before the job; fio only allocates it (fallocate=native).",
    },
    Difference {
        option: "fallocate",
        applies: |_, job| keeps_allocation(job),
        sentence: "Existing files are not allocated; with fallocate=keep, fio allocates blocks beyond their end.",
    },
    Difference {
        option: "fill_device",
        applies: fills_less_than_file,
        sentence: "The file gets its size before the job; with fill_device, fio extends it only as far as it writes.",
    },
    Difference {
        option: "unlink",
        applies: |_, job| keeps_existing_files(job),
        sentence: "Files that existed before the run are kept; fio removes them.",
    },
    Difference {
        option: "name",
        applies: has_slash_in_file_name,
        sentence: "Slashes in the name of the job are replaced in file names; fio uses the part before them as a directory.",
    },
    Difference {
        option: "filename",
        applies: names_standard_input,
        sentence: "`-` is treated as a file name; fio treats it as standard input and fails.",
    },
    Difference {
        option: "fsync",
        applies: |_, job| sync_interval(job) > 0 && has_multiple_files(job),
        sentence: "A sync applies to the file that was written last; fio syncs the file that comes next, and then skips it, so some files may not be written.",
    },
    Difference {
        option: "size",
        applies: computes_percentages_of_new_size,
        sentence: "Percentages refer to the size that the file will have; fio uses its size before the job, which is 0 for a new file.",
    },
    Difference {
        option: "file_append",
        applies: |_, job| job.target.file_append && has_multiple_passes(job),
        sentence: "Every pass appends to the file; fio ends after the first pass.",
    },
    Difference {
        option: "file_append",
        applies: appends_part_of_a_new_file,
        sentence: "A new file contains only what the job appends; fio gives it its full size first.",
    },
    Difference {
        option: "io_size",
        applies: computes_percentages_of_whole_blocks,
        sentence: "The percentage refers to the whole blocks within size; fio uses the requested size.",
    },
    Difference {
        option: "do_verify",
        applies: |_, job| job.data.verify.is_some() && !has_verify(job),
        sentence: "No state file is written; fio leaves a verify.state file behind.",
    },
    Difference {
        option: "fsync",
        applies: syncs_before_partial_block,
        sentence: "A sync that is due after the last write is dropped; fio 3.33 performs it, because size is not a multiple of bs.",
    },
    Difference {
        option: "bs_unaligned",
        applies: |_, job| shortens_last_block(job),
        sentence: "The last I/O is shortened, so that all bytes are transferred; fio ends before it.",
    },
    Difference {
        option: "bs",
        applies: |_, job| limits_last_block(job),
        sentence: "The last I/O is limited to the remaining bytes; fio uses a size that fits, or transfers more than size.",
    },
    Difference {
        option: "filename_format",
        applies: shares_formatted_names,
        sentence: "All workers use the same files, and are all reported; fio may report only one of them.",
    },
    Difference {
        option: "zonemode",
        applies: wraps_within_zones,
        sentence: "Access wraps around at the end of the region until all bytes are transferred; fio ends there.",
    },
    Difference {
        option: "size",
        applies: divides_size_unevenly,
        sentence: "Each file ends with its last whole block; fio gives each file an equal part of the size.",
    },
    Difference {
        option: "size",
        applies: |requested, job| {
            (job.pattern.rw.is_random() || is_mixed(job)) && has_partial_block(requested, job)
        },
        sentence: "The region ends with the last whole block; with random offsets or mixed directions, fio may transfer more or fewer blocks.",
    },
    Difference {
        option: "fallocate",
        applies: |_, job| reads_allocated_blocks(job),
        sentence: "The file is only allocated, so its blocks are read as zeros; fio writes the files of jobs that read.",
    },
    Difference {
        option: "thinktime_spin",
        applies: spins_for_the_whole_pause,
        sentence: "The pause ends after thinktime; fio 3.33 may sleep for 71 minutes if it spins for the whole pause.",
    },
];
