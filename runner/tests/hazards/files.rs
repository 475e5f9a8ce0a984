//! Files that another program uses, and paths that are not regular files.

use crate::{
    product::{make_node, make_socket},
    runner::Runner,
    scene::{
        Holder, MIB, Scene, Scratch, Unavailable, Undo, attach, foreign, length, make_ext4, mount,
        noise, run, sparse, text, unused_swap, write_at,
    },
    scratch::{Mounted, locked_pages::LockedPages},
};
use rustix::fs::{FileType, FlockOperation};
use serde_json::json;
use std::{
    fs::{self, File},
    os::{fd::AsRawFd, unix::fs::symlink},
    path::{Path, PathBuf},
    thread::sleep,
    time::Duration,
};

type Built = Result<Scene, Unavailable>;

pub(crate) fn foreign_file(scratch: &Scratch) -> Built {
    let target = scratch.foreign_file("letters.tar");
    Ok(Scene::file(scratch, &target))
}

/// Data in the last block of an otherwise sparse file.
pub(crate) fn sparse_file_with_data_at_the_end(scratch: &Scratch) -> Built {
    let target = scratch.image("sparse.img", 8);
    write_at(&target, 8 * MIB - 4096, &noise(4096));
    Ok(Scene::file(scratch, &target))
}

/// One block in the middle, which is visible only in the file's extent map.
pub(crate) fn sparse_file_with_one_block(scratch: &Scratch) -> Built {
    let target = scratch.image("sparse.img", 64);
    write_at(&target, 11 * MIB + (36 << 10), &noise(4096));
    Ok(Scene::file(scratch, &target))
}

pub(crate) fn one_byte(scratch: &Scratch) -> Built {
    let target = scratch.root().join("byte");
    sparse(&target, MIB);
    write_at(&target, 2000, b"1");
    Ok(Scene::file(scratch, &target).sized(MIB))
}

/// Data that begins within an aligned 4 KiB block.
pub(crate) fn one_byte_in_a_small_block(scratch: &Scratch) -> Built {
    let device = attach(&sparse(&scratch.at("disk.img"), 64 * MIB), &[])?;
    run("mkfs.ext4", &["-q", "-F", "-b", "1024", &device.0])?;
    let root = scratch.at("filesystem");
    let mounted = mount(&device.0, &root, "noatime")?;
    let target = sparse(&root.join("byte"), MIB);
    write_at(&target, 3000, b"1");
    let scene = Scene::file(scratch, &target).sized(MIB).under(&root);
    Ok(scene.protect(&target).hold(device).hold(mounted))
}

pub(crate) fn foreign_file_below_a_mount(scratch: &Scratch) -> Built {
    scratch.victim();
    let at = scratch.root().join("bound");
    fs::create_dir(&at).unwrap();
    run("mount", &["--bind", text(&scratch.outside()), text(&at)])?;
    let bound = Mounted::existing(&at);
    Ok(Scene::file(scratch, &at.join("victim")).hold(bound))
}

/// A file that Leadline created.
pub(crate) fn owned_file(scratch: &Scratch, name: &str) -> Result<PathBuf, Unavailable> {
    let target = scratch.root().join(name);
    let job = json!({"name": "own", "filename": target, "size": 2 * MIB, "rw": "write", "bs": "64k",
        "direct": 0});
    let run = Runner::under(scratch.root()).run(&job, &[]);
    if run.exit == 0 {
        Ok(target)
    } else {
        Err(format!("{run}: {}", run.stderr))
    }
}

/// A file that Leadline created and in which another program then stored data.
pub(crate) fn modified_owned_file(scratch: &Scratch) -> Built {
    let target = owned_file(scratch, "own.data")?;
    write_at(&target, MIB, &noise(4096));
    Ok(Scene::file(scratch, &target))
}

/// Like `modified_owned_file`, with the old modification time, as after `cp --preserve` or `rsync`.
pub(crate) fn modified_owned_file_with_its_old_time(scratch: &Scratch) -> Built {
    let target = owned_file(scratch, "own.data")?;
    let time = target.metadata().unwrap().modified().unwrap();
    write_at(&target, MIB, &noise(4096));
    File::options()
        .write(true)
        .open(&target)
        .unwrap()
        .set_modified(time)
        .unwrap();
    Ok(Scene::file(scratch, &target))
}

/// A copy made by `cp --preserve=all`, which also copies the extended attributes and times of
/// Leadline's file.
pub(crate) fn copied_ownership_mark(scratch: &Scratch) -> Built {
    let own = owned_file(scratch, "own.data")?;
    let target = scratch.root().join("copy.data");
    run("cp", &["--preserve=all", text(&own), text(&target)])?;
    write_at(&target, MIB, &noise(4096));
    let time = own.metadata().unwrap().modified().unwrap();
    File::options()
        .write(true)
        .open(&target)
        .unwrap()
        .set_modified(time)
        .unwrap();
    Ok(Scene::file(scratch, &target))
}

/// A foreign file that was renamed over a file that Leadline created. Its inode has no ownership
/// mark.
pub(crate) fn file_moved_over_an_owned_file(scratch: &Scratch) -> Built {
    let own = owned_file(scratch, "own.data")?;
    let other = scratch.foreign_file("other");
    fs::rename(&other, &own).unwrap();
    Ok(Scene::file(scratch, &own))
}

fn held(scratch: &Scratch, hold: impl FnOnce(File, &Path) -> Box<dyn std::any::Any>) -> Built {
    let target = scratch.foreign_file("held");
    let file = File::options()
        .read(true)
        .write(true)
        .open(&target)
        .unwrap();
    let resource = hold(file, &target);
    Ok(Scene::file(scratch, &target).hold(resource))
}

pub(crate) fn flocked(scratch: &Scratch) -> Built {
    held(scratch, |file, _| {
        rustix::fs::flock(&file, FlockOperation::LockExclusive).unwrap();
        Box::new(file)
    })
}

pub(crate) fn posix_locked(scratch: &Scratch) -> Built {
    held(scratch, |file, _| {
        rustix::fs::fcntl_lock(&file, FlockOperation::LockExclusive).unwrap();
        Box::new(file)
    })
}

pub(crate) fn partially_locked(scratch: &Scratch) -> Built {
    held(scratch, |file, _| {
        // SAFETY: all zeros are a valid value, and the relevant fields are set below.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = libc::F_WRLCK as i16;
        lock.l_start = MIB as i64;
        lock.l_len = 1;
        // SAFETY: the structure lives until the call returns.
        let locked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &lock) };
        assert_eq!(locked, 0);
        Box::new(file)
    })
}

pub(crate) fn mapped(scratch: &Scratch) -> Built {
    // The mapping outlives the descriptor.
    held(scratch, |file, _| Box::new(LockedPages::of(&file, MIB)))
}

pub(crate) fn open_for_writing(scratch: &Scratch) -> Built {
    held(scratch, |file, _| Box::new(file))
}

pub(crate) fn open_for_reading(scratch: &Scratch) -> Built {
    held(scratch, |_, path| Box::new(File::open(path).unwrap()))
}

/// A new, empty file that another program is about to write to.
pub(crate) fn open_and_empty(scratch: &Scratch) -> Built {
    let target = scratch.root().join("download.part");
    let file = File::create(&target).unwrap();
    Ok(Scene::file(scratch, &target).sized(MIB).hold(file))
}

/// Opening the file for writing starts to break the lease and, without O_NONBLOCK, blocks for up to
/// 45 s.
pub(crate) fn leased(scratch: &Scratch) -> Built {
    let target = scratch.foreign_file("held");
    let file = File::open(&target).unwrap();
    // SAFETY: the descriptor is open. SIGURG is ignored by default; SIGIO would end the test.
    unsafe {
        assert_eq!(libc::fcntl(file.as_raw_fd(), SET_SIGNAL, libc::SIGURG), 0);
        // A process that another test forks still holds the descriptor with which the file was
        // written, until it calls exec.
        let is_leased = || libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) == 0;
        assert!((0..500).any(|_| {
            sleep(Duration::from_millis(10));
            is_leased()
        }));
    }
    Ok(Scene::file(scratch, &target).hold(file))
}

/// `F_SETSIG` of fcntl(2).
const SET_SIGNAL: i32 = 10;

fn with_attribute(scratch: &Scratch, attribute: &str) -> Built {
    let target = scratch.foreign_file("protected");
    run("chattr", &[&format!("+{attribute}"), text(&target)])?;
    let undo = Undo::with(&["chattr", &format!("-{attribute}"), text(&target)]);
    Ok(Scene::file(scratch, &target).hold(undo))
}

pub(crate) fn append_only(scratch: &Scratch) -> Built {
    with_attribute(scratch, "a")
}

pub(crate) fn immutable(scratch: &Scratch) -> Built {
    with_attribute(scratch, "i")
}

pub(crate) fn running_program(scratch: &Scratch) -> Built {
    let target = scratch.root().join("program");
    fs::copy("/bin/sleep", &target).unwrap();
    // The length is a multiple of the block size, so that direct I/O can append.
    let length = target.metadata().unwrap().len().next_multiple_of(4096);
    File::options()
        .write(true)
        .open(&target)
        .unwrap()
        .set_len(length)
        .unwrap();
    let script = format!("{} 1000 & sleep 0.05", target.display());
    // The program is killed with its PID namespace.
    let launcher = ["unshare", "--pid", "--fork", "--kill-child"];
    let holder = Holder::start(&launcher, &script)?;
    Ok(Scene::file(scratch, &target).hold(holder))
}

pub(crate) fn hard_linked(scratch: &Scratch) -> Built {
    let target = scratch.root().join("linked");
    fs::hard_link(scratch.victim(), &target).unwrap();
    Ok(Scene::file(scratch, &target))
}

pub(crate) fn hard_linked_under_the_root(scratch: &Scratch) -> Built {
    let target = scratch.foreign_file("linked");
    fs::hard_link(&target, scratch.root().join("other name")).unwrap();
    Ok(Scene::file(scratch, &target))
}

pub(crate) fn link_out_of_the_root(scratch: &Scratch) -> Built {
    let target = scratch.root().join("link");
    symlink(scratch.victim(), &target).unwrap();
    Ok(Scene::file(scratch, &target))
}

pub(crate) fn linked_directory_out_of_the_root(scratch: &Scratch) -> Built {
    scratch.victim();
    symlink(scratch.outside(), scratch.root().join("directory")).unwrap();
    let target = scratch.root().join("directory/victim");
    Ok(Scene::file(scratch, &target))
}

/// A new file in a linked directory.
pub(crate) fn new_file_outside_the_root(scratch: &Scratch) -> Built {
    symlink(scratch.outside(), scratch.root().join("directory")).unwrap();
    let target = scratch.root().join("directory/new");
    Ok(Scene::file(scratch, &target).sized(MIB))
}

pub(crate) fn parent_of_the_root(scratch: &Scratch) -> Built {
    scratch.victim();
    let target = scratch.root().join("../outside/victim");
    Ok(Scene::file(scratch, &target))
}

/// `root` is a prefix of `root-2`, but does not contain it.
pub(crate) fn directory_with_the_prefix_of_the_root(scratch: &Scratch) -> Built {
    let target = foreign(&scratch.directory("root-2").join("victim"));
    Ok(Scene::file(scratch, &target).protect(&scratch.at("root-2")))
}

pub(crate) fn active_swap_file(scratch: &Scratch) -> Built {
    let (root, scene) = small_filesystem(scratch, |root| make_swap_file(&root.join("swap")))?;
    let target = root.join("swap");
    let swap = unused_swap(text(&target))?;
    Ok(scene(&target).hold(swap))
}

/// The loop device was attached before the file became swap space. A trim through the device frees
/// blocks of the swap file, because the kernel checks only calls on the file itself. The file is on
/// a separate filesystem, so that no other file can get the freed blocks of active swap space.
pub(crate) fn loop_device_on_an_active_swap_file(scratch: &Scratch) -> Built {
    let (root, scene) = small_filesystem(scratch, |root| make_swap_file(&root.join("swap")))?;
    let file = root.join("swap");
    let device = attach(&file, &[])?;
    let swap = unused_swap(text(&file))?;
    let path = PathBuf::from(&device.0);
    let mut scene = scene(&path).sized(length(&file)).hold(device).hold(swap);
    scene.devices = vec![path];
    scene.protected = vec![file];
    Ok(scene)
}

fn make_swap_file(path: &Path) {
    fs::write(path, vec![0; 16 * MIB as usize]).unwrap();
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    run("mkswap", &[text(path)]).unwrap();
}

/// A small filesystem with one file, mounted read-only.
pub(crate) fn on_a_read_only_filesystem(scratch: &Scratch) -> Built {
    let (root, scene) = small_filesystem(scratch, |root| {
        foreign(&root.join("file"));
    })?;
    run("mount", &["-o", "remount,ro", text(&root)])?;
    Ok(scene(&root.join("file")))
}

type BuildScene = Box<dyn FnOnce(&Path) -> Scene>;

/// A 64 MiB ext4 filesystem as the target root.
fn small_filesystem(
    scratch: &Scratch,
    fill: impl FnOnce(&Path),
) -> Result<(PathBuf, BuildScene), Unavailable> {
    let image = sparse(&scratch.at("small.img"), 64 * MIB);
    let device = attach(&image, &[])?;
    make_ext4(&device.0)?;
    let root = scratch.at("small");
    let mounted = mount(&device.0, &root, "noatime")?;
    run("rm", &["-r", text(&root.join("lost+found"))])?;
    fill(&root);
    let base = Scene::file(scratch, &root);
    let at = root.clone();
    let scene = move |target: &Path| {
        let mut scene = base.under(&at).hold(device).hold(mounted);
        scene.target = target.to_path_buf();
        scene.protected = vec![at];
        scene
    };
    Ok((root, Box::new(scene)))
}

fn available(directory: &Path) -> u64 {
    let statistics = rustix::fs::statvfs(directory).unwrap();
    statistics.f_bavail * statistics.f_frsize
}

/// A new file that would leave only 1 MiB of 64 MiB free.
pub(crate) fn file_that_fills_the_filesystem(scratch: &Scratch) -> Built {
    let (root, scene) = small_filesystem(scratch, |_| ())?;
    let size = available(&root) - MIB;
    Ok(scene(&root.join("new")).sized(size / MIB * MIB))
}

/// An existing file whose holes do not fit on the filesystem.
pub(crate) fn holes_on_a_full_filesystem(scratch: &Scratch) -> Built {
    let (root, scene) = small_filesystem(scratch, |root| {
        let file = File::create(root.join("ballast")).unwrap();
        let fill = available(root) - 4 * MIB;
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, fill).unwrap();
        sparse(&root.join("sparse"), 32 * MIB);
    })?;
    Ok(scene(&root.join("sparse")).sized(32 * MIB))
}

/// Only space reserved for root is free.
pub(crate) fn reserved_space(scratch: &Scratch) -> Built {
    let (root, scene) = small_filesystem(scratch, |root| {
        let file = File::create(root.join("ballast")).unwrap();
        let fill = available(root);
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, fill).unwrap();
    })?;
    Ok(scene(&root.join("new")).sized(MIB))
}

fn not_a_file(scratch: &Scratch, name: &str, make: impl FnOnce(&Path)) -> Built {
    let target = scratch.root().join(name);
    make(&target);
    Ok(Scene::file(scratch, &target).sized(MIB))
}

pub(crate) fn fifo(scratch: &Scratch) -> Built {
    not_a_file(scratch, "fifo", |path| {
        make_node(path, FileType::Fifo, 0, 0);
    })
}

pub(crate) fn socket(scratch: &Scratch) -> Built {
    // An absolute path may be too long for a socket address; a relative path is short enough.
    not_a_file(scratch, "socket", |path| {
        let short = PathBuf::from(format!("/tmp/hazard-{}", std::process::id()));
        drop(make_socket(&short));
        run("mv", &[text(&short), text(path)]).unwrap();
    })
}

/// A second device node for /dev/full.
pub(crate) fn character_device(scratch: &Scratch) -> Built {
    not_a_file(scratch, "character", |path| {
        make_node(path, FileType::CharacterDevice, 1, 7);
    })
}

pub(crate) fn directory(scratch: &Scratch) -> Built {
    not_a_file(scratch, "directory", |path| fs::create_dir(path).unwrap())
}

pub(crate) fn dangling_link(scratch: &Scratch) -> Built {
    not_a_file(scratch, "dangling", |path| {
        symlink(path.with_file_name("missing"), path).unwrap();
    })
}

/// A mistyped device name.
pub(crate) fn missing_device(scratch: &Scratch) -> Built {
    let target = Path::new("/dev/nvme9n1-hazard");
    Ok(Scene::file(scratch, target).sized(MIB).protect(target))
}

/// A block device node without a device.
pub(crate) fn node_without_a_device(scratch: &Scratch) -> Built {
    not_a_file(scratch, "node", |path| {
        make_node(path, FileType::BlockDevice, 240, 77);
    })
}
