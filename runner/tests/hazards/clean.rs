//! Targets that no other program uses. Plan and run must accept them, and the run must write to
//! them.

use crate::{
    files::owned_file,
    fingerprint,
    hazard::identity_of,
    product::{Name, job, relative},
    runner::Runner,
    scene::{MIB, Scene, Scratch, Unavailable, attach, mount, run, sparse},
    scratch::skip,
};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

type Built = Result<Scene, Unavailable>;

/// Runs a job with each engine and mode, each time on a new target and without a confirmation.
pub(crate) fn check(title: &str, build: impl Fn(&Scratch) -> Built, changes: &Value) {
    for (engine, direct) in [("psync", 1), ("io_uring", 0), ("io_uring", 1), ("psync", 0)] {
        let scratch = Scratch::new();
        let scene = match build(&scratch) {
            Ok(scene) => scene,
            Err(reason) => return skip(&format!("{title}: {reason}")),
        };
        let runner = Runner {
            roots: scene.roots.clone(),
            launcher: scene.launcher.clone(),
            ..Runner::default()
        };
        let mut job = job(&scene.target, scene.size, json!({"rw": "randwrite"}));
        job["ioengine"] = json!(engine);
        job["direct"] = json!(direct);
        let job = crate::scratch::program::with(&job, changes.clone());
        let before = scene.state();
        let plan = runner.plan(&job);
        let run = runner.run(&job, &[]);
        let context = format!("{title}, {engine}, direct={direct}");
        assert_eq!(
            (plan.exit, run.exit),
            (0, 0),
            "{context}: {plan} {run}: {}",
            run.stderr
        );
        assert_ne!(scene.state(), before, "{context}: not written");
        let written = run.json["report"]["write"]["bytes"].as_u64().unwrap_or(0);
        assert_eq!(written, 256 << 10, "{context}: {run:?}");
    }
}

pub(crate) fn new_file(scratch: &Scratch) -> Built {
    Ok(Scene::file(scratch, &scratch.root().join("new")).sized(MIB))
}

pub(crate) fn new_file_in_a_subdirectory(scratch: &Scratch) -> Built {
    let directory = scratch.directory("root/a/b");
    Ok(Scene::file(scratch, &directory.join("new")).sized(MIB))
}

/// The path is relative to the root, with `..`.
pub(crate) fn check_relative_path() {
    let scratch = Scratch::new();
    let target = scratch.root().join("new");
    let job = job(
        &relative(&target, &scratch.root()),
        MIB,
        json!({"rw": "write"}),
    );
    let run = Runner::under(scratch.root()).run(&job, &[]);
    assert_eq!(run.exit, 0, "{run}: {}", run.stderr);
    assert_eq!(target.metadata().unwrap().len(), MIB);
}

pub(crate) fn empty_file(scratch: &Scratch) -> Built {
    let target = scratch.image("empty", 0);
    Ok(Scene::file(scratch, &target).sized(MIB))
}

pub(crate) fn sparse_file(scratch: &Scratch) -> Built {
    let target = scratch.image("sparse", 8);
    Ok(Scene::file(scratch, &target))
}

pub(crate) fn file_of_zeros(scratch: &Scratch) -> Built {
    let target = scratch.root().join("zeros");
    fs::write(&target, vec![0; 8 * MIB as usize]).unwrap();
    Ok(Scene::file(scratch, &target))
}

pub(crate) fn unmodified_owned_file(scratch: &Scratch) -> Built {
    let target = owned_file(scratch, "own")?;
    Ok(Scene::file(scratch, &target))
}

/// A file to which Leadline wrote twice.
pub(crate) fn owned_file_after_a_second_run(scratch: &Scratch) -> Built {
    owned_file(scratch, "own")?;
    unmodified_owned_file(scratch)
}

pub(crate) fn new_file_of_an_unprivileged_user(scratch: &Scratch) -> Built {
    let root = scratch.root();
    std::os::unix::fs::chown(&root, Some(12345), Some(12345)).unwrap();
    let user = [
        "setpriv",
        "--reuid=12345",
        "--regid=12345",
        "--clear-groups",
        "--",
    ];
    // An unprivileged user sees only the lengths of hidden images, so this length must differ from
    // that of any other test's image.
    let unusual = MIB + (20 << 10);
    Ok(new_file(scratch)?.sized(unusual).launched_by(&user))
}

/// A file next to an image that is attached to a loop device.
pub(crate) fn neighbor_of_an_attached_image(scratch: &Scratch) -> Built {
    let device = attach(&scratch.image("disk.img", 8), &[])?;
    Ok(new_file(scratch)?.hold(device))
}

/// A new file on its own filesystem.
pub(crate) fn new_file_on(make: &'static [&'static str], mib: u64) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let image = sparse(&scratch.at("disk.img"), mib * MIB);
        let device = attach(&image, &[])?;
        run(make[0], &[&make[1..], &[device.0.as_str()]].concat())?;
        let root = scratch.at("filesystem");
        let mounted = mount(&device.0, &root, "noatime")?;
        let scene = Scene::file(scratch, &root.join("new"))
            .sized(MIB)
            .under(&root);
        Ok(scene.protect(&root.join("new")).hold(device).hold(mounted))
    }
}

fn blank(scratch: &Scratch, image: &Path, options: &[&str]) -> Built {
    let device = attach(image, options)?;
    let scene = Scene::device(scratch, &device.0, image);
    Ok(scene.hold(device))
}

pub(crate) fn blank_device(scratch: &Scratch) -> Built {
    blank(scratch, &scratch.image("disk.img", 32), &[])
}

pub(crate) fn device_of_zeros(scratch: &Scratch) -> Built {
    let image = scratch.image("disk.img", 0);
    fs::write(&image, vec![0; 8 * MIB as usize]).unwrap();
    blank(scratch, &image, &[])
}

pub(crate) fn blank_device_with_large_sectors(scratch: &Scratch) -> Built {
    blank(
        scratch,
        &scratch.image("disk.img", 32),
        &["--sector-size", "4096"],
    )
}

/// Smaller than the area that the guard samples.
pub(crate) fn tiny_blank_device(scratch: &Scratch) -> Built {
    blank(scratch, &scratch.image("disk.img", 1), &["--direct-io=on"])
}

/// A blank device next to one with a filesystem.
pub(crate) fn neighbor_of_a_mounted_device(scratch: &Scratch) -> Built {
    let other = attach(&scratch.image("other.img", 32), &[])?;
    crate::scene::make_ext4(&other.0)?;
    let mounted = mount(&other.0, &scratch.at("mounted"), "noatime")?;
    Ok(blank_device(scratch)?.hold(other).hold(mounted))
}

/// A blank device under another name.
pub(crate) fn blank_device_by(name: Name) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let mut scene = blank_device(scratch)?;
        scene.target = name.of(&scene, scratch);
        Ok(scene)
    }
}

/// A blank device outside the roots requires its identity and a confirmation.
pub(crate) fn check_allowed_device() {
    let scratch = Scratch::new();
    let image = sparse(&scratch.outside().join("disk.img"), 32 * MIB);
    let device = match attach(&image, &[]) {
        Ok(device) => device,
        Err(reason) => return skip(&reason),
    };
    let identity = identity_of(device.name()).expect("an identity");
    let mut runner = Runner::under(scratch.root());
    let job = job(Path::new(&device.0), 32 * MIB, json!({"rw": "write"}));
    let (plan, run) = (runner.plan(&job), runner.run(&job, &[]));
    assert!(
        plan.has("raw_write_refused") && run.has("raw_write_refused"),
        "{plan} {run}"
    );

    runner.allowed = vec![identity.clone()];
    let run = runner.run(&job, &[]);
    assert!(
        run.is_rejected() && run.has("not_confirmed"),
        "{run}: {}",
        run.stderr
    );
    let plan = runner.plan(&job);
    assert_eq!(
        plan.json["confirmations"][0]["identity"],
        json!(identity),
        "{plan:?}"
    );
    let before = fingerprint::of(std::slice::from_ref(&image));
    let run = runner.run(&job, &plan.confirmations());
    assert_eq!(run.exit, 0, "{}", run.stderr);
    assert_ne!(fingerprint::of(&[image]), before);
}

/// A loop device that the run creates on a file.
pub(crate) fn loop_device_on(name: &'static str) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let target: PathBuf = match name {
            "own" => owned_file(scratch, name)?,
            _ => scratch.root().join(name),
        };
        Ok(Scene::file(scratch, &target).sized(2 * MIB))
    }
}
