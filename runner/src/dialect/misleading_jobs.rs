//! Notes about jobs whose results are easily misunderstood, and about fio's defaults.

use crate::dialect::{
    engines::DEFAULT_ENGINE,
    fio_jobs::FioJob,
    host_facts::{HostFacts, PathKind},
    notes::{NoteText, Notes, quoted},
    option_value::OptionValue,
    options::Options,
    value::Value,
};
use leadline_protocol::job::fio::find_option;

/// Engines that keep only one I/O in flight.
const SYNCHRONOUS: [&str; 6] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];
/// Engines that do not access files or devices.
const NO_FILES: [&str; 4] = ["null", "io_uring_nop", "cpuio", "net"];

pub(crate) fn add_notes(job: &FioJob, host: &HostFacts<'_>, notes: &mut Notes<'_>) {
    report_defaults(job, notes);
    report_missing_devices(&job.options, host, notes);
    for (entry, text) in [
        depth(&job.options),
        repeated_offsets(&job.options),
        end_fsync(&job.options),
        restart_drops_cache(&job.options),
    ]
    .into_iter()
    .flatten()
    {
        notes.info(&entry.span, Some(entry.option.name), text);
    }
    for (entry, text) in [
        ramp(&job.options),
        depth_with_synchronous_engine(&job.options),
    ]
    .into_iter()
    .flatten()
    {
        notes.warning(&entry.span, Some(entry.option.name), text);
    }
}

type JobNote<'a> = Option<(&'a OptionValue, NoteText)>;

fn is_on(options: &Options, name: &str) -> bool {
    options.flag(name) == Some(true)
}

fn engine(options: &Options) -> &str {
    options.text("ioengine").unwrap_or(DEFAULT_ENGINE)
}

fn report_defaults(job: &FioJob, notes: &mut Notes<'_>) {
    let options = &job.options;
    if options.get("ioengine").is_none() {
        let sentence = format!(
            "{}: ioengine is not set, so fio uses psync.",
            quoted(&job.name)
        );
        let remedy = "Set ioengine=io_uring for a queue depth above 1.";
        notes.info(
            &job.span,
            None,
            NoteText::new("default_engine", sentence, remedy),
        );
    }
    if is_on(options, "direct") || NO_FILES.contains(&engine(options)) || !accesses_data(options) {
        return;
    }
    let remedy = "Set direct=1 to measure the device.";
    match options.get("direct") {
        None => {
            let name = quoted(&job.name);
            let sentence = format!(
                "{name}: direct is not set, so I/O goes through the page cache (direct=0)."
            );
            notes.warning(
                &job.span,
                None,
                NoteText::new("not_direct", sentence, remedy),
            );
        }
        Some(entry) => {
            let sentence = "I/O goes through the page cache.";
            notes.info(
                &entry.span,
                Some("direct"),
                NoteText::new("not_direct", sentence, remedy),
            );
        }
    }
}

/// Whether the job only reads and writes. Trims do not go through the page cache.
fn accesses_data(options: &Options) -> bool {
    !options.text("rw").is_some_and(|rw| rw.contains("trim"))
}

fn writes(options: &Options) -> bool {
    let rw = options.text("rw").unwrap_or_default();
    let name = rw.split(':').next().unwrap_or_default();
    name.contains("write") || matches!(name, "rw" | "randrw")
}

/// Rejects jobs that write, as `--readonly` does in fio. All other jobs must not create or extend
/// files.
pub(crate) fn reject_writes(jobs: &mut [FioJob], notes: &mut Notes<'_>) {
    for job in jobs {
        if (writes(&job.options) || !accesses_data(&job.options))
            && let Some(entry) = job.options.get("rw")
        {
            let sentence = "--readonly rejects this job, because it writes.";
            let text = NoteText::new("readonly", sentence, "Remove --readonly, or use rw=read.");
            notes.error(&entry.span, Some("rw"), text);
        }
        for name in ["overwrite", "file_append"] {
            if let Some(entry) = job.options.get(name)
                && is_on(&job.options, name)
            {
                let sentence = format!("--readonly rejects this job, because {name} writes.");
                let text = NoteText::new("readonly", sentence, "Remove --readonly or this option.");
                notes.error(&entry.span, Some(name), text);
            }
        }
        if let Some(option) = find_option("allow_file_create")
            && !NO_FILES.contains(&engine(&job.options))
        {
            let span = job.span.clone();
            job.options.store(option, Value::Flag(false), span);
        }
    }
}

fn report_missing_devices(options: &Options, host: &HostFacts<'_>, notes: &mut Notes<'_>) {
    let Some(entry) = options.get("filename") else {
        return;
    };
    let files = options.text("filename").unwrap_or_default().split(':');
    for path in files.filter(|path| path.starts_with("/dev/")) {
        if (host.path_kind)(path) == PathKind::Missing && !path.starts_with("/dev/shm/") {
            let sentence = format!(
                "{} does not exist. fio would create a file with this name in memory and measure it.",
                quoted(path)
            );
            let remedy = "Use an existing device; the plan rejects this one.";
            let text = NoteText::new("missing_device", sentence, remedy);
            notes.warning(&entry.span, Some("filename"), text);
        }
    }
}

fn depth_with_synchronous_engine(options: &Options) -> JobNote<'_> {
    let entry = options.get("iodepth")?;
    let depth = options.number("iodepth")?;
    let engine = engine(options);
    (depth > 1 && SYNCHRONOUS.contains(&engine)).then(|| {
        let sentence =
            format!("iodepth={depth} has no effect: {engine} keeps only one I/O in flight.");
        let remedy = "Use ioengine=io_uring, or numjobs for more I/Os in flight.";
        (entry, NoteText::new("depth_with_psync", sentence, remedy))
    })
}

/// Reports a depth that is not reached, because buffered libaio blocks in io_submit(2).
fn depth(options: &Options) -> JobNote<'_> {
    let entry = options.get("iodepth")?;
    let is_buffered = !is_on(options, "direct");
    (options.number("iodepth")? > 1 && is_buffered && engine(options) == "libaio").then(|| {
        let sentence = "Buffered libaio I/O is synchronous, so the queue depth is not reached.";
        let remedy = "Use direct=1, or ioengine=io_uring.";
        (entry, NoteText::new("buffered_libaio", sentence, remedy))
    })
}

fn repeated_offsets(options: &Options) -> JobNote<'_> {
    let rw = options.get("rw")?;
    let is_random = options.text("rw")?.starts_with("rand");
    let is_fixed = options.flag("randrepeat") != Some(false) && options.get("randseed").is_none();
    (is_random && is_fixed).then(|| {
        let sentence = "Every run uses the same random offsets, so a second run of this job may be served from caches.";
        let remedy = "Set randrepeat=0 for different offsets in each run.";
        (rw, NoteText::new("same_seed", sentence, remedy))
    })
}

fn end_fsync(options: &Options) -> JobNote<'_> {
    let entry = options.get("end_fsync")?;
    (is_on(options, "end_fsync") && writes(options)).then(|| {
        let sentence = "fio includes the final fsync in the runtime and the bandwidth, but not in the latencies; in Leadline, it is a separate phase.";
        (entry, NoteText::new("end_fsync_in_runtime", sentence, ""))
    })
}

fn ramp(options: &Options) -> JobNote<'_> {
    let entry = options.get("ramp_time")?;
    (options.number("ramp_time")? > 0 && options.get("io_size").is_some()).then(|| {
        let sentence = "Bytes that are transferred during ramp_time count toward io_size in fio.";
        let remedy = "Limit the job with runtime instead of io_size.";
        (entry, NoteText::new("ramp_uses_io_size", sentence, remedy))
    })
}

fn restart_drops_cache(options: &Options) -> JobNote<'_> {
    let entry = options.get("time_based")?;
    let is_cached = !is_on(options, "direct")
        && options.flag("invalidate") != Some(false)
        && !is_on(options, "pre_read")
        && !NO_FILES.contains(&engine(options))
        && options.number("runtime").unwrap_or(0) > 0;
    (is_on(options, "time_based") && is_cached).then(|| {
        let sentence = "fio drops the file from the page cache each time the job restarts its region; Leadline does this once.";
        let remedy = "Set invalidate=0 to keep the pages.";
        (entry, NoteText::new("time_based_invalidates", sentence, remedy))
    })
}
