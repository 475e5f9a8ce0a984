//! Tests the shares of workers with different weights.

use super::*;
use crate::load::pattern::{Pattern, io::Kind};
use crate::load::source::{DRAW, Unlimited};
use crate::plan::fixture::resolved;
use serde_json::json;

fn members(weights: &[u32], sleep_us: u32) -> Vec<FlowLimited<Unlimited>> {
    let group = FlowGroup::new(weights.iter().copied());
    let member = |(index, weight): (usize, &u32)| {
        let options = FlowOptions {
            id: 0,
            weight: *weight,
            sleep_us,
        };
        let pattern = Pattern::new(&resolved(json!({"time_based": true})), 0);
        let member = FlowMember::new(group.clone(), index, options);
        FlowLimited::new(Unlimited(pattern), member)
    };
    weights.iter().enumerate().map(member).collect()
}

fn read(since_begin_ns: u64) -> Completed {
    Completed {
        kind: Kind::Read,
        since_begin_ns,
        lat_ns: 0,
    }
}

/// Submits all due I/Os, and completes them immediately.
fn step(source: &mut FlowLimited<Unlimited>, now_ns: u64) -> usize {
    let mut ios = [Io::default(); DRAW];
    let drawn = source.draw(&mut ios);
    let due = source.due(&ios[..drawn], now_ns);
    for _ in 0..due {
        source.on_submit(0);
        source.on_complete(0, &read(now_ns), &WorkerStats::default());
    }
    due
}

#[test]
fn workers_share_ios_in_proportion_to_their_weights() {
    for weights in [vec![1, 8], vec![2, 2], vec![1, 2, 5]] {
        let mut sources = members(&weights, 0);
        let mut issued = vec![0; weights.len()];
        for round in 0..5000 {
            for (source, issued) in sources.iter_mut().zip(&mut issued) {
                *issued += step(source, round * POLL_NS);
            }
        }
        let total: usize = issued.iter().sum();
        let sum: u32 = weights.iter().sum();
        for (issued, weight) in issued.iter().zip(&weights) {
            let expected = total as f64 * f64::from(*weight) / f64::from(sum);
            assert!(
                (*issued as f64 - expected).abs() <= 1.0 + expected * 0.01,
                "{weights:?}: {issued} of {total}"
            );
        }
    }
}

#[test]
fn a_worker_waits_for_an_idle_worker_until_it_ends() {
    let mut sources = members(&[1, 1], 0);
    let mut issued = 0;
    for round in 0..100 {
        issued += step(&mut sources[0], round * POLL_NS);
    }
    // fio: 0/1 and 1/2 do not exceed 1/2, but 2/3 does.
    assert_eq!(issued, 2);
    sources.pop();
    assert_eq!(step(&mut sources[0], 100 * POLL_NS), DRAW);
}

#[test]
fn flow_sleep_begins_when_nothing_is_in_flight() {
    let mut sources = members(&[1, 1], 50);
    let source = &mut sources[0];
    let ios = [Io::default(); 3];
    assert_eq!(source.due(&ios, 1000), 2);
    source.on_submit(0);
    source.on_submit(1);
    assert_eq!(source.due(&ios, 2000), 0);
    assert_eq!(source.next_due_ns(), None, "waits for completions");
    for slot in [0, 1] {
        source.on_complete(slot, &read(9000), &WorkerStats::default());
    }
    assert_eq!(source.due(&ios, 9000), 0);
    assert_eq!(source.next_due_ns(), Some(59_000));
    assert_eq!(source.due(&ios, 58_000), 0);
    assert_eq!(source.next_due_ns(), Some(59_000));
}
