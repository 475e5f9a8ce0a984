//! Decisions for the report: which kernel features a ring uses, and why.

use crate::load::engine::uring::{ring::Features, setup::Setup};
use leadline_protocol::report::Decision;

pub(crate) fn decisions(
    features: Features,
    has_registered_ring: bool,
    setup: &Setup,
) -> Vec<Decision> {
    let sq_poll = setup.polling.submissions;
    let unsupported = |version| {
        if sq_poll {
            "not available with sqthread_poll"
        } else {
            version
        }
    };
    let before_6_1 = unsupported("requires Linux 6.1");
    let before_6_6 = unsupported("requires Linux 6.6");
    let is_deferred = features != Features::Plain;
    let not_registered = setup.registration_error.as_deref().unwrap_or(
        "fixedbufs=0, or the buffers exceed the locked memory limit (ulimit -l) or 1 GiB per worker",
    );
    [
        ("registered_files", true, "saves a file lookup and reference per I/O", ""),
        ("single_issuer", is_deferred, "only one thread submits I/Os, so the kernel needs no lock", before_6_1),
        ("deferred_task_work", is_deferred, "completions do not interrupt the submitting thread", before_6_1),
        ("no_sq_array", features == Features::All, "saves an indirection per submission", before_6_6),
        ("registered_ring", has_registered_ring, "saves a file lookup per system call", "requires Linux 5.18"),
        ("fixed_buffers", setup.buffer.is_some(), "the buffers' pages are pinned once", not_registered),
        ("only_reads", setup.only_reads, "the kernel rejects writes from this ring", "the job writes, or performs no I/O"),
        ("io_poll", setup.polling.device, "hipri=1: the device is polled and raises no interrupts", "hipri=0"),
        ("sq_poll", sq_poll, "sqthread_poll=1: a kernel thread submits and occupies a CPU", "sqthread_poll=0"),
        (
            "spin",
            setup.spin_ns > 0,
            "spin: the thread polls for completions before it sleeps, so latencies exclude the wake-up time, but a CPU is kept busy",
            "spin=0: the thread sleeps until an I/O completes, as in most programs",
        ),
    ]
    .map(|(name, used, benefit, obstacle)| Decision {
        name: name.into(),
        used,
        reason: if used { benefit } else { obstacle }.into(),
    })
    .into()
}
