//! Contents of unmounted devices, from blkid(8) where it is installed. For display only.

use std::process::Command;

/// Such as `ext4`, `LVM2_member` or `gpt partition table`; `None` without blkid.
pub(crate) fn signature(path: &str) -> Option<String> {
    // --probe reads the device instead of blkid's cache.
    let output = Command::new("blkid")
        .args(["--probe", "--output", "export", path])
        .output()
        .ok()?;
    parse(&String::from_utf8_lossy(&output.stdout))
}

/// Parses `KEY=value` lines.
fn parse(text: &str) -> Option<String> {
    let field = |key: &str| {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
    };
    field("TYPE")
        .map(String::from)
        .or_else(|| field("PTTYPE").map(|table| format!("{table} partition table")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blkid_export() {
        for (text, want) in [
            (
                "DEVNAME=/dev/loop0\nUUID=1-2\nTYPE=ext4\nUSAGE=filesystem\n",
                Some("ext4"),
            ),
            (
                "DEVNAME=/dev/loop1\nPTTYPE=gpt\n",
                Some("gpt partition table"),
            ),
            ("DEVNAME=/dev/loop2\nUSAGE=x\n", None),
            ("", None),
        ] {
            assert_eq!(parse(text).as_deref(), want);
        }
    }
}
