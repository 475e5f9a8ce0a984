//! The runner with its defaults, and with `norandommap` for comparison with contenders whose
//! offsets repeat.

use super::{Contender, Counts};
use crate::{
    child::{Invocation, output},
    work::{Engine, Length, RWMIXREAD, Rw, Work},
};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::path::PathBuf;

pub const LEADLINE: &str = "Leadline";
/// The runner with repeating offsets, for comparison with contenders whose offsets also repeat.
pub const LEADLINE_REPEATING: &str = "Leadline norandommap";

/// The runner without probes. The difference from the default is the cost of the probes.
pub const LEADLINE_WITHOUT_PROBES: &str = "Leadline probes=0";

#[derive(Debug)]
pub struct Runner {
    pub label: String,
    pub path: PathBuf,
    pub norandommap: bool,
    /// Whether the run observes the layers below the application (the default).
    pub probes: bool,
}

impl Contender for Runner {
    fn name(&self) -> String {
        self.label.clone()
    }

    fn supports(&self, _work: &Work, _length: Length) -> bool {
        true
    }

    fn may_repeat_offsets(&self) -> bool {
        self.norandommap
    }

    fn invocation(&self, work: &Work, path: &str, length: Length) -> Invocation {
        let job = self.job(work, path, length).to_string();
        let mut args = ["run", "-", "--json"].map(String::from).to_vec();
        if work.rw.writes() {
            // The benchmark or another contender wrote the file last, so overwriting it needs a
            // confirmation.
            args.extend(self.confirmations(&job).unwrap_or_default());
        }
        Invocation {
            program: self.path.clone(),
            args,
            input: Some(job),
        }
    }

    fn parse(&self, output: &str, _length: Length) -> Result<Counts> {
        let result: Value =
            serde_json::from_str(output).context("the runner's result is not JSON")?;
        let number = |path: &str| result.pointer(path).and_then(Value::as_f64);
        let sum = |field: &str| {
            let of = |direction: &str| number(&format!("/report/{direction}/{field}"));
            Some(of("read")? + of("write")?)
        };
        // The report has the mean depth per worker.
        let jobs = result["report"]["jobs"].as_array().into_iter().flatten();
        let workers: f64 = jobs.filter_map(|job| job["workers"].as_f64()).sum();
        let depth = number("/report/achieved_depth");
        let counted = || {
            Some(Counts {
                ios: sum("ios")?,
                iops: sum("iops")?,
                achieved_depth: depth.map(|depth| depth * workers),
            })
        };
        counted().context("the runner's result contains no counts")
    }
}

impl Runner {
    /// Returns arguments that confirm every overwrite in a job. Empty for runner versions that
    /// predate confirmations.
    fn confirmations(&self, job: &str) -> Result<Vec<String>> {
        let plan = Invocation {
            program: self.path.clone(),
            args: ["plan", "-", "--json"].map(String::from).to_vec(),
            input: Some(job.into()),
        };
        let plan: Value = serde_json::from_str(&output(&plan)?)?;
        let needed = plan["confirmations"].as_array().into_iter().flatten();
        let entry = |needed: &Value| {
            let text = needed["text"].as_str()?;
            Some(format!("--confirm={text}@{}", needed["code"].as_str()?))
        };
        Ok(needed.filter_map(entry).collect())
    }

    fn job(&self, work: &Work, path: &str, length: Length) -> Value {
        let mut job = json!({
            "name": "bench", "rw": work.rw.as_str(), "bs": work.bs, "iodepth": work.iodepth, "ioengine": work.ioengine.as_str(),
            "direct": u8::from(work.direct), "numjobs": work.numjobs, "norandommap": u8::from(self.norandommap), "invalidate": 0,
        });
        if !self.probes {
            job["probes"] = json!(0);
        }
        match work.ioengine {
            Engine::Null | Engine::IoUringNop => job["size"] = json!("1g"),
            Engine::IoUring | Engine::Psync => job["filename"] = json!(path),
        }
        if work.rw == Rw::RandReadWrite {
            job["rwmixread"] = json!(RWMIXREAD);
        }
        if work.fsync > 0 {
            job["fsync"] = json!(work.fsync);
        }
        match length {
            Length::OneIo => job["number_ios"] = json!(1),
            Length::Seconds(seconds) => {
                (job["runtime"], job["time_based"]) = (json!(seconds), json!(1))
            }
        }
        job
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Cell;

    #[test]
    fn disables_probes_only_if_requested() {
        let cells = Cell::all();
        let cell = cells.iter().find(|cell| cell.name == "hot16m-d1").unwrap();
        let probes = |probes| {
            let runner = Runner {
                label: LEADLINE.into(),
                path: "leadline-runner".into(),
                norandommap: false,
                probes,
            };
            runner.job(&cell.work, "t1", Length::OneIo)["probes"].clone()
        };
        assert_eq!(probes(true), Value::Null);
        assert_eq!(probes(false), json!(0));
    }
}
