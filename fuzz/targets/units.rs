//! Fuzzes values of single options: sizes, times, percentages, lists, splits, patterns and
//! distributions.
#![no_main]

use leadline_protocol::{
    format,
    job::{
        direction::PerDirection,
        distribution::Distribution,
        list::{CpuList, Files},
        rw::Rw,
        size::{Bytes, Extent, SizeRange, Split},
        value::FioValue,
    },
    units,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(bytes) = units::bytes(text) {
        assert_eq!(units::bytes(&units::size(bytes)), Ok(bytes));
        assert_eq!(Extent::parse(&bytes.to_string()), Ok(Extent::Bytes(bytes)));
        check_formats(bytes);
    }
    if let Ok(us) = units::microseconds(text, 1_000_000) {
        assert_eq!(units::microseconds(&format!("{us}us"), 1_000_000), Ok(us));
    }
    if let Ok(percent) = units::percent(text) {
        assert!(percent <= 100);
    }
    if let Ok(range) = SizeRange::parse(text) {
        assert!(0 < range.min && range.min <= range.max);
    }
    if let Ok(Split(entries)) = Split::parse(text) {
        assert!((1..=64).contains(&entries.len()));
        assert_eq!(
            entries
                .iter()
                .map(|entry| u32::from(entry.percent))
                .sum::<u32>(),
            100
        );
        assert!(entries.iter().all(|entry| entry.bytes > 0));
    }
    if let Ok(CpuList(cpus)) = CpuList::parse(text) {
        assert!(cpus.is_sorted_by(|a, b| a < b) && cpus.len() <= 4096);
        let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
        assert_eq!(CpuList::parse(&list.join(",")), Ok(CpuList(cpus)));
    }
    check_names(text);
});

fn check_names(text: &str) {
    if let Ok(Files(files)) = Files::parse(text) {
        assert!(!files.is_empty() && files.iter().all(|file| !file.is_empty()));
        // Only the last name in a list may end with a backslash, because `\:` is an escaped colon.
        if !files.iter().any(|file| file.ends_with('\\')) {
            let escaped: Vec<String> = files.iter().map(|file| file.replace(':', "\\:")).collect();
            assert_eq!(Files::parse(&escaped.join(":")), Ok(Files(files)));
        }
    }
    if let Ok(Rw { kind, modifier }) = Rw::parse(text) {
        assert!(!kind.is_random() || modifier.is_none_or(|ios| ios > 0));
    }
    if let Ok(distribution) = Distribution::parse(text) {
        let json = serde_json::to_string(&distribution).expect("a distribution is JSON");
        let parsed: Distribution = serde_json::from_str(&json).expect("its own JSON");
        assert_eq!(serde_json::to_string(&parsed).ok(), Some(json));
    }
    let _ = PerDirection::<Bytes>::parse(text);
    let _ = PerDirection::<SizeRange>::parse(text);
}

fn check_formats(number: u64) {
    let value = f64::from_bits(number);
    for text in [
        format::rate(value),
        format::count(number),
        format::bytes(number),
        format::bandwidth(value),
        format::latency(value),
        format::duration(value),
    ] {
        assert!(!text.is_empty());
    }
}
