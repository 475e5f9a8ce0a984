//! Devices in use. Neither permissions nor confirmations make them valid targets.

use crate::{
    contents::mbr,
    scene::{
        Holder, MIB, NAMESPACE, Scene, Scratch, Unavailable, Undo, attach, make_ext4, mount, noise,
        run, sparse, text, unused_swap, write_at,
    },
    scratch::{Loop, Mounted},
};
use rustix::fs::{FileType, Mode, OFlags};
use std::{
    fs::{self, File},
    os::{fd::OwnedFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
};

type Built = Result<Scene, Unavailable>;

/// ext4 on a loop device.
fn ext4(scratch: &Scratch) -> Result<(PathBuf, Loop), Unavailable> {
    let image = scratch.image("disk.img", 32);
    let device = attach(&image, &[])?;
    make_ext4(&device.0)?;
    Ok((image, device))
}

pub(crate) fn mounted(scratch: &Scratch) -> Built {
    mounted_as(scratch, "noatime")
}

pub(crate) fn mounted_read_only(scratch: &Scratch) -> Built {
    mounted_as(scratch, "ro")
}

fn mounted_as(scratch: &Scratch, options: &str) -> Built {
    let (image, device) = ext4(scratch)?;
    let mounted = mount(&device.0, &scratch.at("mounted"), options)?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(mounted))
}

pub(crate) fn mounted_xfs(scratch: &Scratch) -> Built {
    let image = scratch.image("disk.img", 320);
    let device = attach(&image, &[])?;
    run("mkfs.xfs", &["-q", "-K", &device.0])?;
    let mounted = mount(&device.0, &scratch.at("mounted"), "ro")?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(mounted))
}

fn mount_command(device: &Loop, scratch: &Scratch) -> String {
    let at = scratch.directory("mounted");
    format!("mount -o noatime {} {}", device.0, at.display())
}

pub(crate) fn mounted_in_another_namespace(scratch: &Scratch) -> Built {
    let (image, device) = ext4(scratch)?;
    let holder = Holder::start(&NAMESPACE, &mount_command(&device, scratch))?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(holder))
}

/// The namespace has no processes, so the mount is not listed anywhere in /proc.
pub(crate) fn mounted_in_a_namespace_without_processes(scratch: &Scratch) -> Built {
    let (image, device) = ext4(scratch)?;
    let directory = scratch.directory("namespaces");
    run("mount", &["--bind", text(&directory), text(&directory)])?;
    let bound = Mounted::existing(&directory);
    run("mount", &["--make-private", text(&directory)])?;
    let handle = directory.join("namespace");
    File::create(&handle).unwrap();
    let option = format!("--mount={}", handle.display());
    let command = mount_command(&device, scratch);
    run(
        "unshare",
        &[&option, "--propagation", "private", "sh", "-c", &command],
    )?;
    let pinned = Mounted::existing(&handle);
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(bound).hold(pinned))
}

/// A lazily unmounted filesystem, which no mount table lists.
pub(crate) fn lazily_unmounted(scratch: &Scratch) -> Built {
    let (image, device) = ext4(scratch)?;
    let at = scratch.at("mounted");
    let mounted = mount(&device.0, &at, "noatime")?;
    let open = File::create(at.join("open")).unwrap();
    rustix::fs::syncfs(&open).unwrap();
    run("umount", &["--lazy", text(&at)])?;
    std::mem::forget(mounted);
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(open))
}

/// A loop device with one partition that starts at 1 MiB.
pub(crate) fn partitioned(scratch: &Scratch) -> Result<(PathBuf, Loop, PathBuf), Unavailable> {
    let image = scratch.image("disk.img", 32);
    write_at(&image, 0, &mbr(&[(0x83, 2048, 40960)]));
    let device = attach(&image, &["--partscan"])?;
    let partition = PathBuf::from(format!("{}p1", device.0));
    // This kernel may not support partitions on loop devices.
    if !partition.exists() {
        run("addpart", &[&device.0, "1", "2048", "40960"])?;
    }
    Ok((image, device, partition))
}

pub(crate) fn whole_disk_with_a_mounted_partition(scratch: &Scratch) -> Built {
    let (image, device, partition) = partitioned(scratch)?;
    make_ext4(text(&partition))?;
    let mounted = mount(text(&partition), &scratch.at("mounted"), "noatime")?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(mounted))
}

pub(crate) fn partition_of_a_held_disk(scratch: &Scratch) -> Built {
    let (image, device, partition) = partitioned(scratch)?;
    let held = open_exclusively(&device.0)?;
    let scene = Scene::device(scratch, &partition, &image);
    Ok(scene.hold(device).hold(held))
}

pub(crate) fn partition_of_a_read_only_disk(scratch: &Scratch) -> Built {
    let (image, device, partition) = partitioned(scratch)?;
    let flag = crate::scene::set_read_only(&device.0)?;
    let scene = Scene::device(scratch, &partition, &image);
    Ok(scene.hold(device).hold(flag))
}

/// Unmounted ext4 in a partition that is missing from the partition table.
pub(crate) fn partition_without_a_table(scratch: &Scratch) -> Built {
    let (image, device, partition) = partitioned(scratch)?;
    make_ext4(text(&partition))?;
    write_at(Path::new(&device.0), 0, &[0; 512]);
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device))
}

pub(crate) fn partition_with_a_filesystem(scratch: &Scratch) -> Built {
    let (image, device, partition) = partitioned(scratch)?;
    make_ext4(text(&partition))?;
    let scene = Scene::device(scratch, &partition, &image);
    Ok(scene.hold(device))
}

fn open_exclusively(device: &str) -> Result<OwnedFd, Unavailable> {
    let flags = OFlags::RDWR | OFlags::EXCL;
    rustix::fs::open(device, flags, Mode::empty()).map_err(|error| error.to_string())
}

pub(crate) fn held_by_another_process(scratch: &Scratch) -> Built {
    let image = scratch.image("disk.img", 32);
    let device = attach(&image, &[])?;
    let held = open_exclusively(&device.0)?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(held))
}

pub(crate) fn active_swap(scratch: &Scratch) -> Built {
    let image = scratch.image("disk.img", 32);
    let device = attach(&image, &[])?;
    run("mkswap", &[&device.0])?;
    let swap = unused_swap(&device.0)?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(swap))
}

pub(crate) fn second_member_of_a_mounted_btrfs(scratch: &Scratch) -> Built {
    btrfs_member(scratch, |devices| &devices[1].0)
}

pub(crate) fn first_member_of_a_mounted_btrfs(scratch: &Scratch) -> Built {
    btrfs_member(scratch, |devices| &devices[0].0)
}

fn btrfs_member(scratch: &Scratch, target: fn(&[Loop]) -> &str) -> Built {
    let images = [scratch.image("one.img", 128), scratch.image("two.img", 128)];
    let devices = vec![attach(&images[0], &[])?, attach(&images[1], &[])?];
    run("mkfs.btrfs", &["-q", "-K", &devices[0].0, &devices[1].0])?;
    run("btrfs", &["device", "scan", &devices[0].0, &devices[1].0])?;
    // These options prevent writes until the test ends, both by btrfs itself and by a sync in
    // another test.
    let options = "noatime,nodiscard,commit=300";
    let point = scratch.at("mounted");
    let mounted = mount(&devices[0].0, &point, options)?;
    run("sync", &["--file-system", point.to_str().unwrap()])?;
    let scene = Scene::device(scratch, target(&devices), &images[0]).protect(&images[1]);
    let forget = ["btrfs", "device", "scan", "--forget"];
    let forget = Undo::with(&[&forget[..], &[&devices[0].0, &devices[1].0]].concat());
    Ok(scene.hold(devices).hold(forget).hold(mounted))
}

pub(crate) fn below_a_mounted_loop_device(scratch: &Scratch) -> Built {
    let (image, device) = ext4(scratch)?;
    let upper = attach(Path::new(&device.0), &[])?;
    let mounted = mount(&upper.0, &scratch.at("mounted"), "noatime")?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(upper).hold(mounted))
}

pub(crate) fn below_an_unmounted_loop_device(scratch: &Scratch) -> Built {
    let image = scratch.image("disk.img", 32);
    let device = attach(&image, &[])?;
    let upper = attach(Path::new(&device.0), &[])?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(upper))
}

pub(crate) fn two_below_a_mounted_loop_device(scratch: &Scratch) -> Built {
    let (image, device) = ext4(scratch)?;
    let middle = attach(Path::new(&device.0), &[])?;
    let upper = attach(Path::new(&middle.0), &[])?;
    let mounted = mount(&upper.0, &scratch.at("mounted"), "noatime")?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(middle).hold(upper).hold(mounted))
}

/// Two loop devices on one file. The target is the one that is not mounted.
pub(crate) fn twin_of_a_mounted_loop_device(scratch: &Scratch) -> Built {
    let (image, device) = ext4(scratch)?;
    let mounted = mount(&device.0, &scratch.at("mounted"), "noatime")?;
    let twin = attach(&image, &[])?;
    let scene = Scene::device(scratch, &twin.0, &image);
    Ok(scene.hold(device).hold(mounted).hold(twin))
}

/// Two loop devices, attached to one file by different names. The mounted one starts at 1 MiB.
pub(crate) fn shifted_twin_of_a_mounted_loop_device(scratch: &Scratch) -> Built {
    let image = scratch.image("disk.img", 32);
    let device = attach(&image, &["--offset", "1048576"])?;
    make_ext4(&device.0)?;
    let mounted = mount(&device.0, &scratch.at("mounted"), "noatime")?;
    let other_name = scratch.at("other.img");
    fs::write(&other_name, "").unwrap();
    run("mount", &["--bind", text(&image), text(&other_name)])?;
    let bound = Mounted::existing(&other_name);
    let twin = attach(&other_name, &[])?;
    let scene = Scene::device(scratch, &twin.0, &image);
    Ok(scene.hold(device).hold(mounted).hold(bound).hold(twin))
}

/// A loop device on a file whose filesystem is on another loop device. The target is this lower
/// device, which is mounted.
pub(crate) fn below_the_file_of_a_loop_device(scratch: &Scratch) -> Built {
    let (image, device) = ext4(scratch)?;
    let at = scratch.at("mounted");
    let mounted = mount(&device.0, &at, "noatime")?;
    let inner = sparse(&at.join("inner.img"), 8 * MIB);
    rustix::fs::syncfs(File::open(&inner).unwrap()).unwrap();
    let upper = attach(&inner, &[])?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(mounted).hold(upper))
}

pub(crate) fn read_only(scratch: &Scratch) -> Built {
    let image = scratch.image("disk.img", 32);
    let device = attach(&image, &["--read-only"])?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device))
}

pub(crate) fn set_read_only(scratch: &Scratch) -> Built {
    let image = scratch.image("disk.img", 32);
    let device = attach(&image, &[])?;
    let flag = crate::scene::set_read_only(&device.0)?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device).hold(flag))
}

pub(crate) fn on_a_hard_linked_file(scratch: &Scratch) -> Built {
    let image = scratch.image("disk.img", 32);
    fs::hard_link(&image, scratch.outside().join("disk.img")).unwrap();
    let device = attach(&image, &[])?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device))
}

/// A blank loop device on a file outside the root.
pub(crate) fn outside_the_root(scratch: &Scratch) -> Built {
    let image = sparse(&scratch.outside().join("disk.img"), 32 * MIB);
    let device = attach(&image, &[])?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(device))
}

/// After the device was attached, its backing file was moved out of the root and replaced by a
/// different file.
pub(crate) fn on_a_file_that_moved_out_of_the_root(scratch: &Scratch) -> Built {
    let image = scratch.image("disk.img", 32);
    let device = attach(&image, &[])?;
    let moved = scratch.outside().join("moved.img");
    fs::rename(&image, &moved).unwrap();
    scratch.image("disk.img", 32);
    let scene = Scene::device(scratch, &device.0, &moved);
    Ok(scene.hold(device))
}

pub(crate) fn zram(scratch: &Scratch) -> Built {
    let (device, removed) = crate::scene::zram("16M")?;
    write_at(&device, 0, &noise(MIB as usize));
    let scene = Scene::device(scratch, &device, &device);
    Ok(scene.hold(removed))
}

/// A loop device on the whole disk is mounted. The loop driver does not claim the disk, so an
/// exclusive open of a partition succeeds.
pub(crate) fn partition_below_a_loop_device(scratch: &Scratch) -> Built {
    let (image, device, partition) = partitioned(scratch)?;
    let upper = attach(Path::new(&device.0), &["--offset", "1048576"])?;
    make_ext4(&upper.0)?;
    let mounted = mount(&upper.0, &scratch.at("mounted"), "noatime")?;
    let scene = Scene::device(scratch, &partition, &image);
    Ok(scene.hold(device).hold(upper).hold(mounted))
}

/// The disk's backing file is also attached to a mounted loop device.
pub(crate) fn partition_of_a_twin(scratch: &Scratch) -> Built {
    let (image, device, partition) = partitioned(scratch)?;
    let twin = attach(&image, &["--offset", "1048576"])?;
    make_ext4(&twin.0)?;
    let mounted = mount(&twin.0, &scratch.at("mounted"), "noatime")?;
    let scene = Scene::device(scratch, &partition, &image);
    Ok(scene.hold(device).hold(twin).hold(mounted))
}

pub(crate) fn partition_of_an_active_swap_file(scratch: &Scratch) -> Built {
    let image = scratch.root().join("swap");
    fs::write(&image, vec![0; 32 * MIB as usize]).unwrap();
    run("chmod", &["600", text(&image)])?;
    run("mkswap", &[text(&image)])?;
    let swap = unused_swap(text(&image))?;
    // Without --partscan, the partition would outlive the attachment of the device.
    let device = attach(&image, &["--partscan"])?;
    run("addpart", &[&device.0, "1", "2048", "40960"])?;
    let partition = PathBuf::from(format!("{}p1", device.0));
    let scene = Scene::device(scratch, &partition, &image);
    Ok(scene.hold(swap).hold(device))
}

pub(crate) fn loop_on_a_mounted_device(scratch: &Scratch) -> Built {
    let (image, lower) = ext4(scratch)?;
    let mounted = mount(&lower.0, &scratch.at("mounted"), "noatime")?;
    loop_on(scratch, &image, lower, mounted)
}

pub(crate) fn loop_on_a_disk_with_a_mounted_partition(scratch: &Scratch) -> Built {
    let (image, lower, partition) = partitioned(scratch)?;
    make_ext4(text(&partition))?;
    let mounted = mount(text(&partition), &scratch.at("mounted"), "noatime")?;
    loop_on(scratch, &image, lower, mounted)
}

pub(crate) fn loop_on_active_swap(scratch: &Scratch) -> Built {
    let image = scratch.image("disk.img", 32);
    let lower = attach(&image, &[])?;
    run("mkswap", &[&lower.0])?;
    let swap = unused_swap(&lower.0)?;
    loop_on(scratch, &image, lower, swap)
}

/// /proc/swaps lists the device's other node.
pub(crate) fn loop_on_active_swap_by_another_node(scratch: &Scratch) -> Built {
    let image = scratch.image("disk.img", 32);
    let lower = attach(&image, &[])?;
    let node = other_node(scratch, &lower);
    run("mkswap", &[text(&node)])?;
    let swap = unused_swap(text(&node))?;
    loop_on(scratch, &image, lower, swap)
}

/// Only an attempt to open the lower device exclusively reveals that it is held.
pub(crate) fn loop_on_a_held_device(scratch: &Scratch) -> Built {
    let image = scratch.image("disk.img", 32);
    let lower = attach(&image, &[])?;
    let held = open_exclusively(&lower.0)?;
    loop_on(scratch, &image, lower, held)
}

pub(crate) fn loop_on_a_lazily_unmounted_device(scratch: &Scratch) -> Built {
    let (image, lower) = ext4(scratch)?;
    let at = scratch.at("mounted");
    let mounted = mount(&lower.0, &at, "noatime")?;
    let open = File::create(at.join("open")).unwrap();
    rustix::fs::syncfs(&open).unwrap();
    run("umount", &["--lazy", text(&at)])?;
    std::mem::forget(mounted);
    loop_on(scratch, &image, lower, open)
}

/// Another loop device on the lower device is mounted. It was attached through another node.
pub(crate) fn twin_above_a_device(scratch: &Scratch) -> Built {
    let (image, lower) = ext4(scratch)?;
    let twin = attach(&other_node(scratch, &lower), &[])?;
    let mounted = mount(&twin.0, &scratch.at("mounted"), "noatime")?;
    loop_on(scratch, &image, lower, (mounted, twin))
}

pub(crate) fn other_node(scratch: &Scratch, device: &Loop) -> PathBuf {
    let number = fs::metadata(&device.0).unwrap().rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    crate::product::make_node(&scratch.at("node"), FileType::BlockDevice, major, minor)
}

/// A loop device whose lower device is in use.
pub(crate) fn loop_on(
    scratch: &Scratch,
    image: &Path,
    lower: Loop,
    used_by: impl std::any::Any,
) -> Built {
    let upper = attach(Path::new(&lower.0), &[])?;
    let mut scene = Scene::device(scratch, &upper.0, image);
    scene.devices.push(PathBuf::from(&lower.0));
    Ok(scene.hold(lower).hold(upper).hold(used_by))
}
