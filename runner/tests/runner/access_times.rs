//! Plans and read-only runs must not change the access times of their targets, because backup
//! programs and mail readers rely on them. The `strictatime` mount option makes every read by
//! another program visible.

use crate::scratch::{self, Disk, document::run, program};
use serde_json::{Value, json};
use std::{
    fs::{self, File, FileTimes},
    io::{Read, Seek, SeekFrom, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::Output,
    time::{Duration, SystemTime},
};

/// Larger than any file that a plan reads completely.
const LARGE_BYTES: u64 = 100 << 20;

fn access_time(path: &Path) -> (i64, i64) {
    let metadata = fs::symlink_metadata(path).unwrap();
    (metadata.atime(), metadata.atime_nsec())
}

fn set_past(path: &Path) {
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let times = FileTimes::new().set_accessed(past);
    File::open(path).unwrap().set_times(times).unwrap();
}

/// All kinds of directories and files that a plan may examine: with data, blank, sparse and empty.
fn create_tree(root: &Path) -> Vec<PathBuf> {
    let directory = root.join("directory");
    fs::create_dir(&directory).unwrap();
    let file = |name: &str, bytes: u64, data: &[u8]| {
        let path = directory.join(name);
        let mut file = File::create(&path).unwrap();
        file.set_len(bytes).unwrap();
        file.seek(SeekFrom::Start(bytes / 2)).unwrap();
        file.write_all(data).unwrap();
        path
    };
    vec![
        file("data", 1 << 20, &[7; 65_536]),
        file("blank", 1 << 20, &[0; 65_536]),
        file("large", LARGE_BYTES, &[7; 65_536]),
        file("sparse", LARGE_BYTES, &[]),
        file("empty", 0, &[]),
        directory,
        root.to_owned(),
    ]
}

fn jobs(file: &Path) -> Vec<Value> {
    let mut jobs = Vec::new();
    for rw in ["read", "randwrite", "randrw"] {
        for direct in [0, 1] {
            jobs.push(json!({"filename": file, "rw": rw, "bs": "4k", "direct": direct, "size": "1m", "io_size": "64k"}));
        }
    }
    let mut overwriting = jobs[0].clone();
    overwriting["overwrite"] = 1.into();
    jobs.push(overwriting);
    let mut verified = jobs[2].clone();
    verified["verify"] = "crc32c".into();
    jobs.push(verified);
    jobs
}

fn plan(root: &Path, job: &Value) -> Output {
    let mut command = program::runner();
    command.args([
        "plan",
        "-",
        "--json",
        "--target-root",
        root.to_str().unwrap(),
    ]);
    scratch::input::output(&mut command, job.to_string())
}

#[test]
fn plans_and_reads_keep_access_times() {
    let Some(disk) = Disk::new("mkfs.ext4 -q", "strictatime", false) else {
        return;
    };
    let root = disk.file("root");
    fs::create_dir(&root).unwrap();
    let tree = create_tree(&root);
    tree.iter().for_each(|path| set_past(path));
    let before: Vec<_> = tree.iter().map(|path| access_time(path)).collect();
    let check = |what: &str| {
        for (path, before) in tree.iter().zip(&before) {
            assert_eq!(access_time(path), *before, "{what}: {}", path.display());
        }
    };
    let files = tree.iter().filter(|path| path.is_file());
    for file in files {
        for job in jobs(file) {
            let output = plan(&root, &job);
            assert!(!output.stdout.is_empty(), "{job}: {output:?}");
            check(&format!("plan {job}"));
            if job["rw"] == "read" && job["overwrite"].is_null() && file.ends_with("data") {
                let mut job = job.clone();
                job["pre_read"] = (1 - job["direct"].as_u64().unwrap()).into();
                let output = run(&job, &root, &[]);
                assert_eq!(output.status.code(), Some(0), "{job}: {output:?}");
                check(&format!("run {job}"));
            }
        }
    }
    let mut command = program::runner();
    command.args(["run", "-", "--target-root", root.to_str().unwrap()]);
    let mut child = program::spawn_unconfirmed(&mut command, &jobs(&tree[0])[2]);
    child.stdin.take();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    check("a rejected run");
    // Check that the filesystem records access times and that the comparison detects a change.
    File::open(&tree[0]).unwrap().read_exact(&mut [0]).unwrap();
    assert_ne!(access_time(&tree[0]), before[0]);
}
