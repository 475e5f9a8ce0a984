//! A hazard, the required results of its jobs, and the check that runs them.

use crate::{
    fingerprint::Copies,
    product::{self, Case, Kind, Name},
    runner::{Runner, RunnerOutput},
    scene::{Scene, Scratch, Unavailable},
    scratch::skip,
    table,
};
use serde_json::{Value, json};

type Build = Box<dyn Fn(&Scratch) -> Result<Scene, Unavailable>>;

pub(crate) struct Hazard {
    build: Build,
    expected: Expected,
    names: &'static [Name],
    kinds: &'static [Kind],
    /// Text that the confirmation must contain (case-insensitive).
    contents: Option<&'static str>,
    reads: Reads,
    /// Whether writes to the device are permitted, provided that it has an identity.
    allowed: bool,
    /// Whether to run only `QUICK` of the jobs. The title determines which ones.
    quick: bool,
}

/// Required result of write jobs.
enum Expected {
    /// Rejected regardless of permissions, with one of these codes.
    Rejected(&'static [&'static str]),
    /// Like `Rejected`, but exit code 5 (the host cannot run the job) is also valid.
    RejectedOrUnable(&'static [&'static str]),
    /// Rejected as an invalid target: exit code 2 or 3 with one of these codes.
    InvalidTarget(&'static [&'static str]),
    /// Rejected until the overwrite is confirmed.
    Confirmed,
}

/// Required result of read jobs.
#[derive(Clone, Copy, PartialEq)]
enum Reads {
    /// Reading is permitted; nothing may change.
    Possible,
    /// Reading may be permitted or rejected; nothing may change.
    Harmless,
}

pub(crate) fn device(build: impl Fn(&Scratch) -> Result<Scene, Unavailable> + 'static) -> Hazard {
    Hazard {
        build: Box::new(build),
        expected: Expected::Confirmed,
        names: product::DEVICE_NAMES,
        kinds: product::DEVICE_KINDS,
        contents: None,
        reads: Reads::Possible,
        allowed: true,
        quick: false,
    }
}

pub(crate) fn file(build: impl Fn(&Scratch) -> Result<Scene, Unavailable> + 'static) -> Hazard {
    Hazard {
        names: product::FILE_NAMES,
        kinds: product::FILE_KINDS,
        ..device(build)
    }
}

impl Hazard {
    pub(crate) fn rejected_with(mut self, codes: &'static [&'static str]) -> Self {
        self.expected = Expected::Rejected(codes);
        self
    }

    pub(crate) fn rejected_or_unable_with(mut self, codes: &'static [&'static str]) -> Self {
        self.expected = Expected::RejectedOrUnable(codes);
        self
    }

    pub(crate) fn invalid_target_with(mut self, codes: &'static [&'static str]) -> Self {
        self.expected = Expected::InvalidTarget(codes);
        self.reads = Reads::Harmless;
        self
    }

    /// Requires that the confirmation contains this text.
    pub(crate) fn shows(mut self, contents: &'static str) -> Self {
        self.contents = Some(contents);
        self
    }

    pub(crate) fn by(mut self, names: &'static [Name]) -> Self {
        self.names = names;
        self
    }

    pub(crate) fn with_kinds(mut self, kinds: &'static [Kind]) -> Self {
        self.kinds = kinds;
        self
    }

    pub(crate) fn reads_may_be_rejected(mut self) -> Self {
        self.reads = Reads::Harmless;
        self
    }

    /// Leaves the device's identity out of the list of permitted devices.
    pub(crate) fn not_allowed(mut self) -> Self {
        self.allowed = false;
        self
    }

    /// Runs only `QUICK` of the jobs, because similar hazards run others.
    pub(crate) fn quick(mut self) -> Self {
        self.quick = true;
        self
    }

    pub(crate) fn scene(&self, scratch: &Scratch) -> Result<Scene, Unavailable> {
        (self.build)(scratch)
    }

    /// A runner with this hazard's permissions.
    pub(crate) fn runner(&self, scene: &Scene) -> Runner {
        let identity = identity(scene).into_iter();
        Runner {
            roots: scene.roots.clone(),
            launcher: scene.launcher.clone(),
            allowed: identity.filter(|_| self.allowed).collect(),
        }
    }

    /// Runs combinations that cover each name, kind and mode, or only a few if `quick` is set.
    pub(crate) fn check(&self, title: &str) {
        let mut cases = product::short(self.names, self.kinds);
        if self.quick {
            let count = cases.len();
            cases.rotate_left(title.len() * QUICK % count);
            cases.truncate(QUICK);
        }
        self.check_cases(title, cases);
    }

    /// Runs all combinations.
    pub(crate) fn check_all(&self, title: &str) {
        self.check_cases(title, product::full(self.names, self.kinds));
    }

    fn check_cases(&self, title: &str, cases: Vec<Case>) {
        let scratch = Scratch::new();
        let scene = match self.scene(&scratch) {
            Ok(scene) => scene,
            Err(reason) => return skip(&format!("{title}: {reason}")),
        };
        let mut check = Check::new(self, scene, scratch);
        for case in cases {
            if check.write(&case).is_err() {
                break;
            }
        }
        check.read();
        if matches!(self.expected, Expected::Confirmed) {
            check.confirm();
        }
        table::add(title, &check.outcomes);
        let failures = check.failures.join("\n  ");
        assert!(failures.is_empty(), "{title}:\n  {failures}");
    }
}

/// Number of jobs of a `quick` hazard.
const QUICK: usize = 4;

/// Outcome of one job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    Rejected,
    /// Bytes changed.
    Overwritten,
    /// The run succeeded, but no byte changed.
    Accepted,
    /// The job was neither rejected nor successful.
    Error,
}

struct Check<'a> {
    hazard: &'a Hazard,
    scene: Scene,
    scratch: Scratch,
    runner: Runner,
    state: String,
    copies: Copies,
    failures: Vec<String>,
    outcomes: Vec<(Outcome, String)>,
}

/// The error if the hazard's bytes cannot be restored.
struct NotRestored;

impl<'a> Check<'a> {
    fn new(hazard: &'a Hazard, scene: Scene, scratch: Scratch) -> Self {
        let runner = hazard.runner(&scene);
        Self {
            hazard,
            state: scene.idle_state(),
            copies: Copies::of(&scene.protected),
            runner,
            scene,
            scratch,
            failures: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    fn write(&mut self, case: &Case) -> Result<(), NotRestored> {
        let job = case.job(&self.scene, &self.scratch);
        let plan = self.runner.plan(&job);
        let run = self.runner.run(&job, &[]);
        let changed = self.scene.state() != self.state;
        let outcome = match (changed, run.exit) {
            (true, _) => Outcome::Overwritten,
            (false, 0) => Outcome::Accepted,
            (false, 2) if case.kind.is_read() => Outcome::Rejected,
            (false, 3) => Outcome::Rejected,
            (false, 5) if matches!(self.hazard.expected, Expected::RejectedOrUnable(_)) => {
                Outcome::Rejected
            }
            (false, 2) if matches!(self.hazard.expected, Expected::InvalidTarget(_)) => {
                Outcome::Rejected
            }
            (false, _) => Outcome::Error,
        };
        let codes = if run.codes.is_empty() {
            run.to_string()
        } else {
            run.codes.join("+")
        };
        self.outcomes.push((outcome, codes));
        if let Some(problem) = self.problem(case, &plan, &run, outcome) {
            let stderr = run.stderr.trim();
            self.failures.push(format!(
                "{case}: {problem} (plan {plan}, run {run}: {stderr})"
            ));
        }
        if changed { self.restore() } else { Ok(()) }
    }

    fn problem(
        &self,
        case: &Case,
        plan: &RunnerOutput,
        run: &RunnerOutput,
        outcome: Outcome,
    ) -> Option<String> {
        let (codes, exits): (&[&str], &[i32]) = match self.hazard.expected {
            Expected::Rejected(codes) => (codes, &[3]),
            Expected::RejectedOrUnable(codes) => (codes, &[3, 5]),
            Expected::InvalidTarget(codes) => (codes, &[2, 3]),
            Expected::Confirmed => (&["not_confirmed"], &[3]),
        };
        if outcome == Outcome::Overwritten {
            Some("bytes changed".to_string())
        } else if plan.exit != run.exit || plan.code_set() != run.code_set() {
            Some("the plan differs".to_string())
        } else if case.kind.is_read() && matches!(run.exit, 0 | 2 | 3) {
            None
        } else if !exits.contains(&run.exit) {
            Some("the run is not rejected".to_string())
        } else if !codes.iter().any(|code| run.has(code)) {
            Some(format!("the code is not {}", codes.join(" or ")))
        } else {
            None
        }
    }

    fn restore(&mut self) -> Result<(), NotRestored> {
        self.copies.restore(&self.scene.protected);
        for device in &self.scene.devices {
            let _ = crate::scene::run("blockdev", &["--flushbufs", device.to_str().unwrap()]);
        }
        if self.scene.state() == self.state {
            return Ok(());
        }
        self.failures
            .push("the contents cannot be restored".to_string());
        Err(NotRestored)
    }

    fn read(&mut self) {
        let before = self.scene.state();
        let modes = if self.hazard.quick { 1 } else { 4 };
        for case in product::short(&[Name::Path], &[Kind::Write])
            .into_iter()
            .take(modes)
        {
            let mut job = case.job(&self.scene, &self.scratch);
            job["rw"] = json!("randread");
            let run = self.runner.run(&job, &[]);
            let possible = run.exit == 0 || self.hazard.reads == Reads::Harmless;
            if self.scene.state() != before || !possible {
                self.failures
                    .push(format!("read, {case}: {run}: {}", run.stderr.trim()));
            }
        }
    }

    /// Once confirmed, the overwrite must happen.
    fn confirm(&mut self) {
        let before = self.scene.state();
        let kind = if self.scene.devices.is_empty() {
            Kind::RandWrite
        } else {
            Kind::Write
        };
        let [case, ..] = product::short(&[Name::Path], &[kind])[..] else {
            return;
        };
        let job = case.job(&self.scene, &self.scratch);
        let plan = self.runner.plan(&job);
        let contents = plan.json["confirmations"][0]["contents"].to_string();
        if let Some(expected) = self.hazard.contents
            && !contents.to_lowercase().contains(&expected.to_lowercase())
        {
            self.failures
                .push(format!("the plan lists {contents}, not {expected}"));
        }
        let run = self.runner.run(&job, &plan.confirmations());
        if run.exit != 0 || self.scene.state() == before {
            self.failures
                .push(format!("not written with its confirmation: {run}"));
        }
    }
}

/// Identity of the target in the device list.
fn identity(scene: &Scene) -> Option<String> {
    let name = scene.target.file_name()?.to_str()?;
    if !scene.target.starts_with("/dev") {
        return None;
    }
    identity_of(name)
}

/// Identity of a device, looked up by its kernel name.
pub(crate) fn identity_of(name: &str) -> Option<String> {
    let runner = crate::scratch::program::runner()
        .get_program()
        .to_os_string();
    let output = crate::scene::run(runner.to_str()?, &["devices", "--json"]).ok()?;
    let all: Value = serde_json::from_str(&output).ok()?;
    find(&all, name).map(str::to_string)
}

fn find<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    if value["name"] == name {
        return value["identity"].as_str();
    }
    match value {
        Value::Array(values) => values.iter().find_map(|value| find(value, name)),
        Value::Object(fields) => fields.values().find_map(|value| find(value, name)),
        _ => None,
    }
}
