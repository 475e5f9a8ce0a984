//! Mounts in all visible mount namespaces, and swap areas. Sources: proc_pid_mountinfo(5),
//! /proc/swaps. Mounts in containers are included, because they also use the device. Namespaces
//! that contain no visible process stay hidden, but O_EXCL detects their mounts.

use crate::system::host::{
    file::mount_id,
    kernel::{Dev, Kernel, names, unescape},
};
use std::{collections::BTreeSet, fs, path::Path};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MountEntry {
    /// As in STATX_MNT_ID.
    pub id: u64,
    /// `st_dev` of the mount's files; anonymous for btrfs, overlay, tmpfs and others.
    pub dev: Dev,
    /// Directory of the filesystem that is mounted; not `/` for a bind mount of a directory.
    pub root: String,
    /// Mount point, as seen in its namespace.
    pub point: String,
    /// Filesystem type, such as `ext4`.
    pub filesystem: String,
    /// Mount source, such as `/dev/vda1`.
    pub source: String,
    /// Mount and filesystem options, in kernel order.
    pub options: String,
    /// ID of a process in the mount namespace; `None` for the runner's namespace.
    pub namespace_of: Option<u32>,
}

impl MountEntry {
    /// Parses `id parent major:minor root point options [tags] - type source super-options`.
    pub(crate) fn parse(line: &str, namespace_of: Option<u32>) -> Option<Self> {
        let (head, tail) = line.split_once(" - ")?;
        let head: Vec<&str> = head.split(' ').collect();
        let mut tail = tail.split(' ');
        Some(Self {
            id: head.first()?.parse().ok()?,
            dev: head.get(2)?.parse().ok()?,
            root: unescape(head.get(3)?),
            point: unescape(head.get(4)?),
            filesystem: tail.next()?.into(),
            source: unescape(tail.next()?),
            options: merge_options(head.get(5)?, tail.next().unwrap_or_default()),
            namespace_of,
        })
    }
}

/// Appends the filesystem options that are not among the mount options.
fn merge_options(mount: &str, filesystem: &str) -> String {
    let mut options: Vec<&str> = Vec::new();
    for option in mount.split(',').chain(filesystem.split(',')) {
        if !option.is_empty() && !options.contains(&option) {
            options.push(option);
        }
    }
    options.join(",")
}

/// Mounts in all visible namespaces. This process's namespace comes first.
pub(crate) fn mounts(kernel: &Kernel) -> Vec<MountEntry> {
    let mut all = own_mounts(kernel);
    for pid in other_namespaces(kernel) {
        all.extend(table(kernel, &pid.to_string(), Some(pid)));
    }
    all
}

/// Mounts in this process's namespace.
pub(crate) fn own_mounts(kernel: &Kernel) -> Vec<MountEntry> {
    table(kernel, "self", None)
}

fn table(kernel: &Kernel, process: &str, namespace_of: Option<u32>) -> Vec<MountEntry> {
    let text = fs::read(kernel.proc.join(process).join("mountinfo")).unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .filter_map(|line| MountEntry::parse(line, namespace_of))
        .collect()
}

/// The mount that contains a path in this mount namespace. Looked up by mount ID, because each
/// btrfs subvolume has a separate `st_dev`.
pub(crate) fn mount_at<'a>(mounts: &'a [MountEntry], path: &Path) -> Option<&'a MountEntry> {
    let id = mount_id(path)?;
    mounts
        .iter()
        .find(|mount| mount.id == id && mount.namespace_of.is_none())
}

/// One process per mount namespace, except for this process's namespace.
fn other_namespaces(kernel: &Kernel) -> Vec<u32> {
    let namespace = |process: &str| fs::read_link(kernel.proc.join(process).join("ns/mnt")).ok();
    let mut seen: BTreeSet<_> = namespace("self").into_iter().collect();
    names(&kernel.proc)
        .iter()
        .filter_map(|name| name.parse::<u32>().ok())
        .filter(|pid| namespace(&pid.to_string()).is_some_and(|link| seen.insert(link)))
        .collect()
}

/// Paths of swap devices and swap files.
pub(crate) fn swaps(kernel: &Kernel) -> Vec<String> {
    parse_swaps(&fs::read_to_string(kernel.proc.join("swaps")).unwrap_or_default())
}

pub(crate) fn parse_swaps(text: &str) -> Vec<String> {
    text.lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .map(unescape)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mountinfo_lines() {
        let check = |line: &str, want: Option<(&str, &str, &str, &str, &str)>| {
            let found = MountEntry::parse(line, None);
            let fields = found.as_ref().map(|m| {
                (
                    m.dev.to_string(),
                    m.point.as_str(),
                    m.filesystem.as_str(),
                    m.source.as_str(),
                    m.options.as_str(),
                )
            });
            assert_eq!(
                fields,
                want.map(|(dev, point, kind, source, options)| (
                    dev.to_string(),
                    point,
                    kind,
                    source,
                    options
                )),
                "{line}"
            );
        };
        check(
            "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard",
            Some(("254:0", "/", "ext4", "/dev/vda", "rw,relatime,discard")),
        );
        check(
            "36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue",
            Some((
                "98:0",
                "/mnt 2",
                "ext3",
                "/dev/root",
                "rw,noatime,errors=continue",
            )),
        );
        check(
            "99 27 0:45 / /b rw - btrfs /dev/loop0 rw",
            Some(("0:45", "/b", "btrfs", "/dev/loop0", "rw")),
        );
        check(
            "5 1 0:2 / /n rw - tmpfs  rw",
            Some(("0:2", "/n", "tmpfs", "", "rw")),
        );
        check("rubbish", None);
        check("1 2 x:y / / rw - ext4 /dev/vda rw", None);
    }

    #[test]
    fn own_root_is_mounted() {
        let all = mounts(&Kernel::live());
        assert!(
            all.iter()
                .any(|mount| mount.point == "/" && mount.namespace_of.is_none())
        );
    }
}
