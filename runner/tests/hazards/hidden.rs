//! Files that a loop device or mount uses, and that the job accesses by another path, through
//! another filesystem or namespace, or as another user.

use crate::scene::{
    Holder, MIB, NAMESPACE, Scene, Scratch, Unavailable, attach, make_ext4, mount, run, sparse,
    text, write_at,
};
use crate::scratch::{Loop, Mounted};
use std::{
    ffi::CString,
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
};

type Built = Result<Scene, Unavailable>;

const USER: u32 = 12345;

/// Command that starts the runner as an unprivileged user.
const AS_USER: [&str; 5] = [
    "setpriv",
    "--reuid=12345",
    "--regid=12345",
    "--clear-groups",
    "--",
];

/// Creates an image that contains a mounted ext4 filesystem.
fn mounted_image(scratch: &Scratch, image: &Path) -> Result<(Loop, Mounted), Unavailable> {
    sparse(image, 32 * MIB);
    let device = attach(image, &[])?;
    make_ext4(&device.0)?;
    let mounted = mount(&device.0, &scratch.at("mounted"), "noatime")?;
    Ok((device, mounted))
}

/// A scene whose target is also the image of a loop device.
fn scene(scratch: &Scratch, target: &Path, (device, mounted): (Loop, Mounted)) -> Scene {
    let mut scene = Scene::file(scratch, target);
    scene.devices = vec![PathBuf::from(&device.0)];
    scene.hold(device).hold(mounted)
}

pub(crate) fn behind_a_mounted_loop(scratch: &Scratch) -> Built {
    let image = scratch.root().join("vm.img");
    let mounted = mounted_image(scratch, &image)?;
    Ok(scene(scratch, &image, mounted))
}

pub(crate) fn behind_an_unmounted_loop(scratch: &Scratch) -> Built {
    let image = scratch.image("vm.img", 32);
    let device = attach(&image, &[])?;
    Ok(Scene::file(scratch, &image).hold(device))
}

/// The loop device is read-only, but its data must still not change.
pub(crate) fn behind_a_read_only_loop(scratch: &Scratch) -> Built {
    let image = scratch.root().join("vm.img");
    drop(mounted_image(scratch, &image)?);
    let device = attach(&image, &["--read-only"])?;
    let mounted = mount(&device.0, &scratch.at("mounted"), "ro")?;
    Ok(scene(scratch, &image, (device, mounted)))
}

pub(crate) fn behind_a_loop_in_another_namespace(scratch: &Scratch) -> Built {
    let image = scratch.image("vm.img", 32);
    let device = attach(&image, &[])?;
    make_ext4(&device.0)?;
    let at = scratch.directory("mounted");
    let script = format!("mount -o noatime {} {}", device.0, at.display());
    let holder = Holder::start(&NAMESPACE, &script)?;
    Ok(Scene::file(scratch, &image).hold(device).hold(holder))
}

/// The image was renamed after the loop device was attached.
pub(crate) fn behind_a_loop_on_a_renamed_image(scratch: &Scratch) -> Built {
    let image = scratch.root().join("vm.img");
    let first = scratch.outside().join("first.img");
    let mounted = mounted_image(scratch, &first)?;
    fs::rename(&first, &image).unwrap();
    Ok(scene(scratch, &image, mounted))
}

/// A filesystem that the kernel reads directly from a file, without a loop device or a process.
pub(crate) fn behind_a_file_backed_mount(scratch: &Scratch) -> Built {
    let image = scratch.root().join("image.erofs");
    sparse(&image, MIB);
    write_at(&image, 0, &empty_erofs());
    let at = scratch.directory("mounted");
    // mount(8) would attach a loop device.
    mount_without_loop(&image, &at)?;
    Ok(Scene::file(scratch, &image).hold(Mounted::existing(&at)))
}

/// Superblock, inode and entries of an empty root directory, in blocks of 4 KiB.
fn empty_erofs() -> Vec<u8> {
    let mut image = vec![0; 8192];
    let mut put = |offset: usize, bytes: &[u8]| {
        image[offset..offset + bytes.len()].copy_from_slice(bytes);
    };
    put(1024, &0xe0f5_e1e2_u32.to_le_bytes());
    put(1024 + 12, &[12]); // log2 of the block size
    put(1024 + 14, &64_u16.to_le_bytes()); // number of the root inode
    put(1024 + 16, &1_u64.to_le_bytes()); // inodes
    put(1024 + 36, &2_u32.to_le_bytes()); // blocks
    let inode = 64 * 32;
    put(inode + 4, &0o040_755_u16.to_le_bytes());
    put(inode + 6, &2_u16.to_le_bytes()); // links
    put(inode + 8, &27_u32.to_le_bytes()); // bytes
    put(inode + 16, &1_u32.to_le_bytes()); // block of the entries
    for (entry, name) in [(4096, 24_u16), (4096 + 12, 25)] {
        put(entry, &64_u64.to_le_bytes());
        put(entry + 8, &name.to_le_bytes());
        put(entry + 10, &[2]); // directory
    }
    put(4096 + 24, b"...");
    image
}

pub(crate) fn through_a_bind_mount(scratch: &Scratch) -> Built {
    let image = scratch.outside().join("vm.img");
    let mounted = mounted_image(scratch, &image)?;
    let at = scratch.root().join("bound");
    fs::create_dir(&at).unwrap();
    run("mount", &["--bind", text(&scratch.outside()), text(&at)])?;
    let bound = Mounted::existing(&at);
    Ok(scene(scratch, &at.join("vm.img"), mounted).hold(bound))
}

/// The target root is on an overlay. The loop device uses the file in the overlay's upper
/// directory.
pub(crate) fn through_an_overlay(scratch: &Scratch) -> Built {
    let (merged, overlay) = overlay(scratch)?;
    let image = scratch.at("upper/vm.img");
    let mounted = mounted_image(scratch, &image)?;
    let scene = scene(scratch, &merged.join("vm.img"), mounted).under(&merged);
    Ok(scene.protect(&scratch.at("upper")).hold(overlay))
}

/// The target root is the upper directory. The loop device uses the file through the overlay.
pub(crate) fn below_an_overlay(scratch: &Scratch) -> Built {
    let (merged, overlay) = overlay(scratch)?;
    let mounted = mounted_image(scratch, &merged.join("vm.img"))?;
    let upper = scratch.at("upper");
    let scene = Scene::file(scratch, &upper.join("vm.img")).under(&upper);
    let mut scene = scene.protect(&upper).hold(overlay);
    scene.devices = vec![PathBuf::from(&mounted.0.0)];
    Ok(scene.hold(mounted.0).hold(mounted.1))
}

/// Mounts an overlay whose upper directory is `upper`, and returns its mount point.
pub(crate) fn overlay(scratch: &Scratch) -> Result<(PathBuf, Mounted), Unavailable> {
    let [lower, upper, work] = ["lower", "upper", "work"].map(|name| scratch.directory(name));
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        lower.display(),
        upper.display(),
        work.display()
    );
    let merged = scratch.directory("merged");
    run(
        "mount",
        &["-t", "overlay", "-o", &options, "overlay", text(&merged)],
    )?;
    Ok((merged.clone(), Mounted::existing(&merged)))
}

/// The runner cannot see the path in the loop device's sysfs entry.
pub(crate) fn in_a_namespace_that_hides_it(scratch: &Scratch) -> Built {
    hidden(scratch, &[], |_| ())
}

/// As in a container: a separate mount namespace and an unprivileged user, who owns the image.
pub(crate) fn hidden_from_its_owner(scratch: &Scratch) -> Built {
    hidden(scratch, &AS_USER, |image| {
        chown(image, Some(USER), Some(USER)).unwrap()
    })
}

/// Like `hidden_from_its_owner`, but root owns the image and everyone may write to it.
pub(crate) fn hidden_from_an_unprivileged_user(scratch: &Scratch) -> Built {
    hidden(scratch, &AS_USER, |image| {
        fs::set_permissions(image, PermissionsExt::from_mode(0o666)).unwrap();
    })
}

fn hidden(scratch: &Scratch, launcher: &[&str], prepare: impl FnOnce(&Path)) -> Built {
    let image = scratch.outside().join("vm.img");
    let mounted = mounted_image(scratch, &image)?;
    prepare(&image);
    let seen = scratch.directory("seen");
    fs::set_permissions(&seen, PermissionsExt::from_mode(0o755)).unwrap();
    let script = format!(
        "mount --bind {outside} {seen} && mount -t tmpfs none {outside}",
        outside = scratch.outside().display(),
        seen = seen.display()
    );
    let holder = Holder::start(&NAMESPACE, &script)?;
    let target = format!("--target={}", holder.id());
    let enter = ["nsenter", &target, "--mount", "--"];
    let mut scene = scene(scratch, &image, mounted).under(&seen).hold(holder);
    scene.target = seen.join("vm.img");
    Ok(scene.launched_by(&[&enter[..], launcher].concat()))
}

/// An unprivileged user writes to the image of a mounted loop device.
pub(crate) fn as_an_unprivileged_user(scratch: &Scratch) -> Built {
    let image = scratch.root().join("vm.img");
    let mounted = mounted_image(scratch, &image)?;
    chown(&image, Some(USER), Some(USER)).unwrap();
    Ok(scene(scratch, &image, mounted).launched_by(&AS_USER))
}

/// A foreign file that is open in a process outside the runner's PID namespace.
pub(crate) fn open_outside_the_container(scratch: &Scratch) -> Built {
    let target = scratch.foreign_file("database");
    let file = fs::File::options().write(true).open(&target).unwrap();
    let scene = Scene::file(scratch, &target).hold(file);
    Ok(scene.launched_by(&["unshare", "--pid", "--fork", "--mount-proc"]))
}

/// Mounts the file with mount(2).
fn mount_without_loop(image: &Path, at: &Path) -> Result<(), Unavailable> {
    let [image, at] = [image, at].map(|path| CString::new(text(path)).unwrap());
    // SAFETY: the strings live until the call returns.
    let result = unsafe {
        libc::mount(
            image.as_ptr(),
            at.as_ptr(),
            c"erofs".as_ptr(),
            libc::MS_RDONLY,
            std::ptr::null(),
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(format!(
            "file-backed erofs: {}",
            std::io::Error::last_os_error()
        )),
    }
}
