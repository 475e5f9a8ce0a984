//! One file that is visible under two names, through overlayfs or FUSE: a loop device or swap uses
//! it under one name, and the target has the other name. The files have unusual lengths, because
//! the guard cannot always tell files of the same length apart.

use crate::{
    hidden,
    scene::{
        Holder, MIB, Scene, Scratch, Unavailable, Undo, attach, make_ext4, mount, run, sparse,
        text, unused_swap,
    },
    scratch::{Loop, Mounted},
};
use rustix::{
    fs::{Mode, OFlags},
    net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg},
};
use std::{
    any::Any,
    fs,
    io::IoSlice,
    mem::MaybeUninit,
    os::{
        fd::AsFd,
        unix::{fs::PermissionsExt, net::UnixStream},
    },
    path::{Path, PathBuf},
};

type Built = Result<Scene, Unavailable>;

pub(crate) const LENGTH: u64 = 33 * MIB + (36 << 10);

/// A directory, and a filesystem on which its files are also visible.
pub(crate) struct Shown {
    pub real: PathBuf,
    pub shown: PathBuf,
    pub held: Box<dyn Any>,
}

pub(crate) fn overlay(scratch: &Scratch) -> Result<Shown, Unavailable> {
    let (shown, mounted) = hidden::overlay(scratch)?;
    Ok(Shown {
        real: scratch.at("upper"),
        held: Box::new(mounted),
        shown,
    })
}

/// The file starts in the lower layer. After the overlay has copied it up, its inode number is
/// still that of the lower file.
pub(crate) fn overlay_with_a_copied_file(scratch: &Scratch) -> Result<Shown, Unavailable> {
    sparse(&scratch.directory("lower").join("disk.img"), LENGTH);
    let found = overlay(scratch)?;
    let file = fs::File::options()
        .write(true)
        .open(found.shown.join("disk.img"));
    drop(file.map_err(|error| error.to_string())?);
    Ok(found)
}

pub(crate) fn fuse(scratch: &Scratch) -> Result<Shown, Unavailable> {
    let [real, shown] = ["real", "shown"].map(|name| scratch.directory(name));
    run("bindfs", &[text(&real), text(&shown)])?;
    Ok(Shown {
        held: Box::new(Undo::with(&["umount", "--lazy", text(&shown)])),
        real,
        shown,
    })
}

impl Shown {
    /// Paths of the file in the directory and on the filesystem.
    pub(crate) fn file(&self) -> [PathBuf; 2] {
        let [real, shown] = [&self.real, &self.shown].map(|path| path.join("disk.img"));
        // A file created directly in a layer may not be visible in an overlay that is already
        // mounted.
        if !shown.exists() {
            sparse(&shown, LENGTH);
        }
        [real, shown]
    }
}

fn mounted(
    scratch: &Scratch,
    image: &Path,
    options: &[&str],
) -> Result<(Loop, Mounted), Unavailable> {
    let device = attach(image, options)?;
    make_ext4(&device.0)?;
    let at = mount(&device.0, &scratch.at("mounted"), "noatime")?;
    Ok((device, at))
}

/// The target is a loop device on the file `target`. Another loop device, on `used`, is mounted.
fn twin(scratch: &Scratch, of: Shown, used: &Path, target: &Path) -> Built {
    let (device, at) = mounted(scratch, used, &[])?;
    let twin = attach(target, &[])?;
    let scene = Scene::device(scratch, &twin.0, target).keeps(used);
    let mut scene = scene.under(target.parent().unwrap());
    scene.devices.push(PathBuf::from(&device.0));
    Ok(scene.hold(of.held).hold(device).hold(at).hold(twin))
}

pub(crate) fn loop_device_through_an_overlay(scratch: &Scratch) -> Built {
    let shown = overlay(scratch)?;
    let [real, file] = shown.file();
    twin(scratch, shown, &real, &file)
}

pub(crate) fn loop_device_below_an_overlay(scratch: &Scratch) -> Built {
    let shown = overlay(scratch)?;
    let [real, file] = shown.file();
    twin(scratch, shown, &file, &real)
}

pub(crate) fn loop_device_on_a_copied_file_of_an_overlay(scratch: &Scratch) -> Built {
    let shown = overlay_with_a_copied_file(scratch)?;
    let [real, file] = shown.file();
    twin(scratch, shown, &real, &file)
}

pub(crate) fn loop_device_through_fuse(scratch: &Scratch) -> Built {
    let shown = fuse(scratch)?;
    let [real, file] = shown.file();
    twin(scratch, shown, &real, &file)
}

pub(crate) fn loop_device_below_fuse(scratch: &Scratch) -> Built {
    let shown = fuse(scratch)?;
    let [real, file] = shown.file();
    twin(scratch, shown, &file, &real)
}

/// The file is blank, and the other loop device is held exclusively.
pub(crate) fn blank_loop_device_through_an_overlay(scratch: &Scratch) -> Built {
    let shown = overlay(scratch)?;
    let [real, file] = shown.file();
    let device = attach(&real, &[])?;
    let flags = OFlags::RDWR | OFlags::EXCL;
    let held = rustix::fs::open(device.0.as_str(), flags, Mode::empty()).unwrap();
    let twin = attach(&file, &[])?;
    let scene = Scene::device(scratch, &twin.0, &file).keeps(&real);
    let scene = scene.under(&shown.shown).hold(shown.held);
    Ok(scene.hold(device).hold(held).hold(twin))
}

/// The target is a file. A loop device uses the same file under its other name.
fn file(scratch: &Scratch, of: Shown, used: &Path, target: &Path, options: &[&str]) -> Built {
    let (device, at) = mounted(scratch, used, options)?;
    let scene = Scene::file(scratch, target).keeps(&of.real);
    let mut scene = scene.under(target.parent().unwrap());
    scene.devices = vec![PathBuf::from(&device.0)];
    Ok(scene.hold(of.held).hold(device).hold(at))
}

pub(crate) fn file_through_fuse(scratch: &Scratch) -> Built {
    let shown = fuse(scratch)?;
    let [real, target] = shown.file();
    file(scratch, shown, &real, &target, &[])
}

/// The loop device is shorter than the file.
pub(crate) fn file_of_a_shorter_loop_device_through_fuse(scratch: &Scratch) -> Built {
    let shown = fuse(scratch)?;
    let [real, target] = shown.file();
    file(scratch, shown, &real, &target, &["--sizelimit", "17825792"])
}

pub(crate) fn copied_file_of_an_overlay(scratch: &Scratch) -> Built {
    let shown = overlay_with_a_copied_file(scratch)?;
    let [real, target] = shown.file();
    file(scratch, shown, &real, &target, &[])
}

pub(crate) fn swap_file_through_fuse(scratch: &Scratch) -> Built {
    let shown = fuse(scratch)?;
    let real = shown.real.join("disk.img");
    fs::write(&real, vec![0; LENGTH as usize]).unwrap();
    fs::set_permissions(&real, PermissionsExt::from_mode(0o600)).unwrap();
    run("mkswap", &[text(&real)])?;
    let swap = unused_swap(text(&real))?;
    let target = shown.shown.join("disk.img");
    let scene = Scene::file(scratch, &target).keeps(&shown.real);
    let scene = scene.under(&shown.shown);
    Ok(scene.hold(shown.held).hold(swap))
}

/// A copy of a mounted filesystem: the confirmation must mention that filesystem.
pub(crate) fn copy_of_a_mounted_filesystem(scratch: &Scratch) -> Built {
    let image = sparse(&scratch.outside().join("original.img"), LENGTH);
    let (device, at) = mounted(scratch, &image, &[])?;
    let copy = scratch.root().join("copy.img");
    run("cp", &[text(&image), text(&copy)])?;
    Ok(Scene::file(scratch, &copy).hold(device).hold(at))
}

/// A loop device whose backing file another process uses.
fn on_a_used_file(scratch: &Scratch, script: &str) -> Built {
    let image = sparse(&scratch.root().join("vm.img"), LENGTH);
    let script = script.replace("IMAGE", text(&image));
    let holder = Holder::start(&[], &script)?;
    let device = attach(&image, &[])?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(holder))
}

pub(crate) fn on_an_open_file(scratch: &Scratch) -> Built {
    on_a_used_file(scratch, "exec 7<>IMAGE")
}

pub(crate) fn on_a_locked_file(scratch: &Scratch) -> Built {
    on_a_used_file(scratch, "exec 7<IMAGE && flock 7")
}

/// Another process has mapped the backing file and then closed its descriptor.
pub(crate) fn on_a_mapped_file(scratch: &Scratch) -> Built {
    let image = sparse(&scratch.root().join("vm.img"), LENGTH);
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(&image)
        .unwrap();
    let pages = crate::scratch::locked_pages::LockedPages::writable(&file, MIB);
    drop(file);
    let device = attach(&image, &[])?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(pages))
}

fn owned(scratch: &Scratch, script: &str) -> Built {
    let target = crate::files::owned_file(scratch, "own.data")?;
    let holder = Holder::start(&[], &script.replace("IMAGE", text(&target)))?;
    Ok(Scene::file(scratch, &target).hold(holder))
}

pub(crate) fn owned_file_that_is_open_for_writing(scratch: &Scratch) -> Built {
    owned(scratch, "exec 7<>IMAGE")
}

pub(crate) fn owned_file_with_flock(scratch: &Scratch) -> Built {
    owned(scratch, "exec 7<IMAGE && flock 7")
}

/// No process's descriptor table contains the file: only the kernel's lease reveals that it is
/// open.
pub(crate) fn owned_file_whose_descriptor_is_in_a_socket(scratch: &Scratch) -> Built {
    let target = crate::files::owned_file(scratch, "own.data")?;
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(&target)
        .unwrap();
    let sockets = UnixStream::pair().unwrap();
    let descriptors = [file.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)));
    let data = [IoSlice::new(b"x")];
    sendmsg(&sockets.0, &data, &mut control, SendFlags::empty()).unwrap();
    Ok(Scene::file(scratch, &target).hold(sockets))
}
