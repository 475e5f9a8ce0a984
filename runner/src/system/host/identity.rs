//! What stays when names change: a device's identity, serial and model, and the links that lead to it.
//!
//! Source: sysfs, which has them without udev. SCSI and NVMe tell a `wwid`, virtio and NVMe a `serial`, SCSI its serial
//! in VPD page 0x80 (SPC-5, 7.7.19).

use crate::system::host::block_device::BlockDevice;
use crate::system::host::inventory::Inventory;
use crate::system::host::kernel::{attribute, names};
use std::collections::BTreeMap;
use std::fs;

/// The longest identity, in bytes; a longer one is cut, since it is shown and compared.
const MAX_IDENTITY_BYTES: usize = 256;
/// A VPD page begins with this many bytes that are not the serial.
const VPD_HEADER_BYTES: usize = 4;

/// The first of: `wwid:`, `serial:` (with the model), `dm:`, `md:`, `loop:` its file; a partition has its disk's with
/// `-partN`. `None` when nothing stable is told.
pub fn identity(host: &Inventory, block: &BlockDevice) -> Option<String> {
    let text = match &block.part_of {
        Some(disk) => {
            let number = attribute(block.dir.join("partition"))?;
            format!("{}-part{number}", identity(host, host.blocks.get(disk)?)?)
        }
        None => own_identity(block)?,
    };
    Some(text.chars().take(MAX_IDENTITY_BYTES).collect())
}

fn own_identity(block: &BlockDevice) -> Option<String> {
    let first = |paths: &[&str]| {
        paths
            .iter()
            .find_map(|path| attribute(block.dir.join(path)))
    };
    let with_model = |serial: String| match model(block) {
        Some(model) => format!("serial:{model}_{serial}"),
        None => format!("serial:{serial}"),
    };
    None.or_else(|| first(&["wwid", "device/wwid"]).map(|id| format!("wwid:{id}")))
        .or_else(|| serial(block).map(with_model))
        .or_else(|| first(&["dm/uuid", "dm/name"]).map(|id| format!("dm:{id}")))
        .or_else(|| first(&["md/uuid"]).map(|id| format!("md:{id}")))
        .or_else(|| {
            block
                .backing
                .as_ref()
                .map(|backing| format!("loop:{}", backing.path))
        })
}

/// Serial number of a disk.
pub fn serial(block: &BlockDevice) -> Option<String> {
    let told = ["serial", "device/serial", "device/cid"]
        .iter()
        .find_map(|path| attribute(block.dir.join(path)));
    told.or_else(|| vpd_serial(&fs::read(block.dir.join("device/vpd_pg80")).ok()?))
}

fn vpd_serial(page: &[u8]) -> Option<String> {
    let text =
        String::from_utf8_lossy(page.get(VPD_HEADER_BYTES..)?).replace(char::is_control, " ");
    Some(text.trim().to_string()).filter(|text| !text.is_empty())
}

/// Model of a disk, with its vendor where that says something.
pub fn model(block: &BlockDevice) -> Option<String> {
    let of = |name: &str| attribute(block.dir.join("device").join(name));
    let model = of("model").or_else(|| of("name"))?;
    // virtio's vendor is a number, libata's says only that it is a disk.
    let vendor = of("vendor").filter(|vendor| vendor != "ATA" && !vendor.starts_with("0x"));
    Some(vendor.map_or_else(|| model.clone(), |vendor| format!("{vendor} {model}")))
}

/// Links to each device by kernel name: `/dev/disk/by-*/*` and `/dev/mapper/*`, where there is somebody who makes them.
pub fn links() -> BTreeMap<String, Vec<String>> {
    let mut links: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let by = names("/dev/disk")
        .into_iter()
        .map(|kind| format!("/dev/disk/{kind}"))
        .chain(["/dev/mapper".into()]);
    for link in by.flat_map(|dir| {
        names(&dir)
            .into_iter()
            .map(move |name| format!("{dir}/{name}"))
    }) {
        let target = fs::canonicalize(&link)
            .ok()
            .filter(|target| target.as_os_str() != link.as_str());
        if let Some(name) = target
            .as_deref()
            .and_then(|target| target.file_name()?.to_str())
        {
            links.entry(name.into()).or_default().push(link);
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::{Fixture, STACK};

    #[test]
    fn the_surest_identity_is_taken() {
        let fixture = Fixture::new(&format!(
            "{STACK}
            sys/devices/sdb/wwid = naa.5000c500a1b2c3d4
            sys/devices/sdb/serial = B1
            sys/devices/sda/device/vendor = ATA
            sys/devices/sda/device/model = Disk  X
            sys/devices/sda/device/vpd_pg80 = xxxxWD-7
            sys/devices/nvme0n1/dev = 4025:0
            sys/devices/nvme0n1/device/serial = S3
            sys/devices/nvme0n1/device/model = Fast One"
        ));
        let host = fixture.look();
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
        ] {
            assert_eq!(
                identity(&host, &host.blocks[name]).as_deref(),
                want,
                "{name}"
            );
        }
    }
}
