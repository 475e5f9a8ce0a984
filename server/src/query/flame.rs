//! CPU flame graphs as SVG, drawn by inferno from the folded stacks in `report.profile`. Pure.
//!
//! The images contain no scripts, because the content security policy forbids them. Frame names are
//! shown as titles.

use inferno::{
    differential,
    flamegraph::{
        Direction, Options,
        color::{BackgroundColor, BasicPalette, Color, Palette},
        from_lines,
    },
};
use leadline_protocol::{evidence::Profile, text::is_deceptive};
use serde::Deserialize;
use std::borrow::Cow;
use utoipa::ToSchema;

/// Width of the page content on common screens, in pixels.
const WIDTH: usize = 1180;
/// Minimum frame width, as a percentage of the image width. Narrower frames would not be visible.
const MIN_FRAME_WIDTH: f64 = 0.1;

/// Deeper stacks are omitted, because each frame takes up a row of the image. perf records up to
/// 127 kernel frames and as many user-space frames.
const MAX_DEPTH: usize = 512;
/// JavaScript numbers can represent sums up to this value exactly, and it is well within inferno's
/// limits.
const MAX_SAMPLES: u64 = 1 << 53;

/// Event handler that starts inferno's script.
const ON_LOAD: &str = r#" onload="init(evt)""#;

/// Color theme of a flame graph
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Theme {
    #[default]
    Light,
    Dark,
}

/// The stacks in a profile that can be drawn.
pub(crate) struct Stacks {
    /// One per line, with its number of samples.
    folded: String,
    samples: u64,
    frequency_hz: u32,
}

impl Stacks {
    /// Returns `None` if a line is invalid, or if there are no samples or too many.
    pub(crate) fn from_profile(profile: &Profile) -> Option<Self> {
        let mut lines = Vec::new();
        let mut samples = 0_u64;
        for line in profile.folded.lines() {
            let (stack, count) = line.rsplit_once(' ')?;
            let count: u64 = count.parse().ok()?;
            let stack = stack.trim();
            if !stack.is_empty() && stack.split(';').count() <= MAX_DEPTH {
                samples = samples.checked_add(count)?;
                lines.push(format!("{} {count}", sanitize_stack(stack)));
            }
        }
        (1..=MAX_SAMPLES).contains(&samples).then(|| Self {
            folded: lines.join("\n"),
            samples,
            frequency_hz: profile.frequency_hz,
        })
    }
}

/// Replaces characters that XML does not allow. Prevents inferno from reading a trailing number as
/// another count, and a leading `#` as the start of a comment.
fn sanitize_stack(stack: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(stack);
    if stack.chars().any(is_invalid_in_xml) {
        plain = stack.replace(is_invalid_in_xml, "?").into();
    }
    if plain.starts_with('#') {
        plain = format!("_{plain}").into();
    }
    let is_count = |word: &str| word.chars().all(|c| c.is_ascii_digit() || c == '.');
    match plain.rsplit_once(char::is_whitespace) {
        Some((frames, word)) if is_count(word) => format!("{frames}_{word}").into(),
        _ => plain,
    }
}

fn is_invalid_in_xml(c: char) -> bool {
    is_deceptive(c) || matches!(c, '\u{fffe}' | '\u{ffff}')
}

pub(crate) fn draw(title: &str, stacks: &Stacks, theme: Theme) -> anyhow::Result<String> {
    let subtitle = format!(
        "{} samples at {} Hz; width is CPU time",
        stacks.samples, stacks.frequency_hz
    );
    render(title, subtitle, &stacks.folded, theme)
}

/// Draws the second profile and its differences from the first, which is scaled to the same number
/// of samples.
pub(crate) fn draw_difference(
    title: &str,
    first: &Stacks,
    second: &Stacks,
    theme: Theme,
) -> anyhow::Result<String> {
    let options = differential::Options {
        normalize: true,
        ..Default::default()
    };
    let mut folded = Vec::new();
    let first = first.folded.as_bytes();
    let second = second.folded.as_bytes();
    differential::from_readers(options, first, second, &mut folded)?;
    let subtitle = "Width: CPU time of the second run; red: more than in the first run, blue: less";
    render(title, subtitle.into(), std::str::from_utf8(&folded)?, theme)
}

fn render(title: &str, subtitle: String, folded: &str, theme: Theme) -> anyhow::Result<String> {
    let (background, text, muted) = match theme {
        Theme::Light => (rgb(255, 255, 255), rgb(22, 32, 43), "#55636f"),
        Theme::Dark => (rgb(21, 29, 38), rgb(230, 237, 243), "#93a4b4"),
    };
    let mut options = Options::default();
    options.title = title.replace(is_invalid_in_xml, "?");
    options.subtitle = Some(subtitle);
    options.colors = Palette::Basic(BasicPalette::Hot);
    options.bgcolors = Some(BackgroundColor::Flat(background));
    options.uicolor = text;
    options.deterministic = true;
    options.direction = Direction::Straight;
    options.image_width = Some(WIDTH);
    options.min_width = MIN_FRAME_WIDTH;
    options.no_javascript = true;
    let mut svg = Vec::new();
    from_lines(&mut options, folded.lines(), &mut svg)?;
    Ok(remove_script(&String::from_utf8(svg)?, muted))
}

/// Removes the empty script element and hides the controls that require it.
fn remove_script(svg: &str, muted: &str) -> String {
    let svg = svg.replacen(ON_LOAD, "", 1);
    let Some((before, script)) = svg.split_once("<script") else {
        return svg;
    };
    let Some((_, after)) = script.split_once("</script>") else {
        return svg;
    };
    format!(
        "{before}<style>#search {{ display: none }} #subtitle {{ fill: {muted} }}</style>{after}"
    )
}

const fn rgb(r: u8, g: u8, b: u8) -> Color {
    Color { r, g, b }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(folded: &str) -> Profile {
        Profile {
            frequency_hz: 99,
            samples: 30,
            folded: folded.into(),
            omitted_stacks: 0,
        }
    }

    fn stacks(folded: &str) -> Stacks {
        Stacks::from_profile(&profile(folded)).unwrap()
    }

    #[test]
    fn image_contains_frame_names_but_no_script() {
        let svg = draw(
            "Run #7 <warm>",
            &stacks("runner;read;copy_page_to_iter 20\nrunner;draw 10\n"),
            Theme::Light,
        )
        .unwrap();
        assert!(
            svg.contains("copy_page_to_iter (20 samples, 66.67%)"),
            "{svg}"
        );
        assert!(svg.contains("Run #7 &lt;warm&gt;") && svg.contains("30 samples at 99 Hz"));
        assert!(!svg.contains("<script") && !svg.contains("onload"), "{svg}");
        assert!(
            svg.contains("#ffffff") || svg.contains("rgb(255,255,255)"),
            "{svg}"
        );
    }

    #[test]
    fn difference_is_scaled_to_equal_samples() {
        let first = stacks("a;read 10\na;copy 10\n");
        let second = stacks("a;read 200\na;copy 600\n");
        let svg = draw_difference("#1 and #2", &first, &second, Theme::Dark).unwrap();
        assert!(svg.contains("copy (600 samples, 75.00%; +25.00%)"), "{svg}");
        assert!(svg.contains("read (200 samples, 25.00%; -25.00%)"), "{svg}");
    }

    #[test]
    fn profile_without_drawable_stacks_is_not_drawn() {
        let deep = format!("a{} 1", ";a".repeat(MAX_DEPTH));
        for folded in ["", "a", "a x", "a 0", " 1", "a 18446744073709551615", &deep] {
            assert!(
                Stacks::from_profile(&profile(folded)).is_none(),
                "{folded:.40}"
            );
        }
        let overflow = format!("a {MAX_SAMPLES}\nb 1");
        assert!(Stacks::from_profile(&profile(&overflow)).is_none());
    }

    #[test]
    fn frame_names_are_preserved() {
        // Inferno would read two trailing numbers as the counts of two profiles.
        let svg = draw("", &stacks("a;b 18446744073709551615 3"), Theme::Light).unwrap();
        assert!(svg.contains("b_18446744073709551615 (3 samples"), "{svg}");
        let svg = draw("", &stacks("# a;b 3"), Theme::Light).unwrap();
        assert!(svg.contains("_# a (3 samples"), "{svg}");
        // XML has no escapes for these characters.
        let svg = draw("\u{1b}", &stacks("a;b\u{1}\u{ffff} 3"), Theme::Light).unwrap();
        assert!(
            svg.contains("b?? (3 samples") && !svg.contains('\u{1b}'),
            "{svg}"
        );
    }
}
