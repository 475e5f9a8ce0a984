//! Removing what a study left behind because the step that would have done it never ran, or was killed. Only regular files
//! that carry the study's file_id in their path, and that the guard would let a run overwrite, are touched.
//!
//! Not here: which files those are (`study`), removal by the step itself (`made`).

use crate::plan::host_view::PathKind;
use crate::system::guard::{Guard, Purpose};
use crate::system::host::resolved_path::ResolvedPath;
use crate::system::target::open::remove_beneath;
use leadline_protocol::job::parse::is_mark;
use leadline_protocol::problem::Problem;
use leadline_protocol::study::own::{CleanupResult, LeftoverFile, OwnedFiles};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a file may stay in use, in all: the loop device of a run that was killed is let go by the kernel.
const FREE_WITHIN: Duration = Duration::from_secs(2);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// Removes the files of a study's own that are still there. `roots`: the target roots, as given to `host::View`.
pub fn remove_leftovers(own: &OwnedFiles, roots: &[PathBuf]) -> CleanupResult {
    let deadline = Instant::now() + FREE_WITHIN;
    let mut tidied = CleanupResult::default();
    for path in &own.files {
        match remove_when_free(path, &own.file_id, roots, deadline) {
            Ok(true) => tidied.removed.push(path.clone()),
            Ok(false) => {}
            // It is about no field of what was asked.
            Err(reason) => tidied.left.push(LeftoverFile {
                path: path.clone(),
                reason: Some(Problem {
                    field: None,
                    ..reason
                }),
            }),
        }
    }
    tidied
}

fn remove_when_free(
    path: &str,
    file_id: &str,
    roots: &[PathBuf],
    deadline: Instant,
) -> Result<bool, Problem> {
    if !is_mark(file_id) || !path.contains(file_id) {
        let sentence = format!("{path} does not carry the file_id of the study.");
        return Err(Problem::guard(
            "not_our_file",
            "files",
            sentence,
            "Remove it by hand if nobody needs it.",
        ));
    }
    loop {
        match remove(Path::new(path), roots) {
            Err(problem) if problem.code == "backs_loop" && Instant::now() < deadline => {
                sleep(PAUSE)
            }
            result => return result,
        }
    }
}

/// Removes a file; `false` when there is none.
fn remove(path: &Path, roots: &[PathBuf]) -> Result<bool, Problem> {
    let place = ResolvedPath::find(path);
    if matches!(place.kind, PathKind::Missing | PathKind::MissingDirectory) {
        return Ok(false);
    }
    if place.kind != PathKind::File || place.path != path {
        let sentence = format!(
            "{} is no longer the file that the study made.",
            path.display()
        );
        return Err(Problem::guard(
            "identity_changed",
            "files",
            sentence,
            "Look at what is there now.",
        ));
    }
    let guard = Guard::live(roots);
    guard.admit(&place, Purpose::Write)?;
    remove_beneath(&guard, &place.path)
        .map(|()| true)
        .map_err(|error| {
            let sentence = format!(
                "{} cannot be removed: {}.",
                path.display(),
                std::io::Error::from(error)
            );
            Problem::environment("clean_up_failed", "files", sentence, "Remove it by hand.")
        })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const MARK: &str = "0123456789abcdef";

    /// What becomes of a path under the root when a study with this file_id says that it is its own.
    fn check(root: &Path, name: &str, file_id: &str, expect: Result<bool, &str>) {
        let path = root.join(name);
        let own = OwnedFiles {
            file_id: file_id.into(),
            files: vec![path.to_string_lossy().into()],
        };
        let found = remove_leftovers(&own, &[root.into()]);
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
    fn only_regular_files_with_the_mark_under_a_root_go() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let root = base.join("root");
        fs::create_dir_all(root.join(format!("{MARK}-d"))).unwrap();
        for name in [
            format!("root/a-{MARK}"),
            "root/found".into(),
            format!("outside-{MARK}"),
            format!("root/two-{MARK}"),
        ] {
            fs::write(base.join(name), "data").unwrap();
        }
        fs::hard_link(root.join(format!("two-{MARK}")), base.join("other")).unwrap();
        std::os::unix::fs::symlink(root.join("found"), root.join(format!("link-{MARK}"))).unwrap();
        check(&root, &format!("a-{MARK}"), MARK, Ok(true));
        check(&root, &format!("a-{MARK}"), MARK, Ok(false));
        check(&root, &format!("no/where/{MARK}"), MARK, Ok(false));
        check(&root, "found", MARK, Err("not_our_file"));
        check(&root, "found", "found", Err("not_our_file"));
        check(&root, "found", "", Err("not_our_file"));
        check(
            &root,
            &format!("link-{MARK}"),
            MARK,
            Err("identity_changed"),
        );
        check(&root, &format!("{MARK}-d"), MARK, Err("identity_changed"));
        check(&root, &format!("two-{MARK}"), MARK, Err("hard_linked"));
        let outside = OwnedFiles {
            file_id: MARK.into(),
            files: vec![
                base.join(format!("outside-{MARK}"))
                    .to_string_lossy()
                    .into(),
            ],
        };
        assert_eq!(
            remove_leftovers(&outside, &[root]).left[0]
                .reason
                .as_ref()
                .unwrap()
                .code,
            "outside_roots"
        );
        assert!(base.join(format!("outside-{MARK}")).exists());
    }
}
