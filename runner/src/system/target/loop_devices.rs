//! The run's own loop devices (`loop_device=1`): each laid-out file is attached to a free loop
//! device, which then receives the I/O.

use crate::system::{
    guard::{Guard, Purpose},
    host::resolved_path::ResolvedPath,
    target::{
        Targets,
        attached_loop::{AttachedLoop, is_attached},
        checks::{check_identity, identity_changed, open_failed},
        file_spec::{FileSpec, file_specs},
        open_beneath::open_in_root,
    },
};
use leadline_protocol::{
    plan::{job::ResolvedJob, target::TargetKind},
    problem::Problem,
};
use rustix::fs::OFlags;
use std::{
    io,
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

/// Timeout for detaching, because udev and device scans briefly hold every device open.
const DETACH_TIMEOUT: Duration = Duration::from_secs(2);
const DETACH_POLL: Duration = Duration::from_millis(5);

impl Targets {
    /// Attaches the files of all loop targets, and stores the device names in the targets. Must be
    /// called after `lay_out`. Returns whether there are any loop targets.
    ///
    /// # Errors
    /// A guard problem, `open_failed`, or `loop_failed`.
    pub fn attach_loops(&mut self, jobs: &mut [ResolvedJob]) -> Result<bool, Problem> {
        let guard = self.guard();
        for file in file_specs(jobs, |_, target| target.kind == TargetKind::Loop) {
            let attached = self.attach(&guard, &file)?;
            self.loops.insert(file.path.into(), attached);
        }
        for target in jobs.iter_mut().flat_map(|job| &mut job.targets) {
            if let Some(attached) = self.loops.get(&target.path)
                && target.kind == TargetKind::Loop
            {
                target.device = Some(attached.name.clone());
                // The target's filesystem is below the loop device, not on it.
                target.filesystem = None;
            }
        }
        Ok(!self.loops.is_empty())
    }

    /// Detaches the run's loop devices, and waits until the next run can use their files. If the
    /// run is killed, the kernel detaches the devices.
    pub fn detach_loops(&mut self) {
        let loops = std::mem::take(&mut self.loops);
        self.claims
            .retain(|dev, _| loops.values().all(|attached| attached.dev != *dev));
        let names: Vec<(String, String)> = loops
            .into_iter()
            .map(|(path, attached)| (path, attached.name))
            .collect();
        let deadline = Instant::now() + DETACH_TIMEOUT;
        while names.iter().any(|(path, name)| is_attached(name, path)) && Instant::now() < deadline
        {
            sleep(DETACH_POLL);
        }
    }

    /// Node of the loop device that a backing file is attached to.
    pub(crate) fn loop_node(&self, path: &str) -> Result<PathBuf, Problem> {
        match self.loops.get(path) {
            Some(attached) => Ok(attached.node()),
            None => Err(identity_changed(
                path,
                "is no longer attached to its loop device",
            )),
        }
    }

    fn attach(&mut self, guard: &Guard, spec: &FileSpec) -> Result<AttachedLoop, Problem> {
        let path = spec.path;
        let found = ResolvedPath::find(Path::new(path));
        guard.admit(&found, spec.purpose)?;
        if spec.purpose == Purpose::Write {
            self.check_matches_plan(guard, path, &found)?;
        }
        let flags = spec.purpose.open_flags() | OFlags::CLOEXEC;
        let file = open_in_root(guard, &found.path, flags).map_err(open_failed(path))?;
        let stat = check_identity(path, &file, found.stat)?;
        self.written.insert(found.path.clone(), stat);
        self.adopt_study_file(&found.path, stat, spec.unlink);
        AttachedLoop::attach(&file, spec.alignment, spec.purpose == Purpose::Read)
            .map_err(|error| loop_failed(path, &error))
    }
}

fn loop_failed(path: &str, error: &io::Error) -> Problem {
    Problem::environment(
        "loop_failed",
        "loop_device",
        format!("{path} cannot be attached to a loop device: {error}."),
        "Run as root on the host itself (a container needs access to /dev/loop*), or remove loop_device.",
    )
}
