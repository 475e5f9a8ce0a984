//! Layout: creates and fills files before the measurement, as planned. A file that cannot be completed is restored, so
//! that a full filesystem is left as it was.

mod blocks;
mod file_spec;

use crate::plan::host_view::PathKind;
use crate::system::guard::{Guard, Purpose};
use crate::system::host::ownership;
use crate::system::host::resolved_path::{ResolvedPath, Stat};
use crate::system::target::layout::blocks::{create_blocks, open_for_layout};
use crate::system::target::layout::file_spec::{FileSpec, file_specs};
use crate::system::target::owned_file::OwnedFile;
use crate::system::target::problems::{identity_changed, open_failed, remove_failed};
use crate::system::target::progress::Progress;
use crate::system::target::root_path::remove_in_root;
use crate::system::target::{Finish, Targets};
use leadline_protocol::phase::{Phase, PhaseChange};
use leadline_protocol::plan::job::ResolvedJob;
use leadline_protocol::problem::Problem;
use rustix::fs::ftruncate;
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::AtomicBool;

impl Targets {
    /// Creates and fills the files of all jobs. `fill` provides the data from a byte offset on, such as
    /// `LayoutData::fill`; `progress` gets `PhaseState::Progress` every 100 ms. Written data is on the device and not in
    /// the page cache afterwards.
    ///
    /// # Errors
    /// A problem of the guard, `no_space`, `fallocate_unsupported`, `layout_failed`, or `open_failed`. The file that
    /// failed or was stopped gets its old length back, or is removed when this run created it.
    pub fn lay_out(
        &mut self,
        jobs: &[ResolvedJob],
        fill: &mut dyn FnMut(u64, &mut [u8]),
        progress: &mut dyn FnMut(PhaseChange),
        stop: &AtomicBool,
    ) -> Result<Finish, Problem> {
        let guard = Guard::live(&self.roots);
        let files = file_specs(jobs);
        let total = files.iter().map(FileSpec::write_bytes).sum();
        let mut progress = Progress::new(Phase::Layout, total, progress);
        for file in &files {
            if self.lay_out_file(&guard, file, fill, &mut progress, stop)? == Finish::Stopped {
                return Ok(Finish::Stopped);
            }
        }
        Ok(Finish::Done)
    }

    fn lay_out_file(
        &mut self,
        guard: &Guard,
        file: &FileSpec,
        fill: &mut dyn FnMut(u64, &mut [u8]),
        progress: &mut Progress,
        stop: &AtomicBool,
    ) -> Result<Finish, Problem> {
        let found = remove_if_fresh(guard, ResolvedPath::find(Path::new(file.path)), file)?;
        let old_length = found.stat.map(|stat| stat.length);
        let is_longer = old_length.is_some_and(|length| length < file.length);
        let changes = file.write_bytes() > 0
            || old_length.is_none()
            || (is_longer && file.purpose == Purpose::Write);
        let purpose = if changes {
            Purpose::Write
        } else {
            file.purpose
        };
        guard.admit(&found, purpose)?;
        if !changes || found.kind == PathKind::Device {
            return Ok(Finish::Done);
        }
        self.record_reused(&found);
        let fd =
            open_for_layout(guard, &found, file).map_err(|error| open_failed(file.path, error))?;
        let stat = Stat::of_fd(&fd).map_err(|error| open_failed(file.path, error))?;
        let created = OwnedFile::new(&found.path, stat, file.unlink);
        let result = create_blocks(&fd, file, fill, progress, stop);
        if result != Ok(Finish::Done) {
            restore(guard, &fd, &created, old_length)?;
        } else if old_length.is_none() {
            self.created.push(created);
        }
        result.map_err(|error| layout_problem(file, error))
    }
}

/// Removes an owned file when the job has `file_state=fresh`. The plan rejects files that are not owned; the mark is
/// checked again here.
fn remove_if_fresh(
    guard: &Guard,
    found: ResolvedPath,
    file: &FileSpec,
) -> Result<ResolvedPath, Problem> {
    if !file.fresh || found.kind != PathKind::File {
        return Ok(found);
    }
    guard.admit(&found, Purpose::Write)?;
    if !ownership::is_owned(&found.path) {
        return Err(identity_changed(
            file.path,
            "was modified by another program",
        ));
    }
    remove_in_root(guard, &found.path).map_err(|error| Problem {
        code: "layout_failed".into(),
        field: Some("file_state".into()),
        remedy: "Remove it manually, or use file_state=overwrite.".into(),
        ..remove_failed(&found.path, error)
    })?;
    Ok(ResolvedPath::find(&found.path))
}

fn restore(
    guard: &Guard,
    fd: &OwnedFd,
    file: &OwnedFile,
    old_length: Option<u64>,
) -> Result<(), Problem> {
    match old_length {
        None => file.remove(guard).map(drop),
        Some(length) if Stat::of_fd(fd).is_ok_and(|now| now.length > length) => {
            ftruncate(fd, length).map_err(|error| open_failed(&file.path.to_string_lossy(), error))
        }
        Some(_) => Ok(()),
    }
}

fn layout_problem(file: &FileSpec, error: Errno) -> Problem {
    let FileSpec { path, length, .. } = file;
    match error {
        Errno::NOSPC | Errno::DQUOT => Problem::environment(
            "no_space",
            "size",
            format!("The filesystem of {path} has no space for {length} bytes ({error})."),
            "Use a smaller size, or free some space. The incomplete file was removed.",
        ),
        Errno::OPNOTSUPP => Problem::environment(
            "fallocate_unsupported",
            "fallocate",
            format!(
                "The filesystem of {path} does not support fallocate={} ({error}).",
                file.fallocate.as_str()
            ),
            "Use fallocate=written, truncate or none.",
        ),
        _ => Problem::environment(
            "layout_failed",
            "filename",
            format!("{path} cannot be laid out: {error}."),
            "Check the device and the filesystem (dmesg).",
        ),
    }
}
