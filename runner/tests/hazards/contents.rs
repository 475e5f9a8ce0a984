//! Unused devices with data, which a job may overwrite only with a confirmation.

use crate::{
    hazard::{Hazard, device},
    product::job,
    runner::Runner,
    scene::{MIB, Scene, Scratch, Unavailable, attach, make_ext4, mount, noise, run, write_at},
    scratch::{Loop, skip},
};
use serde_json::json;
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

const IMAGE_MIB: u64 = 32;
const END: u64 = IMAGE_MIB * MIB;

/// Offset on the device, and bytes.
type Piece = (u64, Vec<u8>);

/// A loop device on an image under the root that contains these bytes.
pub(crate) fn bytes(pieces: impl Fn() -> Vec<Piece> + 'static) -> Hazard {
    device(move |scratch| {
        let image = scratch.image("disk.img", IMAGE_MIB);
        for (offset, bytes) in pieces() {
            write_at(&image, offset, &bytes);
        }
        let device = attach(&image, &[])?;
        let scene = Scene::device(scratch, &device.0, &image);
        Ok(scene.hold(device))
    })
    .not_allowed()
    .quick()
}

fn at(offset: u64, magic: &'static [u8]) -> Hazard {
    bytes(move || vec![(offset, magic.to_vec())])
}

fn before_end(distance: u64, magic: &'static [u8]) -> Hazard {
    at(END - distance, magic)
}

/// An unmounted filesystem, created by its mkfs program.
fn made_by(program: &'static [&'static str], mib: u64) -> Hazard {
    device(move |scratch| {
        let image = scratch.image("disk.img", mib);
        let device = attach(&image, &[])?;
        run(program[0], &[&program[1..], &[device.0.as_str()]].concat())?;
        let scene = Scene::device(scratch, &device.0, &image);
        Ok(scene.hold(device))
    })
    .not_allowed()
}

pub(crate) fn ext4() -> Hazard {
    device(|scratch| {
        let image = scratch.image("disk.img", IMAGE_MIB);
        let device = attach(&image, &[])?;
        make_ext4(&device.0)?;
        run("tune2fs", &["-L", "photos", &device.0])?;
        let scene = Scene::device(scratch, &device.0, &image);
        Ok(scene.hold(device))
    })
    .not_allowed()
    .shows("photos\\\", ")
}

/// ext4 outside the root, on a device whose identity is allowed.
pub(crate) fn allowed_ext4_outside_the_root() -> Hazard {
    device(|scratch| {
        let image = crate::scene::sparse(&scratch.outside().join("disk.img"), END);
        let device = attach(&image, &[])?;
        make_ext4(&device.0)?;
        let scene = Scene::device(scratch, &device.0, &image);
        Ok(scene.hold(device))
    })
    .shows("ext4")
}

pub(crate) fn ext2() -> Hazard {
    made_by(
        &["mkfs.ext4", "-q", "-F", "-t", "ext2", "-E", "nodiscard"],
        32,
    )
    .shows("ext2")
}

pub(crate) fn xfs() -> Hazard {
    made_by(&["mkfs.xfs", "-q", "-K"], 320).shows("xfs")
}

pub(crate) fn btrfs() -> Hazard {
    made_by(&["mkfs.btrfs", "-q", "-K"], 128).shows("btrfs")
}

pub(crate) fn swap() -> Hazard {
    made_by(&["mkswap"], 32).shows("swap")
}

/// Only the boot sector of a FAT filesystem.
pub(crate) fn vfat() -> Hazard {
    bytes(|| {
        let mut sector = vec![0; 512];
        sector[..11].copy_from_slice(b"\xeb\x58\x90mkfs.fat");
        sector[11..13].copy_from_slice(&512_u16.to_le_bytes());
        sector[13] = 1; // sectors per cluster
        sector[14..16].copy_from_slice(&32_u16.to_le_bytes()); // reserved sectors
        sector[16] = 2; // allocation tables
        sector[21] = 0xf8; // fixed disk
        sector[32..36].copy_from_slice(&65536_u32.to_le_bytes()); // sectors
        sector[36..40].copy_from_slice(&504_u32.to_le_bytes()); // sectors per table
        sector[44..48].copy_from_slice(&2_u32.to_le_bytes()); // cluster of the root
        sector[66] = 0x29;
        sector[71..82].copy_from_slice(b"CAMERA     ");
        sector[82..90].copy_from_slice(b"FAT32   ");
        sector[510..].copy_from_slice(b"\x55\xaa");
        vec![(0, sector)]
    })
    .shows("vfat")
}

pub(crate) fn iso9660() -> Hazard {
    bytes(|| {
        let mut descriptor = vec![0; 2048];
        descriptor[..7].copy_from_slice(b"\x01CD001\x01");
        descriptor[40..72].copy_from_slice(&[b' '; 32]);
        let mut end = vec![0; 2048];
        end[..7].copy_from_slice(b"\xffCD001\x01");
        vec![(32768, descriptor), (34816, end)]
    })
    .shows("iso9660")
}

pub(crate) fn luks1() -> Hazard {
    bytes(|| vec![(0, luks(1))]).shows("luks")
}

fn luks(version: u8) -> Vec<u8> {
    let mut header = vec![0; 592];
    header[..8].copy_from_slice(&[b'L', b'U', b'K', b'S', 0xba, 0xbe, 0, version]);
    header[168..204].copy_from_slice(b"7d1a0f3c-5b0e-4f5e-9d0a-2f1f6a2c9b11");
    header
}

/// The first LUKS2 header is overwritten.
pub(crate) fn second_luks2_header() -> Hazard {
    at(0x4000, b"SKUL\xba\xbe\x00\x02")
}

pub(crate) fn lvm() -> Hazard {
    bytes(|| {
        let mut label = vec![0; 512];
        label[..8].copy_from_slice(b"LABELONE");
        label[8..16].copy_from_slice(&1_u64.to_le_bytes());
        label[20..24].copy_from_slice(&32_u32.to_le_bytes());
        label[24..32].copy_from_slice(b"LVM2 001");
        label[32..64].copy_from_slice(b"0123456789abcdefghijklmnopqrstuv");
        label[64..72].copy_from_slice(&END.to_le_bytes());
        let crc = lvm_crc(&label[20..]);
        label[16..20].copy_from_slice(&crc.to_le_bytes());
        vec![(512, label)]
    })
    .shows("lvm")
}

/// CRC-32 as LVM computes it: without the inversions, and with a different initial value.
fn lvm_crc(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0xf597_a6cf, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    })
}

/// md with its superblock at 4 KiB.
pub(crate) fn md_1_2() -> Hazard {
    at(4096, b"\xfc\x4e\x2b\xa9\x01\x00\x00\x00")
}

/// md with its superblock at the end, so the start is blank.
pub(crate) fn md_1_0() -> Hazard {
    before_end(8192, b"\xfc\x4e\x2b\xa9\x01\x00\x00\x00")
}

pub(crate) fn md_0_90() -> Hazard {
    before_end(
        64 << 10,
        b"\xfc\x4e\x2b\xa9\x00\x00\x00\x00\x5a\x00\x00\x00",
    )
}

/// Uberblocks in all labels, two at the start and two at the end.
pub(crate) fn zfs() -> Hazard {
    bytes(|| {
        let labels = [0, 256 << 10, END - (512 << 10), END - (256 << 10)];
        let magic = || 0x00ba_b10c_u64.to_le_bytes().to_vec();
        labels.map(|label| (label + (128 << 10), magic())).to_vec()
    })
}

/// Only the last label of the pool remains.
pub(crate) fn last_zfs_label() -> Hazard {
    before_end(128 << 10, b"\x0c\xb1\xba\x00\x00\x00\x00\x00")
}

pub(crate) fn bitlocker() -> Hazard {
    at(0, b"\xeb\x58\x90-FVE-FS-")
}

pub(crate) fn ntfs() -> Hazard {
    at(0, b"\xeb\x52\x90NTFS    ")
}

pub(crate) fn bcache() -> Hazard {
    at(
        4096 + 24,
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
    )
}

pub(crate) fn ceph() -> Hazard {
    at(0, b"bluestore block device\n")
}

pub(crate) fn oracle_asm() -> Hazard {
    at(32, b"ORCLDISKDATA01")
}

pub(crate) fn apfs() -> Hazard {
    at(32, b"NXSB")
}

/// DRBD stores its metadata at the end.
pub(crate) fn drbd() -> Hazard {
    before_end(4096, b"\x00\x00\x00\x00\x01\x00\x00\x00\x83\x74\x02\x6d")
}

/// Boot sector with these partitions: type, first sector, number of sectors.
pub(crate) fn mbr(partitions: &[(u8, u32, u32)]) -> Vec<u8> {
    let mut sector = vec![0; 512];
    for (index, (kind, first, count)) in partitions.iter().enumerate() {
        let entry = &mut sector[446 + 16 * index..][..16];
        entry[4] = *kind;
        entry[8..12].copy_from_slice(&first.to_le_bytes());
        entry[12..].copy_from_slice(&count.to_le_bytes());
    }
    sector[510..].copy_from_slice(b"\x55\xaa");
    sector
}

pub(crate) fn mbr_disk() -> Hazard {
    bytes(|| vec![(0, mbr(&[(0x83, 2048, 40960)]))]).shows("dos")
}

pub(crate) fn gpt_disk() -> Hazard {
    bytes(gpt).shows("gpt")
}

pub(crate) fn hybrid_disk() -> Hazard {
    bytes(|| {
        let mut pieces = gpt();
        pieces[0].1 = mbr(&[(0xee, 1, 2047), (0x0c, 2048, 40960)]);
        pieces
    })
    .shows("gpt")
}

/// The first MiB is overwritten, as with `dd`.
pub(crate) fn gpt_with_only_the_backup() -> Hazard {
    bytes(|| {
        gpt()
            .into_iter()
            .filter(|(offset, _)| *offset > MIB)
            .collect()
    })
    .shows("gpt")
}

/// A protective MBR, and both copies of a GPT with one partition.
fn gpt() -> Vec<Piece> {
    let last = END / 512 - 1;
    let mut entries = vec![0; 128 * 128];
    entries[..16].copy_from_slice(&LINUX_DATA);
    entries[16..32].copy_from_slice(&noise(16));
    entries[32..40].copy_from_slice(&2048_u64.to_le_bytes());
    entries[40..48].copy_from_slice(&40960_u64.to_le_bytes());
    let protective = mbr(&[(0xee, 1, last as u32)]);
    vec![
        (0, protective),
        (512, gpt_header(1, last, 2, &entries)),
        (1024, entries.clone()),
        ((last - 32) * 512, entries.clone()),
        (last * 512, gpt_header(last, 1, last - 32, &entries)),
    ]
}

const LINUX_DATA: [u8; 16] = [
    0xaf, 0x3d, 0xc6, 0x0f, 0x83, 0x84, 0x72, 0x47, 0x8e, 0x79, 0x3d, 0x69, 0xd8, 0x47, 0x7d, 0xe4,
];

fn gpt_header(own: u64, other: u64, entries_at: u64, entries: &[u8]) -> Vec<u8> {
    let last = END / 512 - 1;
    let mut header = vec![0; 512];
    header[..8].copy_from_slice(b"EFI PART");
    header[8..12].copy_from_slice(&0x0001_0000_u32.to_le_bytes());
    header[12..16].copy_from_slice(&92_u32.to_le_bytes());
    let sectors = [
        (24, own),
        (32, other),
        (40, 34),
        (48, last - 33),
        (72, entries_at),
    ];
    for (offset, sector) in sectors {
        header[offset..offset + 8].copy_from_slice(&sector.to_le_bytes());
    }
    header[56..72].copy_from_slice(&noise(16));
    header[80..84].copy_from_slice(&128_u32.to_le_bytes());
    header[84..88].copy_from_slice(&128_u32.to_le_bytes());
    header[88..92].copy_from_slice(&crc32(entries).to_le_bytes());
    let crc = crc32(&header[..92]);
    header[16..20].copy_from_slice(&crc.to_le_bytes());
    header
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

pub(crate) fn noise_at_the_start() -> Hazard {
    bytes(|| vec![(0, noise(64 << 10))])
}

pub(crate) fn noise_in_the_middle() -> Hazard {
    bytes(|| vec![(8 * MIB, noise(16 * MIB as usize))])
}

pub(crate) fn noise_at_the_end() -> Hazard {
    bytes(|| vec![(END - (64 << 10), noise(64 << 10))])
}

pub(crate) fn one_byte_in_the_first_mib() -> Hazard {
    at(MIB - 1, b"\x01")
}

pub(crate) fn one_byte_in_the_last_mib() -> Hazard {
    before_end(MIB, b"\x01")
}

/// One block, at an offset that samples at regular intervals would miss.
pub(crate) fn one_block_in_the_middle() -> Hazard {
    bytes(|| vec![(11 * MIB + (36 << 10), noise(4096))])
}

/// Data between a blank first and last MiB, for which the image has allocated zeros.
pub(crate) fn raw_database() -> Hazard {
    bytes(|| {
        let pages = (2..30).map(|mib| (mib * MIB, noise(512 << 10)));
        let zeros = [
            (0, vec![0; MIB as usize]),
            (31 * MIB, vec![0; MIB as usize]),
        ];
        pages.chain(zeros).collect()
    })
}

/// A device with 4 KiB sectors. The last one contains the data.
pub(crate) fn one_byte_on_a_disk_with_large_sectors() -> Hazard {
    device(|scratch| {
        let image = scratch.image("disk.img", IMAGE_MIB);
        write_at(&image, END - 1, b"\x01");
        let device = attach(&image, &["--sector-size", "4096"])?;
        let scene = Scene::device(scratch, &device.0, &image);
        Ok(scene.hold(device))
    })
    .not_allowed()
}

/// The size is not a multiple of 1 MiB.
pub(crate) fn one_byte_at_the_end_of_an_odd_size() -> Hazard {
    device(|scratch| {
        let image: PathBuf = scratch.root().join("disk.img");
        let bytes = 5 * MIB + 3 * 512;
        crate::scene::sparse(&image, bytes);
        write_at(&image, bytes - 1, b"\x01");
        let device = attach(&image, &[])?;
        let scene = Scene::device(scratch, Path::new(&device.0), &image);
        Ok(scene.hold(device).sized(4 * MIB))
    })
    .not_allowed()
}

/// The confirmation for a filesystem that contains a file of 100 MiB must show 100 MiB more used
/// space than the one for an empty filesystem.
pub(crate) fn check_used_space(make: &[&str]) {
    let scratch = Scratch::new();
    let image = scratch.image("disk.img", 512);
    let Ok(device) = attach(&image, &[]) else {
        return;
    };
    let at = scratch.at("mounted");
    let fill = |bytes: u64| -> Result<f64, Unavailable> {
        run(make[0], &[&make[1..], &[device.0.as_str()]].concat())?;
        let mounted = mount(&device.0, &at, "noatime")?;
        fs::write(at.join("photos"), noise(bytes as usize)).unwrap();
        rustix::fs::syncfs(File::open(&at).unwrap()).unwrap();
        drop(mounted);
        Ok(used_mib(&scratch, &device))
    };
    match (fill(0), fill(100 * MIB)) {
        (Ok(empty), Ok(filled)) => {
            let difference = filled - empty;
            assert!(
                (99.0..103.0).contains(&difference),
                "{empty} MiB, {filled} MiB"
            );
        }
        (Err(reason), _) | (_, Err(reason)) => skip(&reason),
    }
}

/// Parses `N` from `..., N MiB used`.
fn used_mib(scratch: &Scratch, device: &Loop) -> f64 {
    let job = job(Path::new(&device.0), MIB, json!({"rw": "write"}));
    let plan = Runner::under(scratch.root()).plan(&job);
    let contents = plan.json["confirmations"][0]["contents"][0].as_str();
    let contents = contents.unwrap_or_else(|| panic!("{plan}")).to_string();
    let number = contents.strip_suffix(" used").and_then(|text| {
        let (_, used) = text.rsplit_once(", ")?;
        let (number, unit) = used.split_once(' ')?;
        let number: f64 = number.parse().ok()?;
        match unit {
            "KiB" => Some(number / 1024.0),
            "MiB" => Some(number),
            _ => None,
        }
    });
    number.unwrap_or_else(|| panic!("no used space in {contents}"))
}
