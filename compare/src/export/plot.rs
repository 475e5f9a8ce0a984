//! Plots of changes with their intervals, as SVG without scripts.

use crate::answer::signed;
use leadline_protocol::compare::Change;

/// Size of a plot in CSS pixels.
const PLOT_WIDTH: f64 = 160.0;
const PLOT_HEIGHT: f64 = 18.0;

fn plot_x(percent: f64, limit: f64) -> f64 {
    (percent.clamp(-limit, limit) / limit + 1.0) * PLOT_WIDTH / 2.0
}

/// Draws the horizontal axis above a table's plots: ticks and percentages.
pub(crate) fn axis(limit: f64) -> String {
    let ticks = [-limit, -limit / 2.0, 0.0, limit / 2.0, limit].map(|percent| {
        let x = plot_x(percent, limit);
        format!("M{x:.1} 15v4")
    });
    let labels = [(-limit, "start"), (0.0, "middle"), (limit, "end")].map(|(percent, anchor)| {
        let x = plot_x(percent, limit);
        let text = if percent == 0.0 {
            "0".into()
        } else {
            format!("{} %", signed(percent))
        };
        format!("<text x=\"{x:.1}\" y=\"12\" text-anchor=\"{anchor}\">{text}</text>")
    });
    format!(
        "<svg width=\"{PLOT_WIDTH}\" height=\"19\" aria-hidden=\"true\"><path d=\"{}\" stroke=\"currentColor\"/>{}</svg>",
        ticks.concat(),
        labels.concat()
    )
}

/// Draws an arrow at the edge of the plot if a change or interval extends beyond it.
fn arrow(is_cut: bool, tip: f64, base: f64) -> String {
    let head = format!("<path d=\"M{tip:.1} 9L{base:.1} 3V15Z\" fill=\"currentColor\"/>");
    if is_cut { head } else { String::new() }
}

/// Draws the change and its interval relative to the threshold.
pub(crate) fn forest_plot(change: &Change, limit: f64, threshold: f64) -> String {
    let x = |percent| plot_x(percent, limit);
    let (low, high) = match change.interval_percent {
        Some(interval) => (interval.low, interval.high),
        None => (change.percent, change.percent),
    };
    let line = format!(
        "<path d=\"M{:.1} 9H{:.1}\" stroke=\"currentColor\" stroke-width=\"2\"/>",
        x(low),
        x(high)
    );
    let left = arrow(low < -limit, 0.0, 9.0);
    let right = arrow(high > limit, PLOT_WIDTH, PLOT_WIDTH - 9.0);
    let dot = if change.percent.abs() > limit {
        String::new()
    } else {
        let x = x(change.percent);
        format!("<circle cx=\"{x:.1}\" cy=\"9\" r=\"4\" fill=\"currentColor\"/>")
    };
    format!(
        "<svg width=\"{PLOT_WIDTH}\" height=\"{PLOT_HEIGHT}\" aria-hidden=\"true\"><rect x=\"{:.1}\" width=\"{:.1}\" height=\"{PLOT_HEIGHT}\" fill=\"#eef1f4\"/><path d=\"M{:.1} 0V{PLOT_HEIGHT}\" stroke=\"#dde2e8\"/>{line}{left}{right}{dot}</svg>",
        x(-threshold),
        x(threshold) - x(-threshold),
        x(0.0)
    )
}
