//! diskspd commands (CmdLineParser.cpp of microsoft/diskspd): each flag is explained in terms of
//! fio's options. Windows targets become questions.

mod conflicts;
mod flag;
mod flags;
mod windows;

use crate::dialect::{
    diskspd::flags::{Flags, Seed},
    fio_jobs::FioJob,
    notes::{NoteText, Notes, quoted},
    option_value::job_text,
    options::Options,
    shell::Word,
    source::{Source, Span},
    value::{Amount, Value},
};
use leadline_protocol::job::{Job, fio::find_option};
use std::collections::BTreeMap;

/// The maximum number of jobs of a run.
const MAX_TARGETS: usize = 64;
/// The maximum number of steps of a study.
const MAX_COMMANDS: usize = 256;

/// The jobs of each command.
pub(crate) fn commands(
    source: &Source<'_>,
    variables: &BTreeMap<String, String>,
    notes: &mut Notes<'_>,
) -> Vec<Vec<FioJob>> {
    let commands = windows::commands(source, notes);
    let mut all = Vec::new();
    for words in commands {
        if all.len() == MAX_COMMANDS {
            let sentence = format!("The text has more than {MAX_COMMANDS} commands.");
            let text = NoteText::new("too_many_commands", sentence, "Split the text.");
            notes.error(&words[0].span, None, text);
            break;
        }
        if is_program(&words[0].text) {
            all.push(jobs(&words, variables, notes));
        } else {
            let name = quoted(&words[0].text);
            let sentence = format!("`{name}` is not run.");
            notes.warning(
                &words[0].span,
                Some(&words[0].text),
                NoteText::new("not_run", sentence, ""),
            );
        }
    }
    all
}

fn is_program(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.eq_ignore_ascii_case("diskspd") || name.eq_ignore_ascii_case("diskspd.exe")
}

fn jobs(
    words: &[Word],
    variables: &BTreeMap<String, String>,
    notes: &mut Notes<'_>,
) -> Vec<FioJob> {
    let program = &words[0].span;
    let mut flags = Flags::default();
    let mut targets: Vec<&Word> = Vec::new();
    for word in &words[1..] {
        if is_flag(&word.text) {
            flags.read(word, notes);
        } else {
            targets.push(word);
        }
    }
    if let Some(target) = targets.get(MAX_TARGETS) {
        let sentence = format!("The command has more than {MAX_TARGETS} targets.");
        let text = NoteText::new("too_many_targets", sentence, "Split the command.");
        notes.error(&target.span, None, text);
        targets.truncate(MAX_TARGETS);
    }
    flags.check(targets.len(), notes);
    report_defaults(&flags, program, notes);
    if targets.is_empty() {
        let sentence = "The command has no target. Which file or device should be measured?";
        notes.add_question(program, "target", sentence.into());
        let file = variables.get("target").cloned();
        return vec![checked(job(&flags, program, file.as_deref()), notes)];
    }
    let job_of = |target: &&Word| {
        let file = target_file(target, flags.direct == Some(true), variables, notes);
        checked(job(&flags, &target.span, file.as_deref()), notes)
    };
    targets.iter().map(job_of).collect()
}

/// Reports the options that jobs do not have.
fn checked(job: FioJob, notes: &mut Notes<'_>) -> FioJob {
    for entry in &job.options.entries {
        let name = entry.option.name;
        let Some(doc) = entry.option.job_option() else {
            let sentence = format!("{name} is not supported, and has no effect.");
            notes.warning(
                &entry.span,
                Some(name),
                NoteText::new("not_applied", sentence, ""),
            );
            continue;
        };
        if let Some(Err(reason)) = Job::check(doc.name, &job_text(doc, entry)) {
            let text = NoteText::new("unsupported_value", format!("{name}: {reason}."), doc.help);
            notes.error(&entry.span, Some(name), text);
        }
    }
    job
}

/// `-b4k` or `/b4k`; `/mnt/t.dat` is a Linux path.
fn is_flag(word: &str) -> bool {
    word.starts_with('-') || (word.starts_with('/') && !word[1..].contains('/') && word.len() > 1)
}

/// The file or device to use for a target; `None` if it becomes a question.
fn target_file(
    target: &Word,
    is_direct: bool,
    variables: &BTreeMap<String, String>,
    notes: &mut Notes<'_>,
) -> Option<String> {
    let name = &target.text;
    if let Some(file) = variables.get(name) {
        return Some(file.clone());
    }
    let drive = name.as_bytes();
    let has_drive = drive.len() >= 2 && drive[1] == b':' && drive[0].is_ascii_alphabetic();
    let is_volume = has_drive && drive.len() == 2;
    let is_physical = name.starts_with('#') || name.starts_with("\\\\.\\");
    if is_physical || is_volume {
        let sentence = format!(
            "`{}` is a Windows disk. Which device should be measured?",
            quoted(name)
        );
        notes.add_question(&target.span, name, sentence);
        if is_direct {
            let text = "A disk is accessed without the file cache, with and without -Su.";
            notes.info(
                &target.span,
                Some(name),
                NoteText::new("raw_device", text, ""),
            );
        } else {
            let text = "Windows does not cache I/O to a disk; Linux does unless direct=1.";
            let remedy = "Add -Su to measure the device.";
            notes.warning(
                &target.span,
                Some(name),
                NoteText::new("raw_device_unbuffered", text, remedy),
            );
        }
        return None;
    }
    if has_drive || name.contains('\\') {
        let sentence = format!(
            "`{}` is a Windows path. Which file should be used?",
            quoted(name)
        );
        notes.add_question(&target.span, name, sentence);
        return None;
    }
    Some(name.clone())
}

fn report_defaults(flags: &Flags, program: &Span, notes: &mut Notes<'_>) {
    let mut note = |applies: bool, code: &'static str, sentence: &str| {
        if applies {
            notes.info(program, None, NoteText::new(code, sentence, ""));
        }
    };
    note(
        flags.block.is_none(),
        "block_default_64k",
        "Without -b, the block size is 64 KiB (bs=64k).",
    );
    note(
        flags.depth.is_none(),
        "depth_default_2",
        "Without -o, each thread has 2 I/Os in flight (iodepth=2).",
    );
    note(
        flags.duration_s.is_none(),
        "duration_default_10s",
        "Without -d, the measurement takes 10 s (runtime=10s).",
    );
    note(
        flags.warm_up_s.is_none(),
        "warmup_5s",
        "Without -W, 5 s of I/O before the measurement are not counted (ramp_time=5s).",
    );
    note(
        flags.direct != Some(true) && !flags.is_mapped,
        "buffered_default",
        "Without -Su and -Sh, I/O goes through the file cache (direct=0).",
    );
    note(
        flags.write_percent > 0 && flags.is_default_data(),
        "pattern_data",
        "diskspd writes the same byte pattern into each buffer by default; the data here is random.",
    );
    note(
        flags.threads > 1 && flags.random.is_none() && flags.thread_stride.is_none(),
        "same_offset_threads",
        "Without -T, all threads start at the same offset and access the same blocks.",
    );
}

struct JobOptions(Options);

impl JobOptions {
    fn set(&mut self, name: &str, value: Value, span: &Span) {
        if let Some(option) = find_option(name) {
            self.0.store(option, value, span.clone());
        }
    }

    fn text(&mut self, name: &str, text: impl Into<String>, span: &Span) {
        self.set(name, Value::Text(text.into()), span);
    }

    fn number(&mut self, name: &str, number: i64, span: &Span) {
        self.set(name, Value::Number(Amount::Plain(number)), span);
    }

    fn numbers(&mut self, name: &str, number: i64, span: &Span) {
        self.set(name, Value::Numbers([Some(Amount::Plain(number)); 3]), span);
    }

    fn flag(&mut self, name: &str, flag: bool, span: &Span) {
        self.set(name, Value::Flag(flag), span);
    }
}

fn job(flags: &Flags, span: &Span, file: Option<&str>) -> FioJob {
    let mut options = JobOptions(Options::default());
    if let Some(file) = file {
        options.text("filename", file.replace(':', "\\:"), span);
    }
    set_pattern(flags, &mut options, span);
    set_region(flags, &mut options, span);
    options.number("iodepth", flags.depth.unwrap_or(2), span);
    options.number("numjobs", flags.threads, span);
    options.flag("direct", flags.direct.unwrap_or(false), span);
    options.text(
        "ioengine",
        if flags.is_mapped { "mmap" } else { "io_uring" },
        span,
    );
    if flags.writes_through {
        options.text("sync", "dsync", span);
    }
    options.number("runtime", flags.duration_s.unwrap_or(10) * 1_000_000, span);
    options.flag("time_based", true, span);
    let warm_up_s = flags.warm_up_s.unwrap_or(5);
    if warm_up_s > 0 {
        options.number("ramp_time", warm_up_s * 1_000_000, span);
    }
    set_rate(flags, &mut options, span);
    if let Some(cpus) = &flags.cpus {
        options.text("cpus_allowed", cpus.as_str(), span);
        options.text("cpus_allowed_policy", "split", span);
    }
    FioJob {
        name: "diskspd".into(),
        span: span.clone(),
        options: options.0,
    }
}

fn set_pattern(flags: &Flags, options: &mut JobOptions, span: &Span) {
    let block = flags.block_bytes();
    let name = match (flags.random.is_some(), flags.write_percent) {
        (false, 0) => "read",
        (false, 100) => "write",
        (false, _) => "rw",
        (true, 0) => "randread",
        (true, 100) => "randwrite",
        (true, _) => "randrw",
    };
    let gap = flags.stride.unwrap_or(block) - block;
    let rw = if gap != 0 && flags.random.is_none() {
        format!("{name}:{gap}")
    } else {
        name.into()
    };
    options.text("rw", rw, span);
    options.numbers("bs", block, span);
    if (1..100).contains(&flags.write_percent) {
        options.number("rwmixread", 100 - flags.write_percent, span);
    }
    if let Some(alignment) = flags
        .random
        .flatten()
        .filter(|alignment| *alignment != block)
    {
        options.numbers("ba", alignment, span);
    }
    if let Some(percent) = flags.random_percent {
        options.numbers("percentage_random", percent, span);
    }
    if let Some(distribution) = &flags.distribution {
        options.text("random_distribution", distribution.as_str(), span);
    }
    match flags.seed {
        Some(Seed::Fixed(seed)) => options.number("randseed", seed, span),
        Some(Seed::Random) => options.flag("randrepeat", false, span),
        None => {}
    }
    if flags.is_zero_data {
        options.flag("zero_buffers", true, span);
    }
    if flags.is_fresh_data {
        options.flag("refill_buffers", true, span);
    }
}

fn set_region(flags: &Flags, options: &mut JobOptions, span: &Span) {
    let base = flags.base.unwrap_or(0);
    if let Some(base) = flags.base {
        options.number("offset", base, span);
    }
    let end = [flags.file_size, flags.max_size]
        .into_iter()
        .flatten()
        .min();
    let size = flags
        .base_length
        .or(end.map(|end| end.saturating_sub(base)));
    if let Some(size) = size {
        options.number("size", size, span);
    }
    if let Some(stride) = flags.thread_stride {
        options.number("offset_increment", stride, span);
    }
}

fn set_rate(flags: &Flags, options: &mut JobOptions, span: &Span) {
    match flags.rate {
        Some((rate, true)) => options.numbers("rate_iops", rate, span),
        Some((bytes_per_ms, false)) => options.numbers("rate", bytes_per_ms * 1000, span),
        None => {}
    }
    if let (Some(burst), Some(think_ms)) = (flags.burst, flags.think_ms) {
        options.number("thinktime", think_ms * 1000, span);
        options.number("thinktime_blocks", burst, span);
    }
}
