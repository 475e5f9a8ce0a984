//! Decisions for the report: buffers and the clock.

use leadline_protocol::{job::engine::BufferPages, plan::job::ResolvedJob, report::Decision};

/// The decisions that the engine does not report.
pub(crate) fn decisions(job: &ResolvedJob) -> Vec<Decision> {
    vec![huge_pages(job.ring.mem), tsc_clock(job.tsc_clock)]
}

fn huge_pages(pages: BufferPages) -> Decision {
    let reason = match pages {
        BufferPages::Mmap => "mem=mmap: buffers use base pages, as in most programs",
        BufferPages::Thp => {
            "mem=thp: buffers use huge pages if available; requests have fewer segments"
        }
        BufferPages::Mmaphuge => {
            "mem=mmaphuge: buffers use reserved huge pages; requests have fewer segments"
        }
    };
    decision("huge_pages", pages != BufferPages::Mmap, reason)
}

fn tsc_clock(is_used: bool) -> Decision {
    let reason = if is_used {
        "the CPU's time stamp counter is faster to read than clock_gettime"
    } else {
        "the kernel's clock does not use the CPU's time stamp counter (current_clocksource is not tsc)"
    };
    decision("tsc_clock", is_used, reason)
}

fn decision(name: &str, used: bool, reason: &str) -> Decision {
    Decision {
        name: name.into(),
        used,
        reason: reason.into(),
    }
}
