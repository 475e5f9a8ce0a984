//! Counters at one time, and samples as the difference between two readings.

use crate::{
    run::sampler::totals::IoTotals,
    system::{clock::NS_PER_MS, probes::Counters},
};
use leadline_protocol::{counters::Residency, phase::Phase, sample::Sample};

/// Kernel counters and worker totals at one time.
#[derive(Clone)]
pub(super) struct Reading {
    pub(super) counters: Counters,
    pub(super) totals: IoTotals,
}

/// The sample for the window between two readings.
pub(super) fn sample_between(
    phase: Phase,
    last: &Reading,
    now: &Reading,
    residency: Option<Residency>,
) -> Sample {
    let window = Counters::window(&last.counters, &now.counters);
    let [read, write, trim, sync] = now.totals.since(&last.totals);
    Sample {
        phase,
        window_ms: window.elapsed_ns as f64 / NS_PER_MS as f64,
        read,
        write,
        trim,
        sync,
        in_flight: now.totals.in_flight,
        silent_ms: None,
        errors: now.totals.errors.saturating_sub(last.totals.errors),
        physical_devices: window.physical_device_counts(),
        device: window.device,
        memory: window.memory,
        cpu: window.cpu,
        pressure: window.pressure,
        storage: window.storage,
        residency,
        gauge: None,
        steady_states: Vec::new(),
    }
}
