//! Removes files that a study left behind because the step that removes them did not run or was
//! killed. Removes only regular files that the guard admits for writing and whose path contains the
//! study's `file_id`.

use crate::{
    plan::host_view::PathKind,
    system::{
        guard::{Guard, Purpose, permissions::Permissions},
        host::resolved_path::ResolvedPath,
        target::{checks::remove_failed, open_beneath::remove_in_root},
    },
};
use leadline_protocol::{
    job::run_spec::is_file_id,
    problem::Problem,
    study::files::{CleanupResult, LeftoverFile, OwnedFiles},
};
use std::{
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

/// Timeout for all files together. The kernel takes some time to detach a killed run's loop
/// devices.
const IN_USE_TIMEOUT: Duration = Duration::from_secs(2);
const IN_USE_POLL: Duration = Duration::from_millis(50);

/// Removes the files of a study that still exist.
pub(crate) fn remove_leftovers(owned: &OwnedFiles, permissions: &Permissions) -> CleanupResult {
    let deadline = Instant::now() + IN_USE_TIMEOUT;
    let mut result = CleanupResult::default();
    for path in &owned.files {
        match remove_when_free(path, &owned.file_id, permissions, deadline) {
            Ok(true) => result.removed.push(path.clone()),
            Ok(false) => {}
            Err(problem) => result.left.push(LeftoverFile {
                path: path.clone(),
                // The problem does not refer to a field of a request.
                reason: Some(Problem {
                    field: None,
                    ..problem
                }),
            }),
        }
    }
    result
}

fn remove_when_free(
    path: &str,
    file_id: &str,
    permissions: &Permissions,
    deadline: Instant,
) -> Result<bool, Problem> {
    if !is_file_id(file_id) || !path.contains(file_id) {
        return Err(Problem::guard(
            "file_not_owned",
            "files",
            format!("{path} does not contain the study's file_id."),
            "Remove it manually if it is not needed.",
        ));
    }
    loop {
        match remove(Path::new(path), permissions) {
            Err(problem) if problem.code == "backs_loop" && Instant::now() < deadline => {
                sleep(IN_USE_POLL);
            }
            result => return result,
        }
    }
}

/// Returns false if the file does not exist.
fn remove(path: &Path, permissions: &Permissions) -> Result<bool, Problem> {
    let found = ResolvedPath::find(path);
    match found.kind {
        PathKind::Missing | PathKind::MissingDirectory => return Ok(false),
        PathKind::File if found.path == path => {}
        _ => {
            return Err(Problem::guard(
                "identity_changed",
                "files",
                format!("{} is not the file that the study created.", path.display()),
                "Check what is at this path, and remove it manually.",
            ));
        }
    }
    let guard = Guard::live(permissions);
    guard.admit(&found, Purpose::Write)?;
    remove_in_root(&guard, path).map_err(remove_failed(path))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const FILE_ID: &str = "0123456789abcdef";

    /// Tries to remove `root/name` as a file of the study. Checks the problem code, and whether the
    /// path still exists.
    fn check(root: &Path, name: &str, file_id: &str, expect: Result<bool, &str>) {
        let path = root.join(name);
        let owned = OwnedFiles {
            file_id: file_id.into(),
            files: vec![path.to_string_lossy().into()],
        };
        let found = remove_leftovers(&owned, &Permissions::below(&[root.into()]));
        let code = found
            .left
            .first()
            .and_then(|left| left.reason.as_ref())
            .map(|reason| reason.code.as_str());
        assert_eq!(
            (code, !found.removed.is_empty()),
            (expect.err(), expect == Ok(true)),
            "{name}"
        );
        assert_eq!(
            fs::symlink_metadata(&path).is_ok(),
            expect.is_err(),
            "{name}"
        );
    }

    #[test]
    fn removes_only_regular_files_with_the_file_id_below_a_root() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let root = base.join("root");
        fs::create_dir_all(root.join(format!("{FILE_ID}-d"))).unwrap();
        for name in [
            format!("root/a-{FILE_ID}"),
            "root/found".into(),
            format!("outside-{FILE_ID}"),
            format!("root/two-{FILE_ID}"),
        ] {
            fs::write(base.join(name), "data").unwrap();
        }
        fs::hard_link(root.join(format!("two-{FILE_ID}")), base.join("other")).unwrap();
        std::os::unix::fs::symlink(root.join("found"), root.join(format!("link-{FILE_ID}")))
            .unwrap();
        check(&root, &format!("a-{FILE_ID}"), FILE_ID, Ok(true));
        check(&root, &format!("a-{FILE_ID}"), FILE_ID, Ok(false));
        check(&root, &format!("missing/{FILE_ID}"), FILE_ID, Ok(false));
        check(&root, "found", FILE_ID, Err("file_not_owned"));
        check(&root, "found", "found", Err("file_not_owned"));
        check(&root, "found", "", Err("file_not_owned"));
        check(
            &root,
            &format!("link-{FILE_ID}"),
            FILE_ID,
            Err("identity_changed"),
        );
        check(
            &root,
            &format!("{FILE_ID}-d"),
            FILE_ID,
            Err("identity_changed"),
        );
        check(
            &root,
            &format!("two-{FILE_ID}"),
            FILE_ID,
            Err("hard_linked"),
        );
        let outside = OwnedFiles {
            file_id: FILE_ID.into(),
            files: vec![
                base.join(format!("outside-{FILE_ID}"))
                    .to_string_lossy()
                    .into(),
            ],
        };
        assert_eq!(
            remove_leftovers(&outside, &Permissions::below(&[root])).left[0]
                .reason
                .as_ref()
                .unwrap()
                .code,
            "outside_roots"
        );
        assert!(base.join(format!("outside-{FILE_ID}")).exists());
    }
}
