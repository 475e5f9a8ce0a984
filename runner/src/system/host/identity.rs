//! A device's stable identity, serial number, model and symbolic links, read from sysfs without
//! udev. SCSI and NVMe devices have a `wwid`, and virtio and NVMe devices have a `serial`. The
//! serial number of a SCSI device is in VPD page 0x80 (SPC-5, 7.7.19).

use crate::system::host::{
    block_device::BlockDevice,
    inventory::Inventory,
    kernel::{attribute, names},
};
use leadline_protocol::text::is_deceptive;
use std::{collections::BTreeMap, fs};

/// Maximum length of an identity. Longer ones are truncated, because identities are displayed and
/// compared.
const MAX_IDENTITY_CHARS: usize = 256;
const VPD_HEADER_BYTES: usize = 4;

/// The first available of `wwid:`, `serial:` (with the model), `dm:`, `md:`, `loop:` (backing
/// file). A partition has the identity of its disk with `-partN`.
pub(crate) fn identity(host: &Inventory, block: &BlockDevice) -> Option<String> {
    let text = match &block.disk {
        Some(disk) => {
            let number = attribute(block.dir.join("partition"))?;
            let disk = host.blocks.get(disk).filter(|disk| disk.disk.is_none())?;
            format!("{}-part{number}", disk_identity(disk)?)
        }
        None => disk_identity(block)?,
    };
    Some(text.chars().take(MAX_IDENTITY_CHARS).collect())
}

fn disk_identity(block: &BlockDevice) -> Option<String> {
    let prefixed = |prefix: &str, paths: &[&str]| {
        first_attribute(block, paths).map(|id| format!("{prefix}:{id}"))
    };
    let serial = || {
        let serial = serial(block)?;
        Some(match model(block) {
            Some(model) => format!("serial:{model}_{serial}"),
            None => format!("serial:{serial}"),
        })
    };
    prefixed("wwid", &["wwid", "device/wwid"])
        .or_else(serial)
        .or_else(|| prefixed("dm", &["dm/uuid", "dm/name"]))
        .or_else(|| prefixed("md", &["md/uuid"]))
        .or_else(|| {
            let backing = block.backing.as_ref()?;
            Some(format!("loop:{}", backing.path))
        })
}

fn first_attribute(block: &BlockDevice, paths: &[&str]) -> Option<String> {
    let mut paths = paths.iter();
    paths.find_map(|path| attribute(block.dir.join(path)))
}

pub(crate) fn serial(block: &BlockDevice) -> Option<String> {
    first_attribute(block, &["serial", "device/serial", "device/cid"])
        .or_else(|| vpd_serial(&fs::read(block.dir.join("device/vpd_pg80")).ok()?))
}

pub(crate) fn vpd_serial(page: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(page.get(VPD_HEADER_BYTES..)?);
    let text = text.replace(is_deceptive, " ").trim().to_string();
    (!text.is_empty()).then_some(text)
}

/// Model name, prefixed with the vendor unless the vendor is virtio's PCI ID or libata's generic
/// `ATA`.
pub(crate) fn model(block: &BlockDevice) -> Option<String> {
    let model = first_attribute(block, &["device/model", "device/name"])?;
    match attribute(block.dir.join("device/vendor")) {
        Some(vendor) if vendor != "ATA" && !vendor.starts_with("0x") => {
            Some(format!("{vendor} {model}"))
        }
        _ => Some(model),
    }
}

/// Symbolic links to each device by kernel name: `/dev/disk/by-*/*` and `/dev/mapper/*`, if udev
/// creates them.
pub(crate) fn links() -> BTreeMap<String, Vec<String>> {
    let kinds = names("/dev/disk").into_iter();
    let mut directories: Vec<String> = kinds.map(|kind| format!("/dev/disk/{kind}")).collect();
    directories.push("/dev/mapper".into());
    let mut links: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for directory in directories {
        for name in names(&directory) {
            let link = format!("{directory}/{name}");
            let Ok(target) = fs::canonicalize(&link) else {
                continue;
            };
            let device = target.file_name().and_then(|name| name.to_str());
            if let Some(device) = device
                && target.as_os_str() != link.as_str()
            {
                links.entry(device.into()).or_default().push(link);
            }
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::{Fixture, STACK};

    #[test]
    fn serial_number_has_no_deceptive_characters() {
        let page = "\0\u{80}\0\u{8}A\u{202e}B\u{1b}";
        assert_eq!(vpd_serial(page.as_bytes()).as_deref(), Some("A B"));
        assert_eq!(vpd_serial(b"abcd\x1b"), None);
    }

    #[test]
    fn most_specific_identity_is_chosen() {
        let fixture = Fixture::new(&format!(
            "{STACK}
            sys/devices/sdb/wwid = naa.5000c500a1b2c3d4
            sys/devices/sdb/serial = B1
            sys/devices/sda/device/vendor = ATA
            sys/devices/sda/device/model = Disk  X
            sys/devices/sda/device/vpd_pg80 = xxxxWD-7
            sys/devices/nvme0n1/dev = 4025:0
            sys/devices/nvme0n1/device/serial = S3
            sys/devices/nvme0n1/device/model = Fast One
            sys/devices/self/self/dev = 4026:0
            sys/devices/self/self/partition = 1"
        ));
        let host = fixture.inventory();
        for (name, want) in [
            ("sda", Some("serial:Disk X_WD-7")),
            ("sda2", Some("serial:Disk X_WD-7-part2")),
            ("sdb", Some("wwid:naa.5000c500a1b2c3d4")),
            ("sdc", None),
            ("sdf", Some("serial:F 7")),
            ("dm-0", Some("dm:LVM-abc")),
            ("dm-1", Some("dm:crypt")),
            ("loop9090", Some("loop:/nowhere/image")),
            ("nvme0n1", Some("serial:Fast One_S3")),
            ("self", None),
        ] {
            assert_eq!(
                identity(&host, &host.blocks[name]).as_deref(),
                want,
                "{name}"
            );
        }
    }
}
