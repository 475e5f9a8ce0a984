//! What a ring uses of what the kernel offers, and why, in words for the report. `docs/performance.md` tells what each is
//! worth.

use crate::load::engine::ring::Features;
use crate::load::engine::uring::Setup;
use leadline_protocol::report::Decision;

/// All of them, used or not.
pub fn all(features: Features, registered_ring: bool, setup: &Setup) -> Vec<Decision> {
    let (deferred, all) = (features != Features::Plain, features == Features::All);
    let thread = setup.polling.submissions;
    let old = if thread {
        "it does not go with sqthread_poll"
    } else {
        "this kernel does not know it (before 6.1)"
    };
    let older = if thread {
        old
    } else {
        "this kernel does not know it (before 6.6)"
    };
    let plain = "fixedbufs=0 was said, or the limit of locked memory (ulimit -l) is too small for all jobs, or 1 GiB for one clone";
    let plain = setup.refused.as_deref().unwrap_or(plain);
    let alone = "this kernel does not know it (before 5.18)";
    [
        ("registered_files", true, "saves the kernel a reference and a lookup per I/O", ""),
        ("single_issuer", deferred, "one thread submits, so the kernel need not lock", old),
        ("deferred_task_work", deferred, "completions do not interrupt the submitter", old),
        ("no_sq_array", all, "the kernel takes entries as they lie", older),
        ("registered_ring", registered_ring, "saves the kernel a lookup per system call", alone),
        ("fixed_buffers", setup.buffer.is_some(), "the kernel holds the buffers' pages", plain),
        ("io_poll", setup.polling.device, "hipri=1: the device is polled and raises no interrupts", "hipri was not asked for"),
        ("sq_poll", thread, "sqthread_poll=1: a thread of the kernel submits, on a processor of its own", "sqthread_poll was not asked for"),
        (
            "spin",
            setup.spin_ns > 0,
            "spin: completions are looked for before sleeping, so latencies lack the wake-up that a program would see, and a processor is busy",
            "spin was not asked for: it sleeps as an ordinary program would",
        ),
    ]
    .map(|(name, used, yes, no)| Decision { name: name.into(), used, reason: if used { yes } else { no }.into() })
    .into()
}
