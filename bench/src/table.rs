//! Output of the bench: a few lines per cell while it runs, and a Markdown table.

use crate::{
    cell::Cell,
    contender::runner::LEADLINE,
    host::Host,
    record::{Ratio, Record, Summary},
};
use anyhow::Result;
use std::io::{Write, stdout};

const OTHERS: [&str; 3] = ["fio", "fio tuned", "t/io_uring"];

pub fn list(cells: &[Cell]) -> Result<()> {
    cells.iter().try_for_each(|cell| {
        let Cell {
            name,
            group,
            target,
            work,
        } = cell;
        let io_mode = if work.direct { "direct" } else { "buffered" };
        let (group, rw, engine) = (
            format!("{group:?}").to_lowercase(),
            work.rw.as_str(),
            work.ioengine.as_str(),
        );
        line(&format!(
            "{name:22} {group:6} {engine} {rw} bs={} iodepth={} {io_mode} numjobs={} on {target:?}",
            work.bs, work.iodepth, work.numjobs
        ))
    })
}

pub fn line(text: &str) -> Result<()> {
    Ok(writeln!(stdout(), "{text}")?)
}

pub fn print(record: &Record) -> Result<()> {
    line(&format!("[bench] {}", record.cell.name))?;
    record.contenders.iter().try_for_each(|(name, summary)| {
        line(&format!("          {name:12} {}", summary_text(summary)))
    })
}

fn summary_text(summary: &Summary) -> String {
    let mut text = format!(
        "{:>10.0} IOPS ±{:.0} %, user {:.1} ns, system {:.1} ns per I/O, {:.0} context switches/s",
        summary.iops.value,
        summary.spread_percent / 2.0,
        summary.user_ns_per_io,
        summary.system_ns_per_io,
        summary.context_switches_per_second
    );
    if let Some(calls) = summary.calls_per_io {
        text += &format!(", {calls:.3} system calls per I/O");
    }
    if let Some(depth) = summary.achieved_depth {
        text += &format!(", depth {depth:.2}");
    }
    if let Some(ratio) = summary.ratio {
        text += &format!("; Leadline ÷ this {}", ratio_text(&ratio));
    }
    text
}

fn ratio_text(ratio: &Ratio) -> String {
    let Ratio { interval, verdict } = ratio;
    format!(
        "{:.3} ({:.3} to {:.3}): {}",
        interval.value,
        interval.low,
        interval.high,
        verdict.as_str()
    )
}

pub fn markdown(host: &Host, records: &[Record], skipped: &[String]) -> String {
    let mut text = format!(
        "{} CPUs, {}, {}; {}; load average {} at the start.\n\n",
        host.cpus,
        host.cpu_model,
        host.kernel,
        host.fio.as_deref().unwrap_or("no fio"),
        host.load_1m
    );
    text += "| cell | Leadline IOPS | ÷ fio | ÷ fio tuned | ÷ t/io_uring | user ns per I/O: Leadline, fio, fio tuned, t/io_uring | system ns per I/O | system calls per I/O | achieved depth |\n";
    text += "|---|---|---|---|---|---|---|---|---|\n";
    text.extend(records.iter().map(row));
    text.extend(skipped.iter().map(|line| format!("\n{line}\n")));
    text
}

fn row(record: &Record) -> String {
    let leadline = &record.contenders[LEADLINE];
    let ratios = OTHERS.map(|other| {
        record
            .contenders
            .get(other)
            .and_then(|summary| summary.ratio)
            .map_or("–".into(), |ratio| cell(&ratio))
    });
    let each = |pick: fn(&Summary) -> Option<f64>, digits: usize| {
        let one = |name: &&str| {
            let value = record.contenders.get(*name).and_then(pick);
            value.map_or("–".into(), |value| format!("{value:.digits$}"))
        };
        [&LEADLINE]
            .into_iter()
            .chain(&OTHERS)
            .map(one)
            .collect::<Vec<String>>()
            .join(", ")
    };
    format!(
        "| {} | {:.0} ±{:.0} % | {} | {} | {} | {} | {} | {} | {} |\n",
        record.cell.name,
        leadline.iops.value,
        leadline.spread_percent / 2.0,
        ratios[0],
        ratios[1],
        ratios[2],
        each(|summary| Some(summary.user_ns_per_io), 0),
        each(|summary| Some(summary.system_ns_per_io), 0),
        each(|summary| summary.calls_per_io, 2),
        each(|summary| summary.achieved_depth, 1),
    )
}

fn cell(ratio: &Ratio) -> String {
    let Ratio { interval, verdict } = ratio;
    format!(
        "**{:.2}** ({:.2}–{:.2}) {}",
        interval.value,
        interval.low,
        interval.high,
        verdict.as_str()
    )
}
