//! `file_state` and `cache_state` on real files: a run starts in the requested state, and never
//! destroys foreign files to reach it.

use crate::scratch::{self, Disk, program::report};
use leadline_protocol::job::run_spec::parse_run;
use leadline_runner::{
    plan::resolve,
    system::{guard::permissions::Permissions, host::view::View},
};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    os::unix::fs::{FileExt, MetadataExt},
    path::Path,
};

const MIB: u64 = 1 << 20;

fn job(path: &Path, rw: &str, changes: Value) -> Value {
    let mut job = json!({"filename": path, "size": "16m", "rw": rw, "bs": "64k", "direct": 1});
    changes
        .as_object()
        .unwrap()
        .iter()
        .for_each(|(name, value)| job[name] = value.clone());
    job
}

fn target(job: &Value) -> Value {
    report(job)["report"]["targets"][0].clone()
}

/// Codes and messages of a job's problems.
fn problems(job: &Value) -> Vec<(String, String)> {
    let plan = resolve(
        &parse_run(job).unwrap(),
        &View::new(&Permissions::default()),
    );
    plan.problems
        .iter()
        .map(|problem| (problem.code.clone(), problem.to_string()))
        .collect()
}

fn write_as_other_program(path: &Path) {
    // File timestamps advance once per tick (up to 10 ms).
    std::thread::sleep(std::time::Duration::from_millis(20));
    // Do not truncate the file: ext4 would then write the data immediately (auto_da_alloc).
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .unwrap();
    file.write_all_at(&vec![b'x'; 16 * MIB as usize], 0)
        .unwrap();
}

#[test]
fn fresh_recreates_owned_files_and_rejects_foreign_ones() {
    let Some(disk) = Disk::ext4() else { return };
    let path = disk.file("f");
    let fresh = job(&path, "write", json!({"file_state": "fresh"}));
    for _ in 0..2 {
        let target = target(&fresh);
        assert_eq!(
            (
                &target["state"]["existed"],
                &target["extents"]["before"]["hole"]
            ),
            (&json!(false), &json!(16 * MIB))
        );
        assert_eq!(target["extents"]["after"]["written"], json!(16 * MIB));
    }
    // The file is still owned after another Leadline run writes to it.
    target(&job(&path, "randwrite", json!({"file_state": "overwrite"})));
    assert!(problems(&fresh).is_empty());
    write_as_other_program(&path);
    let (code, sentence) = problems(&fresh).remove(0);
    assert!(
        code == "file_not_owned" && sentence.contains("remove the file yourself"),
        "{sentence}"
    );
    // A foreign file does not become owned if a run overwrites it.
    target(&job(&path, "randwrite", json!({})));
    assert_eq!(problems(&fresh)[0].0, "file_not_owned");
    assert!(path.exists());
}

#[test]
fn written_fills_owned_files_and_rejects_foreign_ones() {
    let Some(disk) = Disk::ext4() else { return };
    let written = |path: &Path| job(path, "randread", json!({"file_state": "written"}));
    let new = disk.file("new");
    assert_eq!(target(&written(&new))["state"]["written_share"], json!(1.0));
    let inode = fs::metadata(&new).unwrap().ino();
    assert_eq!(target(&written(&new))["state"]["existed"], json!(true));
    assert_eq!(fs::metadata(&new).unwrap().ino(), inode, "reused");

    let holes = disk.file("owned");
    target(&job(
        &holes,
        "write",
        json!({"fallocate": "native", "io_size": "1m"}),
    ));
    assert_eq!(
        target(&written(&holes))["state"]["written_share"],
        json!(1.0),
        "owned"
    );

    let foreign = disk.file("foreign");
    File::create(&foreign).unwrap().set_len(16 * MIB).unwrap();
    let (code, sentence) = problems(&written(&foreign)).remove(0);
    assert!(
        code == "file_not_owned" && sentence.contains("overwrite=1"),
        "{sentence}"
    );
    assert_eq!(fs::metadata(&foreign).unwrap().blocks(), 0);
}

#[test]
fn overwrite_and_append_match_fio() {
    let Some(disk) = Disk::ext4() else { return };
    let path = disk.file("f");
    let overwritten = target(&job(&path, "randwrite", json!({"file_state": "overwrite"})));
    assert_eq!(
        (
            &overwritten["state"]["written_share"],
            &overwritten["extents"]["before"]["written"]
        ),
        (&json!(1.0), &json!(16 * MIB))
    );
    let appended = target(&job(&path, "write", json!({"file_state": "append"})));
    assert_eq!(
        (
            &appended["region_offset"],
            &appended["extents"]["before"]["hole"]
        ),
        (&json!(16 * MIB), &json!(16 * MIB))
    );
    assert_eq!(fs::metadata(&path).unwrap().len(), 32 * MIB);
}

#[test]
fn cold_drops_dirty_pages_and_warm_caches_the_whole_file() {
    let Some(disk) = Disk::ext4() else { return };
    let path = disk.file("f");
    write_as_other_program(&path);
    let as_is = target(&job(&path, "read", json!({"direct": 0})));
    assert!(
        as_is["residency"]["start"]["cached"].as_u64().unwrap() > 0,
        "invalidate keeps dirty pages: {}",
        as_is["residency"]
    );
    write_as_other_program(&path);
    let cold = target(&job(
        &path,
        "read",
        json!({"direct": 0, "cache_state": "cold"}),
    ));
    assert_eq!(
        cold["residency"]["initial"]["dirty"],
        json!(16 * MIB),
        "{}",
        cold["residency"]
    );
    assert_eq!(
        (
            &cold["residency"]["start"]["cached"],
            &cold["state"]["cached_share"]
        ),
        (&json!(0), &json!(0.0))
    );
    let read_warm = || {
        let changes = json!({"direct": 0, "cache_state": "warm"});
        target(&job(&path, "randread", changes))
    };
    // The host may evict pages.
    let warm = (0..5)
        .map(|_| read_warm())
        .find(|warm| warm["state"]["cached_share"] == json!(1.0))
        .unwrap_or_else(read_warm);
    assert_eq!(
        warm["state"]["cached_share"],
        json!(1.0),
        "{}",
        warm["residency"]
    );
    assert!(
        warm["map"]["start"]
            .as_array()
            .unwrap()
            .iter()
            .all(|percent| percent == 100)
    );
}

#[test]
fn device_can_be_cold_and_warm() {
    let directory = scratch::directory();
    let image = directory.path().join("image");
    scratch::image(&image, 16 * MIB);
    let Some(device) = scratch::Loop::attach(&image, &[]) else {
        return;
    };
    let state = |cache: &str| {
        target(&job(
            Path::new(&device.0),
            "read",
            json!({"direct": 0, "cache_state": cache}),
        ))["state"]
            .clone()
    };
    // The host may evict pages, and other programs may read the device.
    let reaches = |cache, share: f64| (0..5).any(|_| state(cache)["cached_share"] == json!(share));
    assert!(reaches("warm", 1.0), "{}", state("warm"));
    assert!(reaches("cold", 0.0), "{}", state("cold"));
    assert_eq!(state("warm")["written_share"], json!(null));
}
