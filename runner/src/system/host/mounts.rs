//! What is mounted where, in every mount namespace that can be seen, and what is swapped to.
//!
//! Source: proc_pid_mountinfo(5), /proc/swaps. A container's mounts count as much as our own: the device under them is
//! somebody's. Namespaces that no visible process lives in stay unseen; the kernel's own O_EXCL still knows them.

use crate::system::host::kernel::{Dev, Kernel, names, unescape};
use std::collections::BTreeSet;
use std::fs;

/// One mount.
#[derive(Clone, Debug, PartialEq)]
pub struct MountEntry {
    /// Its number, as in STATX_MNT_ID.
    pub id: u64,
    /// `st_dev` of its files; anonymous for btrfs, overlay, tmpfs, ...
    pub dev: Dev,
    /// Where, as its own namespace names it.
    pub point: String,
    /// Filesystem type.
    pub filesystem: String,
    /// What was mounted, such as `/dev/vda1`.
    pub source: String,
    /// Options of the mount and of the filesystem, as the kernel lists them.
    pub options: String,
    /// A process that lives in its namespace; `None` when that is our own.
    pub elsewhere: Option<u32>,
}

impl MountEntry {
    /// Reads one line of mountinfo: `id parent major:minor root point options [tags] - type source super-options`.
    fn parse(line: &str, elsewhere: Option<u32>) -> Option<Self> {
        let (head, tail) = line.split_once(" - ")?;
        let head: Vec<&str> = head.split(' ').collect();
        let mut tail = tail.split(' ');
        let (filesystem, source, super_options) =
            (tail.next()?, tail.next()?, tail.next().unwrap_or_default());
        Some(Self {
            id: head.first()?.parse().ok()?,
            dev: head.get(2)?.parse().ok()?,
            point: unescape(head.get(4)?),
            filesystem: filesystem.into(),
            source: unescape(source),
            options: join_options(head.get(5)?, super_options),
            elsewhere,
        })
    }
}

/// The options of a mount, then those of its filesystem that are not said yet.
fn join_options(mount: &str, filesystem: &str) -> String {
    let mut seen = BTreeSet::new();
    mount
        .split(',')
        .chain(filesystem.split(','))
        .filter(|option| !option.is_empty() && seen.insert(*option))
        .collect::<Vec<_>>()
        .join(",")
}

/// All mounts, our own namespace first.
pub fn mounts(kernel: &Kernel) -> Vec<MountEntry> {
    let mut all = table(kernel, "self", None);
    for pid in other_namespaces(kernel) {
        all.extend(table(kernel, &pid.to_string(), Some(pid)));
    }
    all
}

fn table(kernel: &Kernel, process: &str, elsewhere: Option<u32>) -> Vec<MountEntry> {
    let text = fs::read(kernel.proc.join(process).join("mountinfo")).unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .filter_map(|line| MountEntry::parse(line, elsewhere))
        .collect()
}

/// One process out of every mount namespace but our own.
fn other_namespaces(kernel: &Kernel) -> Vec<u32> {
    let namespace = |process: &str| fs::read_link(kernel.proc.join(process).join("ns/mnt")).ok();
    let mut seen: BTreeSet<_> = namespace("self").into_iter().collect();
    let processes = names(&kernel.proc)
        .into_iter()
        .filter_map(|name| name.parse::<u32>().ok());
    processes
        .filter(|pid| namespace(&pid.to_string()).is_some_and(|link| seen.insert(link)))
        .collect()
}

/// Paths of the devices and files that are swapped to.
pub fn swaps(kernel: &Kernel) -> Vec<String> {
    let text = fs::read_to_string(kernel.proc.join("swaps")).unwrap_or_default();
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
    fn lines_of_mountinfo() {
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
    fn our_own_root_is_mounted() {
        let all = mounts(&Kernel::live());
        assert!(
            all.iter()
                .any(|mount| mount.point == "/" && mount.elsewhere.is_none())
        );
    }
}
