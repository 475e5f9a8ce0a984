//! What to compare, with what, and how long.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Parser;

use crate::cell::{Cell, Group};
use crate::contender::Batch;
use crate::contender::{fio::Fio, runner::Runner, t_io_uring::TIoUring};
use crate::record::OURS;
use crate::work::Work;

/// Runs the runner beside fio on the same target and tells the ratio.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Args {
    /// Which cells.
    #[arg(long, value_enum, default_value = "spine")]
    group: Group,
    /// This cell only, whatever its group (repeatable).
    #[arg(long = "cell", value_name = "NAME")]
    names: Vec<String>,
    /// Print the cells and do nothing.
    #[arg(long)]
    pub list: bool,
    /// Rounds of each cell; below 6 no interval of 95 % can be told.
    #[arg(long, default_value_t = 7)]
    pub rounds: u32,
    /// Length of one measurement.
    #[arg(long, default_value_t = 2)]
    pub seconds: u32,
    /// The runner; without it the one that was built beside this program.
    #[arg(long, value_name = "PATH")]
    runner: Option<PathBuf>,
    /// Another build of the runner as a further contender, to tell what a change is worth (repeatable).
    #[arg(long, value_name = "LABEL=PATH", value_parser = labelled)]
    against: Vec<(String, PathBuf)>,
    /// fio.
    #[arg(long, value_name = "PATH", default_value = "fio")]
    pub fio: PathBuf,
    /// Leave fio out, such as for comparing builds of the runner.
    #[arg(long)]
    no_fio: bool,
    /// fio's t/io_uring; left out without it.
    #[arg(long, value_name = "PATH", env = "T_IO_URING")]
    t_io_uring: Option<PathBuf>,
    /// Where files, images and results go; must lie on the disk to be measured.
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    pub folder: PathBuf,
    /// The processor that contenders are pinned to; the last one without it, as the first gets most interrupts.
    #[arg(long, value_name = "CPU")]
    core: Option<usize>,
}

impl Args {
    /// The cells asked for, in the order of the list.
    ///
    /// # Errors
    /// A name that no cell has.
    pub fn cells(&self) -> Result<Vec<Cell>> {
        let all = Cell::all();
        if let Some(unknown) = self
            .names
            .iter()
            .find(|name| all.iter().all(|cell| cell.name != **name))
        {
            bail!("there is no cell {unknown}; --group full --list prints all");
        }
        let wanted = |cell: &Cell| {
            if self.names.is_empty() {
                cell.group <= self.group
            } else {
                self.names.contains(&cell.name)
            }
        };
        Ok(all.into_iter().filter(wanted).collect())
    }

    /// Builds of the runner, ours first.
    ///
    /// # Errors
    /// Where the runner is not found.
    pub fn runners(&self) -> Result<Vec<Runner>> {
        let runner = |label: &str, path: &Path| Runner {
            label: label.into(),
            path: path.into(),
            norandommap: false,
        };
        let others = self.against.iter().map(|(label, path)| runner(label, path));
        Ok(std::iter::once(runner(OURS, &self.runner()?))
            .chain(others)
            .collect())
    }

    /// fio as it comes, and every way to tune it for this workload.
    pub fn fios(&self, work: &Work) -> (Option<Fio>, Vec<Fio>) {
        let fio = |tuning| Fio {
            path: self.fio.clone(),
            tuning,
        };
        if !self.has_fio() {
            return (None, Vec::new());
        }
        (
            Some(fio(None)),
            Batch::all(work)
                .into_iter()
                .map(|batch| fio(Some(batch)))
                .collect(),
        )
    }

    /// Every way to run t/io_uring on this workload; none without its path.
    pub fn t_io_urings(&self, work: &Work) -> Vec<TIoUring> {
        let one = |path: &PathBuf| -> Vec<TIoUring> {
            Batch::even(work)
                .into_iter()
                .map(|batch| TIoUring {
                    path: path.clone(),
                    batch,
                })
                .collect()
        };
        self.t_io_uring.as_ref().map(one).unwrap_or_default()
    }

    /// Whether fio takes part.
    pub fn has_fio(&self) -> bool {
        !self.no_fio
    }

    /// The processors of a contender with so many jobs, as taskset(1) takes them.
    pub fn cores(&self, numjobs: u32) -> String {
        let last = std::thread::available_parallelism().map_or(0, |cores| cores.get() - 1);
        if numjobs > 1 {
            format!("0-{last}")
        } else {
            self.core.unwrap_or(last).to_string()
        }
    }

    fn runner(&self) -> Result<PathBuf> {
        let beside = || Ok(std::env::current_exe()?.with_file_name("leadline-runner"));
        let path = self.runner.clone().map_or_else(beside, anyhow::Ok)?;
        path.canonicalize()
            .with_context(|| format!("{} is not there; build it or give --runner", path.display()))
    }
}

fn labelled(text: &str) -> Result<(String, PathBuf), String> {
    let (label, path) = text.split_once('=').ok_or("LABEL=PATH is wanted")?;
    if !Path::new(path).exists() {
        return Err(format!("{path} is not there"));
    }
    Ok((label.into(), path.into()))
}
