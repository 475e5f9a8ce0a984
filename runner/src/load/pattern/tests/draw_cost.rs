//! Measures the time per drawn I/O in ns, by job. Run manually, because timings are not
//! reproducible; `worker/instructions` is the automated test.

use crate::{
    load::pattern::*,
    plan::fixture::{resolved, same, target},
    system::probes::rusage::thread_times,
};
use serde_json::{Value, json};
use std::hint::black_box;

/// I/Os per timing (a few ms); a multiple of the batch size.
const IOS: usize = 64 << 14;
/// Number of timings. The shortest timing is the one with the least interference.
const TIMINGS: usize = 50;

fn ns_per_io(bytes: u64, mut options: Value) -> f64 {
    options["targets"] = json!([target(0, bytes)]);
    options["time_based"] = json!(true);
    let mut pattern = Pattern::new(&resolved(options), 0);
    let mut batch = [Io::default(); 64];
    let mut shortest_ns = u64::MAX;
    for _ in 0..TIMINGS {
        let begin = thread_times();
        for _ in 0..IOS / batch.len() {
            black_box(pattern.draw(black_box(&mut batch)));
        }
        shortest_ns = shortest_ns.min(thread_times().since(begin).user_ns);
    }
    shortest_ns as f64 / IOS as f64
}

#[test]
#[ignore = "a measurement: cargo test --release -p leadline-runner --lib draw_cost -- --ignored --nocapture"]
fn measure_time_per_draw() {
    let randread = json!({"rw": "randread"});
    let distribution =
        |distribution: Value| json!({"rw": "randread", "random_distribution": same(&distribution)});
    let gib = 1 << 30;
    // 65 % of a power of two.
    let uneven = 1_395_864_371 / 4096 * 4096;
    let repeats = json!({"rw": "randread", "norandommap": true});
    let mix = json!({"rw": "randrw", "rwmixread": 70});
    let mix_with_syncs = json!({"rw": "randrw", "rwmixread": 70, "fsync": 32});
    let zipf = distribution(json!({"kind": "zipf", "theta": 1.2}));
    let pareto = distribution(json!({"kind": "pareto", "power": 0.2}));
    let normal = distribution(json!({"kind": "normal", "deviation_percent": 10.0}));
    let cases = [
        ("randread, 16 MiB", 16 << 20, randread.clone()),
        ("randread, 1 GiB", gib, randread.clone()),
        ("randread, 1.3 GiB", uneven, randread.clone()),
        ("randread, 16 TiB", 1 << 44, randread),
        ("randread, norandommap, 1 GiB", gib, repeats),
        ("read", gib, json!({"rw": "read"})),
        ("randrw 70/30", gib, mix),
        ("randrw 70/30, fsync=32", gib, mix_with_syncs),
        ("zipf:1.2", gib, zipf),
        ("pareto:0.2", gib, pareto),
        ("normal:10", gib, normal),
    ];
    for (name, bytes, options) in cases {
        eprintln!("{name:<30} {:6.2} ns", ns_per_io(bytes, options));
    }
}
