//! Creates a generated host's sysfs and procfs, and the nodes and files that they refer to.

use super::model::{Backing, Host, Kind, SwapName};
use crate::system::host::fixture::Fixture;
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use std::{
    fmt::Write,
    fs::{self, File},
    path::PathBuf,
};

/// No driver has this major number, so no node can be opened.
const MAJOR: u32 = 4008;
const MAX_NODES: u32 = 40;
const MAX_FILES: u64 = 3;

/// Two nodes per device, and images of different lengths.
pub(super) struct Scratch {
    directory: tempfile::TempDir,
}

impl Scratch {
    /// `None` if this process is not permitted to create device nodes.
    pub(super) fn new() -> Option<Self> {
        let scratch = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(scratch.images()).unwrap();
        for file in 0..MAX_FILES {
            let image = File::create(scratch.image(file as usize)).unwrap();
            image.set_len(512 * (100 + file)).unwrap();
        }
        for minor in 0..MAX_NODES {
            for path in [
                scratch.node(minor as usize),
                scratch.other_node(minor as usize),
            ] {
                let mode = Mode::from_raw_mode(0o600);
                let number = makedev(MAJOR, minor);
                mknodat(CWD, path, FileType::BlockDevice, mode, number).ok()?;
            }
        }
        Some(scratch)
    }

    /// The target root.
    pub(super) fn images(&self) -> PathBuf {
        self.path("images")
    }

    pub(super) fn image(&self, file: usize) -> PathBuf {
        self.images().join(file.to_string())
    }

    pub(super) fn node(&self, device: usize) -> PathBuf {
        self.path(&format!("node{device}"))
    }

    /// Another node of the same device.
    fn other_node(&self, device: usize) -> PathBuf {
        self.path(&format!("other{device}"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub(super) fn fixture(&self, host: &Host) -> Fixture {
        let mut files = String::new();
        for device in 0..host.nodes.len() {
            self.describe(host, device, &mut files);
        }
        for (number, pool) in host.pools.iter().enumerate() {
            for member in pool {
                let name = &host.nodes[*member].name;
                writeln!(files, "sys/fs/btrfs/{number}-f/devices/{name} @").unwrap();
            }
        }
        let own = mounts(host, |device| host.nodes[device].mounted);
        let other = mounts(host, |device| host.nodes[device].mounted_elsewhere);
        writeln!(files, "proc/swaps = {}", self.swaps(host)).unwrap();
        writeln!(files, "proc/self/mountinfo = {own}").unwrap();
        writeln!(files, "proc/4242/mountinfo = {other}").unwrap();
        let fixture = Fixture::new(&files);
        for (process, namespace) in [("self", 1), ("4242", 2)] {
            let directory = fixture.kernel().proc.join(process).join("ns");
            fs::create_dir_all(&directory).unwrap();
            let link = format!("mnt:[{namespace}]");
            std::os::unix::fs::symlink(link, directory.join("mnt")).unwrap();
        }
        fixture
    }

    fn describe(&self, host: &Host, device: usize, files: &mut String) {
        let node = &host.nodes[device];
        let (name, directory) = (&node.name, directory(host, device));
        let mut write = |attribute: &str| writeln!(files, "{directory}/{attribute}").unwrap();
        write(&format!("dev = {MAJOR}:{device}"));
        // The kernel also shows a disk's read-only flag on its partitions.
        write(&format!("ro = {}", u8::from(host.is_read_only(device))));
        let mut sectors = 1000;
        match &node.kind {
            Kind::Disk => write("device @"),
            Kind::Partition { .. } => {
                let number = name.chars().last().unwrap();
                write(&format!("partition = {number}"));
            }
            Kind::Md { .. } => write(&format!("md/uuid = {name}")),
            Kind::Dm { .. } => write(&format!("dm/uuid = {name}")),
            Kind::Loop { backing } => {
                let path = match backing {
                    Backing::File(file) => {
                        sectors = 100 + file;
                        self.image(*file)
                    }
                    Backing::Device(lower) if device.is_multiple_of(2) => self.node(*lower),
                    Backing::Device(lower) => self.other_node(*lower),
                };
                write(&format!("loop/backing_file = {}", path.display()));
            }
        }
        write(&format!("size = {sectors}"));
        if let Some(serial) = &node.serial {
            write(&format!("serial = {serial}"));
        }
        if let Kind::Md { on } | Kind::Dm { on } = &node.kind {
            for member in on {
                let lower = &host.nodes[*member].name;
                write(&format!("slaves/{lower} @"));
            }
        }
        for holder in host.holders(device) {
            let upper = &host.nodes[holder].name;
            write(&format!("holders/{upper} @"));
        }
    }

    fn swaps(&self, host: &Host) -> String {
        let mut lines = "Filename Type Size Used Priority".to_string();
        for (device, node) in host.nodes.iter().enumerate() {
            let path = match node.swap {
                None => continue,
                Some(SwapName::Kernel) => PathBuf::from("/dev").join(&node.name),
                Some(SwapName::Node) => self.other_node(device),
            };
            write!(lines, "\\n{} partition 1 0 -2", path.display()).unwrap();
        }
        for (number, file) in host.files.iter().enumerate() {
            if file.is_swap {
                let path = self.image(number);
                write!(lines, "\\n{} file 1 0 -2", path.display()).unwrap();
            }
        }
        lines
    }
}

fn directory(host: &Host, device: usize) -> String {
    let node = &host.nodes[device];
    match node.kind {
        Kind::Partition { of } => format!("sys/devices/{}/{}", host.nodes[of].name, node.name),
        _ => format!("sys/devices/{}", node.name),
    }
}

fn mounts(host: &Host, is_mounted: impl Fn(usize) -> bool) -> String {
    let devices = (0..host.nodes.len()).filter(|device| is_mounted(*device));
    let line = |device| format!("{device} 0 {MAJOR}:{device} / /m{device} rw - ext4 /dev/x rw");
    let lines: Vec<String> = devices.map(line).collect();
    format!("0 0 0:1 / / rw - tmpfs none rw\\n{}", lines.join("\\n"))
}
