//! Contents of sparse files, and the ranges that are read of large ones.

use super::*;
use crate::system::host::cachestat::cachestat;
use rustix::io::{FdFlags, fcntl_getfd};
use std::{collections::BTreeSet, os::unix::fs::FileExt};

const MIB: u64 = 1 << 20;

fn contents(file: &File, regions: &[Range<u64>]) -> Contents {
    let length = file.metadata().unwrap().len();
    Contents::read(file, length, regions).unwrap()
}

fn file(length: u64) -> File {
    let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    file.set_len(length).unwrap();
    file
}

#[test]
fn single_bytes_are_found() {
    for (length, at) in [
        (1, 0),
        (MIB + 5, MIB + 4),
        (64 * MIB, 33 * MIB + 77),
        (900 * MIB, 0),
        (900 * MIB, MIB - 1),
        (900 * MIB, 899 * MIB),
        (900 * MIB + 3, 900 * MIB + 2),
    ] {
        let file = file(length);
        assert!(contents(&file, &[]).is_blank(), "{length}");
        file.write_all_at(b"x", at).unwrap();
        let found = contents(&file, &[]);
        assert!(found.has_data && !found.is_blank(), "{length} {at}");
    }
}

#[test]
fn data_in_the_region_of_the_job_is_found() {
    let file = file(900 * MIB);
    let at = 500 * MIB + 12 * 4096;
    file.write_all_at(&[1; 4096], at).unwrap();
    assert!(contents(&file, &[]).is_blank(), "between the samples");
    let region = at - 4096..at + 8192;
    assert!(!contents(&file, &[region]).is_blank());
}

#[test]
fn digest_depends_on_data_and_offset() {
    let digest = |at: u64, data: &[u8]| {
        let file = file(2 * MIB);
        file.write_all_at(data, at).unwrap();
        contents(&file, &[]).digest()
    };
    let one = digest(0, b"one");
    assert_eq!(one, digest(0, b"one"));
    assert_ne!(one, digest(0, b"two"));
    assert_ne!(one, digest(8192, b"one"));
}

#[test]
fn ranges_are_aligned_and_do_not_overlap() {
    for length in [64 * MIB + 1, 100 * MIB, (1 << 40) + 512] {
        let regions = [0..length, 7..5000, length - 600..length];
        let found = ranges(length, &regions);
        assert!(found.iter().all(|range| range.start.is_multiple_of(ALIGN)));
        assert!(found.windows(2).all(|pair| pair[0].end < pair[1].start));
        assert_eq!(found.first().unwrap().start, 0);
        assert_eq!(found.last().unwrap().end, length);
        let bytes: u64 = found.iter().map(|range| range.end - range.start).sum();
        assert!(bytes < 12 * MIB, "{bytes}");
    }
}

#[test]
fn large_targets_are_sampled_evenly() {
    let length = 900 * MIB;
    // 900 MiB / 256.
    let step = 900 * 4096;
    // The edges contain the first two samples and the last one.
    let mut expect = vec![0..4 * MIB];
    expect.extend((2..255).map(|index| index * step..index * step + 4096));
    expect.push(896 * MIB..length);
    assert_eq!(ranges(length, &[]), expect);
    assert_eq!(
        ranges(64 * MIB, &[]),
        [Range {
            start: 0,
            end: 64 * MIB
        }]
    );
    assert!(ranges(64 * MIB + 1, &[]).len() > 1);
}

#[test]
fn up_to_64_regions_are_sampled_at_64_offsets() {
    let length = 1 << 40;
    let without = ranges(length, &[]);
    // Between the samples of the whole target, which are 4 GiB apart.
    let begin = (100 << 30) + MIB;
    let added = |regions: &[Range<u64>]| {
        let mut found = ranges(length, regions);
        found.retain(|range| !without.contains(range));
        found
    };
    let region = begin..begin + 64 * 8192;
    let samples = (0..64).map(|index| begin + index * 8192..begin + index * 8192 + 4096);
    assert_eq!(added(&[region]), samples.collect::<Vec<_>>());
    let block = |index: u64| begin + index * MIB..begin + index * MIB + 4096;
    let regions: Vec<_> = (0..65).map(block).collect();
    assert_eq!(added(&regions), regions[..64]);
}

#[test]
fn bytes_between_samples_are_not_read() {
    let file = file(900 * MIB);
    let sample = 10 * 900 * 4096;
    file.write_all_at(&[1; 8192], sample).unwrap();
    let before = contents(&file, &[]).digest();
    file.write_all_at(&[2; 4096], sample + 4096).unwrap();
    assert_eq!(contents(&file, &[]).digest(), before);
    file.write_all_at(&[2; 4096], sample).unwrap();
    assert_ne!(contents(&file, &[]).digest(), before);
}

#[test]
fn written_zeros_are_blank() {
    let file = file(2 * MIB);
    file.write_all_at(&[0; 8192], 4096).unwrap();
    assert!(contents(&file, &[]).is_blank());
    file.write_all_at(&[1; 4096], 4096).unwrap();
    assert!(!contents(&file, &[]).is_blank());
}

#[test]
fn files_without_direct_io_are_read_to_their_end() {
    let file = File::open("/proc/version").unwrap();
    let found = Contents::read(&file, MIB, &[]).unwrap();
    assert!(found.has_data);
}

#[test]
fn targets_are_not_inherited() {
    let file = file(MIB);
    let sample = Sample::open(&file, MIB).unwrap();
    assert_eq!(fcntl_getfd(&sample.file), Ok(FdFlags::CLOEXEC));
}

#[test]
fn reading_does_not_fill_the_page_cache() {
    let file = file(2 * MIB);
    file.write_all_at(&[1; 2 * MIB as usize], 0).unwrap();
    file.sync_all().unwrap();
    fadvise(&file, 0, None, Advice::DontNeed).unwrap();
    let cached = || cachestat(file.as_fd(), &(0..0)).map(|found| found.cached);
    if cached() != Ok(0) {
        return crate::system::host::fixture::skip("the page cache cannot be emptied or counted");
    }
    assert!(contents(&file, &[]).has_data);
    assert_eq!(cached(), Ok(0));
}

#[test]
fn a_signature_is_data_even_if_all_other_bytes_are_zero() {
    let with = |signatures: &[&str], has_data| Contents {
        signatures: signatures.iter().map(|text| (*text).into()).collect(),
        has_data,
        digest: [0; 32],
    };
    let check = |contents: Contents, is_blank, sentences: &[&str]| {
        assert_eq!(contents.is_blank(), is_blank, "{sentences:?}");
        assert_eq!(contents.sentences(), sentences);
    };
    check(with(&[], false), true, &["no data found"]);
    check(with(&[], true), false, &["data without a known signature"]);
    check(with(&["ext4"], true), false, &["ext4"]);
    let mut disk = with(&["gpt"], false);
    disk.add_partition("sdb1", &with(&["ext4 \"photos\""], true));
    check(disk, false, &["gpt", "sdb1: ext4 \"photos\""]);
    let digests = [
        with(&[], false).digest(),
        with(&["ext4"], false).digest(),
        with(&["xfs"], false).digest(),
        with(&["ext4", "xfs"], false).digest(),
        with(&["ext4xfs"], false).digest(),
    ];
    let unique: BTreeSet<_> = digests.iter().collect();
    assert_eq!(unique.len(), digests.len(), "{digests:?}");
}

#[test]
fn signatures_are_found_in_the_bytes_that_were_read() {
    let file = file(MIB);
    file.write_all_at(b"SWAPSPACE2", 4086).unwrap();
    file.write_all_at(&1_u32.to_le_bytes(), 1024).unwrap();
    file.write_all_at(&255_u32.to_le_bytes(), 1028).unwrap();
    assert_eq!(contents(&file, &[]).sentences(), ["swap"]);
}
