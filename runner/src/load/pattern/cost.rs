//! What a draw costs in ns, job by job: to be looked at, since a time is no test. Instructions are tracked instead
//! (`clone/instructions`).

use crate::load::pattern::*;
use crate::plan::fixture::{resolved, same, target};
use crate::system::probes::rusage::thread_times;
use serde_json::{Value, json};
use std::hint::black_box;

/// I/Os of one timing, a multiple of what is drawn at once: some ms.
const IOS: usize = 64 << 14;
/// Timings, of which the shortest counts: the others were disturbed.
const TIMES: usize = 50;

fn ns_per_draw(bytes: u64, mut different: Value) -> f64 {
    different["targets"] = json!([target(0, bytes)]);
    different["time_based"] = json!(true);
    let mut pattern = Pattern::new(&resolved(different), 0);
    let mut ios = [Io {
        offset: 0,
        len: 0,
        target: 0,
        kind: Kind::Read,
    }; 64];
    let mut once = || {
        let begin = thread_times();
        for _ in 0..IOS / ios.len() {
            black_box(pattern.draw(black_box(&mut ios)));
        }
        thread_times().since(begin).user_ns as f64 / IOS as f64
    };
    (0..TIMES).map(|_| once()).fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "a measurement: cargo test --release -p leadline-runner --lib pattern::cost -- --ignored --nocapture"]
fn ns_of_a_draw() {
    let liked =
        |distribution: Value| json!({"rw": "randread", "random_distribution": same(&distribution)});
    let cases = [
        ("randread, 16 MiB", 16 << 20, json!({"rw": "randread"})),
        ("randread, 1 GiB", 1 << 30, json!({"rw": "randread"})),
        (
            "randread, 1.1 GiB (65 % of a power of two)",
            1_395_864_371 / 4096 * 4096,
            json!({"rw": "randread"}),
        ),
        ("randread, 16 TiB", 1 << 44, json!({"rw": "randread"})),
        (
            "randread, norandommap, 1 GiB",
            1 << 30,
            json!({"rw": "randread", "norandommap": true}),
        ),
        ("read", 1 << 30, json!({"rw": "read"})),
        (
            "randrw 70/30",
            1 << 30,
            json!({"rw": "randrw", "rwmixread": 70}),
        ),
        (
            "randrw 70/30, fsync=32",
            1 << 30,
            json!({"rw": "randrw", "rwmixread": 70, "fsync": 32}),
        ),
        (
            "zipf:1.2",
            1 << 30,
            liked(json!({"kind": "zipf", "theta": 1.2})),
        ),
        (
            "pareto:0.2",
            1 << 30,
            liked(json!({"kind": "pareto", "power": 0.2})),
        ),
        (
            "normal:10",
            1 << 30,
            liked(json!({"kind": "normal", "deviation_percent": 10.0})),
        ),
    ];
    for (name, bytes, different) in cases {
        eprintln!("{name:<45} {:6.2} ns", ns_per_draw(bytes, different));
    }
}
