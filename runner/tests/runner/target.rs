//! Layout, opening, page cache operations and cleanup with real files.

use crate::scratch::{Loop, Mounted, directory, image, job, mark_owned, run, target};
use leadline_protocol::{phase::PhaseChange, plan::job::ResolvedJob, problem::Problem};
use leadline_runner::{
    plan::host_view::HostView,
    system::{
        guard::permissions::Permissions,
        host::view::View,
        target::{
            Finish, OpenTarget, Targets,
            cache::{advise, flush, invalidate, pre_read},
            layout_data::LayoutData,
        },
    },
};
use serde_json::json;
use std::{
    fs::{self, File},
    os::unix::fs::{FileExt, MetadataExt, symlink},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

const MIB: u64 = 1 << 20;

fn lay_out(root: &Path, jobs: &[ResolvedJob]) -> Result<(Targets, Vec<PhaseChange>), Problem> {
    let mut targets = Targets::new(&Permissions::below(&[root.into()]));
    let mut seen = Vec::new();
    let data = LayoutData::new(1);
    let finish = targets.lay_out(
        jobs,
        &mut |path, at, buffer| data.fill(path, at, buffer),
        &mut |change| seen.push(change),
        &AtomicBool::new(false),
    )?;
    assert_eq!(finish, Finish::Done);
    Ok((targets, seen))
}

/// Bytes of a file in the page cache, from fincore(1).
fn cached_bytes(path: &Path) -> u64 {
    run(
        "fincore",
        &[
            "--noheadings",
            "--bytes",
            "--output",
            "RES",
            path.to_str().unwrap(),
        ],
    )
    .unwrap()
    .parse()
    .unwrap()
}

fn opened(targets: &mut Targets, job: &ResolvedJob) -> OpenTarget {
    targets.open(job).unwrap().remove(0).remove(0)
}

#[test]
fn laid_out_file_is_written_and_not_cached() {
    let dir = directory();
    let path = dir.path().join("f");
    let (_, seen) = lay_out(
        dir.path(),
        &[job(
            "randread",
            vec![target(&path, "file", 24 * MIB, 24 * MIB)],
            json!({}),
        )],
    )
    .unwrap();
    let facts = View::new(&Permissions::below(&[dir.path().into()])).path(path.to_str().unwrap());
    assert_eq!((facts.length, facts.fully_written), (24 * MIB, Some(true)));
    assert!(
        fs::read(&path)
            .unwrap()
            .chunks(512)
            .all(|sector| sector.iter().any(|&byte| byte != 0))
    );
    let last = seen.last().unwrap();
    assert_eq!(
        (last.done_bytes, last.total_bytes),
        (Some(24 * MIB), Some(24 * MIB))
    );
    let cold = dir.path().join("cold");
    lay_out(
        dir.path(),
        &[job(
            "read",
            vec![target(&cold, "file", 8 * MIB + 1000, 8 * MIB + 1000)],
            json!({}),
        )],
    )
    .unwrap();
    assert_eq!(fs::metadata(&cold).unwrap().len(), 8 * MIB + 1000);
    assert_eq!(cached_bytes(&cold), 0);
}

#[test]
fn short_file_keeps_its_data() {
    let dir = directory();
    let path = dir.path().join("f");
    fs::write(&path, vec![9; MIB as usize + 7]).unwrap();
    mark_owned(&path);
    lay_out(
        dir.path(),
        &[job(
            "read",
            vec![target(&path, "file", 3 * MIB, 2 * MIB - 7)],
            json!({}),
        )],
    )
    .unwrap();
    let data = fs::read(&path).unwrap();
    assert_eq!(data.len() as u64, 3 * MIB);
    assert!(
        data[..MIB as usize + 7].iter().all(|&byte| byte == 9)
            && data[MIB as usize + 7..].iter().any(|&byte| byte != 9)
    );
}

#[test]
fn fallocate_controls_block_allocation() {
    let dir = directory();
    let check = |how: &str, length: u64, has_blocks: bool| {
        let path = dir.path().join(how);
        lay_out(
            dir.path(),
            &[job(
                "randwrite",
                vec![target(&path, "file", 4 * MIB, 0)],
                json!({"fallocate": how}),
            )],
        )
        .unwrap();
        let found = fs::metadata(&path).unwrap();
        assert_eq!(
            (found.len(), found.blocks() * 512 >= 4 * MIB),
            (length, has_blocks),
            "{how}"
        );
    };
    check("native", 4 * MIB, true);
    check("posix", 4 * MIB, true);
    check("keep", 0, true);
    check("truncate", 4 * MIB, false);
    check("none", 0, false);
}

#[test]
fn file_shared_by_jobs_is_laid_out_once_with_the_largest_size() {
    let dir = directory();
    let path = dir.path().join("f");
    let reader = |length| {
        job(
            "read",
            vec![target(&path, "file", length, length)],
            json!({}),
        )
    };
    let (_, seen) = lay_out(dir.path(), &[reader(2 * MIB), reader(5 * MIB), reader(MIB)]).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 5 * MIB);
    assert_eq!(seen.last().unwrap().total_bytes, Some(5 * MIB));
}

#[test]
fn stopped_layout_removes_the_file() {
    let dir = directory();
    let path = dir.path().join("f");
    let stop = AtomicBool::new(false);
    let mut targets = Targets::new(&Permissions::below(&[dir.path().into()]));
    let mut fill = |_: &str, at: u64, buffer: &mut [u8]| {
        buffer.fill(1);
        stop.store(at >= 2 * MIB, Ordering::Relaxed);
    };
    let finish = targets.lay_out(
        &[job(
            "read",
            vec![target(&path, "file", 64 * MIB, 64 * MIB)],
            json!({}),
        )],
        &mut fill,
        &mut |_| {},
        &stop,
    );
    assert_eq!(finish.unwrap(), Finish::Stopped);
    assert!(!path.exists());
}

#[test]
fn full_filesystem_is_restored() {
    let dir = directory();
    let disk = dir.path().join("disk");
    image(&disk, 32 * MIB);
    let Some(device) = Loop::attach(&disk, &[]) else {
        return;
    };
    run("mkfs.ext4", &["-q", &device.0]).unwrap();
    let point = dir.path().join("mnt");
    let _mounted = Mounted::new(&device.0, &point);
    fs::write(point.join("old"), vec![3; MIB as usize]).unwrap();
    mark_owned(&point.join("old"));
    for (name, layout) in [("new", 64 * MIB), ("old", 63 * MIB)] {
        let problem = lay_out(
            &point,
            &[job(
                "read",
                vec![target(&point.join(name), "file", 64 * MIB, layout)],
                json!({}),
            )],
        )
        .unwrap_err();
        assert_eq!(problem.code, "no_space", "{problem}");
    }
    assert!(!point.join("new").exists());
    assert_eq!(fs::read(point.join("old")).unwrap(), vec![3; MIB as usize]);
}

#[test]
fn removes_only_files_created_by_the_run() {
    let dir = directory();
    let old = dir.path().join("old");
    let new = dir.path().join("new");
    let swapped = dir.path().join("swapped");
    let kept = dir.path().join("kept");
    fs::write(&old, vec![1; MIB as usize]).unwrap();
    let at = |path: &Path, layout, unlink: bool| {
        job(
            "read",
            vec![target(path, "file", MIB, layout)],
            json!({"unlink": unlink}),
        )
    };
    let jobs = [
        at(&old, 0, true),
        at(&new, MIB, true),
        at(&swapped, MIB, true),
        at(&kept, MIB, false),
    ];
    let (mut targets, _) = lay_out(dir.path(), &jobs).unwrap();
    fs::rename(&old, dir.path().join("aside")).unwrap();
    fs::rename(dir.path().join("aside"), &swapped).unwrap();
    assert_eq!(targets.clean_up().unwrap(), 1);
    assert!(!new.exists() && swapped.exists() && kept.exists());
}

#[test]
fn create_on_open_creates_files_at_open() {
    let dir = directory();
    let path = dir.path().join("f");
    let job = job(
        "write",
        vec![target(&path, "file", MIB, 0)],
        json!({"create_on_open": true, "unlink": true, "numjobs": 2}),
    );
    let (mut targets, _) = lay_out(dir.path(), std::slice::from_ref(&job)).unwrap();
    assert!(!path.exists());
    let workers = targets.open(&job).unwrap();
    assert_eq!((workers.len(), workers[0].len()), (2, 1));
    assert!(path.exists());
    drop(workers);
    assert_eq!(targets.clean_up().unwrap(), 1);
    assert!(!path.exists());
}

#[test]
fn workers_open_their_own_and_shared_targets() {
    let dir = directory();
    let mut files: Vec<_> = ["shared", "zero", "one"]
        .iter()
        .map(|name| target(&dir.path().join(name), "file", 4096, 4096))
        .collect();
    files[1]["worker"] = json!(0);
    files[2]["worker"] = json!(1);
    let job = job("read", files, json!({"numjobs": 2}));
    let (mut targets, _) = lay_out(dir.path(), std::slice::from_ref(&job)).unwrap();
    let names = |opened: &Vec<OpenTarget>| {
        opened
            .iter()
            .map(|one| one.target.path.rsplit('/').next().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    let workers: Vec<_> = targets.open(&job).unwrap().iter().map(names).collect();
    assert_eq!(workers, [["shared", "zero"], ["shared", "one"]]);
}

#[test]
fn descriptor_for_a_read_job_is_read_only() {
    let dir = directory();
    let path = dir.path().join("f");
    let job = job(
        "randread",
        vec![target(&path, "file", MIB, MIB)],
        json!({"direct": false}),
    );
    let (mut targets, _) = lay_out(dir.path(), std::slice::from_ref(&job)).unwrap();
    let file = File::from(opened(&mut targets, &job).fd);
    assert!(file.read_at(&mut [0; 512], 0).is_ok());
    assert_eq!(
        file.write_at(&[0; 512], 0).unwrap_err().raw_os_error(),
        Some(libc::EBADF)
    );
}

#[test]
fn open_flags_match_the_job() {
    let dir = directory();
    let path = dir.path().join("f");
    fs::write(&path, vec![1; MIB as usize]).unwrap();
    mark_owned(&path);
    for (changed, wanted, unwanted) in [
        (json!({"direct": true}), libc::O_DIRECT, libc::O_DSYNC),
        (json!({"direct": false}), libc::O_RDWR, libc::O_DIRECT),
        (json!({"sync": "sync"}), libc::O_SYNC, 0),
        (
            json!({"sync": "dsync"}),
            libc::O_DSYNC,
            libc::O_SYNC & !libc::O_DSYNC,
        ),
    ] {
        let job = job(
            "randwrite",
            vec![target(&path, "file", MIB, 0)],
            changed.clone(),
        );
        let flags = rustix::fs::fcntl_getfl(
            &opened(
                &mut Targets::new(&Permissions::below(&[dir.path().into()])),
                &job,
            )
            .fd,
        )
        .unwrap()
        .bits() as i32;
        assert!(
            flags & wanted == wanted && flags & unwanted == 0,
            "{changed}: {flags:o}"
        );
    }
}

#[test]
fn symlink_out_of_the_root_is_not_followed() {
    let dir = directory();
    let root = dir.path().join("root");
    let outside = dir.path().join("outside");
    fs::create_dir(&root).unwrap();
    fs::write(&outside, "data").unwrap();
    symlink(&outside, root.join("f")).unwrap();
    let job = job(
        "randwrite",
        vec![target(&root.join("f"), "file", 4096, 4096)],
        json!({}),
    );
    assert_eq!(
        lay_out(&root, std::slice::from_ref(&job)).unwrap_err().code,
        "outside_roots"
    );
    assert_eq!(
        Targets::new(&Permissions::below(&[root]))
            .open(&job)
            .unwrap_err()
            .code,
        "outside_roots"
    );
    assert_eq!(fs::read_to_string(&outside).unwrap(), "data");
}

#[test]
fn nothing_is_created_under_dev() {
    let path = Path::new("/dev/leadline-missing-disk");
    for kind in ["file", "device"] {
        let job = job(
            "randwrite",
            vec![target(path, kind, MIB, MIB)],
            json!({"create_on_open": true}),
        );
        assert_eq!(
            Targets::new(&Permissions::default())
                .open(&job)
                .unwrap_err()
                .code,
            "not_a_block_device"
        );
    }
    let laid = job("randwrite", vec![target(path, "file", MIB, MIB)], json!({}));
    assert_eq!(
        lay_out(Path::new("/dev"), &[laid]).unwrap_err().code,
        "not_a_block_device"
    );
    assert!(!path.exists());
}

#[test]
fn pre_read_fills_and_invalidate_drops_the_page_cache() {
    let dir = directory();
    let path = dir.path().join("f");
    let job = job(
        "read",
        vec![target(&path, "file", 8 * MIB, 8 * MIB)],
        json!({"direct": true}),
    );
    let (mut targets, _) = lay_out(dir.path(), std::slice::from_ref(&job)).unwrap();
    let one = opened(&mut targets, &job);
    let mut seen = Vec::new();
    assert_eq!(
        pre_read(
            &one,
            0..8 * MIB,
            &mut |change| seen.push(change.done_bytes),
            &AtomicBool::new(false)
        ),
        Ok(Finish::Done)
    );
    assert_eq!(seen.last(), Some(&Some(8 * MIB)));
    assert_eq!(cached_bytes(&path), 8 * MIB);
    advise(
        &one,
        leadline_protocol::job::keyword::Fadvise::Random,
        0..8 * MIB,
    )
    .unwrap();
    invalidate(&one, 0..4 * MIB).unwrap();
    assert_eq!(cached_bytes(&path), 4 * MIB);
    flush(&one).unwrap();
    assert_eq!(
        pre_read(&one, 0..8 * MIB, &mut |_| {}, &AtomicBool::new(true)),
        Ok(Finish::Stopped)
    );
}

#[test]
fn null_target_accepts_all_cache_operations() {
    let job = job(
        "randwrite",
        vec![target(Path::new(""), "null", MIB, 0)],
        json!({"ioengine": "null"}),
    );
    let one = opened(&mut Targets::new(&Permissions::default()), &job);
    invalidate(&one, 0..MIB).and_then(|()| flush(&one)).unwrap();
}
