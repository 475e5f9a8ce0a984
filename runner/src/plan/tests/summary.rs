//! Summary of what a run measures.

use crate::plan::tests::accepted;
use serde_json::{Value, json};

#[test]
fn each_mode_has_its_own_summary() {
    let summary = |job: Value| accepted(job).measures;
    assert_eq!(
        summary(json!({"filename": "full", "rw": "randread", "iodepth": 32, "direct": 1})),
        "Performance of ext4 on vda for 4 KiB random reads at queue depth 32, bypassing the page cache."
    );
    assert!(
        summary(json!({"filename": "full", "rw": "randread", "direct": 0}))
            .contains("served from memory")
    );
    assert!(
        summary(json!({"filename": "full", "rw": "randwrite", "direct": 0}))
            .contains("the page cache accepts")
    );
    assert!(
        summary(json!({"filename": "full", "rw": "randwrite", "direct": 0, "fsync": 1}))
            .contains("durable")
    );
    assert!(
        summary(json!({"filename": "/dev/vdb", "direct": 1, "numjobs": 2}))
            .contains("the device vdb for 4 KiB sequential reads at queue depth 1 from 2 workers")
    );
    assert!(
        summary(json!({"filename": "new", "size": "1m", "direct": 1, "loop_device": 1}))
            .contains("a temporary loop device on /data/new")
    );
    assert!(summary(json!({"ioengine": "null"})).contains("upper limit"));
}
