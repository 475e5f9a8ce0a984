//! What lies on devices that are not mounted: blkid(8) tells, where it is installed. Nothing depends on it but what is
//! shown; without it the filesystem is null.

use std::collections::BTreeMap;
use std::process::Command;

/// Signature by device path, such as `ext4`, `LVM2_member`, or `gpt partition table`; empty without blkid.
pub fn signatures(paths: &[String]) -> BTreeMap<String, String> {
    paths.iter().flat_map(|path| signature(path)).collect()
}

/// One call a device: asked for several, blkid ends at the first that it cannot read, such as one that has just gone.
fn signature(path: &str) -> BTreeMap<String, String> {
    // --probe: look at the device itself, not at a cache of what once was there.
    let output = Command::new("blkid")
        .args(["--probe", "--output", "export", path])
        .output();
    output.map_or_else(
        |_| BTreeMap::new(),
        |output| parse(&String::from_utf8_lossy(&output.stdout)),
    )
}

/// Blocks of `KEY=value` lines that each begin with DEVNAME.
fn parse(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut device = None;
    for (key, value) in text.lines().filter_map(|line| line.split_once('=')) {
        match (key, &device) {
            ("DEVNAME", _) => device = Some(value.to_string()),
            ("TYPE", Some(device)) => drop(found.insert(device.clone(), value.to_string())),
            ("PTTYPE", Some(device)) => drop(
                found
                    .entry(device.clone())
                    .or_insert_with(|| format!("{value} partition table")),
            ),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blkid_export() {
        let text = "DEVNAME=/dev/loop0\nUUID=1-2\nTYPE=ext4\nUSAGE=filesystem\n\nDEVNAME=/dev/loop1\nPTTYPE=gpt\n\nDEVNAME=/dev/loop2\nUSAGE=x\n";
        let found = parse(text);
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            [
                ("/dev/loop0".to_string(), "ext4".to_string()),
                ("/dev/loop1".to_string(), "gpt partition table".to_string())
            ]
        );
    }
}
