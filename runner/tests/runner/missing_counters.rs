//! Reports on hosts without cachestat(2) (as in a container whose seccomp filter blocks it), root
//! or tracing: each missing value has a reason.

use crate::scratch::{self, Disk, locked_pages::LockedPages, program, seccomp::without_call, skip};
use serde_json::{Value, json};
use std::{fs::File, os::unix::process::CommandExt, path::Path, process::Command};

const CACHESTAT: u32 = 451;

fn result_of(mut command: Command, job: &Value) -> Value {
    program::report_of(&mut command, job)
}

fn runner() -> Command {
    let mut command = program::runner();
    command.args(program::JSON);
    command
}

fn reads(path: &Path) -> Value {
    json!({"filename": path, "size": "4m", "rw": "read", "bs": "64k", "direct": 0})
}

#[test]
fn uses_mincore_without_cachestat() {
    let Some(disk) = Disk::ext4() else { return };
    std::fs::write(disk.file("f"), vec![7; 4 << 20]).unwrap();
    let _locked = LockedPages::of(&File::open(disk.file("f")).unwrap(), 4 << 20);
    for error in [libc::ENOSYS, libc::EPERM] {
        let mut command = runner();
        without_call(&mut command, CACHESTAT, error);
        let result = result_of(command, &reads(&disk.file("f")));
        let target = &result["report"]["targets"][0];
        let end = &target["residency"]["end"];
        assert_eq!(
            (&end["cached"], &end["dirty"], &end["evicted"]),
            (&json!(4 << 20), &Value::Null, &Value::Null),
            "{error}"
        );
        assert!(
            target["absent"]["dirty"]
                .as_str()
                .unwrap()
                .contains("mincore"),
            "{target}"
        );
        assert_eq!(target["map"]["end"].as_array().unwrap().len(), 128);
        assert!(result["verdict"]["read"]["sentence"].is_string());
    }
}

#[test]
fn missing_values_have_reasons_for_an_unprivileged_user() {
    let directory = tempfile::tempdir().unwrap();
    let nobody = 65_534;
    std::os::unix::fs::chown(directory.path(), Some(nobody), Some(nobody))
        .unwrap_or_else(|error| skip(&error.to_string()));
    // The program must be accessible to every user.
    let program = directory.path().join("leadline-runner");
    std::fs::copy(env!("CARGO_BIN_EXE_leadline-runner"), &program).unwrap();
    let mut command = Command::new(&program);
    command
        .args(["run", "-", "--json"])
        .uid(nobody)
        .gid(nobody)
        .current_dir(directory.path());
    let path = directory.path().join("f");
    scratch::image(&path, 4 << 20);
    std::os::unix::fs::chown(&path, Some(nobody), Some(nobody)).unwrap();
    // The host must not reclaim pages during the run.
    let _locked = LockedPages::of(&File::open(&path).unwrap(), 4 << 20);
    let mut job = reads(&path);
    (job["request_sizes"], job["profile"]) = (json!(1), json!(1));
    let result = result_of(command, &job);
    let report = &result["report"];
    assert_eq!(
        (&report["read"]["ios"], &report["requests"]),
        (&json!(64), &Value::Null)
    );
    let reason = |name: &str| {
        report["absent"][name]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(
        reason("requests").contains("root") && reason("throttled_ms").contains("root"),
        "{}",
        report["absent"]
    );
    assert!(
        report["profile"].is_object() || !reason("profile").is_empty(),
        "{}",
        report["absent"]
    );
    assert_eq!(
        report["targets"][0]["residency"]["end"]["cached"],
        json!(4 << 20),
        "file of the same user"
    );
}

#[test]
fn residency_is_missing_for_a_file_of_another_user() {
    let directory = tempfile::tempdir().unwrap();
    let open_to_all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(directory.path(), open_to_all).unwrap();
    let program = directory.path().join("leadline-runner");
    std::fs::copy(env!("CARGO_BIN_EXE_leadline-runner"), &program).unwrap();
    std::fs::write(directory.path().join("f"), vec![7; 4 << 20]).unwrap();
    let mut command = Command::new(&program);
    command
        .args(["run", "-", "--json"])
        .uid(65_534)
        .gid(65_534)
        .current_dir(directory.path());
    let result = result_of(command, &reads(&directory.path().join("f")));
    let report = &result["report"];
    assert_eq!(
        report["targets"][0]["residency"],
        json!({"initial": null, "start": null, "end": null})
    );
    assert!(
        report["absent"]["residency"]
            .as_str()
            .unwrap()
            .contains("only to the owner"),
        "{}",
        report["absent"]
    );
    assert_eq!(report["targets"][0]["state"]["cached_share"], Value::Null);
}
