//! /proc/meminfo, whose `kB` are units of 1024 bytes (proc_meminfo(5)).

use crate::system::host::kernel::{Kernel, field};
use std::fs;

/// The value of one field, in bytes.
pub(crate) fn read(kernel: &Kernel, name: &str) -> Option<u64> {
    field_bytes(&fs::read_to_string(kernel.proc.join("meminfo")).ok()?, name)
}

pub(crate) fn field_bytes(text: &str, name: &str) -> Option<u64> {
    field(text, name)?.checked_mul(1024)
}

/// Size of the available huge pages of the default size, in bytes: those that are neither used nor
/// reserved, plus those that the kernel may allocate on demand (`vm.nr_overcommit_hugepages`;
/// Documentation/admin-guide/mm/hugetlbpage.rst).
pub(crate) fn available_huge_pages(kernel: &Kernel) -> Option<u64> {
    let text = fs::read_to_string(kernel.proc.join("meminfo")).ok()?;
    let overcommit = fs::read_to_string(kernel.proc.join("sys/vm/nr_overcommit_hugepages"));
    huge_page_bytes(&text, overcommit.ok()?.trim().parse().ok()?)
}

/// `addable`: number of huge pages that the kernel may allocate on demand.
pub(crate) fn huge_page_bytes(text: &str, addable: u64) -> Option<u64> {
    let count = |name| field(text, name);
    let free = count("HugePages_Free")?.saturating_sub(count("HugePages_Rsvd")?);
    let added = addable.saturating_sub(count("HugePages_Surp")?);
    free.checked_add(added)?
        .checked_mul(field_bytes(text, "Hugepagesize")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_and_addable_huge_pages_are_available() {
        let text = |free: u64| {
            format!(
                "HugePages_Free: {free}\nHugePages_Rsvd: 2\nHugePages_Surp: 1\nHugepagesize: 2048 kB\n"
            )
        };
        assert_eq!(huge_page_bytes(&text(5), 4), Some(6 << 21));
        assert_eq!(huge_page_bytes(&text(u64::MAX), 4), None);
        assert_eq!(huge_page_bytes("", 4), None);
    }

    #[test]
    fn field_names_are_matched_exactly() {
        let text = "MemFree:  10 kB\nCached:          1383068 kB\nSwapCached:            7 kB\nHugePages_Total:       x\n";
        for (name, want) in [
            ("Cached", Some(1_383_068 * 1024)),
            ("SwapCached", Some(7168)),
            ("Mem", None),
            ("HugePages_Total", None),
        ] {
            assert_eq!(field_bytes(text, name), want, "{name}");
        }
    }
}
