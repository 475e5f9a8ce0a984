//! Default fio and tuned fio. Like the runner, both record latencies and run with `invalidate=0`.
//!
//! Tuned fio allows repeating offsets, does not scramble write buffers, uses a thread instead of a
//! process, and uses the best of up to nine combinations of batch sizes. With io_uring, it also
//! uses registered files and fixed buffers.

use super::{Batch, Contender, Counts};
use crate::{
    child::Invocation,
    work::{Engine, Length, RWMIXREAD, Rw, Work},
};
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct Fio {
    pub path: PathBuf,
    /// `None` for default fio.
    pub tuning: Option<Batch>,
}

impl Contender for Fio {
    fn name(&self) -> String {
        if self.tuning.is_some() {
            "fio tuned"
        } else {
            "fio"
        }
        .into()
    }

    fn supports(&self, work: &Work, _length: Length) -> bool {
        work.ioengine != Engine::IoUringNop
    }

    fn may_repeat_offsets(&self) -> bool {
        self.tuning.is_some()
    }

    fn invocation(&self, work: &Work, path: &str, length: Length) -> Invocation {
        let mut args = default_args(work, path);
        match length {
            Length::OneIo => args.push("--number_ios=1".into()),
            Length::Seconds(seconds) => {
                args.extend([format!("--runtime={seconds}"), "--time_based".into()])
            }
        }
        if let Some(batch) = self.tuning {
            args.extend(tuned_args(work, batch));
        }
        Invocation {
            program: self.path.clone(),
            args,
            input: None,
        }
    }

    fn parse(&self, output: &str, _length: Length) -> Result<Counts> {
        // fio may print notices before the JSON.
        let json = output
            .find('{')
            .map(|begin| &output[begin..])
            .context("fio printed no JSON")?;
        let result: Value = serde_json::from_str(json).context("fio's result is not JSON")?;
        counts(&result).context("fio's result contains no counts")
    }
}

fn counts(result: &Value) -> Option<Counts> {
    let job = result.pointer("/jobs/0")?;
    let directions: Vec<&Value> = ["read", "write"]
        .iter()
        .filter_map(|name| job.get(name))
        .collect();
    let sum = |field: fn(&Value) -> Option<f64>| {
        directions
            .iter()
            .map(|direction| field(direction))
            .sum::<Option<f64>>()
    };
    let in_flight = sum(|direction| {
        Some(direction["iops"].as_f64()? * direction.pointer("/lat_ns/mean")?.as_f64()? / 1e9)
    })?;
    Some(Counts {
        ios: sum(|direction| direction["total_ios"].as_f64())?,
        iops: sum(|direction| direction["iops"].as_f64())?,
        achieved_depth: Some(in_flight),
    })
}

fn default_args(work: &Work, path: &str) -> Vec<String> {
    let mut args: Vec<String> = [
        "--name=bench",
        "--output-format=json",
        "--group_reporting",
        "--invalidate=0",
    ]
    .map(Into::into)
    .into();
    args.push(format!("--rw={}", work.rw.as_str()));
    args.push(format!("--bs={}", work.bs));
    args.push(format!("--iodepth={}", work.iodepth));
    args.push(format!("--ioengine={}", work.ioengine.as_str()));
    args.push(format!("--direct={}", u8::from(work.direct)));
    args.push(format!("--numjobs={}", work.numjobs));
    args.push(if work.ioengine == Engine::Null {
        "--size=1g".into()
    } else {
        format!("--filename={path}")
    });
    if work.rw == Rw::RandReadWrite {
        args.push(format!("--rwmixread={RWMIXREAD}"));
    }
    if work.fsync > 0 {
        args.push(format!("--fsync={}", work.fsync));
    }
    args
}

fn tuned_args(work: &Work, batch: Batch) -> Vec<String> {
    let mut args: Vec<String> = [
        "--norandommap",
        "--randrepeat=0",
        "--scramble_buffers=0",
        "--thread",
    ]
    .map(Into::into)
    .into();
    if work.ioengine == Engine::IoUring {
        args.extend(["--registerfiles=1".into(), "--fixedbufs=1".into()]);
    }
    if work.ioengine != Engine::Psync {
        args.push(format!("--iodepth_batch_submit={}", batch.submit));
        args.push(format!(
            "--iodepth_batch_complete_min={}",
            batch.complete_min
        ));
        args.push(format!("--iodepth_batch_complete_max={}", work.iodepth));
    }
    args
}
