//! Tests of writes whose layers cannot be derived from the device's byte counts.

use super::*;
use StorageLayer::{Device, LowerCache, PageCache, Unknown};

const PAGE: u64 = 4096;
const MIB: u64 = 1 << 20;

fn by_layer(ios: &[(StorageLayer, u64)]) -> [u64; StorageLayer::COUNT] {
    let mut counts = [0; StorageLayer::COUNT];
    for (layer, ios) in ios {
        counts[*layer as usize] = *ios;
    }
    counts
}

/// Writes that each dirtied one page.
fn dirtying(ios: u64) -> SampledWrites {
    SampledWrites {
        samples: 100,
        dirtying: by_layer(&[(Device, ios)]),
        dirtied_bytes: ios * PAGE,
        ..SampledWrites::default()
    }
}

fn pages(before: u64, now: u64) -> Option<DirtyPages> {
    Some(DirtyPages {
        before,
        now,
        ..DirtyPages::default()
    })
}

fn check(name: &str, writes: SampledWrites, pages: Option<DirtyPages>, want: SharesOrReason) {
    let found = writes.shares(pages);
    let is_equal = match (found, want) {
        (Ok(found), Ok(want)) => {
            let is_close = |one: f64, other: f64| (one - other).abs() < 1e-9;
            is_close(found.page_cache, want.page_cache)
                && is_close(found.filesystem, want.filesystem)
                && is_close(found.device, want.device)
                && is_close(found.unknown, want.unknown)
        }
        (found, want) => found == want,
    };
    assert!(is_equal, "{name}: {found:?}, expected {want:?}");
}

fn shares(page_cache: f64, device: f64) -> SharesOrReason {
    Ok(LayerShares {
        page_cache,
        device,
        ..LayerShares::default()
    })
}

#[test]
fn shares_follow_the_pages_that_were_written_back() {
    let all = 1000 * PAGE;
    check("all dirty", dirtying(1000), pages(0, all), shares(1.0, 0.0));
    check("all written", dirtying(1000), pages(0, 0), shares(0.0, 1.0));
    let three_quarters = pages(0, all * 3 / 4);
    check(
        "a quarter written",
        dirtying(1000),
        three_quarters,
        shares(0.75, 0.25),
    );
    // The window starts with dirty pages from earlier windows. More pages are written back than the
    // window's writes dirtied, because writers wait for writeback.
    let falling = pages(50_000 * PAGE, 48_000 * PAGE);
    check("dirty limit", dirtying(1000), falling, shares(0.0, 1.0));
    let steady = pages(50_000 * PAGE, 50_000 * PAGE);
    check("steady", dirtying(1000), steady, shares(0.0, 1.0));
}

/// 8,000 512-byte writes to 1,000 pages: the device writes 4,096 bytes for each page.
#[test]
fn partial_pages_count_as_one_io() {
    let writes = SampledWrites {
        samples: 100,
        dirtying: by_layer(&[(Device, 8000)]),
        dirtied_bytes: 1000 * PAGE,
        ..SampledWrites::default()
    };
    check("half", writes, pages(0, 500 * PAGE), shares(0.5, 0.5));
}

#[test]
fn overwritten_pages_were_served_by_memory() {
    let writes = SampledWrites {
        known: by_layer(&[(PageCache, 9000)]),
        ..dirtying(1000)
    };
    check("written back", writes, pages(0, 0), shares(0.9, 0.1));
    check("dirty", writes, pages(0, 1000 * PAGE), shares(1.0, 0.0));
}

#[test]
fn direct_writes_need_no_page_counts() {
    let writes = SampledWrites {
        samples: 100,
        known: by_layer(&[(Device, 100)]),
        direct_bytes: 100 * PAGE,
        ..SampledWrites::default()
    };
    check("device", writes, None, shares(0.0, 1.0));
    let zram = SampledWrites {
        known: by_layer(&[(LowerCache, 100)]),
        ..writes
    };
    let expected = LayerShares {
        filesystem: 1.0,
        ..LayerShares::default()
    };
    check("memory below a device", zram, None, Ok(expected));
    // Data in the page cache of a loop device's backing file reaches the disk eventually.
    let cached_loop = SampledWrites {
        known: by_layer(&[(Unknown, 100)]),
        ..writes
    };
    check("cached loop", cached_loop, None, Err(NOT_FOUND));
}

#[test]
fn data_written_back_below_a_device_is_unknown() {
    let writes = SampledWrites {
        dirtying: by_layer(&[(Unknown, 1000)]),
        ..dirtying(0)
    };
    let writes = SampledWrites {
        dirtied_bytes: 1000 * PAGE,
        ..writes
    };
    let expected = LayerShares {
        page_cache: 0.7,
        unknown: 0.3,
        ..LayerShares::default()
    };
    check("30 % left", writes, pages(0, 700 * PAGE), Ok(expected));
    check("70 % left", writes, pages(0, 300 * PAGE), Err(NOT_FOUND));
}

/// An earlier writer left 2,000 dirty pages. It is unknown who wrote the 1,000 pages that were
/// written back.
#[test]
fn older_pages_may_have_been_written_instead() {
    let older = |before, now, older| {
        Some(DirtyPages {
            before,
            now,
            older,
            by_process: None,
        })
    };
    let ambiguous = older(2000 * PAGE, 2000 * PAGE, 2000 * PAGE);
    check("ambiguous", dirtying(1000), ambiguous, Err(OLDER_PAGES));
    let none_written = older(2000 * PAGE, 3000 * PAGE, 2000 * PAGE);
    check("none", dirtying(1000), none_written, shares(1.0, 0.0));
    let all_written = older(2000 * PAGE, 0, 2000 * PAGE);
    check("all", dirtying(1000), all_written, shares(0.0, 1.0));
}

#[test]
fn whole_folios_are_recognized() {
    let grown = pages(0, 64 * MIB);
    check("dirty", dirtying(1000), grown, Err(WHOLE_FOLIOS));
    let written_back = Some(DirtyPages {
        by_process: Some(64 * MIB),
        ..DirtyPages::default()
    });
    check("written", dirtying(1000), written_back, Err(WHOLE_FOLIOS));
    let direct = SampledWrites {
        direct_bytes: 64 * MIB,
        known: by_layer(&[(Device, 1000)]),
        ..dirtying(1000)
    };
    check("direct I/O", direct, written_back, shares(0.0, 1.0));
}

#[test]
fn missing_numbers_have_reasons() {
    check("no pages", dirtying(1000), None, Err(NOT_COUNTED));
    let few = SampledWrites {
        samples: MIN_SAMPLES - 1,
        ..dirtying(1000)
    };
    check("few", few, pages(0, 0), Err(FEW_SAMPLES));
    check(
        "none",
        SampledWrites::default(),
        pages(0, 0),
        Err(FEW_SAMPLES),
    );
}

fn reading(at_ms: f64, ios: u64, dirty_pages: Option<u64>) -> WriteReading {
    WriteReading {
        at_ms,
        sampled: dirtying(ios),
        dirty_bytes: dirty_pages.map(|pages| pages * PAGE),
        by_process: None,
    }
}

/// Writes that stay in memory for two seconds and then wait for writeback.
#[test]
fn windows_end_when_pages_are_counted() {
    let mut phase = PhaseWrites::new(WriteReading {
        dirty_bytes: Some(0),
        ..WriteReading::default()
    });
    assert!(phase.push(reading(500.0, 500, None)).is_none());
    assert_eq!(phase.so_far(), None);
    let shares = |window: Option<WriteWindow>| {
        let window = window.unwrap();
        (
            window.begin_ms,
            window.end_ms,
            window.ios,
            window.device_share.unwrap(),
        )
    };
    let second = phase.push(WriteReading {
        sampled: SampledWrites {
            samples: 1000,
            ..dirtying(1000)
        },
        ..reading(1000.0, 0, Some(1000))
    });
    assert_eq!(shares(second), (0.0, 1000.0, 1000, 0.0));
    assert_eq!(phase.so_far().unwrap().unwrap().page_cache, 1.0);
    let third = phase.push(WriteReading {
        sampled: SampledWrites {
            samples: 1100,
            ..dirtying(1500)
        },
        ..reading(2000.0, 0, Some(1000))
    });
    assert_eq!(shares(third), (1000.0, 2000.0, 500, 1.0));
    let so_far = phase.so_far().unwrap().unwrap();
    assert!((so_far.device - 1.0 / 3.0).abs() < 1e-9, "{so_far:?}");
}
