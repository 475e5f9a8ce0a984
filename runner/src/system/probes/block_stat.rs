//! Counters of a block device, from its `stat` file in sysfs. Source: Documentation/block/stat.rst.

use crate::system::host::block_device::SECTOR_BYTES;
use leadline_protocol::counters::DeviceCounts;

/// Maximum file size: 17 numbers of up to 20 digits.
pub(crate) const BYTES: usize = 512;
/// Kernels before 4.18 do not report discards and flushes.
const MIN_FIELDS: usize = 11;

pub(crate) fn parse(text: &str) -> Option<DeviceCounts> {
    let mut fields = [0u64; 17];
    let mut count = 0;
    for (field, number) in fields.iter_mut().zip(text.split_ascii_whitespace()) {
        *field = number.parse().ok()?;
        count += 1;
    }
    // Driver bugs can give a counter any value.
    let bytes = |sectors: u64| sectors.saturating_mul(SECTOR_BYTES);
    (count >= MIN_FIELDS).then_some(DeviceCounts {
        read_ios: fields[0],
        read_merges: fields[1],
        read_bytes: bytes(fields[2]),
        read_ticks_ms: fields[3],
        write_ios: fields[4],
        write_merges: fields[5],
        write_bytes: bytes(fields[6]),
        write_ticks_ms: fields[7],
        in_flight: fields[8],
        busy_ms: fields[9],
        discard_ios: fields[11],
        discard_bytes: bytes(fields[13]),
        flush_ios: fields[15],
    })
}

/// Difference between two readings. The kernel's millisecond counters are 32 bits wide and wrap
/// after 49 days.
pub(crate) fn since(from: DeviceCounts, to: DeviceCounts) -> DeviceCounts {
    let wrapping_ms = |from, to| u64::from((to as u32).wrapping_sub(from as u32));
    let difference = |from, to: u64| to.saturating_sub(from);
    DeviceCounts {
        in_flight: to.in_flight,
        ..combine(from, to, difference, wrapping_ms)
    }
}

pub(crate) fn sum(one: DeviceCounts, other: DeviceCounts) -> DeviceCounts {
    combine(one, other, u64::saturating_add, u64::saturating_add)
}

fn combine(
    a: DeviceCounts,
    b: DeviceCounts,
    count: fn(u64, u64) -> u64,
    ms: fn(u64, u64) -> u64,
) -> DeviceCounts {
    DeviceCounts {
        read_ios: count(a.read_ios, b.read_ios),
        read_bytes: count(a.read_bytes, b.read_bytes),
        read_merges: count(a.read_merges, b.read_merges),
        read_ticks_ms: ms(a.read_ticks_ms, b.read_ticks_ms),
        write_ios: count(a.write_ios, b.write_ios),
        write_bytes: count(a.write_bytes, b.write_bytes),
        write_merges: count(a.write_merges, b.write_merges),
        write_ticks_ms: ms(a.write_ticks_ms, b.write_ticks_ms),
        discard_ios: count(a.discard_ios, b.discard_ios),
        discard_bytes: count(a.discard_bytes, b.discard_bytes),
        flush_ios: count(a.flush_ios, b.flush_ios),
        in_flight: count(a.in_flight, b.in_flight),
        busy_ms: ms(a.busy_ms, b.busy_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_fields() {
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
    fn absurd_counters_do_not_overflow() {
        let most = u64::MAX;
        let counts = parse(&format!("{most} ").repeat(17)).unwrap();
        assert_eq!((counts.read_ios, counts.read_bytes), (most, most));
        assert_eq!(sum(counts, counts), counts);
    }

    #[test]
    fn busy_time_counter_wraps_at_32_bits() {
        let at = |busy_ms, read_ios| DeviceCounts {
            busy_ms,
            read_ios,
            ..Default::default()
        };
        let window = since(at(u64::from(u32::MAX) - 4, 10), at(5, 30));
        assert_eq!((window.busy_ms, window.read_ios), (10, 20));
    }
}
