//! File reads. A read counts as device if one of its pages was not in memory when the job started,
//! or has since been evicted. When the page is read again, that read counts as memory.

pub(crate) mod setup;

use crate::{
    case::Case,
    scratch::{Mounted, image, run},
};
use serde_json::json;
use setup::{Layer::*, *};
use std::{
    any::Any,
    fs,
    path::{Path, PathBuf},
    thread::sleep,
    time::Duration,
};

const fn case(name: &'static str, prepare: fn(&Path) -> Prepared) -> Case {
    Case { name, prepare }
}

pub(crate) const CASES: &[Case] = &[
    // Partly cached files
    case("random_reads_with_a_cached_head", |at| {
        let (file, lock) = warm_range(&at.join("a"), 32 * MIB, 0, 8 * MIB);
        situation(
            reads(&file, json!({})),
            exactly(0.25, 0.0, 0.75),
            vec![lock],
        )
    }),
    case("random_reads_with_a_cached_tail", |at| {
        let (file, lock) = warm_range(&at.join("a"), 32 * MIB, 24 * MIB, 8 * MIB);
        situation(
            reads(&file, json!({"iodepth": 16})),
            exactly(0.25, 0.0, 0.75),
            vec![lock],
        )
    }),
    case("random_reads_with_every_other_page_cached", |at| {
        let (file, lock) = every_other_page_warm(&at.join("a"), 16 * MIB);
        situation(reads(&file, json!({})), exactly(0.5, 0.0, 0.5), vec![lock])
    }),
    case("blocks_of_two_pages_with_one_page_cached", |at| {
        // Each read needs the device for one of its two pages.
        let (file, lock) = every_other_page_warm(&at.join("a"), 16 * MIB);
        let truth = between(0.0..=0.5, NONE, 0.5..=1.0);
        situation(reads(&file, json!({"bs": "8k"})), truth, vec![lock])
    }),
    case("half_cached_sequential_reads_with_readahead", |at| {
        let disk = Volume::ext4(at)?;
        let (file, lock) = warm_range(&disk.file("a"), 32 * MIB, 0, 16 * MIB);
        let truth = disk.counts_requests(0.5);
        situation(
            reads(&file, json!({"rw": "read"})),
            truth,
            vec![lock, keep(disk)],
        )
    }),
    case("sequential_reads_with_a_cached_tail_and_readahead", |at| {
        let disk = Volume::ext4(at)?;
        let (file, lock) = warm_range(&disk.file("a"), 32 * MIB, 8 * MIB, 24 * MIB);
        let truth = disk.counts_requests(0.25);
        situation(
            reads(&file, json!({"rw": "read"})),
            truth,
            vec![lock, keep(disk)],
        )
    }),
    case("sequential_reads_with_every_other_page_cached", |at| {
        let disk = Volume::ext4(at)?;
        let (file, lock) = every_other_page_warm(&disk.file("a"), 16 * MIB);
        let truth = disk.counts_requests(0.5);
        situation(
            reads(&file, json!({"rw": "read"})),
            truth,
            vec![lock, keep(disk)],
        )
    }),
    case("random_reads_with_readahead_of_a_cold_file", |at| {
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 32 * MIB);
        let job = reads(&file, json!({"fadvise_hint": 0}));
        situation(job, waits_like_random_reads(&file), vec![keep(disk)])
    }),
    case("half_cached_random_reads_with_readahead", |at| {
        let disk = Volume::ext4(at)?;
        let (file, lock) = every_other_page_warm(&disk.file("a"), 32 * MIB);
        let job = reads(&file, json!({"fadvise_hint": 0}));
        let truth = waits_like_random_reads(&file);
        situation(job, truth, vec![lock, keep(disk)])
    }),
    case("some_random_reads_with_a_sequential_hint", |at| {
        // Readahead reads far more than the job does.
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 64 * MIB);
        let job = reads(
            &file,
            json!({"fadvise_hint": "sequential", "number_ios": 1000}),
        );
        situation(job, disk.counts_requests(1.0), vec![keep(disk)])
    }),
    case("sequential_reads_of_the_middle_of_a_cold_file", |at| {
        // Readahead continues past the region.
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 64 * MIB);
        let job = reads(&file, json!({"rw": "read", "offset": "16m", "size": "4m"}));
        situation(job, disk.counts_requests(1.0), vec![keep(disk)])
    }),
    case("sequential_reads_of_a_half_cached_region", |at| {
        let disk = Volume::ext4(at)?;
        let (file, lock) = warm_range(&disk.file("a"), 64 * MIB, 16 * MIB, 4 * MIB);
        let job = reads(&file, json!({"rw": "read", "offset": "16m", "size": "8m"}));
        let truth = disk.counts_requests(0.5);
        situation(job, truth, vec![lock, keep(disk)])
    }),
    case("random_reads_of_the_cold_part_of_a_warm_file", |at| {
        let (file, lock) = warm_range(&at.join("a"), 64 * MIB, 0, 48 * MIB);
        let job = reads(&file, json!({"offset": "48m", "size": "16m"}));
        situation(job, exactly(0.0, 0.0, 1.0), vec![lock])
    }),
    case("random_reads_of_the_warm_part_of_a_cold_file", |at| {
        let (file, lock) = warm_range(&at.join("a"), 64 * MIB, 48 * MIB, 16 * MIB);
        let job = reads(&file, json!({"offset": "48m", "size": "16m", "loops": 3}));
        situation(job, exactly(1.0, 0.0, 0.0), vec![lock])
    }),
    // Block sizes
    case("random_blocks_of_a_quarter_page", |at| {
        // Four reads per page: only the first one needs the device.
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 8 * MIB);
        let truth = disk.counts_misses(NONE);
        situation(reads(&file, json!({"bs": "1k"})), truth, vec![keep(disk)])
    }),
    case("random_half_pages_of_a_half_cached_file", |at| {
        let disk = Volume::ext4(at)?;
        let (file, lock) = warm_range(&disk.file("a"), 16 * MIB, 0, 8 * MIB);
        let truth = disk.counts_misses(NONE);
        situation(
            reads(&file, json!({"bs": "2k"})),
            truth,
            vec![lock, keep(disk)],
        )
    }),
    case("random_blocks_of_a_sector", |at| {
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 4 * MIB);
        let truth = disk.counts_misses(NONE);
        situation(reads(&file, json!({"bs": 512})), truth, vec![keep(disk)])
    }),
    case("sequential_blocks_of_a_sector_without_readahead", |at| {
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 4 * MIB);
        let job = reads(
            &file,
            json!({"bs": 512, "rw": "read", "fadvise_hint": "random"}),
        );
        situation(job, disk.counts_misses(NONE), vec![keep(disk)])
    }),
    case("direct_blocks_of_a_sector", |at| {
        let (file, lock) = warm(&at.join("a"), 2 * MIB);
        let job = reads(&file, json!({"bs": 512, "direct": 1}));
        situation(job, exactly(0.0, 0.0, 1.0), vec![lock])
    }),
    case("random_blocks_of_a_mebibyte_half_cached", |at| {
        let (file, lock) = warm_range(&at.join("a"), 128 * MIB, 0, 64 * MIB);
        situation(
            reads(&file, json!({"bs": "1m"})),
            exactly(0.5, 0.0, 0.5),
            vec![lock],
        )
    }),
    case("sequential_blocks_larger_than_the_readahead_window", |at| {
        let file = cold(&at.join("a"), 128 * MIB);
        let job = reads(&file, json!({"bs": "16m", "rw": "read"}));
        situation(job, exactly(0.0, 0.0, 1.0), vec![])
    }),
    case("large_direct_blocks_in_flight_at_the_end", |at| {
        let file = cold(&at.join("a"), 128 * MIB);
        let options =
            json!({"bs": "16m", "direct": 1, "iodepth": 8, "runtime": "300ms", "time_based": 1});
        situation(reads(&file, options), exactly(0.0, 0.0, 1.0), vec![])
    }),
    case("blocks_of_two_sizes_on_warm_and_cold_data", |at| {
        // 64 large reads of cold data and 4,096 small reads of warm data.
        let file = cold(&at.join("a"), 64 * MIB);
        let (other, lock) = warm(&at.join("b"), 16 * MIB);
        let jobs = [reads(&file, json!({"bs": "1m"})), reads(&other, json!({}))];
        situation(together(&jobs), by_job(&[Device, Memory]), vec![lock])
    }),
    // Passes
    case("two_passes_over_a_cold_file", |at| {
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 16 * MIB);
        let truth = disk.counts_misses(NONE);
        situation(reads(&file, json!({"loops": 2})), truth, vec![keep(disk)])
    }),
    case("two_passes_over_a_half_cached_file", |at| {
        let disk = Volume::ext4(at)?;
        let (file, lock) = warm_range(&disk.file("a"), 16 * MIB, 8 * MIB, 8 * MIB);
        let truth = disk.counts_misses(NONE);
        situation(
            reads(&file, json!({"loops": 2})),
            truth,
            vec![lock, keep(disk)],
        )
    }),
    case("repeated_passes_over_a_small_cold_file", |at| {
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 4 * MIB);
        let job = reads(&file, json!({"runtime": "500ms", "time_based": 1}));
        situation(job, disk.counts_misses(NONE), vec![keep(disk)])
    }),
    case("a_file_read_through_two_links", |at| {
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 16 * MIB);
        let link = disk.file("b");
        fs::hard_link(&file, &link).unwrap();
        let job = reads(&file, json!({"filename": targets(&[file.clone(), link])}));
        situation(job, disk.counts_misses(NONE), vec![keep(disk)])
    }),
    case("a_ramp_that_reads_everything", |at| {
        let file = cold(&at.join("a"), 2 * MIB);
        let options = json!({"ramp_time": "700ms", "runtime": "300ms", "time_based": 1});
        situation(reads(&file, options), exactly(1.0, 0.0, 0.0), vec![])
    }),
    case("a_ramp_that_reads_part_of_the_file", |at| {
        // The ramp has 1,500 I/Os and the window has 3,000; the file has 3,072 blocks.
        let file = cold(&at.join("a"), 12 * MIB);
        let options =
            json!({"ramp_time": "500ms", "runtime": "1s", "time_based": 1, "rate_iops": 3000});
        let device = (3072.0 - 1500.0) / 3000.0;
        let range = |share: f64| (share - 0.03)..=(share + 0.03);
        let truth = between(range(1.0 - device), NONE, range(device));
        situation(reads(&file, options), truth, vec![])
    }),
    // Distributions: the generator determines which reads repeat; the private disk counts the
    // misses
    case("zipf_reads_of_a_cold_file", |at| {
        distributed(at, "zipf:1.2", 0, 0)
    }),
    case("zipf_reads_with_a_cached_head", |at| {
        distributed(at, "zipf:0.8", 0, 8)
    }),
    case("zipf_reads_with_a_cached_tail", |at| {
        distributed(at, "zipf:1.1", 16, 16)
    }),
    case("pareto_reads_with_a_cached_head", |at| {
        distributed(at, "pareto:0.2", 0, 8)
    }),
    case("pareto_reads_with_a_cached_tail", |at| {
        distributed(at, "pareto:0.5", 8, 24)
    }),
    case("normal_reads_with_a_cached_center", |at| {
        distributed(at, "normal:10", 12, 8)
    }),
    case("normal_reads_with_cached_edges", |at| {
        distributed(at, "normal:10", 0, 12)
    }),
    case("zoned_reads_with_the_hot_zone_cached", |at| {
        distributed(at, "zoned:90/10:10/90", 0, 3)
    }),
    case("zoned_reads_with_the_cold_zone_cached", |at| {
        distributed(at, "zoned:90/10:10/90", 4, 28)
    }),
    case("direct_zipf_reads_of_a_cached_file", |at| {
        let (file, lock) = warm(&at.join("a"), 32 * MIB);
        let job = reads(
            &file,
            json!({"direct": 1, "random_distribution": "zipf:1.1", "number_ios": 4000}),
        );
        situation(job, exactly(0.0, 0.0, 1.0), vec![lock])
    }),
    case("direct_reads_mostly_of_data_in_a_sparse_file", |at| {
        let file = sparse(&at.join("a"), 3 * MIB, 30 * MIB);
        let job = reads(
            &file,
            json!({"direct": 1, "random_distribution": "zoned:90/10:10/90", "number_ios": 4000}),
        );
        situation(job, on_average(0.0, 0.1, 0.9), vec![])
    }),
    case("direct_reads_mostly_of_a_hole_in_a_sparse_file", |at| {
        let file = sparse(&at.join("a"), 27 * MIB, 30 * MIB);
        let job = reads(
            &file,
            json!({"direct": 1, "random_distribution": "zoned:10/90:90/10", "number_ios": 4000}),
        );
        situation(job, on_average(0.0, 0.9, 0.1), vec![])
    }),
    case("direct_reads_mostly_of_unwritten_blocks", |at| {
        let file = unwritten(&at.join("a"), 24 * MIB, 30 * MIB);
        let job = reads(
            &file,
            json!({"direct": 1, "random_distribution": "zoned:20/80:80/20", "number_ios": 4000}),
        );
        situation(job, on_average(0.0, 0.8, 0.2), vec![])
    }),
    // Holes and unwritten blocks
    case("reads_of_a_file_with_one_eighth_data", |at| {
        let file = sparse(&at.join("a"), 4 * MIB, 32 * MIB);
        situation(reads(&file, json!({})), exactly(0.0, 0.875, 0.125), vec![])
    }),
    case("reads_of_a_sparse_file_with_cached_data", |at| {
        let file = sparse(&at.join("a"), 8 * MIB, 32 * MIB);
        let lock = lock(&file, 0, 8 * MIB);
        situation(
            reads(&file, json!({})),
            exactly(0.25, 0.75, 0.0),
            vec![keep(lock)],
        )
    }),
    case(
        "reads_of_a_sparse_file_with_half_of_its_data_cached",
        |at| {
            let file = sparse(&at.join("a"), 16 * MIB, 32 * MIB);
            let lock = lock(&file, 0, 8 * MIB);
            situation(
                reads(&file, json!({})),
                exactly(0.25, 0.5, 0.25),
                vec![keep(lock)],
            )
        },
    ),
    case("reads_of_a_hole_in_the_page_cache", |at| {
        let file = sparse(&at.join("a"), 8 * MIB, 32 * MIB);
        let lock = lock(&file, 8 * MIB, 24 * MIB);
        let truth = between(0.0..=0.75, 0.0..=0.75, 0.25..=0.25);
        situation(reads(&file, json!({})), truth, vec![keep(lock)])
    }),
    case("direct_reads_of_a_hole_in_the_page_cache", |at| {
        let file = sparse(&at.join("a"), 8 * MIB, 32 * MIB);
        let lock = lock_all(&file);
        let job = reads(&file, json!({"direct": 1}));
        situation(job, exactly(0.0, 0.75, 0.25), vec![keep(lock)])
    }),
    case("direct_reads_with_a_hole_in_every_other_page", |at| {
        let file = perforated(&at.join("a"), 16 * MIB);
        situation(
            reads(&file, json!({"direct": 1})),
            exactly(0.0, 0.5, 0.5),
            vec![],
        )
    }),
    case("random_reads_with_a_hole_in_every_other_page", |at| {
        let file = perforated(&at.join("a"), 16 * MIB);
        situation(reads(&file, json!({})), exactly(0.0, 0.5, 0.5), vec![])
    }),
    case("sequential_reads_with_a_hole_in_every_other_page", |at| {
        let disk = Volume::ext4(at)?;
        let file = perforated(&disk.file("a"), 16 * MIB);
        let truth = between(0.0..=1.0, 0.0..=0.5, 0.0..=0.5);
        situation(reads(&file, json!({"rw": "read"})), truth, vec![keep(disk)])
    }),
    case("direct_reads_of_half_sparse_blocks", |at| {
        let file = perforated(&at.join("a"), 16 * MIB);
        let truth = between(NONE, 0.0..=0.5, 0.5..=1.0);
        situation(
            reads(&file, json!({"direct": 1, "bs": "8k"})),
            truth,
            vec![],
        )
    }),
    case("two_passes_over_a_sparse_file", |at| {
        let file = sparse(&at.join("a"), 8 * MIB, 16 * MIB);
        // In the second pass, the zeros are already in the page cache.
        let truth = between(0.25..=0.5, 0.25..=0.5, 0.25..=0.25);
        situation(reads(&file, json!({"loops": 2})), truth, vec![])
    }),
    case("direct_passes_over_a_sparse_file", |at| {
        let file = sparse(&at.join("a"), 2 * MIB, 16 * MIB);
        let job = reads(&file, json!({"direct": 1, "loops": 2, "bs": "2k"}));
        situation(job, exactly(0.0, 0.875, 0.125), vec![])
    }),
    case("reads_of_dirty_pages_over_unwritten_blocks", |at| {
        // The extents are unwritten according to FIEMAP, but the page cache holds the data.
        let file = unwritten(&at.join("a"), 0, 16 * MIB);
        let mut bytes = fs::File::options().write(true).open(&file).unwrap();
        std::io::Write::write_all(&mut bytes, &vec![1; 16 << 20]).unwrap();
        let lock = lock_all(&file);
        situation(
            reads(&file, json!({})),
            exactly(1.0, 0.0, 0.0),
            vec![keep(lock)],
        )
    }),
    case("direct_reads_of_dirty_pages_over_a_hole", |at| {
        let file = at.join("a");
        fs::write(&file, vec![1; 16 << 20]).unwrap();
        let job = reads(&file, json!({"direct": 1}));
        situation(job, exactly(0.0, 0.0, 1.0), vec![])
    }),
    // Two jobs
    case("a_large_cold_job_next_to_a_small_warm_one", |at| {
        let file = cold(&at.join("a"), 32 * MIB);
        let (other, lock) = warm(&at.join("b"), 8 * MIB);
        let jobs = [reads(&file, json!({})), reads(&other, json!({}))];
        situation(together(&jobs), by_job(&[Device, Memory]), vec![lock])
    }),
    case("a_small_cold_job_next_to_a_large_warm_one", |at| {
        let file = cold(&at.join("a"), 4 * MIB);
        let (other, lock) = warm(&at.join("b"), 60 * MIB);
        let jobs = [reads(&file, json!({})), reads(&other, json!({}))];
        situation(together(&jobs), by_job(&[Device, Memory]), vec![lock])
    }),
    case(
        "few_reads_of_a_large_hole_next_to_many_reads_of_data",
        |at| {
            let hole = sparse(&at.join("a"), 0, 1024 * MIB);
            let file = cold(&at.join("b"), 8 * MIB);
            let jobs = [
                reads(&hole, json!({"direct": 1, "number_ios": 512})),
                reads(&file, json!({"direct": 1})),
            ];
            situation(together(&jobs), by_job(&[Zeros, Device]), vec![])
        },
    ),
    case(
        "many_reads_of_a_small_hole_next_to_few_reads_of_data",
        |at| {
            let hole = sparse(&at.join("a"), 0, 4 * MIB);
            let file = cold(&at.join("b"), 64 * MIB);
            let jobs = [
                reads(&hole, json!({"direct": 1, "loops": 6})),
                reads(&file, json!({"direct": 1, "number_ios": 2048})),
            ];
            situation(together(&jobs), by_job(&[Zeros, Device]), vec![])
        },
    ),
    case("large_reads_of_a_hole_next_to_small_reads_of_data", |at| {
        let hole = sparse(&at.join("a"), 0, 64 * MIB);
        let file = cold(&at.join("b"), 4 * MIB);
        let jobs = [
            reads(&hole, json!({"direct": 1, "bs": "256k"})),
            reads(&file, json!({"direct": 1})),
        ];
        situation(together(&jobs), by_job(&[Zeros, Device]), vec![])
    }),
    case("direct_and_buffered_jobs_on_one_cached_file", |at| {
        let (file, lock) = warm(&at.join("a"), 32 * MIB);
        let jobs = [
            reads(&file, json!({"direct": 1, "number_ios": 2048})),
            reads(&file, json!({"number_ios": 6144})),
        ];
        situation(together(&jobs), by_job(&[Device, Memory]), vec![lock])
    }),
    case("direct_and_buffered_jobs_on_one_cold_file", |at| {
        let file = cold(&at.join("a"), 16 * MIB);
        let jobs = [reads(&file, json!({"direct": 1})), reads(&file, json!({}))];
        situation(together(&jobs), exactly(0.0, 0.0, 1.0), vec![])
    }),
    case("a_warm_job_a_cold_job_and_a_hole", |at| {
        let (file, lock) = warm(&at.join("a"), 16 * MIB);
        let other = cold(&at.join("b"), 8 * MIB);
        let hole = sparse(&at.join("c"), 0, 8 * MIB);
        let jobs = [file, other, hole].map(|file| reads(&file, json!({})));
        situation(
            together(&jobs),
            by_job(&[Memory, Device, Zeros]),
            vec![lock],
        )
    }),
    case("two_jobs_that_read_one_cold_file", |at| {
        let file = cold(&at.join("a"), 16 * MIB);
        let second = json!({"startdelay": "700ms"});
        let jobs = [reads(&file, json!({})), reads(&file, second)];
        situation(together(&jobs), exactly(0.5, 0.0, 0.5), vec![])
    }),
    // Multiple targets
    case("more_than_128_files_with_the_last_ones_cached", |at| {
        let files = cold_files(at, 180, 256 * 1024);
        let locks = files[128..].iter().map(|file| lock_all(file));
        let locks = keep(locks.collect::<Vec<_>>());
        let job = reads(&files[0], json!({"filename": targets(&files)}));
        let memory = 52.0 / 180.0;
        situation(job, exactly(memory, 0.0, 1.0 - memory), vec![locks])
    }),
    case("more_than_128_files_with_the_first_ones_cached", |at| {
        let files = cold_files(at, 180, 256 * 1024);
        let locks = files[..128].iter().map(|file| lock_all(file));
        let locks = keep(locks.collect::<Vec<_>>());
        let job = reads(&files[0], json!({"filename": targets(&files)}));
        let memory = 128.0 / 180.0;
        situation(job, exactly(memory, 0.0, 1.0 - memory), vec![locks])
    }),
    case("more_than_128_files_with_the_last_ones_empty", |at| {
        let mut files = cold_files(at, 128, 256 * 1024);
        files.extend((0..52).map(|index| sparse(&at.join(format!("h{index}")), 0, 256 * 1024)));
        let job = reads(&files[0], json!({"filename": targets(&files), "direct": 1}));
        let zeros = 52.0 / 180.0;
        situation(job, exactly(0.0, zeros, 1.0 - zeros), vec![])
    }),
    case("more_than_128_warm_files_next_to_a_neighbor", |at| {
        let disk = Volume::ext4(at)?;
        let other = cold(&disk.file("other"), 16 * MIB);
        let files = cold_files(&disk.at, 200, 128 * 1024);
        let locks = keep(files.iter().map(|file| lock_all(file)).collect::<Vec<_>>());
        let job = reads(&files[0], json!({"filename": targets(&files), "loops": 4}));
        let neighbor = Neighbor::reading(&other);
        situation(
            job,
            exactly(1.0, 0.0, 0.0),
            vec![neighbor, locks, keep(disk)],
        )
    }),
    case("a_cold_file_and_a_file_in_tmpfs", |at| {
        let (memory, mounted) = tmpfs(at);
        let other = in_memory(&memory.join("a"), 16 * MIB);
        let file = cold(&at.join("a"), 16 * MIB);
        let job = reads(&file, json!({"filename": targets(&[file.clone(), other])}));
        situation(job, exactly(0.5, 0.0, 0.5), vec![mounted])
    }),
    case("a_hole_and_data", |at| {
        let hole = sparse(&at.join("a"), 0, 16 * MIB);
        let file = cold(&at.join("b"), 16 * MIB);
        let job = reads(
            &file,
            json!({"filename": targets(&[file.clone(), hole]), "direct": 1}),
        );
        situation(job, exactly(0.0, 0.5, 0.5), vec![])
    }),
    case("a_file_in_tmpfs_a_hole_and_data", |at| {
        let (memory, mounted) = tmpfs(at);
        let files = [
            in_memory(&memory.join("a"), 8 * MIB),
            sparse(&at.join("b"), 0, 8 * MIB),
            cold(&at.join("c"), 8 * MIB),
        ];
        let job = reads(&files[0], json!({"filename": targets(&files)}));
        let third = 1.0 / 3.0;
        situation(job, exactly(third, third, third), vec![mounted])
    }),
    case("a_cold_file_and_a_warm_file_on_different_disks", |at| {
        let disk = Volume::new(at, XFS, "defaults")?;
        let (file, lock) = warm(&disk.file("a"), 16 * MIB);
        let files = [file, cold(&at.join("b"), 16 * MIB)];
        let job = reads(&files[0], json!({"filename": targets(&files)}));
        situation(job, exactly(0.5, 0.0, 0.5), vec![lock, keep(disk)])
    }),
    case("a_direct_file_on_a_cached_disk_and_a_plain_file", |at| {
        let disk = Volume::on_loop(at, EXT4, "defaults", &[])?;
        let file = cold(&disk.file("a"), 16 * MIB);
        let lock = keep(lock_all(&disk.image));
        let files = [file, cold(&at.join("b"), 16 * MIB)];
        let job = reads(&files[0], json!({"filename": targets(&files), "direct": 1}));
        situation(job, exactly(0.5, 0.0, 0.5), vec![keep(disk), lock])
    }),
    case("direct_and_buffered_reads_of_a_cached_disk", |at| {
        let disk = Volume::on_loop(at, EXT4, "defaults", &[])?;
        let file = cold(&disk.file("a"), 16 * MIB);
        let lock = keep(lock_all(&disk.image));
        let jobs = [reads(&file, json!({"direct": 1})), reads(&file, json!({}))];
        let truth = exactly(1.0, 0.0, 0.0);
        situation(together(&jobs), truth, vec![keep(disk), lock])
    }),
    // Changes during the run
    case("pages_evicted_mid_run", |at| {
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 32 * MIB);
        let lock = lock_all(&file);
        let job = reads(
            &file,
            json!({"rate_iops": 4000, "runtime": "1s", "time_based": 1}),
        );
        let truth = disk.counts_misses(NONE);
        evicted_midway(job, file, Some(lock), truth, vec![keep(disk)])
    }),
    case("pages_added_by_another_program_mid_run", |at| {
        let file = cold(&at.join("a"), 32 * MIB);
        let job = reads(
            &file,
            json!({"rate_iops": 4000, "runtime": "1s", "time_based": 1}),
        );
        filled_midway(job, file, vec![])
    }),
    case("pages_added_by_a_neighbor_on_a_private_disk", |at| {
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 32 * MIB);
        let job = reads(
            &file,
            json!({"rate_iops": 4000, "runtime": "1s", "time_based": 1}),
        );
        filled_midway(job, file, vec![keep(disk)])
    }),
    case("pages_evicted_repeatedly", |at| {
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 4 * MIB);
        let job = reads(&file, json!({"runtime": "1s", "time_based": 1}));
        let mut situation = situation(job, disk.counts_misses(NONE), vec![keep(disk)])?;
        let evictions = move |_| {
            for _ in 0..12 {
                sleep(Duration::from_millis(83));
                evict(&file);
            }
        };
        situation.during_run = Some(Box::new(evictions));
        Ok(situation)
    }),
    case("the_backing_file_evicted_mid_run", |at| {
        let disk = Volume::on_loop(at, EXT4, "defaults", &[])?;
        let file = cold(&disk.file("a"), 32 * MIB);
        let lock = lock_all(&disk.image);
        let options = json!({"rate_iops": 4000, "runtime": "1s", "time_based": 1, "direct": 1});
        // Readahead in the image serves some of the later reads. Earlier reads are served from
        // memory.
        let truth = between(0.25..=1.0, NONE, 0.0..=0.75);
        let image = disk.image.clone();
        let job = reads(&file, options);
        evicted_midway(job, image, Some(lock), truth, vec![keep(disk)])
    }),
    // Neighbors
    case("warm_reads_next_to_a_reader_on_the_same_disk", |at| {
        let disk = Volume::ext4(at)?;
        let neighbor = Neighbor::reading(&cold(&disk.file("b"), 16 * MIB));
        let (file, lock) = warm(&disk.file("a"), 16 * MIB);
        let job = reads(
            &file,
            json!({"rate_iops": 3000, "runtime": "1s", "time_based": 1}),
        );
        let truth = exactly(1.0, 0.0, 0.0);
        situation(job, truth, vec![neighbor, lock, keep(disk)])
    }),
    case("half_warm_reads_next_to_a_reader_on_the_same_disk", |at| {
        let disk = Volume::ext4(at)?;
        let neighbor = Neighbor::reading(&cold(&disk.file("b"), 16 * MIB));
        let (file, lock) = warm_range(&disk.file("a"), 16 * MIB, 0, 8 * MIB);
        let truth = exactly(0.5, 0.0, 0.5);
        situation(
            reads(&file, json!({})),
            truth,
            vec![neighbor, lock, keep(disk)],
        )
    }),
    case(
        "direct_reads_of_holes_next_to_a_reader_on_the_same_disk",
        |at| {
            let disk = Volume::ext4(at)?;
            let neighbor = Neighbor::reading(&cold(&disk.file("b"), 16 * MIB));
            let file = sparse(&disk.file("a"), 2 * MIB, 16 * MIB);
            let truth = exactly(0.0, 0.875, 0.125);
            situation(
                reads(&file, json!({"direct": 1})),
                truth,
                vec![neighbor, keep(disk)],
            )
        },
    ),
    case(
        "direct_reads_of_unwritten_blocks_next_to_a_reader_on_the_same_disk",
        |at| {
            let disk = Volume::new(at, XFS, "defaults")?;
            let neighbor = Neighbor::reading(&cold(&disk.file("b"), 16 * MIB));
            let file = unwritten(&disk.file("a"), 0, 256 * MIB);
            let job = reads(
                &file,
                json!({"direct": 1, "rate_iops": 5000, "runtime": "1s", "time_based": 1}),
            );
            situation(job, exactly(0.0, 1.0, 0.0), vec![neighbor, keep(disk)])
        },
    ),
    case("cold_reads_next_to_a_writer_on_the_same_disk", |at| {
        let disk = Volume::ext4(at)?;
        let neighbor = Neighbor::writing(&cold(&disk.file("b"), 16 * MIB));
        let file = cold(&disk.file("a"), 16 * MIB);
        let truth = exactly(0.0, 0.0, 1.0);
        situation(reads(&file, json!({})), truth, vec![neighbor, keep(disk)])
    }),
    case("warm_reads_next_to_a_writer_on_the_same_disk", |at| {
        let disk = Volume::ext4(at)?;
        let neighbor = Neighbor::writing(&cold(&disk.file("b"), 16 * MIB));
        let (file, lock) = warm(&disk.file("a"), 16 * MIB);
        let truth = exactly(1.0, 0.0, 0.0);
        situation(
            reads(&file, json!({"loops": 20})),
            truth,
            vec![neighbor, lock, keep(disk)],
        )
    }),
    case(
        "half_warm_reads_next_to_direct_reads_of_the_same_file",
        |at| {
            let disk = Volume::ext4(at)?;
            let (file, lock) = warm_range(&disk.file("a"), 16 * MIB, 0, 8 * MIB);
            let neighbor = Neighbor::reading(&file);
            let truth = exactly(0.5, 0.0, 0.5);
            situation(
                reads(&file, json!({})),
                truth,
                vec![neighbor, lock, keep(disk)],
            )
        },
    ),
    case(
        "sequential_warm_reads_of_large_blocks_next_to_a_reader",
        |at| {
            let disk = Volume::ext4(at)?;
            let neighbor = Neighbor::reading(&cold(&disk.file("b"), 16 * MIB));
            let (file, lock) = warm(&disk.file("a"), 32 * MIB);
            let job = reads(&file, json!({"rw": "read", "bs": "1m", "loops": 10}));
            let truth = exactly(1.0, 0.0, 0.0);
            situation(job, truth, vec![neighbor, lock, keep(disk)])
        },
    ),
    // Requested and actual cache state
    case("pages_that_invalidate_cannot_drop", |at| {
        let (file, lock) = warm_range(&at.join("a"), 16 * MIB, 4 * MIB, 12 * MIB);
        situation(
            reads(&file, json!({"invalidate": 1})),
            exactly(0.75, 0.0, 0.25),
            vec![lock],
        )
    }),
    case("pages_that_cache_state_cold_cannot_drop", |at| {
        let (file, lock) = warm_range(&at.join("a"), 16 * MIB, 0, 4 * MIB);
        let job = json!({"filename": file, "rw": "randread", "bs": "4k", "direct": 0, "cache_state": "cold"});
        situation(job, exactly(0.25, 0.0, 0.75), vec![lock])
    }),
    case("direct_reads_of_half_cached_pages", |at| {
        let (file, lock) = warm_range(&at.join("a"), 16 * MIB, 0, 8 * MIB);
        let job = reads(&file, json!({"direct": 1, "iodepth": 8}));
        situation(job, exactly(0.0, 0.0, 1.0), vec![lock])
    }),
    // XFS
    case("xfs_random_reads_with_a_cached_head", |at| {
        let disk = Volume::new(at, XFS, "defaults")?;
        let (file, lock) = warm_range(&disk.file("a"), 16 * MIB, 0, 4 * MIB);
        let truth = disk.counts_misses(NONE);
        situation(reads(&file, json!({})), truth, vec![lock, keep(disk)])
    }),
    case("xfs_quarter_pages", |at| {
        let disk = Volume::new(at, XFS, "defaults")?;
        let file = cold(&disk.file("a"), 8 * MIB);
        let truth = disk.counts_misses(NONE);
        situation(reads(&file, json!({"bs": "1k"})), truth, vec![keep(disk)])
    }),
    case("xfs_clone_of_a_cached_file", |at| {
        // The clone shares the blocks, but has separate pages.
        let disk = Volume::new(at, XFS, "defaults")?;
        let (file, lock) = warm(&disk.file("a"), 16 * MIB);
        let clone = disk.file("b");
        clone_file(&file, &clone)?;
        let truth = exactly(0.0, 0.0, 1.0);
        situation(reads(&clone, json!({})), truth, vec![lock, keep(disk)])
    }),
    case("xfs_file_and_its_clone", |at| {
        let disk = Volume::new(at, XFS, "defaults")?;
        let (file, lock) = warm(&disk.file("a"), 16 * MIB);
        let clone = disk.file("b");
        clone_file(&file, &clone)?;
        let job = reads(&file, json!({"filename": targets(&[file.clone(), clone])}));
        situation(job, exactly(0.5, 0.0, 0.5), vec![lock, keep(disk)])
    }),
    case("xfs_unwritten_blocks_with_cached_data", |at| {
        let disk = Volume::new(at, XFS, "defaults")?;
        let file = unwritten(&disk.file("a"), 8 * MIB, 32 * MIB);
        let lock = lock(&file, 0, 4 * MIB);
        let truth = exactly(0.125, 0.75, 0.125);
        situation(reads(&file, json!({})), truth, vec![keep(lock), keep(disk)])
    }),
    // btrfs
    case("btrfs_random_reads_of_compressed_data", |at| {
        let disk = Volume::new(at, BTRFS, "compress-force=lzo")?;
        let file = cold(&disk.file("a"), 32 * MIB);
        let truth = disk.counts_requests(1.0);
        situation(reads(&file, json!({})), truth, vec![keep(disk)])
    }),
    case("btrfs_warm_compressed_data", |at| {
        let disk = Volume::new(at, BTRFS, "compress-force=lzo")?;
        let (file, lock) = warm(&disk.file("a"), 32 * MIB);
        let truth = exactly(1.0, 0.0, 0.0);
        situation(reads(&file, json!({})), truth, vec![lock, keep(disk)])
    }),
    case("btrfs_direct_reads_of_warm_compressed_data", |at| {
        let disk = Volume::new(at, BTRFS, "compress-force=lzo")?;
        let (file, lock) = warm(&disk.file("a"), 16 * MIB);
        let truth = disk.counts_misses(NONE);
        situation(
            reads(&file, json!({"direct": 1})),
            truth,
            vec![lock, keep(disk)],
        )
    }),
    case("btrfs_inline_file", |at| {
        let disk = Volume::new(at, BTRFS, "defaults")?;
        let file = cold(&disk.file("a"), 2048);
        let job = reads(&file, json!({"bs": 512, "loops": 500}));
        situation(job, between(0.99..=1.0, NONE, 0.0..=0.01), vec![keep(disk)])
    }),
    case("btrfs_half_cached_file", |at| {
        let disk = Volume::new(at, BTRFS, "defaults")?;
        let (file, lock) = warm_range(&disk.file("a"), 16 * MIB, 0, 8 * MIB);
        let truth = exactly(0.5, 0.0, 0.5);
        situation(reads(&file, json!({})), truth, vec![lock, keep(disk)])
    }),
    case("btrfs_sparse_file", |at| {
        let disk = Volume::new(at, BTRFS, "defaults")?;
        let file = sparse(&disk.file("a"), 4 * MIB, 16 * MIB);
        let truth = exactly(0.0, 0.75, 0.25);
        situation(reads(&file, json!({"direct": 1})), truth, vec![keep(disk)])
    }),
    case("btrfs_two_passes_over_sectors", |at| {
        let disk = Volume::new(at, BTRFS, "defaults")?;
        let file = cold(&disk.file("a"), 4 * MIB);
        let job = reads(&file, json!({"bs": "1k", "loops": 2}));
        situation(job, exactly(0.875, 0.0, 0.125), vec![keep(disk)])
    }),
    // overlayfs
    case("overlay_lower_file_cold", |at| {
        let (lower, overlay) = overlay(at)?;
        cold(&lower.join("a"), 16 * MIB);
        let mounted = overlay.mount();
        let job = reads(&mounted.0.join("a"), json!({}));
        situation(job, exactly(0.0, 0.0, 1.0), vec![mounted.1])
    }),
    case("overlay_lower_file_half_cached", |at| {
        let (lower, overlay) = overlay(at)?;
        let (_, lock) = warm_range(&lower.join("a"), 16 * MIB, 0, 8 * MIB);
        let mounted = overlay.mount();
        let job = reads(&mounted.0.join("a"), json!({}));
        situation(job, exactly(0.5, 0.0, 0.5), vec![lock, mounted.1])
    }),
    case("overlay_lower_file_warm_and_direct", |at| {
        let (lower, overlay) = overlay(at)?;
        let (_, lock) = warm(&lower.join("a"), 16 * MIB);
        let mounted = overlay.mount();
        let job = reads(&mounted.0.join("a"), json!({"direct": 1}));
        situation(job, exactly(0.0, 0.0, 1.0), vec![lock, mounted.1])
    }),
    case("overlay_upper_file_warm", |at| {
        let (_, overlay) = overlay(at)?;
        let mounted = overlay.mount();
        let (file, lock) = warm(&mounted.0.join("a"), 16 * MIB);
        situation(
            reads(&file, json!({})),
            exactly(1.0, 0.0, 0.0),
            vec![lock, mounted.1],
        )
    }),
    case("overlay_lower_hole", |at| {
        let (lower, overlay) = overlay(at)?;
        sparse(&lower.join("a"), 4 * MIB, 16 * MIB);
        let mounted = overlay.mount();
        let job = reads(&mounted.0.join("a"), json!({"direct": 1}));
        situation(job, exactly(0.0, 0.75, 0.25), vec![mounted.1])
    }),
    case("overlay_of_tmpfs", |at| {
        let (memory, mounted_memory) = tmpfs(at);
        let overlay = Overlay::below(&memory);
        in_memory(&overlay.lower().join("a"), 16 * MIB);
        let mounted = overlay.mount();
        let job = reads(&mounted.0.join("a"), json!({}));
        situation(job, exactly(1.0, 0.0, 0.0), vec![mounted.1, mounted_memory])
    }),
    case("overlay_cold_lower_file_next_to_a_neighbor", |at| {
        let disk = Volume::ext4(at)?;
        let neighbor = Neighbor::reading(&cold(&disk.file("b"), 16 * MIB));
        let overlay = Overlay::below(&disk.at);
        let (_, lock) = warm(&overlay.lower().join("a"), 16 * MIB);
        let mounted = overlay.mount();
        let job = reads(&mounted.0.join("a"), json!({"loops": 10}));
        let truth = exactly(1.0, 0.0, 0.0);
        situation(job, truth, vec![neighbor, lock, mounted.1, keep(disk)])
    }),
    // tmpfs
    case("tmpfs_random_reads", |at| {
        let (memory, mounted) = tmpfs(at);
        let file = in_memory(&memory.join("a"), 32 * MIB);
        situation(
            reads(&file, json!({"loops": 5})),
            exactly(1.0, 0.0, 0.0),
            vec![mounted],
        )
    }),
    case("tmpfs_direct_reads", |at| {
        let (memory, mounted) = tmpfs(at);
        let file = in_memory(&memory.join("a"), 32 * MIB);
        let job = reads(&file, json!({"direct": 1, "bs": "64k", "rw": "read"}));
        situation(job, exactly(1.0, 0.0, 0.0), vec![mounted])
    }),
    case("tmpfs_sparse_file", |at| {
        let (memory, mounted) = tmpfs(at);
        let file = in_memory(&memory.join("a"), 8 * MIB);
        fs::File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_len(32 * MIB)
            .unwrap();
        // Holes in tmpfs may count as either memory or zeros.
        let truth = between(0.25..=1.0, 0.0..=0.75, NONE);
        situation(reads(&file, json!({})), truth, vec![mounted])
    }),
    case("a_file_in_dev_shm", |at| {
        let shared = tempfile::tempdir_in("/dev/shm").map_err(|error| error.to_string())?;
        let file = in_memory(&shared.path().join("a"), 32 * MIB);
        let here = at.join("shm");
        let mounted = Mounted::with_options(shared.path().to_str().unwrap(), &here, "bind");
        let job = reads(&here.join(file.file_name().unwrap()), json!({"loops": 5}));
        situation(
            job,
            exactly(1.0, 0.0, 0.0),
            vec![keep(mounted), keep(shared)],
        )
    }),
    // Memory limits
    case("passes_over_a_file_larger_than_the_memory_limit", |at| {
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 48 * MIB);
        let job = reads(&file, json!({"loops": 2}));
        let truth = disk.counts_misses(NONE);
        let limit = MemoryLimit::of(24 * MIB)?;
        Ok(limit.situation(job, truth, disk))
    }),
    case(
        "sequential_passes_over_a_file_larger_than_the_memory_limit",
        |at| {
            let disk = Volume::ext4(at)?;
            let file = cold(&disk.file("a"), 64 * MIB);
            let job = reads(&file, json!({"loops": 3, "rw": "read"}));
            let truth = disk.counts_requests(1.0);
            let limit = MemoryLimit::of(24 * MIB)?;
            Ok(limit.situation(job, truth, disk))
        },
    ),
    // Mixed jobs: the reads
    case("mixed_buffered_io_on_a_cold_file", |at| {
        let file = cold(&at.join("a"), 16 * MIB);
        situation(
            reads(&file, json!({"rw": "randrw"})),
            exactly(0.0, 0.0, 1.0),
            vec![],
        )
    }),
    case("mixed_buffered_io_on_a_half_cached_file", |at| {
        let (file, lock) = every_other_page_warm(&at.join("a"), 16 * MIB);
        let job = reads(&file, json!({"rw": "randrw", "rwmixread": 70}));
        situation(job, on_average(0.5, 0.0, 0.5), vec![lock])
    }),
    case("mixed_quarter_pages_on_a_cold_file", |at| {
        // The kernel reads the page before a partial write to it.
        let file = cold(&at.join("a"), 16 * MIB);
        let job = reads(&file, json!({"rw": "randrw", "bs": "1k"}));
        situation(job, on_average(0.75, 0.0, 0.25), vec![])
    }),
    case("mixed_direct_io_on_a_hole", |at| {
        let disk = Volume::ext4(at)?;
        let file = sparse(&disk.file("a"), 0, 16 * MIB);
        let truth = exactly(0.0, 1.0, 0.0);
        let job = reads(
            &file,
            json!({"rw": "randrw", "direct": 1, "fallocate": "none"}),
        );
        situation(job, truth, vec![keep(disk)])
    }),
    case("mixed_direct_io_on_unwritten_blocks", |at| {
        let disk = Volume::new(at, XFS, "defaults")?;
        let file = unwritten(&disk.file("a"), 0, 16 * MIB);
        let truth = exactly(0.0, 1.0, 0.0);
        let job = reads(
            &file,
            json!({"rw": "randrw", "direct": 1, "fallocate": "none"}),
        );
        situation(job, truth, vec![keep(disk)])
    }),
    case("mixed_direct_passes_on_unwritten_blocks", |at| {
        // In the second pass, only blocks that the first pass wrote hold data.
        let disk = Volume::new(at, XFS, "defaults")?;
        let file = unwritten(&disk.file("a"), 0, 16 * MIB);
        let stat = disk.counts_device();
        let job = reads(
            &file,
            json!({"rw": "randrw", "direct": 1, "fallocate": "none", "loops": 3}),
        );
        situation(job, stat, vec![keep(disk)])
    }),
    case("mixed_buffered_passes_on_a_cold_file", |at| {
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 8 * MIB);
        let truth = disk.counts_misses(NONE);
        let job = reads(&file, json!({"rw": "randrw", "loops": 3}));
        situation(job, truth, vec![keep(disk)])
    }),
    case(
        "direct_reads_next_to_buffered_writes_to_the_same_hole",
        |at| {
            let hole = sparse(&at.join("a"), 0, 16 * MIB);
            let file = cold(&at.join("b"), 16 * MIB);
            let jobs = [
                reads(&hole, json!({"direct": 1})),
                reads(&file, json!({"rw": "randwrite"})),
            ];
            situation(together(&jobs), exactly(0.0, 1.0, 0.0), vec![])
        },
    ),
    // Reads of part of a sparse file: the average across the region is misleading
    case("sequential_reads_that_end_before_the_hole", |at| {
        let file = sparse(&at.join("a"), 8 * MIB, 512 * MIB);
        let job = reads(
            &file,
            json!({"rw": "read", "direct": 1, "number_ios": 2000}),
        );
        situation(job, exactly(0.0, 0.0, 1.0), vec![])
    }),
    case("sequential_reads_that_end_past_the_data", |at| {
        let file = sparse(&at.join("a"), 8 * MIB, 512 * MIB);
        let job = reads(
            &file,
            json!({"rw": "read", "direct": 1, "number_ios": 8192}),
        );
        situation(job, exactly(0.0, 0.75, 0.25), vec![])
    }),
    case("sequential_buffered_reads_that_end_past_the_data", |at| {
        let file = sparse(&at.join("a"), 8 * MIB, 512 * MIB);
        let lock = lock(&file, 0, 8 * MIB);
        let job = reads(&file, json!({"rw": "read", "number_ios": 8192}));
        situation(job, exactly(0.25, 0.75, 0.0), vec![keep(lock)])
    }),
    case("sequential_reads_that_end_before_the_data", |at| {
        let file = at.join("a");
        let data = fs::File::create(&file).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&data, &vec![1; 32 << 20], 32 << 20).unwrap();
        data.sync_all().unwrap();
        evict(&file);
        let job = reads(
            &file,
            json!({"rw": "read", "direct": 1, "number_ios": 8000}),
        );
        situation(job, exactly(0.0, 1.0, 0.0), vec![])
    }),
    case("sequential_reads_that_skip_the_holes", |at| {
        let file = perforated(&at.join("a"), 16 * MIB);
        let job = reads(
            &file,
            json!({"rw": "read:4k", "direct": 1, "number_ios": 2000}),
        );
        situation(job, exactly(0.0, 0.0, 1.0), vec![])
    }),
    case("sequential_reads_that_skip_the_data", |at| {
        let file = perforated(&at.join("a"), 16 * MIB);
        let job = reads(
            &file,
            json!({"rw": "read:4k", "direct": 1, "offset": "4k", "number_ios": 2000}),
        );
        situation(job, exactly(0.0, 1.0, 0.0), vec![])
    }),
    case("sequential_reads_that_skip_the_cached_pages", |at| {
        let (file, lock) = every_other_page_warm(&at.join("a"), 16 * MIB);
        let options =
            json!({"rw": "read:4k", "offset": "4k", "number_ios": 2000, "fadvise_hint": "random"});
        situation(reads(&file, options), exactly(0.0, 0.0, 1.0), vec![lock])
    }),
    case("sequential_reads_of_the_cached_pages_only", |at| {
        // Readahead reads the missing pages between them.
        let (file, lock) = every_other_page_warm(&at.join("a"), 16 * MIB);
        let options = json!({"rw": "read:4k", "number_ios": 2000});
        situation(reads(&file, options), exactly(1.0, 0.0, 0.0), vec![lock])
    }),
    case("half_cached_random_reads_with_a_sequential_hint", |at| {
        // Readahead reads more than the job does, even though half of the reads do not need the
        // device.
        let (file, lock) = warm_range(&at.join("a"), 64 * MIB, 0, 32 * MIB);
        let options = json!({"fadvise_hint": "sequential", "number_ios": 1000});
        let truth = between(0.42..=1.0, NONE, 0.0..=0.58);
        situation(reads(&file, options), truth, vec![lock])
    }),
    case("mostly_cached_random_reads_with_one_zone_in_a_hole", |at| {
        let file = sparse(&at.join("a"), 6 * MIB, 30 * MIB);
        let lock = lock(&file, 0, 6 * MIB);
        let options = json!({"random_distribution": "zoned:80/20:20/80", "number_ios": 4000});
        // Some zeros are read twice.
        let truth = between(0.76..=0.86, 0.14..=0.24, NONE);
        situation(reads(&file, options), truth, vec![keep(lock)])
    }),
    // Jobs with rates
    case(
        "slow_reads_of_a_large_hole_next_to_fast_reads_of_data",
        |at| {
            let hole = sparse(&at.join("a"), 0, 1024 * MIB);
            let file = cold(&at.join("b"), 64 * MIB);
            let timed = |file: &Path, rate: u64| {
                let options =
                    json!({"direct": 1, "runtime": "1s", "time_based": 1, "rate_iops": rate});
                reads(file, options)
            };
            let jobs = [timed(&hole, 100), timed(&file, 3000)];
            situation(together(&jobs), by_job(&[Zeros, Device]), vec![])
        },
    ),
    case(
        "fast_reads_of_a_small_hole_next_to_slow_reads_of_data",
        |at| {
            let hole = sparse(&at.join("a"), 0, MIB);
            let file = cold(&at.join("b"), 64 * MIB);
            let timed = |file: &Path, rate: u64| {
                let options =
                    json!({"direct": 1, "runtime": "1s", "time_based": 1, "rate_iops": rate});
                reads(file, options)
            };
            let jobs = [timed(&hole, 5000), timed(&file, 100)];
            situation(together(&jobs), by_job(&[Zeros, Device]), vec![])
        },
    ),
    case(
        "large_reads_of_warm_data_next_to_small_direct_reads",
        |at| {
            let (file, lock) = warm(&at.join("a"), 64 * MIB);
            let other = cold(&at.join("b"), 4 * MIB);
            let jobs = [
                reads(&file, json!({"bs": "1m"})),
                reads(&other, json!({"direct": 1})),
            ];
            situation(together(&jobs), by_job(&[Memory, Device]), vec![lock])
        },
    ),
    case("small_reads_of_a_hole_next_to_large_reads_of_data", |at| {
        let hole = sparse(&at.join("a"), 0, 16 * MIB);
        let file = cold(&at.join("b"), 64 * MIB);
        let jobs = [
            reads(&hole, json!({"direct": 1})),
            reads(&file, json!({"direct": 1, "bs": "1m"})),
        ];
        situation(together(&jobs), by_job(&[Zeros, Device]), vec![])
    }),
    case("a_cached_a_tmpfs_and_a_cold_job_in_unequal_parts", |at| {
        let (memory, mounted) = tmpfs(at);
        let other = in_memory(&memory.join("a"), 4 * MIB);
        let (file, lock) = warm(&at.join("b"), 2 * MIB);
        let last = cold(&at.join("c"), 10 * MIB);
        let jobs = [other, file, last].map(|file| reads(&file, json!({})));
        let truth = by_job(&[Memory, Memory, Device]);
        situation(together(&jobs), truth, vec![lock, mounted])
    }),
    case("a_cold_overlay_file_next_to_a_warm_plain_file", |at| {
        let (lower, overlay) = overlay(at)?;
        cold(&lower.join("a"), 8 * MIB);
        let (file, lock) = warm(&at.join("b"), 24 * MIB);
        let mounted = overlay.mount();
        let jobs = [mounted.0.join("a"), file].map(|file| reads(&file, json!({})));
        let truth = by_job(&[Device, Memory]);
        situation(together(&jobs), truth, vec![lock, mounted.1])
    }),
    case("four_workers_on_one_cold_file", |at| {
        let disk = Volume::ext4(at)?;
        let file = cold(&disk.file("a"), 8 * MIB);
        let job = reads(&file, json!({"numjobs": 4}));
        situation(job, disk.counts_misses(NONE), vec![keep(disk)])
    }),
    case("four_workers_one_reading_cached_pages", |at| {
        let (file, lock) = warm_range(&at.join("a"), 32 * MIB, 8 * MIB, 8 * MIB);
        let job = reads(
            &file,
            json!({"numjobs": 4, "size": "8m", "offset_increment": "8m"}),
        );
        situation(job, exactly(0.25, 0.0, 0.75), vec![lock])
    }),
    case("four_workers_three_reading_a_hole", |at| {
        let file = sparse(&at.join("a"), 8 * MIB, 32 * MIB);
        let options = json!({"numjobs": 4, "size": "8m", "offset_increment": "8m", "direct": 1});
        situation(reads(&file, options), exactly(0.0, 0.75, 0.25), vec![])
    }),
    // Disks backed by memory
    case("direct_reads_of_a_disk_in_tmpfs", |at| {
        let (memory, mounted) = tmpfs_of(at, "500m");
        let disk = Volume::on_loop(&memory, EXT4, "defaults", &[])?;
        let file = cold(&disk.file("a"), 16 * MIB);
        let job = reads(&file, json!({"direct": 1}));
        situation(job, exactly(1.0, 0.0, 0.0), vec![keep(disk), mounted])
    }),
    case("cold_reads_of_a_disk_in_tmpfs", |at| {
        let (memory, mounted) = tmpfs_of(at, "500m");
        let disk = Volume::on_loop(&memory, XFS, "defaults", &[])?;
        let file = cold(&disk.file("a"), 16 * MIB);
        situation(
            reads(&file, json!({})),
            exactly(1.0, 0.0, 0.0),
            vec![keep(disk), mounted],
        )
    }),
    case("a_disk_in_tmpfs_and_a_plain_file", |at| {
        let (memory, mounted) = tmpfs_of(at, "500m");
        let disk = Volume::on_loop(&memory, EXT4, "defaults", &[])?;
        let files = [
            cold(&disk.file("a"), 16 * MIB),
            cold(&at.join("b"), 16 * MIB),
        ];
        let job = reads(&files[0], json!({"filename": targets(&files), "direct": 1}));
        situation(job, exactly(0.5, 0.0, 0.5), vec![keep(disk), mounted])
    }),
    case("cold_reads_of_a_disk_with_a_half_cached_image", |at| {
        half_cached_image(at, |_| keep(()))
    }),
    case("a_half_cached_image_next_to_a_reader_on_its_disk", |at| {
        half_cached_image(at, |outer| {
            Neighbor::reading(&cold(&outer.file("b"), 16 * MIB))
        })
    }),
    case("reads_of_a_cached_disk_on_a_private_disk", |at| {
        let outer = Volume::ext4(at)?;
        let below = outer.file("inner");
        fs::create_dir(&below).unwrap();
        let inner = Volume::on_loop(&below, EXT4, "defaults", &[])?;
        let file = cold(&inner.file("a"), 16 * MIB);
        let lock = keep(lock_all(&inner.image));
        let job = reads(&file, json!({"direct": 1, "loops": 2}));
        let truth = exactly(1.0, 0.0, 0.0);
        situation(job, truth, vec![keep(inner), lock, keep(outer)])
    }),
    case("reads_of_a_direct_disk_on_a_private_disk", |at| {
        let outer = Volume::ext4(at)?;
        let below = outer.file("inner");
        fs::create_dir(&below).unwrap();
        let inner = Volume::ext4(&below)?;
        let (file, lock) = warm_range(&inner.file("a"), 16 * MIB, 0, 8 * MIB);
        let truth = inner.counts_misses(NONE);
        situation(
            reads(&file, json!({})),
            truth,
            vec![lock, keep(inner), keep(outer)],
        )
    }),
    // Files that the run creates
    case("a_file_created_by_the_run", |at| {
        let disk = Volume::ext4(at)?;
        let truth = disk.counts_misses(NONE);
        let job = reads(&disk.file("new"), json!({"size": "16m", "invalidate": 1}));
        situation(job, truth, vec![keep(disk)])
    }),
    case("a_file_created_by_the_run_and_kept_in_memory", |at| {
        let disk = Volume::ext4(at)?;
        let truth = disk.counts_misses(NONE);
        let job = reads(&disk.file("new"), json!({"size": "16m"}));
        situation(job, truth, vec![keep(disk)])
    }),
    // Other ways to submit I/O
    case("half_cached_reads_submitted_by_a_kernel_thread", |at| {
        let disk = Volume::ext4(at)?;
        let neighbor = Neighbor::reading(&cold(&disk.file("b"), 16 * MIB));
        let (file, lock) = warm_range(&disk.file("a"), 16 * MIB, 0, 8 * MIB);
        let job = reads(&file, json!({"sqthread_poll": 1, "iodepth": 4}));
        let truth = exactly(0.5, 0.0, 0.5);
        situation(job, truth, vec![neighbor, lock, keep(disk)])
    }),
    case(
        "large_warm_blocks_in_flight_at_the_end_next_to_a_reader",
        |at| {
            let disk = Volume::ext4(at)?;
            let neighbor = Neighbor::reading(&cold(&disk.file("b"), 16 * MIB));
            let (file, lock) = warm(&disk.file("a"), 64 * MIB);
            let options = json!({"bs": "16m", "iodepth": 4, "runtime": "400ms", "time_based": 1});
            let truth = exactly(1.0, 0.0, 0.0);
            situation(
                reads(&file, options),
                truth,
                vec![neighbor, lock, keep(disk)],
            )
        },
    ),
    case("large_direct_blocks_of_a_hole_in_flight_at_the_end", |at| {
        let file = sparse(&at.join("a"), 64 * MIB, 128 * MIB);
        let options = json!({"bs": "16m", "direct": 1, "rw": "read", "iodepth": 4, "loops": 3});
        situation(reads(&file, options), exactly(0.0, 0.5, 0.5), vec![])
    }),
    case("more_than_128_files_the_last_ones_in_tmpfs", |at| {
        let (memory, mounted) = tmpfs(at);
        let mut files = cold_files(at, 130, 128 * 1024);
        let name = |index| memory.join(format!("m{index}"));
        files.extend((0..70).map(|index| in_memory(&name(index), 128 * 1024)));
        let job = reads(&files[0], json!({"filename": targets(&files)}));
        situation(job, exactly(0.35, 0.0, 0.65), vec![mounted])
    }),
    case("mixed_quarter_pages_on_a_hole", |at| {
        let file = sparse(&at.join("a"), 0, 8 * MIB);
        let job = reads(
            &file,
            json!({"rw": "randrw", "bs": "1k", "fallocate": "none"}),
        );
        let truth = between(0.0..=1.0, 0.0..=1.0, NONE);
        situation(job, truth, vec![])
    }),
    case("mixed_direct_io_on_a_cached_file", |at| {
        let (file, lock) = warm(&at.join("a"), 16 * MIB);
        let job = reads(&file, json!({"rw": "randrw", "direct": 1}));
        situation(job, exactly(0.0, 0.0, 1.0), vec![lock])
    }),
];

fn clone_file(from: &Path, to: &Path) -> Result<(), String> {
    let words = [
        "--reflink=always",
        from.to_str().unwrap(),
        to.to_str().unwrap(),
    ];
    run("cp", &words)?;
    run("sync", &["-f", to.to_str().unwrap()])?;
    Ok(())
}

fn overlay(at: &Path) -> Result<(PathBuf, Overlay), String> {
    let overlay = Overlay::below(at);
    Ok((overlay.lower(), overlay))
}

/// Random 4 KiB reads with a distribution, from a 32 MiB file with a cached range.
fn distributed(at: &Path, distribution: &str, offset: u64, bytes: u64) -> Prepared {
    let disk = Volume::ext4(at)?;
    let (file, lock) = warm_range(&disk.file("a"), 32 * MIB, offset * MIB, bytes * MIB);
    let job = reads(
        &file,
        json!({"random_distribution": distribution, "number_ios": 8000}),
    );
    let truth = disk.counts_misses(NONE);
    situation(job, truth, vec![lock, keep(disk)])
}

/// A fully written file on tmpfs.
fn in_memory(path: &Path, bytes: u64) -> PathBuf {
    image(path, bytes);
    path.into()
}

/// Direct reads of a disk whose image is half in the page cache. The image is on a private disk,
/// which a neighbor may also use.
fn half_cached_image(at: &Path, neighbor: fn(&Volume) -> Box<dyn Any>) -> Prepared {
    let outer = Volume::ext4(at)?;
    let below = outer.file("inner");
    fs::create_dir(&below).unwrap();
    let disk = Volume::on_loop(&below, EXT4, "defaults", &[])?;
    let file = cold(&disk.file("a"), 32 * MIB);
    run("sync", &["-f", disk.image.to_str().unwrap()])?;
    evict(&disk.image);
    let neighbor = neighbor(&outer);
    let input = format!("if={}", file.display());
    run(
        "dd",
        &[&input, "of=/dev/null", "bs=1M", "count=16", "iflag=direct"],
    )?;
    assert!(cached(&disk.image) >= 16 * MIB);
    let truth = disk.counts_new_pages_of_the_image();
    let job = reads(&file, json!({"direct": 1}));
    situation(job, truth, vec![neighbor, keep(disk), keep(outer)])
}

/// Cold files of equal length.
fn cold_files(at: &Path, count: usize, bytes: u64) -> Vec<PathBuf> {
    let name = |index| at.join(format!("f{index}"));
    (0..count).map(|index| cold(&name(index), bytes)).collect()
}
