//! `make bench`: compares the runner with fio and t/io_uring on the same targets, in interleaved
//! rounds.
//!
//! A short pre-pass finds the best options of each contender for a cell. Each round then runs every
//! contender once, in random order, pinned to one CPU unless the cell has multiple jobs. The result
//! is the median of the per-round ratios with its interval. Results are written to
//! `target/bench/CELL.json` and `target/bench/table.md`.

// A binary has no public interface.
#![allow(unreachable_pub)]

mod args;
mod calls;
mod cell;
mod child;
mod contender;
mod host;
mod record;
mod results;
mod rounds;
mod table;
mod target;
mod verdict;
mod work;

use anyhow::Result;
use args::Args;
use clap::Parser;
use record::Record;
use results::Results;
use std::{
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
};
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
    let mut results = Results::new(&args.folder, host::host(args.fio_version()?)?)?;
    for cell in &cells {
        match targets.get_or_create(cell.target) {
            Ok(target) => results.add(Record::new(
                cell,
                rounds::run(args, cell, target, &interrupted)?,
            ))?,
            Err(reason) => results.skip(cell, &reason)?,
        }
    }
    results.finish()
}
