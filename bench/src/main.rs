//! `make bench`: the runner beside fio (and t/io_uring, when its path is given) on the same target, in interleaved rounds.
//!
//! A cell is one workload. Before its rounds a short pre-pass finds fio's best options for it; then every round runs all
//! contenders once, in random order, each on one pinned processor. What decides is the median of the per-round ratios
//! with its interval. Figures go to `target/bench/CELL.json`, the table to `target/bench/table.md`.

mod args;
mod calls;
mod cell;
mod child;
mod contender;
mod host;
mod interval;
mod record;
mod rounds;
mod table;
mod target;
mod work;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use clap::Parser;

use args::Args;
use record::{Record, Records};
use target::Targets;

fn main() -> ExitCode {
    match bench(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("[bench] {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn bench(args: &Args) -> Result<()> {
    let cells = args.cells()?;
    if args.list {
        return table::list(&cells);
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, interrupted.clone())?;
    }
    let mut targets = Targets::new(&args.folder)?;
    let mut records = Records::new(&args.folder, host::look(args)?)?;
    for cell in &cells {
        match targets.get(cell.target) {
            Ok(target) => records.keep(Record::new(
                cell,
                rounds::run(args, cell, target, &interrupted)?,
            ))?,
            Err(reason) => records.skip(cell, &reason)?,
        }
    }
    records.finish()
}
