//! Files that are visible under two names, through overlayfs or FUSE. A loop device or swap area
//! uses one name, and the target has the other. The files have unusual lengths, because the guard
//! cannot always tell files of the same length apart.

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

/// A directory, and the mount point of a filesystem on which its files are also visible.
pub(crate) struct AliasedDirectory {
    pub real: PathBuf,
    pub alias: PathBuf,
    pub held: Box<dyn Any>,
}

pub(crate) fn overlay(scratch: &Scratch) -> Result<AliasedDirectory, Unavailable> {
    let (alias, mounted) = hidden::overlay(scratch)?;
    Ok(AliasedDirectory {
        real: scratch.at("upper"),
        held: Box::new(mounted),
        alias,
    })
}

/// The file starts in the lower layer. After the overlay has copied it up, its inode number is
/// still that of the lower file.
pub(crate) fn overlay_with_a_copied_file(
    scratch: &Scratch,
) -> Result<AliasedDirectory, Unavailable> {
    sparse(&scratch.directory("lower").join("disk.img"), LENGTH);
    let directory = overlay(scratch)?;
    let file = fs::File::options()
        .write(true)
        .open(directory.alias.join("disk.img"));
    drop(file.map_err(|error| error.to_string())?);
    Ok(directory)
}

pub(crate) fn fuse(scratch: &Scratch) -> Result<AliasedDirectory, Unavailable> {
    let [real, alias] = ["real", "alias"].map(|name| scratch.directory(name));
    run("bindfs", &[text(&real), text(&alias)])?;
    Ok(AliasedDirectory {
        held: Box::new(Undo::with(&["umount", "--lazy", text(&alias)])),
        real,
        alias,
    })
}

impl AliasedDirectory {
    /// Returns the paths of the file in the directory and on the filesystem. Creates the file if it
    /// is missing.
    pub(crate) fn file(&self) -> [PathBuf; 2] {
        let [real, alias] = [&self.real, &self.alias].map(|path| path.join("disk.img"));
        // A file created directly in a layer may not be visible in an overlay that is already
        // mounted.
        if !alias.exists() {
            sparse(&alias, LENGTH);
        }
        [real, alias]
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

/// The target is a loop device on the file `target`. A loop device on `used` is mounted.
fn twin(scratch: &Scratch, directory: AliasedDirectory, used: &Path, target: &Path) -> Built {
    let (device, at) = mounted(scratch, used, &[])?;
    let twin = attach(target, &[])?;
    let scene = Scene::device(scratch, &twin.0, target).protect(used);
    let mut scene = scene.under(target.parent().unwrap());
    scene.devices.push(PathBuf::from(&device.0));
    Ok(scene.hold(directory.held).hold(device).hold(at).hold(twin))
}

pub(crate) fn loop_device_through_an_overlay(scratch: &Scratch) -> Built {
    let directory = overlay(scratch)?;
    let [real, file] = directory.file();
    twin(scratch, directory, &real, &file)
}

pub(crate) fn loop_device_below_an_overlay(scratch: &Scratch) -> Built {
    let directory = overlay(scratch)?;
    let [real, file] = directory.file();
    twin(scratch, directory, &file, &real)
}

pub(crate) fn loop_device_on_a_copied_file_of_an_overlay(scratch: &Scratch) -> Built {
    let directory = overlay_with_a_copied_file(scratch)?;
    let [real, file] = directory.file();
    twin(scratch, directory, &real, &file)
}

pub(crate) fn loop_device_through_fuse(scratch: &Scratch) -> Built {
    let directory = fuse(scratch)?;
    let [real, file] = directory.file();
    twin(scratch, directory, &real, &file)
}

pub(crate) fn loop_device_below_fuse(scratch: &Scratch) -> Built {
    let directory = fuse(scratch)?;
    let [real, file] = directory.file();
    twin(scratch, directory, &file, &real)
}

/// The file is blank, and the other loop device is open exclusively.
pub(crate) fn blank_loop_device_through_an_overlay(scratch: &Scratch) -> Built {
    let directory = overlay(scratch)?;
    let [real, file] = directory.file();
    let device = attach(&real, &[])?;
    let flags = OFlags::RDWR | OFlags::EXCL;
    let held = rustix::fs::open(device.0.as_str(), flags, Mode::empty()).unwrap();
    let twin = attach(&file, &[])?;
    let scene = Scene::device(scratch, &twin.0, &file).protect(&real);
    let scene = scene.under(&directory.alias).hold(directory.held);
    Ok(scene.hold(device).hold(held).hold(twin))
}

/// The target is a file. A loop device uses the same file under its other name.
fn file(
    scratch: &Scratch,
    directory: AliasedDirectory,
    used: &Path,
    target: &Path,
    options: &[&str],
) -> Built {
    let (device, at) = mounted(scratch, used, options)?;
    let scene = Scene::file(scratch, target).protect(&directory.real);
    let mut scene = scene.under(target.parent().unwrap());
    scene.devices = vec![PathBuf::from(&device.0)];
    Ok(scene.hold(directory.held).hold(device).hold(at))
}

pub(crate) fn file_through_fuse(scratch: &Scratch) -> Built {
    let directory = fuse(scratch)?;
    let [real, target] = directory.file();
    file(scratch, directory, &real, &target, &[])
}

/// The loop device is shorter than the file.
pub(crate) fn file_of_a_shorter_loop_device_through_fuse(scratch: &Scratch) -> Built {
    let directory = fuse(scratch)?;
    let [real, target] = directory.file();
    file(
        scratch,
        directory,
        &real,
        &target,
        &["--sizelimit", "17825792"],
    )
}

pub(crate) fn copied_file_of_an_overlay(scratch: &Scratch) -> Built {
    let directory = overlay_with_a_copied_file(scratch)?;
    let [real, target] = directory.file();
    file(scratch, directory, &real, &target, &[])
}

pub(crate) fn swap_file_through_fuse(scratch: &Scratch) -> Built {
    let directory = fuse(scratch)?;
    let real = directory.real.join("disk.img");
    fs::write(&real, vec![0; LENGTH as usize]).unwrap();
    fs::set_permissions(&real, PermissionsExt::from_mode(0o600)).unwrap();
    run("mkswap", &[text(&real)])?;
    let swap = unused_swap(text(&real))?;
    let target = directory.alias.join("disk.img");
    let scene = Scene::file(scratch, &target).protect(&directory.real);
    let scene = scene.under(&directory.alias);
    Ok(scene.hold(directory.held).hold(swap))
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

/// No process has the file in its descriptor table, so only an attempt to take a lease reveals that
/// it is open.
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
