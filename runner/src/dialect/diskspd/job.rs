//! The job that the flags describe, in terms of fio's options.

use crate::dialect::{
    diskspd::flags::{Flags, Seed},
    fio_jobs::FioJob,
    options::Options,
    source::Span,
    value::{Amount, Value},
};
use leadline_protocol::job::fio::find_option;

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

pub(crate) fn job(flags: &Flags, span: &Span, file: Option<&str>) -> FioJob {
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
