//! Flame graphs: where a run's processor time went, and where two runs differ. Stacks in, picture out; pure. The stacks
//! are the runner's (`report.profile`); drawing them is inferno's.
//!
//! The picture is an SVG without scripts: pages show it as an image, and a browser that opens it alone shows the names
//! of frames as titles.

use inferno::differential;
use inferno::flamegraph;
use inferno::flamegraph::Direction;
use inferno::flamegraph::Options;
use inferno::flamegraph::color::{BackgroundColor, BasicPalette, Color, Palette};
use leadline_protocol::evidence::Profile;
use serde::Deserialize;
use utoipa::ToSchema;

/// Width of the picture in pixels: that of a page's column on a common screen.
const WIDTH: usize = 1180;
/// Narrower frames than this part of the width, in percent, would be a hair's breadth.
const NARROWEST_PERCENT: f64 = 0.1;

/// What calls the script that is left out.
const ON_LOAD: &str = r#" onload="init(evt)""#;

/// On which ground the picture stands.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// Dark letters on a light ground.
    #[default]
    Light,
    /// Light letters on a dark ground.
    Dark,
}

/// The flame graph of one profile as SVG.
///
/// # Errors
/// The stacks cannot be read.
pub fn draw(title: &str, profile: &Profile, theme: Theme) -> anyhow::Result<String> {
    let subtitle = format!(
        "{} samples at {} Hz; the wider, the more processor time",
        profile.samples, profile.frequency_hz
    );
    paint(title, subtitle, &profile.folded, theme)
}

/// What the second profile has more (red) or less (blue) of than the first, both scaled to the same number of samples.
///
/// # Errors
/// The stacks cannot be read.
pub fn draw_difference(
    title: &str,
    first: &Profile,
    second: &Profile,
    theme: Theme,
) -> anyhow::Result<String> {
    let mut both = Vec::new();
    let options = differential::Options {
        normalize: true,
        ..Default::default()
    };
    differential::from_readers(
        options,
        first.folded.as_bytes(),
        second.folded.as_bytes(),
        &mut both,
    )?;
    let subtitle =
        "widths are those of the second run; red: more there than in the first, blue: less"
            .to_owned();
    paint(title, subtitle, std::str::from_utf8(&both)?, theme)
}

fn paint(title: &str, subtitle: String, stacks: &str, theme: Theme) -> anyhow::Result<String> {
    let mut options = Options::default();
    options.title = title.to_owned();
    options.subtitle = Some(subtitle);
    options.colors = Palette::Basic(BasicPalette::Hot);
    options.deterministic = true;
    options.direction = Direction::Straight;
    options.image_width = Some(WIDTH);
    options.min_width = NARROWEST_PERCENT;
    (options.bgcolors, options.uicolor) = match theme {
        Theme::Light => (
            Some(BackgroundColor::Flat(grey(255, 255, 255))),
            grey(22, 32, 43),
        ),
        Theme::Dark => (
            Some(BackgroundColor::Flat(grey(21, 29, 38))),
            grey(230, 237, 243),
        ),
    };
    // Pages let no scripts in that stand in a document.
    options.no_javascript = true;
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, stacks.lines(), &mut svg)?;
    Ok(without_script(&String::from_utf8(svg)?, theme))
}

/// The picture without the frame of its script, and without the controls that would need it.
fn without_script(svg: &str, theme: Theme) -> String {
    let svg = svg.replacen(ON_LOAD, "", 1);
    let muted = match theme {
        Theme::Light => "#55636f",
        Theme::Dark => "#93a4b4",
    };
    match svg
        .split_once("<script")
        .and_then(|(before, rest)| Some((before, rest.split_once("</script>")?.1)))
    {
        Some((before, after)) => format!(
            "{before}<style>#search {{ display: none }} #subtitle {{ fill: {muted} }}</style>{after}"
        ),
        None => svg,
    }
}

const fn grey(r: u8, g: u8, b: u8) -> Color {
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

    #[test]
    fn a_picture_names_its_frames_and_brings_no_script() {
        let svg = draw(
            "Run #7 <warm>",
            &profile("runner;read;copy_page_to_iter 20\nrunner;draw 10\n"),
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
    fn a_difference_is_that_of_shares_not_of_samples() {
        let (first, second) = (
            profile("a;read 10\na;copy 10\n"),
            profile("a;read 200\na;copy 600\n"),
        );
        let svg = draw_difference("#1 and #2", &first, &second, Theme::Dark).unwrap();
        assert!(svg.contains("copy (600 samples, 75.00%; +25.00%)"), "{svg}");
        assert!(svg.contains("read (200 samples, 25.00%; -25.00%)"), "{svg}");
    }

    #[test]
    fn without_stacks_there_is_no_picture() {
        assert!(draw("", &profile(""), Theme::Light).is_err());
    }
}
