//! Command-line options.

use crate::{
    cell::{Cell, Group},
    child::{Invocation, run},
    contender::{
        Batch,
        fio::Fio,
        runner::{LEADLINE, LEADLINE_WITHOUT_PROBES, Runner},
        t_io_uring::TIoUring,
    },
    work::Work,
};
use anyhow::{Context, Result, bail};
use clap::Parser;
use std::path::{Path, PathBuf};

/// Compares the runner with fio on the same targets, in interleaved rounds.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Args {
    /// Group of cells to run.
    #[arg(long, value_enum, default_value = "quick")]
    group: Group,
    /// Run only this cell (repeatable).
    #[arg(long = "cell", value_name = "NAME")]
    names: Vec<String>,
    /// Print the cells and exit.
    #[arg(long)]
    pub list: bool,
    /// Number of rounds per cell; a 95 % interval requires at least 6.
    #[arg(long, default_value_t = 7)]
    pub rounds: u32,
    /// Duration of each measurement in seconds.
    #[arg(long, default_value_t = 2)]
    pub seconds: u32,
    /// Path to the runner [default: the one next to this program].
    #[arg(long, value_name = "PATH")]
    runner: Option<PathBuf>,
    /// Also compare with another build of the runner (repeatable).
    #[arg(long, value_name = "LABEL=PATH", value_parser = parse_labeled_path)]
    against: Vec<(String, PathBuf)>,
    /// Also compare with probes=0, to measure the cost of verdicts.
    #[arg(long)]
    without_probes: bool,
    /// Path to fio.
    #[arg(long, value_name = "PATH", default_value = "fio")]
    pub fio: PathBuf,
    /// Do not run fio.
    #[arg(long)]
    no_fio: bool,
    /// Also compare with fio's t/io_uring.
    #[arg(long, value_name = "PATH", env = "T_IO_URING")]
    t_io_uring: Option<PathBuf>,
    /// Directory for files, images and results, on the disk under test.
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    pub folder: PathBuf,
    /// CPU to pin contenders to [default: the last CPU; the first gets most interrupts].
    #[arg(long, value_name = "CPU")]
    core: Option<usize>,
}

impl Args {
    pub fn cells(&self) -> Result<Vec<Cell>> {
        let all = Cell::all();
        if let Some(unknown) = self
            .names
            .iter()
            .find(|name| all.iter().all(|cell| cell.name != **name))
        {
            bail!("unknown cell {unknown}; list all with --group full --list");
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

    pub fn runners(&self) -> Result<Vec<Runner>> {
        let runner = |label: &str, path: &Path| Runner {
            label: label.into(),
            path: path.into(),
            norandommap: false,
            probes: true,
        };
        let leadline = runner(LEADLINE, &self.runner()?);
        let without_probes = self.without_probes.then(|| Runner {
            label: LEADLINE_WITHOUT_PROBES.into(),
            path: leadline.path.clone(),
            norandommap: false,
            probes: false,
        });
        let others = self.against.iter().map(|(label, path)| runner(label, path));
        Ok(std::iter::once(leadline)
            .chain(without_probes)
            .chain(others)
            .collect())
    }

    /// Returns default fio and one tuned fio per combination of batch sizes, or nothing with
    /// `--no-fio`.
    pub fn fio_contenders(&self, work: &Work) -> (Option<Fio>, Vec<Fio>) {
        let fio = |tuning| Fio {
            path: self.fio.clone(),
            tuning,
        };
        if self.no_fio {
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

    /// Returns one t/io_uring per batch size.
    pub fn t_io_uring_contenders(&self, work: &Work) -> Vec<TIoUring> {
        let one = |path: &PathBuf| -> Vec<TIoUring> {
            Batch::equal_sizes(work)
                .into_iter()
                .map(|batch| TIoUring {
                    path: path.clone(),
                    batch,
                })
                .collect()
        };
        self.t_io_uring.as_ref().map(one).unwrap_or_default()
    }

    /// Returns the fio version; `None` with `--no-fio`.
    pub fn fio_version(&self) -> Result<Option<String>> {
        if self.no_fio {
            return Ok(None);
        }
        let invocation = Invocation {
            program: self.fio.clone(),
            args: vec!["--version".into()],
            input: None,
        };
        let (output, _) = run(&self.cpu_list(1), &invocation)?;
        Ok(Some(output.trim().to_owned()))
    }

    /// CPUs for a contender with `numjobs` jobs, in the format of taskset(1).
    pub fn cpu_list(&self, numjobs: u32) -> String {
        let last = std::thread::available_parallelism().map_or(0, |cpus| cpus.get() - 1);
        if numjobs > 1 {
            format!("0-{last}")
        } else {
            self.core.unwrap_or(last).to_string()
        }
    }

    fn runner(&self) -> Result<PathBuf> {
        let default_path = || Ok(std::env::current_exe()?.with_file_name("leadline-runner"));
        let path = self.runner.clone().map_or_else(default_path, anyhow::Ok)?;
        path.canonicalize().with_context(|| {
            format!(
                "{} does not exist; build it or pass --runner",
                path.display()
            )
        })
    }
}

fn parse_labeled_path(text: &str) -> Result<(String, PathBuf), String> {
    let (label, path) = text.split_once('=').ok_or("expected LABEL=PATH")?;
    if !Path::new(path).exists() {
        return Err(format!("{path} does not exist"));
    }
    Ok((label.into(), path.into()))
}
