//! Memory for I/O buffers, and buffer registration. Each I/O in flight gets a buffer of the largest
//! block size, rounded up to whole pages. In mixed jobs, it gets one for reads and one for writes.

use crate::plan::{host_view::HostView, issues::Issues, verify::table_bytes};
use leadline_protocol::{
    format::bytes,
    job::{
        Job,
        engine::{BufferPages, EngineName},
    },
    plan::job::{BufferRegistration, ResolvedJob},
};

/// Maximum size of a registered buffer in bytes (io_uring/rsrc.c).
const LARGEST_BUFFER: u64 = 1 << 30;
/// Buffers may use half of the available memory. The rest is reserved for the page cache and other
/// programs.
const MEMORY_DIVISOR: u64 = 2;

/// Total size of all workers' I/O buffers, in bytes.
pub(crate) fn buffer_bytes(job: &ResolvedJob) -> u64 {
    worker_bytes(job).saturating_mul(u64::from(job.numjobs))
}

/// Size of the memory mapping that holds one worker's buffers, in bytes.
fn worker_bytes(job: &ResolvedJob) -> u64 {
    job.ring
        .mem
        .mapping_bytes(job.buffers(), job.largest_buffer())
        .unwrap_or(u64::MAX)
}

fn registration(job: &ResolvedJob, requested: Option<bool>) -> BufferRegistration {
    match requested {
        _ if job.ring.ioengine != EngineName::IoUring => BufferRegistration::Off,
        Some(true) => BufferRegistration::Required,
        None if worker_bytes(job) <= LARGEST_BUFFER => BufferRegistration::Preferred,
        _ => BufferRegistration::Off,
    }
}

/// Resolves `fixedbufs`. The kernel pins the pages of registered buffers, and counts them across
/// all rings of a user against the locked memory limit (io_uring/rsrc.c, io_account_mem). If the
/// buffers exceed the limit, no job without `fixedbufs` registers its buffers, so that such jobs
/// stay comparable.
pub(crate) fn resolve_registration(
    jobs: &mut [(usize, ResolvedJob)],
    requests: &[Job],
    host: &dyn HostView,
) {
    for (index, job) in jobs.iter_mut() {
        job.ring.fixedbufs = registration(job, requests[*index].fixedbufs);
    }
    let pinned = jobs
        .iter()
        .filter(|(_, job)| job.ring.fixedbufs.into())
        .map(|(_, job)| buffer_bytes(job))
        .fold(0, u64::saturating_add);
    if pinned > host.lockable_bytes() {
        for (_, job) in jobs {
            if job.ring.fixedbufs == BufferRegistration::Preferred {
                job.ring.fixedbufs = BufferRegistration::Off;
            }
        }
    }
}

/// Rejects runs whose buffers do not fit in memory or in the host's huge pages.
pub(crate) fn check(jobs: &[(usize, ResolvedJob)], host: &dyn HostView, issues: &mut Issues) {
    check_locked_memory(jobs, host, issues);
    check_memory(jobs, host, issues);
    check_huge_pages(jobs, host, issues);
}

/// The problem refers to the first job that uses huge pages.
fn check_huge_pages(jobs: &[(usize, ResolvedJob)], host: &dyn HostView, issues: &mut Issues) {
    let mut users = jobs
        .iter()
        .filter(|(_, job)| job.ring.mem == BufferPages::Mmaphuge)
        .peekable();
    let Some((index, first)) = users.peek() else {
        return;
    };
    issues.begin_job(*index, &first.name);
    let needed = users
        .map(|(_, job)| buffer_bytes(job))
        .fold(0, u64::saturating_add);
    let Some(available) = host.available_huge_pages() else {
        return;
    };
    if needed > available {
        let detail = format!(
            "The buffers need {} of huge pages; {} are available.",
            bytes(needed),
            bytes(available)
        );
        let remedy = "Reserve huge pages with sysctl vm.nr_hugepages, or use mem=thp.";
        issues.environment("insufficient_huge_pages", "mem", detail, remedy);
    }
}

/// Memory that the run keeps locked (`lockmem`), in bytes.
fn locked_bytes(jobs: &[(usize, ResolvedJob)]) -> u64 {
    jobs.iter()
        .map(|(_, job)| job.target.lockmem.saturating_mul(u64::from(job.numjobs)))
        .fold(0, u64::saturating_add)
}

/// Checks that the host keeps enough memory for other programs. The problem refers to the first job
/// with `lockmem`.
fn check_locked_memory(jobs: &[(usize, ResolvedJob)], host: &dyn HostView, issues: &mut Issues) {
    let Some((index, job)) = jobs.iter().find(|(_, job)| job.target.lockmem > 0) else {
        return;
    };
    let needed = locked_bytes(jobs);
    let lockable = host.lockable_bytes();
    let available = host.available_memory();
    let usable = match available {
        0 => u64::MAX,
        available => available / 10 * 9,
    };
    let (limit, remedy) = if lockable < usable {
        (
            lockable,
            "Use a smaller lockmem, or raise the limit (ulimit -l).",
        )
    } else {
        (usable, "Use a smaller lockmem.")
    };
    if needed > limit {
        issues.begin_job(*index, &job.name);
        let detail = format!(
            "lockmem locks {} across all workers; at most {} can be locked.",
            bytes(needed),
            bytes(limit)
        );
        issues.environment("insufficient_memory", "lockmem", detail, remedy);
    }
}

/// The problem refers to the job with the largest buffers.
fn check_memory(jobs: &[(usize, ResolvedJob)], host: &dyn HostView, issues: &mut Issues) {
    let total = jobs
        .iter()
        .map(|(_, job)| buffer_bytes(job).saturating_add(table_bytes(job)))
        .fold(0, u64::saturating_add);
    let unlocked = host.available_memory().saturating_sub(locked_bytes(jobs));
    let limit = unlocked / MEMORY_DIVISOR;
    // The limit is 0 if the available memory is unknown, or if `lockmem` exceeds it (reported by
    // `check_locked_memory`).
    if limit == 0 || total <= limit {
        return;
    }
    let Some((index, job)) = jobs
        .iter()
        .max_by_key(|(_, job)| buffer_bytes(job) + table_bytes(job))
    else {
        return;
    };
    let table = table_bytes(job);
    if table > buffer_bytes(job) {
        let detail = format!(
            "verify needs {} to record the last write of every block, more than half of the available memory ({}).",
            bytes(table),
            bytes(limit)
        );
        let remedy = "Use a smaller size, larger blocks, or a larger verify_interval.";
        issues.begin_job(*index, &job.name);
        return issues.environment("insufficient_memory", "verify", detail, remedy);
    }
    let depth = job.in_flight();
    let option = if depth > 1 {
        "iodepth"
    } else if job.numjobs > 1 {
        "numjobs"
    } else {
        "bs"
    };
    let buffer = bytes(buffer_bytes(job) / u64::from(depth) / u64::from(job.numjobs));
    let detail = format!(
        "The buffers need {} (this job: iodepth {depth} × {} workers × {buffer}), more than half of the available memory ({}).",
        bytes(total),
        job.numjobs,
        bytes(limit)
    );
    let remedy = "Use a smaller iodepth, numjobs or bs.";
    issues.begin_job(*index, &job.name);
    issues.environment("insufficient_memory", option, detail, remedy);
}
