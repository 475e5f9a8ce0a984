//! Tests for the contents of sparse files, and for the choice of ranges to read from large files.

use super::*;
use crate::system::host::cachestat::cachestat;
use rustix::io::{FdFlags, fcntl_getfd};
use std::{collections::BTreeSet, iter, os::unix::fs::FileExt, time::Duration};

const MIB: u64 = 1 << 20;

fn contents(file: &File, regions: &[Range<u64>]) -> Contents {
    let source = Source::of(file, file.metadata().unwrap().len());
    Contents::read(&source, regions).unwrap()
}

/// Reads samples first, then the complete regions.
fn complete(file: &File, regions: &[Range<u64>], limit: &ReadLimit) -> Contents {
    let source = Source::of(file, file.metadata().unwrap().len());
    let mut contents = Contents::read(&source, regions).unwrap();
    contents.complete(&source, regions, limit).unwrap();
    contents
}

/// A file of zeros with too much allocated space to be read completely.
fn file_of_zeros(length: u64) -> File {
    let file = file(length);
    for offset in (0..FULL_BYTES + MIB).step_by(MIB as usize) {
        file.write_all_at(&[0; MIB as usize], offset).unwrap();
    }
    file
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
fn data_in_a_job_region_is_found() {
    let file = file_of_zeros(900 * MIB);
    let at = 500 * MIB + 12 * 4096;
    file.write_all_at(&[1; 4096], at).unwrap();
    assert!(contents(&file, &[]).is_blank(), "between the samples");
    let region = at - 4096..at + 8192;
    assert!(!contents(&file, std::slice::from_ref(&region)).is_blank());

    let digest = contents(&file, &[]).digest();
    // A longer time limit than a plan's, so a slow disk does not reach it.
    let limit = ReadLimit::new(4 << 30, Duration::from_secs(3600));
    let (before, after) = (0..at, at + 4096..950 * MIB);
    let region = 400 * MIB..600 * MIB;
    assert!(complete(&file, &[before.clone(), after], &limit).is_blank());
    let found = complete(&file, &[before, region.clone()], &limit);
    assert!(found.has_data && !found.is_blank());
    assert_eq!(found.descriptions(), ["data without a known signature"]);
    let limited = complete(&file, &[region], &ReadLimit::zero());
    assert!(!limited.is_blank() && !limited.has_data);
    let sentence = &limited.descriptions()[0];
    assert!(sentence.starts_with("no data found, but "), "{sentence}");
    // The digest must not depend on the read limit.
    assert_eq!((found.digest(), limited.digest()), (digest.clone(), digest));
}

#[test]
fn all_allocated_bytes_of_a_sparse_file_are_found() {
    let file = file(900 * MIB);
    for index in 0..100 {
        let at = (3 + index * 8) * MIB + 12 * 4096;
        file.write_all_at(&[0; 4096], at).unwrap();
    }
    assert!(contents(&file, &[]).is_blank());
    file.write_all_at(b"x", 603 * MIB + 13 * 4096).unwrap();
    assert!(!contents(&file, &[]).is_blank());
}

#[test]
fn holes_of_a_backing_file_are_relative_to_the_offset() {
    let (device, backing) = (file(MIB), file(2 * MIB));
    device.write_all_at(&[1; MIB as usize], 0).unwrap();
    let mut source = Source::of(&device, MIB);
    source.holes = Some((backing.as_fd(), 512 << 10));
    let read = |source: &Source| Contents::read(source, &[]).unwrap().is_blank();
    assert!(read(&source), "the backing file has no data");
    backing.write_all_at(b"x", 0).unwrap();
    assert!(read(&source), "before the device");
    backing.write_all_at(b"x", (512 << 10) + 8192).unwrap();
    assert!(!read(&source));
    source.holes = None;
    assert!(!read(&source));
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
    // The distance between samples: 900 MiB / 256.
    let step = 900 * 4096;
    // The first two samples and the last one are within the ranges at the beginning and end.
    let samples = (2..255).map(|index| index * step..index * step + 4096);
    let expect: Vec<Range<u64>> = iter::once(0..4 * MIB)
        .chain(samples)
        .chain(iter::once(896 * MIB..length))
        .collect();
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
    // The offset is between samples of the whole target, which are 4 GiB apart.
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
    let file = file_of_zeros(900 * MIB);
    let sample = 100 * 900 * 4096;
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
fn files_without_direct_io_are_read_to_the_end() {
    let file = File::open("/proc/version").unwrap();
    let found = Contents::read(&Source::of(&file, MIB), &[]).unwrap();
    assert!(found.has_data);
}

#[test]
fn descriptors_are_not_inherited() {
    let file = file(MIB);
    let source = Source::of(&file, MIB);
    let sample = Sample::open(&source).unwrap();
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
        uuids: Vec::new(),
        has_data,
        unread_bytes: 0,
        digest: [0; 32],
    };
    let check = |contents: Contents, is_blank, descriptions: &[&str]| {
        assert_eq!(contents.is_blank(), is_blank, "{descriptions:?}");
        assert_eq!(contents.descriptions(), descriptions);
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
    assert_eq!(contents(&file, &[]).descriptions(), ["swap"]);
}
