//! Target types of device-mapper devices, from the DM_TABLE_STATUS ioctl. Sources:
//! linux/dm-ioctl.h, drivers/md/dm-ioctl.c.

use crate::system::host::kernel::Dev;
use rustix::{
    fs::{major, minor},
    ioctl::{Opcode, Updater, ioctl, opcode},
};
use std::fs::File;

const CONTROL: &str = "/dev/mapper/control";
/// `_IOWR(DM_IOCTL, DM_TABLE_STATUS_CMD, struct dm_ioctl)`.
const DM_TABLE_STATUS: Opcode = opcode::read_write::<[u8; HEAD_BYTES]>(0xfd, 12);
/// Requests the table instead of the target status, because a thin pool commits its metadata when
/// its status is requested.
const TABLE_NO_FLUSH: u32 = 1 << 4 | 1 << 11;
/// Set by the kernel if the buffer is too small for the table.
const BUFFER_FULL: u32 = 1 << 8;
/// Size of `struct dm_ioctl`.
const HEAD_BYTES: usize = 312;
/// Space for the table. Logical volume tables have a few lines of about 60 bytes each.
const DATA_BYTES: usize = 64 << 10;
/// Size of `struct dm_target_spec`: start, length, status, offset of the next one, type.
const SPEC_BYTES: usize = 40;

/// The start of a `struct dm_ioctl`, and the buffer that follows it.
#[repr(C)]
struct Request {
    version: [u32; 3],
    data_bytes: u32,
    data_start: u32,
    targets: u32,
    open_count: i32,
    flags: u32,
    event: u32,
    padding: u32,
    dev: u64,
    names: [u8; 264],
    data: [u8; DATA_BYTES],
}

/// The target type of each table line, such as `linear`; `None` if the table cannot be read
/// (requires root).
pub(crate) fn target_types(dev: Dev) -> Option<Vec<String>> {
    let control = File::open(CONTROL).ok()?;
    let mut request = Box::new(Request {
        version: [4, 0, 0],
        data_bytes: size_of::<Request>() as u32,
        data_start: HEAD_BYTES as u32,
        targets: 0,
        open_count: 0,
        flags: TABLE_NO_FLUSH,
        event: 0,
        padding: 0,
        dev: encode_device_number(dev),
        names: [0; 264],
        data: [0; DATA_BYTES],
    });
    // SAFETY: DM_TABLE_STATUS reads and writes `data_bytes` bytes, the size of Request.
    unsafe {
        ioctl(
            control,
            Updater::<DM_TABLE_STATUS, Request>::new(&mut request),
        )
    }
    .ok()?;
    if request.flags & BUFFER_FULL != 0 {
        return None;
    }
    types(&request.data, request.targets)
}

/// Encodes a device number like the kernel's `huge_encode_dev`.
fn encode_device_number(Dev(dev): Dev) -> u64 {
    let (major, minor) = (u64::from(major(dev)), u64::from(minor(dev)));
    minor & 0xff | major << 8 | (minor & !0xff) << 12
}

/// `data`: `dm_target_spec` structs, each followed by its parameter string. `next` is relative to
/// the start of its struct.
pub(crate) fn types(data: &[u8], count: u32) -> Option<Vec<String>> {
    let mut at = 0;
    let mut types = Vec::new();
    for _ in 0..count {
        let spec = data.get(at..at + SPEC_BYTES)?;
        let name = spec[24..].split(|byte| *byte == 0).next()?;
        types.push(String::from_utf8_lossy(name).into_owned());
        let next = u32::from_ne_bytes(spec[20..24].try_into().ok()?) as usize;
        if next < SPEC_BYTES {
            return None;
        }
        at += next;
    }
    Some(types)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_one_type_per_line() {
        let line = |name: &str, parameters: &str| {
            let mut line = [0; SPEC_BYTES].to_vec();
            line[24..24 + name.len()].copy_from_slice(name.as_bytes());
            line.extend(parameters.as_bytes());
            line.resize(line.len().next_multiple_of(8), 0);
            let next = (line.len() as u32).to_ne_bytes();
            line[20..24].copy_from_slice(&next);
            line
        };
        let table = [line("linear", "8:1 2048\0"), line("thin", "253:0 1\0")].concat();
        assert_eq!(types(&table, 2).unwrap(), ["linear", "thin"]);
        assert_eq!(types(&table, 0).unwrap(), [""; 0]);
        assert_eq!(types(&table, 3), None, "beyond the end");
        let endless = [0; SPEC_BYTES];
        assert_eq!(types(&endless, u32::MAX), None, "the next line is the same");
    }

    #[test]
    fn device_numbers() {
        assert_eq!(
            encode_device_number(Dev(rustix::fs::makedev(253, 7))),
            0xfd07
        );
        assert_eq!(
            encode_device_number(Dev(rustix::fs::makedev(253, 256))),
            0x10_fd00
        );
    }
}
