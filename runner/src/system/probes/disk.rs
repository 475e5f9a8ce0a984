//! Counters of block devices: the targets' own and, through partitions, dm, md and loops, those of the physical
//! devices under them. Source: Documentation/block/stat.rst.

use crate::system::host::block_device::SECTOR_BYTES;
use crate::system::host::inventory::Inventory;
use crate::system::probes::kernel_file::KernelFile;
use leadline_protocol::counters::DeviceCounts;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// 17 numbers of up to 20 digits.
const BYTES: usize = 512;
/// Numbers that kernels before 4.18 gave: no discards, no flushes.
const FEWEST_FIELDS: usize = 11;

/// The devices read: targets and their leaves.
#[derive(Debug, Default)]
pub struct Names {
    /// The targets that lie on no other target: what goes through one that does is in the other's counters too.
    summed: Vec<String>,
    physical_devices: Vec<String>,
    /// Every device once, as read.
    all: Vec<String>,
}

impl Names {
    /// The targets together, each I/O once; `None` where there is none or one could not be read.
    pub fn device(&self, counts: &[Option<DeviceCounts>]) -> Option<DeviceCounts> {
        let each = self
            .summed
            .iter()
            .map(|name| self.of(name, counts))
            .collect::<Option<Vec<_>>>()?;
        each.into_iter().reduce(sum)
    }

    /// Each leaf that could be read.
    pub fn physical_devices(&self, counts: &[Option<DeviceCounts>]) -> Vec<(String, DeviceCounts)> {
        self.physical_devices
            .iter()
            .filter_map(|name| Some((name.clone(), self.of(name, counts)?)))
            .collect()
    }

    /// Every device, in the order of the counts.
    pub fn all(&self) -> &[String] {
        &self.all
    }

    fn of(&self, name: &str, counts: &[Option<DeviceCounts>]) -> Option<DeviceCounts> {
        counts[self.all.iter().position(|known| known == name)?]
    }
}

/// The open counters of all devices of a run.
#[derive(Debug, Default)]
pub struct Disks {
    names: Arc<Names>,
    books: Vec<KernelFile>,
}

impl Disks {
    /// Opens the counters of these devices and of their leaves. What is missing goes to `absent` and is left out.
    pub fn open(
        host: &Inventory,
        devices: &[String],
        absent: &mut BTreeMap<String, String>,
    ) -> Self {
        let targets: BTreeSet<String> = devices.iter().flat_map(|name| host.spread(name)).collect();
        let physical_devices: BTreeSet<String> = targets
            .iter()
            .flat_map(|name| host.physical_devices(name))
            .collect();
        let mut books = BTreeMap::new();
        let mut keep = |what: &str, names: BTreeSet<String>| -> Vec<String> {
            let opened = open_all(host, &names, &mut books);
            let reason = opened.err().or_else(|| {
                names
                    .is_empty()
                    .then(|| "no target lies on a block device of this host".into())
            });
            reason.map_or_else(
                || names.into_iter().collect(),
                |reason| {
                    absent.insert(what.into(), reason);
                    Vec::new()
                },
            )
        };
        let targets = keep("device", targets);
        let physical_devices = keep("physical_devices", physical_devices);
        let summed = targets
            .iter()
            .filter(|name| !lies_on_another(host, name, &targets))
            .cloned()
            .collect();
        let (all, books) = books.into_iter().unzip();
        Self {
            names: Arc::new(Names {
                summed,
                physical_devices,
                all,
            }),
            books,
        }
    }

    pub fn names(&self) -> Arc<Names> {
        self.names.clone()
    }

    pub fn summed(&self) -> &[String] {
        &self.names.summed
    }

    /// The counts of all devices, in the order of `Names::all`.
    pub fn read(&mut self) -> Vec<Option<DeviceCounts>> {
        self.books
            .iter_mut()
            .map(|book| parse(book.read()?))
            .collect()
    }
}

fn lies_on_another(host: &Inventory, name: &str, targets: &[String]) -> bool {
    let beneath = host.beneath(name);
    targets
        .iter()
        .any(|other| other != name && beneath.contains(other))
}

fn open_all(
    host: &Inventory,
    names: &BTreeSet<String>,
    books: &mut BTreeMap<String, KernelFile>,
) -> Result<(), String> {
    for name in names {
        let block = host
            .blocks
            .get(name)
            .ok_or_else(|| format!("{name} is not a block device of this host"))?;
        if !block.is_counted {
            return Err(format!(
                "{name} does not count: its queue/iostats is 0. Write 1 to {}/iostats",
                block.queue().display()
            ));
        }
        let book = KernelFile::open(&block.dir.join("stat"), BYTES)
            .map_err(|error| format!("the counters of {name}: {error}"))?;
        books.insert(name.clone(), book);
    }
    Ok(())
}

fn parse(text: &str) -> Option<DeviceCounts> {
    let (mut fields, mut count) = ([0u64; 17], 0);
    for (field, number) in fields.iter_mut().zip(text.split_ascii_whitespace()) {
        *field = number.parse().ok()?;
        count += 1;
    }
    let [
        read_ios,
        read_merges,
        read_sectors,
        read_ticks_ms,
        write_ios,
        write_merges,
        write_sectors,
        write_ticks_ms,
        in_flight,
        busy_ms,
        _,
        discard_ios,
        _,
        discard_sectors,
        _,
        flush_ios,
        _,
    ] = fields;
    (count >= FEWEST_FIELDS).then_some(DeviceCounts {
        read_ios,
        read_bytes: read_sectors * SECTOR_BYTES,
        read_merges,
        read_ticks_ms,
        write_ios,
        write_bytes: write_sectors * SECTOR_BYTES,
        write_merges,
        write_ticks_ms,
        discard_ios,
        discard_bytes: discard_sectors * SECTOR_BYTES,
        flush_ios,
        in_flight,
        busy_ms,
    })
}

/// What was counted from one reading to the next. The kernel's milliseconds are 32 bits wide and go round after 49
/// days.
pub fn since(from: DeviceCounts, to: DeviceCounts) -> DeviceCounts {
    let more = |of: fn(&DeviceCounts) -> u64| of(&to).saturating_sub(of(&from));
    let ms =
        |of: fn(&DeviceCounts) -> u64| u64::from((of(&to) as u32).wrapping_sub(of(&from) as u32));
    DeviceCounts {
        read_ios: more(|c| c.read_ios),
        read_bytes: more(|c| c.read_bytes),
        read_merges: more(|c| c.read_merges),
        read_ticks_ms: ms(|c| c.read_ticks_ms),
        write_ios: more(|c| c.write_ios),
        write_bytes: more(|c| c.write_bytes),
        write_merges: more(|c| c.write_merges),
        write_ticks_ms: ms(|c| c.write_ticks_ms),
        discard_ios: more(|c| c.discard_ios),
        discard_bytes: more(|c| c.discard_bytes),
        flush_ios: more(|c| c.flush_ios),
        in_flight: to.in_flight,
        busy_ms: ms(|c| c.busy_ms),
    }
}

/// Two devices together.
pub fn sum(one: DeviceCounts, other: DeviceCounts) -> DeviceCounts {
    DeviceCounts {
        read_ios: one.read_ios + other.read_ios,
        read_bytes: one.read_bytes + other.read_bytes,
        read_merges: one.read_merges + other.read_merges,
        read_ticks_ms: one.read_ticks_ms + other.read_ticks_ms,
        write_ios: one.write_ios + other.write_ios,
        write_bytes: one.write_bytes + other.write_bytes,
        write_merges: one.write_merges + other.write_merges,
        write_ticks_ms: one.write_ticks_ms + other.write_ticks_ms,
        discard_ios: one.discard_ios + other.discard_ios,
        discard_bytes: one.discard_bytes + other.discard_bytes,
        flush_ios: one.flush_ios + other.flush_ios,
        in_flight: one.in_flight + other.in_flight,
        busy_ms: one.busy_ms + other.busy_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::{Fixture, STACK};

    #[test]
    fn fields_of_stat() {
        let text = "   28511      172  1766466    12071    10474     8417   887560    57001        3    21548    73112      451       11  5064888     2200     1519     1839\n";
        let counts = parse(text).unwrap();
        assert_eq!(
            (
                counts.read_ios,
                counts.read_bytes,
                counts.read_merges,
                counts.read_ticks_ms
            ),
            (28511, 1_766_466 * 512, 172, 12071)
        );
        assert_eq!(
            (
                counts.write_ios,
                counts.write_bytes,
                counts.write_merges,
                counts.write_ticks_ms
            ),
            (10474, 887_560 * 512, 8417, 57001)
        );
        assert_eq!(
            (counts.discard_ios, counts.discard_bytes, counts.flush_ios),
            (451, 5_064_888 * 512, 1519)
        );
        assert_eq!((counts.in_flight, counts.busy_ms), (3, 21548));
        assert!(parse("1 2 3 4 5 6 7 8 9 10 11").is_some(), "before 4.18");
        assert!(
            parse("1 2 3").is_none()
                && parse("").is_none()
                && parse("a b c d e f g h i j k").is_none()
        );
    }

    #[test]
    fn milliseconds_go_round() {
        let at = |busy_ms, read_ios| DeviceCounts {
            busy_ms,
            read_ios,
            ..Default::default()
        };
        let window = since(at(u64::from(u32::MAX) - 4, 10), at(5, 30));
        assert_eq!((window.busy_ms, window.read_ios), (10, 20));
    }

    #[test]
    fn targets_and_leaves_of_a_stack() {
        let mut files = STACK.to_string();
        for (disk, ios) in [
            ("sda", 1),
            ("sda/sda1", 2),
            ("dm-0", 3),
            ("dm-1", 4),
            ("sdb", 5),
            ("sdc", 6),
            ("md0", 7),
            ("sdd", 8),
            ("sde", 9),
        ] {
            files += &format!("\n sys/devices/{disk}/stat = {ios} 0 0 0 0 0 0 0 0 0 0");
        }
        let host = Fixture::new(&files);
        let check = |targets: &[&str], device: u64, physical_devices: &[(&str, u64)]| {
            let mut absent = BTreeMap::new();
            let mut disks = Disks::open(
                &host.look(),
                &targets.iter().map(ToString::to_string).collect::<Vec<_>>(),
                &mut absent,
            );
            let counts = disks.read();
            let found: Vec<(String, u64)> = disks
                .names
                .physical_devices(&counts)
                .into_iter()
                .map(|(name, counts)| (name, counts.read_ios))
                .collect();
            assert_eq!(
                disks.names.device(&counts).unwrap().read_ios,
                device,
                "{targets:?}"
            );
            assert_eq!(
                found,
                physical_devices
                    .iter()
                    .map(|(name, ios)| (name.to_string(), *ios))
                    .collect::<Vec<_>>(),
                "{targets:?}"
            );
            assert!(absent.is_empty());
        };
        check(&["sda"], 1, &[("sda", 1)]);
        check(&["sda1"], 2, &[("sda", 1)]);
        check(&["dm-1"], 4, &[("sda", 1)]);
        check(&["md0"], 7, &[("sdb", 5), ("sdc", 6)]);
        check(
            &["dm-1", "md0", "md0"],
            11,
            &[("sda", 1), ("sdb", 5), ("sdc", 6)],
        );
        check(&["sdd"], 17, &[("sdd", 8), ("sde", 9)]);
        // What lies on another target is counted there.
        check(&["sda", "sda1"], 1, &[("sda", 1)]);
        check(&["dm-1", "sda"], 1, &[("sda", 1)]);
        check(&["dm-0", "dm-1", "sda1"], 5, &[("sda", 1)]);
        check(
            &["md0", "sdb", "sdc", "sda1"],
            13,
            &[("sda", 1), ("sdb", 5), ("sdc", 6)],
        );
    }

    #[test]
    fn iostats_of_dm_and_md_says_nothing_before_they_heed_it() {
        let off = |device: &str, release: &str| {
            format!(
                "{STACK}\n sys/devices/{device}/stat = 1 0 0 0 0 0 0 0 0 0 0\n sys/devices/sda/stat = 1 0 0 0 0 0 0 0 0 0 0
                sys/devices/{device}/queue/iostats = 0\n proc/sys/kernel/osrelease = {release}"
            )
        };
        for (device, release, is_counted) in [
            ("dm-0", "6.1.0-48-amd64", true),
            ("dm-0", "6.4.16", true),
            ("dm-0", "6.5.0", false),
            ("dm-0", "6.18.44", false),
            ("md0", "5.10.0-35-amd64", true),
            ("md0", "5.14.0", false),
            ("sda", "5.10.0-35-amd64", false),
        ] {
            let (host, mut absent) = (Fixture::new(&off(device, release)), BTreeMap::new());
            Disks::open(&host.look(), &[device.to_string()], &mut absent);
            let reason = absent.get("device").map_or("", String::as_str);
            assert_eq!(
                !reason.contains("iostats"),
                is_counted,
                "{device} {release}: {reason}"
            );
        }
    }

    #[test]
    fn what_cannot_be_counted_says_why() {
        let host = Fixture::new(&format!(
            "{STACK}\n sys/devices/sda/stat = 1 0 0 0 0 0 0 0 0 0 0\n sys/devices/sda/queue/iostats = 0"
        ));
        for (targets, part) in [
            (vec![], "no target lies on"),
            (vec!["sdz".to_string()], "sdz"),
            (vec!["sdb".into()], "No such file"),
            (vec!["sda".into()], "iostats"),
        ] {
            let mut absent = BTreeMap::new();
            let mut disks = Disks::open(&host.look(), &targets, &mut absent);
            assert!(absent["device"].contains(part), "{absent:?}");
            let counts = disks.read();
            assert_eq!(disks.names.device(&counts), None);
        }
    }
}
