//! fio's command-line options that are not job options (init.c, `l_opts`).

pub(crate) struct ProgramOption {
    pub name: &'static str,
    /// Whether the option requires a value, which may be the next word.
    pub requires_value: bool,
    pub effect: Effect,
}

#[derive(Clone, Copy)]
pub(crate) enum Effect {
    /// Controls only fio's output.
    Output,
    /// Has no effect, for this reason.
    Ignored(&'static str),
    /// Prints information instead of running jobs.
    NoRun,
    Rejected(&'static str),
    /// Selects a section of the job files. All other sections that are not global are skipped.
    Section,
    /// Rejects jobs that write.
    ReadOnly,
}

const REMOTE: Effect = Effect::Rejected("starts or uses fio on other hosts.");
const TRIGGER: Effect = Effect::Rejected("would run a command on this host.");
const FILES: Effect = Effect::Rejected("is not supported: an import does not read or write files.");

const fn option(name: &'static str, requires_value: bool, effect: Effect) -> ProgramOption {
    ProgramOption {
        name,
        requires_value,
        effect,
    }
}

pub(crate) const PROGRAM_OPTIONS: &[ProgramOption] = &[
    option("output", true, Effect::Output),
    option(
        "latency-log",
        true,
        Effect::Rejected("was removed from fio."),
    ),
    option(
        "bandwidth-log",
        false,
        Effect::Rejected(
            "writes logs of all jobs together, which are not supported. Use write_bw_log.",
        ),
    ),
    option("minimal", false, Effect::Output),
    option("output-format", true, Effect::Output),
    option("append-terse", false, Effect::Output),
    option("version", false, Effect::NoRun),
    option("help", false, Effect::NoRun),
    option("cmdhelp", false, Effect::NoRun),
    option("enghelp", false, Effect::NoRun),
    option("showcmd", false, Effect::NoRun),
    option("readonly", false, Effect::ReadOnly),
    option("eta", true, Effect::Output),
    option("eta-interval", true, Effect::Output),
    option("eta-newline", true, Effect::Output),
    option("debug", true, Effect::Output),
    option("parse-only", false, Effect::NoRun),
    option("section", true, Effect::Section),
    option("inflate-log", true, FILES),
    option(
        "alloc-size",
        true,
        Effect::Ignored("it sizes fio's own memory."),
    ),
    option(
        "profile",
        true,
        Effect::Rejected("selects one of fio's built-in workloads, which are not supported."),
    ),
    option(
        "warnings-fatal",
        false,
        Effect::Ignored("warnings do not end a run."),
    ),
    option(
        "max-jobs",
        true,
        Effect::Ignored("it sizes fio's own memory."),
    ),
    option("terse-version", true, Effect::Output),
    option("server", false, REMOTE),
    option(
        "daemonize",
        true,
        Effect::Rejected("runs fio in the background, which is not supported."),
    ),
    option("client", true, REMOTE),
    option("remote-config", true, REMOTE),
    option("cpuclock-test", false, Effect::NoRun),
    option("crctest", false, Effect::NoRun),
    option("memcpytest", false, Effect::NoRun),
    option("idle-prof", true, Effect::Output),
    option("status-interval", true, Effect::Output),
    option("trigger-file", true, TRIGGER),
    option("trigger-timeout", true, TRIGGER),
    option("trigger", true, TRIGGER),
    option("trigger-remote", true, TRIGGER),
    option("aux-path", true, FILES),
    option("merge-blktrace-only", false, FILES),
];
