//! Targets that are swapped between the check and the write.

use crate::{
    fingerprint,
    product::job,
    runner::{Runner, send},
    scene::{MIB, Scratch, Unavailable, attach, foreign, noise, sparse, text, write_at},
    scratch::{Loop, skip},
};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
    process::Child,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

/// Files per job. While the first one is laid out, the others are swapped.
const FILES: usize = 4;

/// During the layout, swaps files for hard links to a file outside the root, and back.
pub(crate) fn hard_links_during_layout(runs: usize) {
    let scratch = Scratch::new();
    let victim = scratch.victim();
    let before = fingerprint::of(std::slice::from_ref(&victim));
    let (mut wrong, mut swaps) = (0, 0);
    for round in 0..runs {
        swaps += layout_with_swaps(&scratch, &victim, round);
        if fingerprint::of(std::slice::from_ref(&victim)) != before {
            wrong += 1;
            foreign(&victim);
        }
    }
    assert!(swaps > runs, "only {swaps} swaps");
    assert_eq!(
        wrong, 0,
        "number of runs, of {runs}, that wrote to the wrong file ({swaps} swaps)"
    );
}

/// Runs a job, swaps its files during the layout, and returns the number of swaps.
fn layout_with_swaps(scratch: &Scratch, victim: &Path, round: usize) -> usize {
    let files: Vec<PathBuf> = (0..FILES)
        .map(|file| scratch.root().join(format!("{round}-{file}")))
        .collect();
    // Mostly empty files; sometimes sparse or new ones.
    match round % 8 {
        0 => (),
        1 => files.iter().for_each(|file| drop(sparse(file, MIB))),
        _ => files.iter().for_each(|file| drop(sparse(file, 0))),
    }
    let names: Vec<&str> = files.iter().map(|file| text(file)).collect();
    let job = json!({"name": "swap", "filename": names.join(":"), "filesize": "1m", "bs": "4k",
        "nrfiles": FILES, "size": FILES as u64 * MIB, "rw": "write", "direct": 0,
        "overwrite": round / 8 % 2, "io_size": "64k"});
    let stop = AtomicBool::new(false);
    let swapped = thread::scope(|scope| {
        let swapper = scope.spawn(|| swap_after_first(&files, victim, &stop));
        Runner::under(scratch.root()).run(&job, &[]);
        stop.store(true, Relaxed);
        swapper.join().unwrap()
    });
    files.iter().for_each(|file| drop(fs::remove_file(file)));
    swapped
}

/// Waits for the first byte of the first file, then swaps the others until the run ends.
fn swap_after_first(files: &[PathBuf], victim: &Path, stop: &AtomicBool) -> usize {
    let links: Vec<PathBuf> = files
        .iter()
        .map(|file| file.with_extension("link"))
        .collect();
    links
        .iter()
        .for_each(|link| fs::hard_link(victim, link).unwrap());
    let has_started = || files[0].metadata().is_ok_and(|file| file.blocks() > 0);
    while !has_started() && !stop.load(Relaxed) {
        std::hint::spin_loop();
    }
    let mut swaps = 0;
    while !stop.load(Relaxed) {
        for (file, link) in files.iter().zip(&links).skip(1) {
            let swapped = renameat_with(CWD, file, CWD, link, RenameFlags::EXCHANGE);
            swaps += usize::from(swapped.is_ok());
        }
    }
    links.iter().for_each(|link| drop(fs::remove_file(link)));
    swaps
}

fn blank_and_full(scratch: &Scratch) -> Result<(Loop, Loop, PathBuf), Unavailable> {
    let blank = attach(&scratch.image("blank.img", 32), &[])?;
    let image = scratch.image("full.img", 32);
    write_at(&image, 0, &noise(MIB as usize));
    Ok((blank, attach(&image, &[])?, image))
}

/// A symlink that alternates between a blank device and a device with data.
pub(crate) fn links_to_devices(runs: usize) {
    let scratch = Scratch::new();
    let (blank, full, image) = match blank_and_full(&scratch) {
        Ok(devices) => devices,
        Err(reason) => return skip(&reason),
    };
    let before = fingerprint::of(std::slice::from_ref(&image));
    let link = scratch.at("disk");
    symlink(&blank.0, &link).unwrap();
    let (stop, mut accepted) = (AtomicBool::new(false), 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0.. {
                if stop.load(Relaxed) {
                    break;
                }
                let to = if turn % 2 == 0 { &full.0 } else { &blank.0 };
                let next = scratch.at("next");
                symlink(to, &next).unwrap();
                fs::rename(&next, &link).unwrap();
                thread::sleep(Duration::from_micros(turn * 131 % 3000));
            }
        });
        // Write zeros, so that the blank device stays blank.
        let job = job(&link, 32 * MIB, json!({"rw": "write", "zero_buffers": 1}));
        for _ in 0..runs {
            accepted += u32::from(Runner::under(scratch.root()).run(&job, &[]).exit == 0);
        }
        stop.store(true, Relaxed);
    });
    drop(fs::File::open(&full.0).map(|device| device.sync_all()));
    assert_eq!(
        fingerprint::of(&[image]),
        before,
        "{accepted} of {runs} runs were accepted"
    );
    assert!(accepted > 0, "no run was accepted");
}

/// Between the start of the runner and the arrival of its job, the root becomes a symlink to
/// another directory.
pub(crate) fn root_before_the_job() {
    let scratch = Scratch::new();
    let before = prepare_other_directory(&scratch);
    let mut child = Runner::under(scratch.root()).start("run", &["--events"]);
    wait_until_stdin_is_read(&child);
    replace_root(&scratch);
    send(&mut child, &write_victim(&scratch));
    child.wait_with_output().unwrap();
    assert_eq!(fingerprint::of(&[scratch.outside()]), before);
}

/// The root becomes a symlink to another directory between two steps of a study.
pub(crate) fn root_between_steps() {
    let scratch = Scratch::new();
    let before = prepare_other_directory(&scratch);
    let first = job(
        &scratch.root().join("first"),
        MIB,
        json!({"rw": "read", "runtime": "1s", "time_based": 1, "rate_iops": 50}),
    );
    let study = json!({"name": "swap", "steps": [{"jobs": [first]},
        {"jobs": [write_victim(&scratch)]}]});
    let mut child = Runner::under(scratch.root()).start("run", &["--events"]);
    send(&mut child, &study);
    let first = scratch.root().join("first");
    while !first.exists() && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(5));
    }
    thread::sleep(Duration::from_millis(300));
    replace_root(&scratch);
    let output = child.wait_with_output().unwrap();
    assert!(
        output.stdout.len() > 1000,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(fingerprint::of(&[scratch.outside()]), before);
}

/// A directory below the root repeatedly becomes a symlink to another directory.
pub(crate) fn directories_below_the_root(runs: usize) {
    let scratch = Scratch::new();
    let before = prepare_other_directory(&scratch);
    let directory = scratch.directory("root/data");
    let stop = AtomicBool::new(false);
    let job = job(
        &directory.join("victim"),
        MIB,
        json!({"rw": "write", "unlink": 1}),
    );
    thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0_u64.. {
                if stop.load(Relaxed) {
                    break;
                }
                let aside = scratch.at("aside");
                fs::rename(&directory, &aside).unwrap();
                symlink(scratch.outside(), &directory).unwrap();
                thread::sleep(Duration::from_micros(turn * 173 % 2000));
                fs::remove_file(&directory).unwrap();
                fs::rename(&aside, &directory).unwrap();
                thread::sleep(Duration::from_micros(turn * 311 % 3000));
            }
        });
        for _ in 0..runs {
            Runner::under(scratch.root()).run(&job, &[]);
        }
        stop.store(true, Relaxed);
    });
    assert_eq!(fingerprint::of(&[scratch.outside()]), before);
}

/// Creates an empty file outside the root, so that overwriting it requires no confirmation.
fn prepare_other_directory(scratch: &Scratch) -> String {
    fs::write(scratch.outside().join("victim"), "").unwrap();
    fingerprint::of(&[scratch.outside()])
}

fn write_victim(scratch: &Scratch) -> Value {
    job(&scratch.root().join("victim"), MIB, json!({"rw": "write"}))
}

fn replace_root(scratch: &Scratch) {
    fs::rename(scratch.root(), scratch.at("old root")).unwrap();
    symlink(scratch.outside(), scratch.root()).unwrap();
}

/// Waits until the runner, which is a child of `timeout`, reads its standard input.
fn wait_until_stdin_is_read(child: &Child) {
    let reading = format!("{} 0x0 ", libc::SYS_read);
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    for _ in 0..500 {
        let id = fs::read_to_string(&children).unwrap_or_default();
        let call = fs::read_to_string(format!("/proc/{}/syscall", id.trim()));
        if call.is_ok_and(|call| call.starts_with(&reading)) {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("the runner does not read its standard input");
}
