//! Memory that this process may still use under its control group limits: v2 `memory.max`, v1
//! `memory.limit_in_bytes`, in its own group and all ancestor groups (cgroups(7)).

use crate::system::host::kernel::{Kernel, field, value};
use std::{fs, path::Path};

/// File and field names in one cgroup version.
struct Files {
    limit: &'static str,
    usage: &'static str,
    /// Field of `memory.stat` that counts the page cache that the kernel reclaims first.
    reclaimable: &'static str,
}

const V1: Files = Files {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file",
};
const V2: Files = Files {
    limit: "memory.max",
    usage: "memory.current",
    reclaimable: "inactive_file",
};

/// Available memory in bytes; `None` if there is no limit.
pub(crate) fn available(kernel: &Kernel) -> Option<u64> {
    let groups = fs::read_to_string(kernel.proc.join("self/cgroup")).ok()?;
    groups
        .lines()
        .filter_map(|line| available_in_hierarchy(kernel, line))
        .min()
}

/// `line`: `hierarchy:controllers:path`; v2 has no controllers.
fn available_in_hierarchy(kernel: &Kernel, line: &str) -> Option<u64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let controllers = fields.next()?;
    let group = fields.next()?.trim_start_matches('/');
    let base = kernel.sys.join("fs/cgroup");
    let (root, files) = match controllers {
        "" => (base, V2),
        _ if controllers.split(',').any(|name| name == "memory") => (base.join("memory"), V1),
        _ => return None,
    };
    let group = root.join(group);
    // In a container, the process's own group may be the root of the mount.
    let group = if group.is_dir() { group } else { root.clone() };
    group
        .ancestors()
        .take_while(|directory| directory.starts_with(&root))
        .filter_map(|directory| headroom(directory, &files))
        .min()
}

/// A group's limit minus its unreclaimable memory, in bytes; `None` if there is no limit.
fn headroom(group: &Path, files: &Files) -> Option<u64> {
    let limit: u64 = value(group.join(files.limit))?;
    let usage: u64 = value(group.join(files.usage))?;
    let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let reclaimable = field(&stat, files.reclaimable).unwrap_or(0);
    Some(limit.saturating_sub(usage.saturating_sub(reclaimable)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// `groups`: each group's directory below /sys/fs/cgroup, limit and usage.
    fn check(own: &str, files: &Files, groups: &[(&str, &str, u64)], want: Option<u64>) {
        let root = tempfile::tempdir().unwrap();
        let kernel = Kernel {
            sys: root.path().join("sys"),
            proc: root.path().join("proc"),
        };
        fs::create_dir_all(kernel.proc.join("self")).unwrap();
        fs::write(kernel.proc.join("self/cgroup"), own).unwrap();
        for (group, limit, usage) in groups {
            let group = kernel.sys.join("fs/cgroup").join(group);
            fs::create_dir_all(&group).unwrap();
            fs::write(group.join(files.limit), limit).unwrap();
            fs::write(group.join(files.usage), usage.to_string()).unwrap();
            let stat = format!("{} {}\n", files.reclaimable, 10 * MIB);
            fs::write(group.join("memory.stat"), stat).unwrap();
        }
        assert_eq!(available(&kernel), want, "{own}");
    }

    #[test]
    fn the_smallest_headroom_of_all_groups_applies() {
        let limit = (100 * MIB).to_string();
        let v2 = [("a/b", "max", 60 * MIB), ("a", limit.as_str(), 60 * MIB)];
        check("0::/a/b\n", &V2, &v2, Some(50 * MIB));
        let v1 = [("memory/a", limit.as_str(), 30 * MIB)];
        check(
            "9:name=systemd:/\n4:memory:/a\n0::/\n",
            &V1,
            &v1,
            Some(80 * MIB),
        );
        check(
            "4:cpu,memory:/not/mounted\n",
            &V1,
            &[("memory", &limit, 5 * MIB)],
            Some(100 * MIB),
        );
        check("0::/a\n", &V2, &[("a", "max", MIB)], None);
        check("", &V2, &[], None);
    }
}
