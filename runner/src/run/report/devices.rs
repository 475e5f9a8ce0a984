//! Block device counters and CPU time in the measured window.

use crate::{
    run::sampler::MeasuredWindow,
    system::{
        clock::NS_PER_MS,
        probes::{CounterWindow, Counters},
    },
};
use leadline_protocol::report::{
    CpuReport,
    device::{DeviceReport, PhysicalDeviceReport, Reading},
};

pub(super) fn device_report(names: &[String], window: &CounterWindow) -> Option<DeviceReport> {
    let counts = window.device?;
    let mut physical_devices = Vec::new();
    for (name, counts) in &window.physical_devices {
        physical_devices.push(PhysicalDeviceReport {
            name: name.clone(),
            counts: *counts,
            utilization: utilization(counts.busy_ms, window.elapsed_ns),
        });
    }
    Some(DeviceReport {
        name: names.join("+"),
        // Mean utilization of the devices, because their busy times are summed.
        utilization: utilization(counts.busy_ms, window.elapsed_ns * names.len() as u64),
        counts,
        physical_devices,
    })
}

pub(super) fn readings(window: &MeasuredWindow) -> Vec<Reading> {
    let readings = Counters::readings(&window.before, &window.after).into_iter();
    readings
        .map(|(device, start, end)| Reading { device, start, end })
        .collect()
}

pub(super) fn cpu_report(
    window: &CounterWindow,
    thermal_throttles: Option<u64>,
) -> Option<CpuReport> {
    let cpu = window.cpu?;
    let process = window.process;
    let ms = |ns: u64| ns as f64 / NS_PER_MS as f64;
    Some(CpuReport {
        user_ms: ms(process.user_ns),
        system_ms: ms(process.system_ns),
        process_percent: percent(process.user_ns + process.system_ns, window.elapsed_ns),
        host_percent: cpu.host_user + cpu.host_system,
        context_switches: process.context_switches,
        thermal_throttles,
    })
}

fn percent(part_ns: u64, whole_ns: u64) -> f64 {
    match whole_ns {
        0 => 0.0,
        _ => 100.0 * part_ns as f64 / whole_ns as f64,
    }
}

/// Converts busy time to a percentage, capped at 100. The kernel counts busy time in ticks, so it
/// may exceed the length of the window.
fn utilization(busy_ms: u64, elapsed_ns: u64) -> f64 {
    percent(busy_ms * NS_PER_MS, elapsed_ns).min(100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::clock::NS_PER_SECOND;

    #[test]
    fn utilization_is_capped_at_100_percent() {
        assert_eq!(utilization(500 + 500, 2 * NS_PER_SECOND), 50.0);
        assert_eq!(utilization(1010, NS_PER_SECOND), 100.0);
        assert_eq!(utilization(0, 0), 0.0);
    }
}
