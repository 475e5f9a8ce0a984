//! fio options that are recognized but not supported. They are rejected, not ignored.

/// Unsupported options, and what to use instead.
const ALTERNATIVES: &[(&str, &str)] = &[
    ("stonewall", "Put the jobs into separate runs."),
    ("wait_for", "Put the jobs into separate runs."),
    (
        "iodepth_low",
        "Remove it: new I/Os are submitted as soon as others complete.",
    ),
    (
        "allow_mounted_write",
        "Remove it: writes to devices in use are always rejected.",
    ),
    (
        "steadystate_check_interval",
        "Remove it: steadystate is checked every second.",
    ),
    (
        "ss_interval",
        "Remove it: steadystate is checked every second.",
    ),
    ("log_avg_msec", "Use the run's sample_ms."),
    ("exec_prerun", "Remove it: jobs cannot run commands."),
    ("exec_postrun", "Remove it: jobs cannot run commands."),
];

const OTHERS: &str = "\
    lockfile unique_filename opendir bs_unaligned bs_is_seq_rand ignore_error serialize_overlap \
    io_submit_mode fill_device write_barrier sync_file_range atomic clocksource verify_offset \
    verify_pattern verify_dump verify_async verify_backlog verify_backlog_batch \
    experimental_verify verify_state_load verify_state_save trim_percentage trim_verify_zero \
    trim_backlog trim_backlog_batch write_iolog read_iolog replay_no_stall replay_redirect \
    replay_scale replay_align replay_time_scale replay_skip ioscheduler zonemode zonesize \
    zonecapacity zonerange zoneskip lockmem rate_ignore_thinktime max_latency latency_target \
    latency_window latency_percentile latency_run write_hint allow_file_create cpumask \
    numa_cpu_nodes numa_mem_policy unlink_each_loop exit_what per_job_logs write_bw_log \
    bwavgtime write_lat_log write_iops_log iopsavgtime log_entries log_hist_msec write_hist_log \
    log_max_value log_offset log_prio log_compression block_error_percentiles stats \
    buffer_compress_chunk dedupe_mode dedupe_working_set_percentage dedupe_global \
    significant_figures gtod_cpu unified_rw_reporting continue_on_error error_dump cgroup \
    cgroup_nodelete cgroup_weight uid gid kb_base unit_base flow flow_id flow_sleep \
    sqthread_poll_cpu uncached nowait";

/// How to replace an unsupported fio option; `None` if fio has no such option.
pub(crate) fn remedy(name: &str) -> Option<&'static str> {
    let alternative = ALTERNATIVES.iter().find(|(known, _)| *known == name);
    match alternative {
        Some((_, remedy)) => Some(remedy),
        None => OTHERS
            .split_whitespace()
            .any(|known| known == name)
            .then_some("Remove it."),
    }
}
