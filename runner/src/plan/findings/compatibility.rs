//! Notes about fio options that have no effect.

use crate::plan::issues::Issues;
use leadline_protocol::{finding::Severity, job::Job};
use serde_json::json;

pub(super) fn add_findings(job: &Job, issues: &mut Issues) {
    for (option, is_given, reason) in options(job) {
        if is_given {
            issues.finding(
                Severity::Note,
                "option_accepted",
                format!("{option} has no effect: {reason}."),
                json!({"option": option}),
                "No action is required.",
            );
        }
    }
}

/// Options, whether the job sets them, and why they have no effect.
fn options(job: &Job) -> [(&'static str, bool, &'static str); 29] {
    const ALWAYS_MEASURED: &str = "latencies and bandwidth are always measured";
    const SAME_SEED: &str = "randseed and randrepeat apply to offsets, sizes and data";
    const PERCENTILES: &str =
        "reports always contain a fixed list of percentiles and the whole histogram";
    [
        (
            "description",
            job.description.is_some(),
            "use the run's notes instead",
        ),
        (
            "group_reporting",
            job.group_reporting.is_some(),
            "results are always reported per job and for the whole run",
        ),
        (
            "new_group",
            job.new_group.is_some() && job.exit_what.is_none() && !job.exitall(),
            "results are always reported per job and for the whole run",
        ),
        ("thread", job.thread.is_some(), "workers are always threads"),
        (
            "verify_async",
            job.verify_async.is_some(),
            "workers verify the blocks of verify_backlog, and all others are verified after the measurement",
        ),
        (
            "verify_dump",
            job.verify_dump.is_some(),
            "the report lists the offset and damage of each bad block",
        ),
        (
            "error_dump",
            job.error_dump.is_some(),
            "the report lists the first failed I/Os by operation and error",
        ),
        (
            "create_serialize",
            job.create_serialize.is_some(),
            "files are always created sequentially",
        ),
        (
            "iodepth_batch_complete_max",
            job.iodepth_batch_complete_max.is_some(),
            "all available completions are processed together",
        ),
        ("allrandrepeat", job.allrandrepeat.is_some(), SAME_SEED),
        (
            "gtod_reduce",
            job.gtod_reduce.is_some(),
            "the clock is read once per batch of I/Os",
        ),
        ("disable_lat", job.disable_lat.is_some(), ALWAYS_MEASURED),
        ("disable_clat", job.disable_clat.is_some(), ALWAYS_MEASURED),
        ("disable_slat", job.disable_slat.is_some(), ALWAYS_MEASURED),
        (
            "disable_bw_measurement",
            job.disable_bw_measurement.is_some(),
            ALWAYS_MEASURED,
        ),
        (
            "clat_percentiles",
            job.clat_percentiles.is_some(),
            PERCENTILES,
        ),
        (
            "lat_percentiles",
            job.lat_percentiles.is_some(),
            PERCENTILES,
        ),
        (
            "slat_percentiles",
            job.slat_percentiles.is_some(),
            PERCENTILES,
        ),
        (
            "percentile_list",
            job.percentile_list.is_some(),
            PERCENTILES,
        ),
        (
            "disk_util",
            job.disk_util.is_some(),
            "reports always include device I/O",
        ),
        (
            "fill_device",
            job.fill_device.is_some(),
            "writes stop at the end of the device, or at the size of the file",
        ),
        (
            "openfiles",
            job.openfiles.is_some(),
            "a worker always keeps all its files open",
        ),
        (
            "create_fsync",
            job.create_fsync.is_some(),
            "layout always flushes the files that it creates",
        ),
        (
            "registerfiles",
            job.registerfiles.is_some(),
            "io_uring always uses registered files",
        ),
        (
            "nonvectored",
            job.nonvectored.is_some(),
            "io_uring always uses non-vectored requests",
        ),
        (
            "random_generator",
            job.random_generator.is_some(),
            "random offsets cover every block exactly once unless norandommap is set",
        ),
        (
            "thinktime_blocks_type",
            job.thinktime_blocks_type.is_some(),
            "a pause begins when exactly thinktime_blocks I/Os have completed",
        ),
        (
            "io_submit_mode",
            job.io_submit_mode.is_some(),
            "I/Os are submitted while others are in flight, and latencies are also measured from the intended start",
        ),
        (
            "exitall_on_error",
            job.exitall_on_error.is_some(),
            "the first error always ends the run",
        ),
    ]
}
