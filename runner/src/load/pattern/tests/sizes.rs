//! Tests sizes that depend on other options (`bs_unaligned`, `bs_is_seq_rand`), and files chosen
//! according to a distribution (`file_service_type`).

use super::*;

#[test]
fn unaligned_sizes_need_not_be_multiples_of_the_smallest() {
    let mut bs = json!({"min": 1000, "max": 5000, "split": [], "unaligned": true});
    for rw in ["write", "randwrite"] {
        let ios = list(&region(1024, json!({"rw": rw, "bs": same(&bs)})));
        assert!(ios.len() > 100, "{rw}");
        let is_in_region =
            |io: &Io| io.offset >= BEGIN && io.offset + u64::from(io.len) <= BEGIN + 1024 * K;
        assert!(ios.iter().all(is_in_region), "{rw}");
        let lengths: HashSet<u32> = ios.iter().map(|io| io.len).collect();
        assert!(
            lengths.iter().all(|len| (1000..=5000).contains(len)),
            "{rw}"
        );
        assert!(lengths.len() > 50, "{rw}: {lengths:?}");
        let mean = ios.iter().map(|io| f64::from(io.len)).sum::<f64>() / ios.len() as f64;
        assert!((mean - 3000.0).abs() < 300.0, "{rw}: {mean}");
    }
    bs["split"] = json!([{"bytes": 1000, "percent": 50}, {"bytes": 1500, "percent": 50}]);
    bs["max"] = json!(1500);
    let ios = list(&region(64, json!({"rw": "write", "bs": same(&bs)})));
    assert!(ios.iter().any(|io| io.len == 1500), "{ios:?}");
}

#[test]
fn sequential_and_random_ios_have_different_sizes() {
    let large = json!({"min": 16384, "max": 16384, "split": []});
    let options = json!({
        "rw": "randread", "rw_modifier": 4, "norandommap": true, "bs": same(&large),
        "sequential_bs": {"min": 4096, "max": 4096, "split": []},
    });
    let ios = list(&region(1024, options));
    for group in ios.chunks(4) {
        assert_eq!(group[0].len, 16384);
        for pair in group.windows(2) {
            assert_eq!(pair[1].len, 4096);
            let end = pair[0].offset + u64::from(pair[0].len);
            // A sequential I/O at the end of the region starts elsewhere.
            let is_last = end == BEGIN + 1024 * K;
            assert!(pair[1].offset == end || is_last, "{pair:?}");
        }
    }
    let total: u64 = ios.iter().map(|io| u64::from(io.len)).sum();
    assert_eq!(total, 1024 * K);
}

#[test]
fn files_are_chosen_according_to_a_distribution() {
    let counts = |distribution: Value| {
        let files: Vec<_> = (0..8).map(|_| json!(target(0, 4 << 20))).collect();
        let job = resolved(json!({
            "rw": "randread", "norandommap": true, "targets": files, "size": 32 << 20,
            "io_size": 4 << 20, "is_io_size_requested": true,
            "file_service": {"order": "random", "ios": 1, "distribution": distribution},
        }));
        let mut counts = [0; 8];
        list(&job)
            .iter()
            .for_each(|io| counts[io.target as usize] += 1);
        counts
    };
    let zipf = counts(json!({"kind": "zipf", "theta": 1.2, "center": 0.0}));
    assert!(zipf[0] > zipf[1..].iter().sum(), "{zipf:?}");
    let centered = counts(json!({"kind": "zipf", "theta": 1.2, "center": 0.5}));
    assert_eq!(centered.iter().max(), Some(&centered[4]), "{centered:?}");
    let normal = counts(json!({"kind": "normal", "deviation_percent": 10.0}));
    assert!(normal[3] + normal[4] > 500 && normal[0] < 20, "{normal:?}");
    let pareto = counts(json!({"kind": "pareto", "power": 0.2, "center": 0.0}));
    assert!(pareto[0] > pareto[7] * 2, "{pareto:?}");
}
