//! Steady state of the jobs (`steadystate`), and depths within a latency limit (`latency_target`).

use crate::cli::text::{
    style::{GREEN, YELLOW},
    writer::TextWriter,
};
use leadline_protocol::{
    format::{bandwidth, rate},
    report::Report,
};

pub(super) fn write_steady_states(out: &mut TextWriter, report: &Report) {
    for job in &report.jobs {
        if let Some(result) = &job.latency_target {
            let style = if result.attained { GREEN } else { YELLOW };
            out.styled_field(style, "depth", &result.summary);
        }
        let Some(result) = &job.steady_state else {
            continue;
        };
        let style = if result.attained { GREEN } else { YELLOW };
        let text = if report.jobs.len() > 1 {
            format!("{}: {}", job.name, result.summary)
        } else {
            result.summary.clone()
        };
        out.styled_field(style, "steady", &text);
        if let Some(window) = &result.window {
            let text = format!(
                "mean of the last window: {} IOPS · {}",
                rate(window.mean_iops),
                bandwidth(window.mean_bytes_per_second)
            );
            out.field("", &text);
        }
    }
}
