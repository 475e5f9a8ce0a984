//! Formats numbers with units for text output.

/// Counts per second with three significant digits: `1.18 M`, `68.5 k`, `853`.
pub fn rate(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        v if v >= 1e4 => scaled(v, &[(1e9, "G"), (1e6, "M"), (1e3, "k")]),
        v => digits(v),
    }
}

/// `1,640,312`
pub fn count(value: u64) -> String {
    let mut text = value.to_string();
    for end in (1..text.len()).rev().skip(2).step_by(3) {
        text.insert(end, ',');
    }
    text
}

/// `1 worker`, `2 workers`
pub fn plural(count: u64, noun: &str) -> String {
    let suffix = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{suffix}")
}

/// `4 KiB`, `1.50 GiB`, `512 B`
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let power = (value.max(1).ilog2() as usize / 10).min(UNITS.len() - 1);
    let unit = UNITS[power];
    let scale = 1u64 << (10 * power);
    if value.is_multiple_of(scale) {
        format!("{} {unit}", value / scale)
    } else {
        format!("{} {unit}", digits(value as f64 / scale as f64))
    }
}

/// `343 MiB/s (360 MB/s)`, as printed by fio.
pub fn bandwidth(bytes_per_second: f64) -> String {
    let mebibytes = digits(bytes_per_second / 1_048_576.0);
    let megabytes = digits(bytes_per_second / 1e6);
    format!("{mebibytes} MiB/s ({megabytes} MB/s)")
}

/// `854 ns`, `362 µs`, `1.21 ms`, `2.50 s`
pub fn latency(ns: f64) -> String {
    if ns < 1e3 * ROUNDS_UP {
        return format!("{ns:.0} ns");
    }
    scaled(ns, &[(1e9, "s"), (1e6, "ms"), (1e3, "µs")])
}

/// `8.60 s`, `340 ms`, `4 min 10 s`
pub fn duration(ms: f64) -> String {
    match ms {
        v if v >= 60_000.0 * ROUNDS_UP => {
            let seconds = (v / 1000.0).round();
            format!(
                "{:.0} min {:.0} s",
                (seconds / 60.0).floor(),
                seconds % 60.0
            )
        }
        v if v >= 1000.0 * ROUNDS_UP => format!("{} s", digits(v / 1000.0)),
        v if v >= 1.0 => format!("{v:.0} ms"),
        v => format!("{v:.1} ms"),
    }
}

/// With three significant digits, values at or above this fraction of a unit round up to the unit.
const ROUNDS_UP: f64 = 0.9995;

/// Formats with the largest unit that does not exceed the rounded value, or else with the smallest
/// unit.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let unit = units
        .iter()
        .find(|(factor, _)| value >= *factor * ROUNDS_UP);
    let (factor, name) = unit.or(units.last()).copied().unwrap_or((1.0, ""));
    format!("{} {name}", digits(value / factor))
}

/// Formats with three significant digits.
fn digits(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 * ROUNDS_UP => format!("{value:.0}"),
        v if v >= 10.0 * ROUNDS_UP => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Formats as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_units_and_three_significant_digits() {
        assert_eq!(
            [
                rate(1_184_000.0),
                rate(68_512.0),
                rate(853.4),
                rate(7.25),
                rate(0.0)
            ],
            ["1.18 M", "68.5 k", "853", "7.25", "0"]
        );
        assert_eq!(
            [count(0), count(999), count(1_640_312)],
            ["0", "999", "1,640,312"]
        );
        assert_eq!(
            [
                bytes(512),
                bytes(4096),
                bytes(1_610_612_736),
                bytes(1 << 30)
            ],
            ["512 B", "4 KiB", "1.50 GiB", "1 GiB"]
        );
        assert_eq!(bandwidth(360_000_000.0), "343 MiB/s (360 MB/s)");
        assert_eq!(
            [latency(854.0), latency(362_000.0), latency(1_210_000.0)],
            ["854 ns", "362 µs", "1.21 ms"]
        );
        assert_eq!(
            [
                duration(0.4),
                duration(340.0),
                duration(8_600.0),
                duration(250_000.0)
            ],
            ["0.4 ms", "340 ms", "8.60 s", "4 min 10 s"]
        );
    }

    #[test]
    fn rounding_selects_the_next_unit() {
        assert_eq!([rate(999_999.0), rate(99.97)], ["1.00 M", "100"]);
        assert_eq!([latency(999.7), latency(999_700.0)], ["1.00 µs", "1.00 ms"]);
        assert_eq!(
            [duration(999.7), duration(59_990.0), duration(119_700.0)],
            ["1.00 s", "1 min 0 s", "2 min 0 s"]
        );
    }
}
