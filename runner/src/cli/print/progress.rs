//! One line on standard error that follows a run, when a person is watching.

use leadline_protocol::event::{Event, EventBody};
use leadline_protocol::format::{bandwidth, bytes, duration, latency, rate};
use leadline_protocol::histogram::percentiles;
use leadline_protocol::phase::{Phase, PhaseChange, PhaseState};
use leadline_protocol::sample::Sample;

/// The line for an event; `None` where it says nothing new.
pub fn line(event: &Event) -> Option<String> {
    match &event.body {
        EventBody::Phase(change) => phase(change),
        EventBody::Sample(sample) => {
            Some(format!("{:>8}  {}", duration(event.t_ms), window(sample)))
        }
        _ => None,
    }
}

fn phase(change: &PhaseChange) -> Option<String> {
    let name = match change.phase {
        Phase::Guard => "looking whether this may be done",
        Phase::Layout => "laying out",
        Phase::DropCaches => "dropping all caches of this host",
        Phase::Invalidate => "dropping the target's cached pages",
        Phase::PreRead => "reading into the page cache",
        Phase::Ramp => "warming up",
        Phase::Measure => "measuring",
        Phase::Flush => "flushing",
        Phase::CleanUp => "cleaning up",
    };
    let of = change
        .done_bytes
        .zip(change.total_bytes)
        .map(|(done, total)| format!("  {} of {}", bytes(done), bytes(total)));
    let note = change.note.as_ref().map(|note| format!("  {note}"));
    (change.state != PhaseState::End).then(|| {
        format!(
            "{name}{}{}",
            of.unwrap_or_default(),
            note.unwrap_or_default()
        )
    })
}

fn window(sample: &Sample) -> String {
    let per_second = |count: u64| {
        if sample.window_ms > 0.0 {
            count as f64 * 1000.0 / sample.window_ms
        } else {
            0.0
        }
    };
    let flow = |name: &str, flow: &leadline_protocol::counters::IoCounts| {
        let p99 = percentiles(&flow.lat_ns, &[99.0])
            .first()
            .map_or(String::new(), |ns| format!(", p99 {}", latency(*ns as f64)));
        (flow.ios > 0).then(|| {
            format!(
                "{name} {} IOPS, {}{p99}",
                rate(per_second(flow.ios)),
                bandwidth(per_second(flow.bytes))
            )
        })
    };
    let flows = [
        flow("read", &sample.read),
        flow("write", &sample.write),
        flow("trim", &sample.trim),
    ];
    let device = sample.device.map(|device| {
        format!(
            "device {} + {} IOPS",
            rate(per_second(device.read_ios)),
            rate(per_second(device.write_ios))
        )
    });
    flows
        .into_iter()
        .flatten()
        .chain(device)
        .collect::<Vec<_>>()
        .join("  ")
}
