//! The progress line on a terminal.

use crate::cli::text::writer::join;
use leadline_protocol::{
    counters::{DeviceCounts, IoCounts},
    event::{Event, EventBody},
    format::{bandwidth, bytes, duration, latency, rate},
    histogram::percentiles,
    phase::{Phase, PhaseChange, PhaseState},
    sample::Sample,
};

/// Minimum length of a period without completions that is shown, in ms.
const MIN_SILENT_MS: f64 = 1000.0;

/// `None` if the event does not change the progress.
pub(crate) fn line(event: &Event) -> Option<String> {
    match &event.body {
        EventBody::Phase(change) if change.state != PhaseState::End => Some(phase(change)),
        EventBody::Sample(sample) => {
            Some(format!("{:>8}  {}", duration(event.t_ms), window(sample)))
        }
        _ => None,
    }
}

fn phase(change: &PhaseChange) -> String {
    let name = match change.phase {
        Phase::Guard => "checking safety",
        Phase::IdleWait => "waiting for an idle host",
        Phase::Layout => "writing files",
        Phase::DropCaches => "dropping the host's caches",
        Phase::Invalidate => "dropping the target's cached pages",
        Phase::PreRead => "reading into the page cache",
        Phase::Ramp => "warming up",
        Phase::Measure => "measuring",
        Phase::Flush => "flushing",
        Phase::Verify => "verifying",
        Phase::CleanUp => "removing files",
    };
    let progress = change
        .done_bytes
        .zip(change.total_bytes)
        .map(|(done, total)| format!("{} of {}", bytes(done), bytes(total)));
    join([Some(name.into()), progress, change.note.clone()], "  ")
}

fn window(sample: &Sample) -> String {
    let seconds = sample.window_ms / 1000.0;
    let states = sample.steady_states.iter();
    let steady_states: Vec<&str> = states.map(|state| state.summary.as_str()).collect();
    let parts = [
        silence(sample.silent_ms),
        direction("read", &sample.read, seconds),
        direction("write", &sample.write, seconds),
        direction("trim", &sample.trim, seconds),
        sample.device.map(|counts| device(&counts, seconds)),
        (!steady_states.is_empty()).then(|| steady_states.join("  ")),
    ];
    join(parts, "  ")
}

fn silence(silent_ms: Option<f64>) -> Option<String> {
    let silent_ms = silent_ms.filter(|silent_ms| *silent_ms >= MIN_SILENT_MS)?;
    Some(format!("no I/O completed for {}", duration(silent_ms)))
}

fn direction(name: &str, counts: &IoCounts, seconds: f64) -> Option<String> {
    if counts.ios == 0 {
        return None;
    }
    let mut text = format!(
        "{name} {} IOPS, {}",
        rate(per_second(counts.ios, seconds)),
        bandwidth(per_second(counts.bytes, seconds))
    );
    if let Some(p99) = percentiles(&counts.lat_ns, &[99.0]).first() {
        text += &format!(", p99 {}", latency(*p99 as f64));
    }
    Some(text)
}

fn device(counts: &DeviceCounts, seconds: f64) -> String {
    format!(
        "device {} read + {} write IOPS",
        rate(per_second(counts.read_ios, seconds)),
        rate(per_second(counts.write_ios, seconds))
    )
}

fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_completions_are_shown_after_a_second() {
        let expected = Some("no I/O completed for 5.20 s".into());
        assert_eq!(silence(Some(5_200.0)), expected);
        assert_eq!(silence(Some(999.0)), None);
        assert_eq!(silence(None), None);
    }
}
