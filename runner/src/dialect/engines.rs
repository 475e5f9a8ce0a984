//! fio's engines, and what to use instead of those that are not supported.

use crate::dialect::notes::{NoteText, quoted};
use leadline_protocol::job::Job;

/// Engines of fio, each with a description and the most similar supported engine.
const ENGINES: &[(&str, &str, Option<&str>)] = &[
    ("sync", "uses lseek, read and write", Some("psync")),
    (
        "vsync",
        "combines adjacent I/Os into readv and writev",
        None,
    ),
    ("pvsync", "uses preadv and pwritev", Some("psync")),
    ("pvsync2", "uses preadv2 and pwritev2", Some("psync")),
    ("libaio", "uses Linux AIO", Some("io_uring")),
    ("posixaio", "uses POSIX AIO", Some("io_uring")),
    ("mmap", "copies from and to a mapping", None),
    ("solarisaio", "exists only on Solaris", Some("io_uring")),
    ("windowsaio", "exists only on Windows", Some("io_uring")),
    ("splice", "uses splice and vmsplice", None),
    ("sg", "sends SCSI commands", None),
    ("io_uring_cmd", "sends NVMe commands", None),
    ("cpuio", "uses only CPU time", None),
    ("external", "loads a library into the process", None),
    ("exec", "runs a command", None),
    ("net", "sends data over a network", None),
    ("netsplice", "sends data over a network", None),
];

/// Other engines, for other storage or other operations.
const OTHERS: &str = "rbd rados http nfs nbd gfapi gfapi_async libiscsi libhdfs dfs rdma pmemblk dev-dax \
    libpmem libzbc mtd e4defrag falloc ftruncate filecreate filestat filedelete dircreate dirstat \
    dirdelete ime_psync ime_psyncv ime_aio xnvme libblkio libcufile libhipfile page_fault cuda \
    librpma_apm_client librpma_apm_server librpma_gpspm_client librpma_gpspm_server";

/// fio's default engine on Linux (os/os-linux.h).
pub(crate) const DEFAULT_ENGINE: &str = "psync";

/// Why an engine cannot be used; `None` if it can.
pub(crate) fn check(name: &str) -> Option<NoteText> {
    let reason = match Job::check("ioengine", name)? {
        Ok(()) => return None,
        Err(reason) => reason,
    };
    let engine = name.split(':').next().unwrap_or(name);
    let known = ENGINES.iter().find(|(known, ..)| *known == engine);
    Some(match known {
        Some((name, description, Some(closest))) => NoteText::new(
            "unsupported_engine",
            format!("The engine {name} {description}, and is not supported."),
            format!("Use ioengine={closest}."),
        )
        .replace_with(format!("ioengine={closest}")),
        Some((name, description, None)) => NoteText::new(
            "unsupported_engine",
            format!("The engine {name} {description}, and is not supported."),
            "Use ioengine=io_uring or psync.",
        ),
        None if OTHERS.split_whitespace().any(|other| other == engine) => NoteText::new(
            "unsupported_engine",
            format!("The engine {engine} is not supported."),
            "Use ioengine=io_uring or psync.",
        ),
        None => NoteText::new(
            "unsupported_engine",
            format!("fio has no engine `{}`: {reason}.", quoted(name)),
            "Use ioengine=io_uring or psync.",
        ),
    })
}
