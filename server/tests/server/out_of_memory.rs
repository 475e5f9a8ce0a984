//! The kernel kills a runner because its control group has run out of memory.

use crate::{program::Program, real_runner::read};
use reqwest::StatusCode;
use serde_json::json;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

const LIMIT: u64 = 64 << 20;

/// A control group with a memory limit, removed on drop.
struct MemoryGroup(PathBuf);

impl MemoryGroup {
    /// Returns `None` if the host does not permit creating such groups.
    fn create() -> Option<Self> {
        let name = format!("leadline-memory-{}", std::process::id());
        [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ]
        .into_iter()
        .find_map(|(root, limit)| {
            let group = Self(Path::new(root).join(&name));
            fs::create_dir(&group.0).ok()?;
            fs::write(group.0.join(limit), LIMIT.to_string()).ok()?;
            // Swap would absorb the excess memory. Not all hosts account for swap.
            let _ = fs::write(group.0.join("memory.swappiness"), "0");
            let _ = fs::write(group.0.join("memory.swap.max"), "0");
            Some(group)
        })
    }

    fn procs(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[tokio::test]
async fn a_runner_killed_by_the_oom_killer_fails_its_run() {
    let Some(group) = MemoryGroup::create() else {
        eprintln!("SKIP: no control group with a memory limit can be created");
        return;
    };
    let runner = Path::new(env!("CARGO_BIN_EXE_leadline")).with_file_name("leadline-runner");
    if !runner.exists() {
        eprintln!("SKIP: the runner is not built; `cargo test --workspace` builds it");
        return;
    }
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let wrapper = directory.path().join("runner");
    // The kernel kills the other processes in the group only after the runner.
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = run ]; then echo $$ > {} && echo 1000 > /proc/self/oom_score_adj; fi\nexec {} \"$@\"\n",
        group.procs().display(),
        runner.display()
    );
    fs::write(&wrapper, script).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let server = Program::start_in(directory, &["--runner", wrapper.to_str().unwrap()]).await;
    let (status, run) = server.post("/runs", &json!({"jobs": [read("60s")]})).await;
    assert_eq!(status, StatusCode::CREATED, "{run}");
    let number = run["number"].as_u64().unwrap();
    server.wait_for_status(number, &["measuring"]).await;
    let script = format!(
        "echo $$ > {} && head -c {} /dev/zero | tail | true",
        group.procs().display(),
        2 * LIMIT
    );
    let mut hog = Command::new("sh")
        .args(["-c", &script])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let ended = server.wait_until_ended(number).await;
    hog.wait().unwrap();
    assert_eq!(ended["status"], "failed", "{ended}");
    let reason = ended["reason"].as_str().unwrap();
    assert!(reason.contains("signal 9 (SIGKILL)"), "{reason}");
    assert!(reason.contains("because memory was exhausted"), "{reason}");
    // The server still works.
    let (status, _) = server.post("/plan", &json!({"jobs": [read("1s")]})).await;
    assert_eq!(status, StatusCode::OK);
}
