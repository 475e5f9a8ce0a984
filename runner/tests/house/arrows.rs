//! Which room may know what, in the runner and the server.

use super::source::{Source, refuse, sources};

const RUNNER: &str = "runner/src";
const SERVER: &str = "server/src";

/// Rooms of the runner that only reckon.
const PURE: &[&str] = &[
    "job",
    "units",
    "dialect",
    "study",
    "plan",
    "pattern",
    "pace",
    "data",
    "histogram",
    "sample",
    "report",
    "verdict",
    "event",
    "problem",
];

/// What a pure room has no use for: the system, its clocks, its threads.
const SYSTEM: &[&str] = &[
    "rustix",
    "libc::",
    "io_uring::",
    "procfs::",
    "std::fs",
    "std::thread",
    "std::process",
    "std::env",
    "std::net",
    "Instant",
    "SystemTime",
];

/// The files that may hold `unsafe`, and the system call or memory that needs it.
const UNSAFE: &[(&str, &str)] = &[
    ("runner/src/buffer.rs", "mmap(2), and slots of the mapping"),
    ("runner/src/clock/tsc.rs", "the processor's counter"),
    ("runner/src/clone/instructions/", "fork(2) and ptrace(2)"),
    (
        "runner/src/clone/outside.rs",
        "the promises of a ring and an engine, handed on by those around them",
    ),
    (
        "runner/src/clone/paced/tests.rs",
        "the promise of an engine, made by one of the test's own",
    ),
    (
        "runner/src/engine.rs",
        "the promise that a buffer outlives its I/O",
    ),
    (
        "runner/src/engine/",
        "buffers that the kernel writes to, io_uring_enter(2), pread(2)",
    ),
    (
        "runner/src/host/doctor/storage.rs",
        "a read past the page cache into memory of its own",
    ),
    ("runner/src/host/ioctl.rs", "ioctl(2) on block devices"),
    ("runner/src/probe/residency.rs", "cachestat(2), mincore(2)"),
    ("runner/src/probe/resource.rs", "getrusage(2)"),
    ("runner/src/run/crew.rs", "the signal that wakes a clone"),
    (
        "runner/src/target/layout.rs",
        "aligned memory for direct writes",
    ),
];

/// Rooms of the server that meet HTTP; the others are called by them.
const EDGE: &[&str] = &[
    "assets", "auth", "error", "extract", "hosts", "lib", "main", "metrics", "routes", "serve",
];
/// Files of the other rooms that do.
const EDGE_FILES: &[&str] = &["/http.rs", "/stream.rs", "/export.rs"];

fn mentions(files: impl IntoIterator<Item = Source>, words: &[&str]) -> Vec<String> {
    files
        .into_iter()
        .flat_map(|file| file.mentions(words))
        .collect()
}

#[test]
fn pure_rooms_of_the_runner_know_no_system() {
    let pure = sources(RUNNER, &[".rs"])
        .into_iter()
        .filter(|file| file.is_in(RUNNER, PURE));
    refuse(
        mentions(pure, SYSTEM),
        "Hand in what the room needs to know, as plan::HostView does, or do it in host, probe, target or engine.",
    );
}

#[test]
fn the_runner_does_not_know_the_server() {
    refuse(
        mentions(
            sources(RUNNER, &[".rs"]),
            &["leadline_server", "axum::", "sqlx::", "tokio::"],
        ),
        "The arrow points from the server to the runner's words.",
    );
}

#[test]
fn engines_know_no_job_and_no_plan() {
    let engines = sources("runner/src/engine", &[".rs"]);
    refuse(
        mentions(engines, &["crate::job", "crate::plan", "println!"]),
        "The loop knows I/Os, an engine and a clock; decide it in plan and hand it in.",
    );
}

#[test]
fn unsafe_stands_where_a_system_call_needs_it() {
    let others = sources(RUNNER, &[".rs"])
        .into_iter()
        .filter(|file| !UNSAFE.iter().any(|(path, _)| file.path.starts_with(path)));
    refuse(
        mentions(others, &["unsafe {", "unsafe fn", "unsafe impl"]),
        "Use rustix, which has a safe call for most; else add the file to UNSAFE with the call that needs it.",
    );
}

#[test]
fn every_unsafe_block_says_why_it_is_sound() {
    /// Lines between the sentence and the block.
    const NEAR: usize = 6;
    let mut offences = Vec::new();
    for file in sources(RUNNER, &[".rs"]) {
        let lines: Vec<&str> = file.text.lines().collect();
        for (number, line) in file
            .code()
            .filter(|(_, line)| line.contains("unsafe {") || line.contains("unsafe impl"))
        {
            if !lines[number.saturating_sub(NEAR + 1)..number]
                .iter()
                .any(|line| line.contains("SAFETY:"))
            {
                offences.push(file.at(number, line));
            }
        }
    }
    refuse(
        offences,
        "Write `// SAFETY:` above it: what makes it sound, not what it does.",
    );
}

#[test]
fn the_server_forbids_unsafe() {
    let crates = sources(SERVER, &["/main.rs", "main.rs", "lib.rs"])
        .into_iter()
        .filter(|file| file.path.matches('/').count() == 2);
    let offences = crates
        .filter(|file| !file.text.contains("#![forbid(unsafe_code)]"))
        .map(|file| file.path)
        .collect();
    refuse(offences, "Begin the crate with #![forbid(unsafe_code)].");
}

#[test]
fn sql_stands_in_the_store() {
    let others = sources(SERVER, &[".rs"])
        .into_iter()
        .filter(|file| !file.is_in(SERVER, &["store"]));
    let sql = [
        "sqlx::query",
        "QueryBuilder",
        "\"SELECT ",
        "\"INSERT ",
        "\"UPDATE ",
        "\"DELETE FROM",
    ];
    refuse(
        mentions(others, &sql),
        "Give the store a function with a name, and call that.",
    );
}

#[test]
fn axum_stays_at_the_edge() {
    let is_edge = |file: &Source| {
        file.is_in(SERVER, EDGE) || EDGE_FILES.iter().any(|end| file.path.ends_with(end))
    };
    let inner = sources(SERVER, &[".rs"])
        .into_iter()
        .filter(|file| !is_edge(file));
    refuse(
        mentions(inner, &["axum"]),
        "Return a value or an ApiError, and let http.rs of the room make a response of it.",
    );
}

#[test]
fn only_launch_knows_where_a_runner_runs() {
    let others = sources(SERVER, &[".rs"])
        .into_iter()
        .filter(|file| !file.path.contains("launch"));
    refuse(
        mentions(others, &["process::Command", "Command::new("]),
        "Start processes in runs/launch only.",
    );
}
