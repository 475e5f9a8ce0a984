//! A study that ends before its last step still removes its own files, and keeps existing ones.

use crate::scratch::{self, Disk, program};
use serde_json::{Value, json};
use std::{
    path::Path,
    process::Child,
    time::{Duration, Instant},
};

/// A study with its own files and loop device and with an existing file. If its fourth step runs,
/// it removes the files of the first two steps.
fn study(third: Value) -> Value {
    let job = |name: &str, file: &str, changes: Value| {
        let mut job = json!({"name": name, "filename": file, "size": "4m", "rw": "randread", "bs": "4k", "direct": 0});
        changes
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        job
    };
    let all = |unlink: u8| {
        [
            job("data", "own-$study.data", json!({"unlink": unlink})),
            job(
                "short",
                "own-$study.short",
                json!({"unlink": unlink, "rw": "write", "number_ios": "1", "fallocate": "none"}),
            ),
        ]
    };
    let image = |unlink: u8| {
        job(
            "image",
            "own-$study.loop",
            json!({"loop_device": 1, "unlink": unlink}),
        )
    };
    let existing = job("existing", "existing", json!({"unlink": 1}));
    let last = all(1)
        .into_iter()
        .chain([image(1), existing])
        .collect::<Vec<_>>();
    json!({"name": "interrupted", "steps": [{"jobs": all(0)}, {"jobs": [image(0)]}, {"jobs": [job("third", "existing", third)]}, {"jobs": last}]})
}

fn start(document: &Value, root: &Path) -> Child {
    program::start(
        document,
        &["--json", "--target-root", root.to_str().unwrap()],
    )
}

fn files(directory: &Path) -> Vec<String> {
    let names = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "lost+found").collect();
    names.sort();
    names
}

/// Runs a study with this third step, and calls `interfere` once the study's files exist. Returns
/// the exit code.
fn exit_code_of(third: Value, interfere: impl Fn(&Child)) -> Option<i32> {
    let disk = Disk::ext4()?;
    std::fs::write(disk.at.join("existing"), vec![7; 4 << 20]).unwrap();
    let child = start(&study(third), &disk.at);
    let began = Instant::now();
    let mut max = 0;
    while max < 4 {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "missing files: {:?}",
            files(&disk.at)
        );
        max = max.max(files(&disk.at).len());
        std::thread::sleep(Duration::from_millis(1));
    }
    interfere(&child);
    let output = child.wait_with_output().unwrap();
    let steps: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(files(&disk.at), ["existing"]);
    assert_eq!(
        std::fs::read(disk.at.join("existing")).unwrap(),
        vec![7; 4 << 20]
    );
    assert!(
        steps["steps"][3]["exit_code"].is_null(),
        "the last step ran: {steps}"
    );
    output.status.code()
}

#[test]
fn interrupted_study_removes_its_files() {
    let long = json!({"runtime": "60s", "time_based": 1});
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let kill = |child: &Child| {
            std::thread::sleep(Duration::from_millis(300));
            scratch::run("kill", &[&format!("-{signal}"), &child.id().to_string()]).unwrap();
        };
        let Some(found) = exit_code_of(long.clone(), kill) else {
            return;
        };
        assert_eq!(found, code);
    }
}

#[test]
fn failed_study_removes_its_files() {
    // Only one block of the file has been written, which the plan does not detect.
    let unread = json!({"filename": "own-$study.short", "rw": "read", "fallocate": "none"});
    let Some(code) = exit_code_of(unread, |_| {}) else {
        return;
    };
    assert_eq!(code, 2);
}
