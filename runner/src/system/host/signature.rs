//! Finds signatures of filesystems, partition tables and other formats on a device or in a file,
//! with wipefs(8) from util-linux, which every distribution installs. wipefs opens its argument
//! read-only.

use crate::system::host::used_space::used_bytes;
use leadline_protocol::{format, text::printable};
use serde::Deserialize;
use std::{fmt, fs::File, process::Command};

/// /usr/sbin and /sbin are not in every user's PATH.
const PROGRAMS: [&str; 3] = ["wipefs", "/usr/sbin/wipefs", "/sbin/wipefs"];
const TABLE: &str = "partition-table";

#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub(crate) struct Signature {
    /// Such as `ext4`, `LVM2_member` or `gpt`.
    #[serde(rename = "type")]
    kind: String,
    label: Option<String>,
    /// Such as `filesystem` or `partition-table`.
    usage: Option<String>,
    uuid: Option<String>,
    #[serde(skip)]
    used_bytes: Option<u64>,
}

impl Signature {
    /// UUID of a filesystem, RAID array or partition table.
    pub(crate) fn uuid(&self) -> Option<String> {
        self.uuid.clone()
    }

    /// Adds the space that the filesystem uses. The value is out of date while the filesystem is
    /// mounted.
    pub(crate) fn with_used_space(self, device: &File) -> Self {
        Self {
            used_bytes: used_bytes(&self.kind, device),
            ..self
        }
    }
}

#[derive(Deserialize)]
struct Output {
    signatures: Vec<Signature>,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.kind))?;
        if self.usage.as_deref() == Some(TABLE) {
            f.write_str(" partition table")?;
        }
        if let Some(label) = &self.label {
            write!(f, " {label:?}")?;
        }
        match self.used_bytes {
            Some(used) => write!(f, ", {} used", format::bytes(used)),
            None => Ok(()),
        }
    }
}

/// All signatures in a file or on a device; empty if there are none, or if they cannot be read.
pub(crate) fn signatures(file: &File) -> Vec<Signature> {
    let run = |program: &&str| {
        Command::new(program)
            .args(["--json", "--output", "TYPE,LABEL,USAGE,UUID"])
            // This path refers to the open file, even if the file was renamed.
            .arg("/proc/self/fd/0")
            .stdin(file.try_clone().ok()?)
            .output()
            .ok()
    };
    let output = PROGRAMS.iter().find_map(run);
    output.map_or_else(Vec::new, |output| parse(&output.stdout))
}

/// Multiple copies of a signature (backup GPT, btrfs superblocks) are reported once.
pub(crate) fn parse(json: &[u8]) -> Vec<Signature> {
    let parsed: Option<Output> = serde_json::from_slice(json).ok();
    let mut found: Vec<Signature> = Vec::new();
    for signature in parsed.map_or_else(Vec::new, |output| output.signatures) {
        if !found.contains(&signature) {
            found.push(signature);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wipefs_output() {
        for (json, want) in [
            (
                r#"{"signatures": [{"type":"ext4", "label":"photos", "usage":"filesystem"}]}"#,
                "ext4 \"photos\"",
            ),
            (
                r#"{"signatures": [{"type":"gpt", "label":null, "usage":"partition-table"},
                {"type":"gpt", "label":null, "usage":"partition-table"},
                {"type":"PMBR", "label":null, "usage":"partition-table"}]}"#,
                "gpt partition table, PMBR partition table",
            ),
            (
                r#"{"signatures": [{"type":"ext4\u007f", "label":"\u007f", "usage":null}]}"#,
                "ext4\u{fffd} \"\\u{7f}\"",
            ),
            (r#"{"signatures": []}"#, ""),
            ("", ""),
        ] {
            let found: Vec<String> = parse(json.as_bytes())
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(found.join(", "), want);
        }
    }
}
