//! The `random_distribution` option.

use crate::{
    job::{
        range::{POSITIVE, ValueRange},
        value::FioValue,
        value_schema::{ValueSchema, pattern},
    },
    units,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Maximum number of zones, as in fio.
const MAX_ZONES: usize = 256;
/// Maximum sequence length, as in fio (`FIO_SEQ_MAX`), and largest block index.
const MAX_BLOCKS: usize = 64;
const MAX_BLOCK: u64 = 999_999_999;
/// Pattern for distributions with a parameter and the position of the most probable block. For
/// zipf, it does not match integers with decimals, such as `2.0`.
pub(super) const SKEWED: &str = r"(zipf(:([02-9]\.[0-9]*[1-9][0-9]*|1\.[0-9]*[1-9][0-9]*|[2-9])(:(0(\.[0-9]+)?|1))?)?|pareto(:0\.[0-9]*[1-9][0-9]*(:(0(\.[0-9]+)?|1))?)?|normal(:(100|[1-9][0-9]?(\.[0-9]+)?)(:(0(\.[0-9]+)?|1))?)?)";

/// A zone of a `zoned` distribution.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Zone {
    /// Percentage of the I/Os.
    pub access_percent: u8,
    /// Percentage of the region.
    pub size_percent: u8,
}

/// A zone of a `zoned_abs` distribution.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct AbsoluteZone {
    /// Percentage of the I/Os.
    pub access_percent: u8,
    /// In bytes.
    pub size: u64,
}

/// Distribution of random offsets. `center`: position of the most probable block in the region,
/// from 0 to 1.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Distribution {
    /// Uniform.
    Random,
    Zipf {
        /// Exponent: above 0, not 1.
        theta: f64,
        /// Null for a random position.
        #[serde(default)]
        center: Option<f64>,
    },
    Pareto {
        /// Power h, between 0 and 1.
        power: f64,
        /// Null for a random position.
        #[serde(default)]
        center: Option<f64>,
    },
    Normal {
        /// Standard deviation as a percentage of the region.
        deviation_percent: f64,
        /// Null means the center of the region.
        #[serde(default)]
        center: Option<f64>,
    },
    Zoned {
        /// The zones, in region order.
        zones: Vec<Zone>,
    },
    ZonedAbs {
        /// The zones, in region order.
        zones: Vec<AbsoluteZone>,
    },
    /// A list of blocks that is repeated.
    Sequence {
        /// Indexes of blocks, in units of the smallest block.
        blocks: Vec<u64>,
        /// Whether each repetition is shifted by the list length (`random_sequence_stride`).
        #[serde(default)]
        is_strided: bool,
    },
}

impl FioValue for Distribution {
    const KIND: &'static str = "distribution";

    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        // Parameter defaults from fio 3.42, options.c.
        match name {
            "random" if parameter.is_none() => Ok(Self::Random),
            "zipf" => {
                let is_valid = |theta: f64| theta > 0.0 && theta != 1.0;
                let expected = "a zipf exponent above 0 that is not 1";
                let (theta, center) = parse_parameters(parameter, 1.1, is_valid, expected)?;
                Ok(Self::Zipf { theta, center })
            }
            "pareto" => {
                let is_valid = |power: f64| power > 0.0 && power < 1.0;
                let expected = "a pareto power between 0 and 1";
                let (power, center) = parse_parameters(parameter, 0.2, is_valid, expected)?;
                Ok(Self::Pareto { power, center })
            }
            "normal" => {
                let is_valid = |percent: f64| percent > 0.0 && percent <= 100.0;
                let expected = "a deviation above 0 and up to 100 %";
                let (deviation_percent, center) =
                    parse_parameters(parameter, 10.0, is_valid, expected)?;
                Ok(Self::Normal {
                    deviation_percent,
                    center,
                })
            }
            "zoned" => Ok(Self::Zoned {
                zones: parse_zones(parameter.unwrap_or_default())?,
            }),
            "zoned_abs" => Ok(Self::ZonedAbs {
                zones: parse_absolute_zones(parameter.unwrap_or_default())?,
            }),
            "sequence" => Ok(Self::Sequence {
                blocks: parse_sequence(parameter.unwrap_or_default())?,
                is_strided: false,
            }),
            _ => Err(format!(
                "`{text}` is not a distribution: use random, zipf:1.2, pareto:0.2, normal:10, zoned:60/10:40/90, zoned_abs:60/10g:40/20g or sequence:2:0:1"
            )),
        }
    }

    fn schema(_: Option<ValueRange>) -> ValueSchema {
        let percent = format!("{}?", pattern::PERCENT);
        let size = pattern::size(POSITIVE);
        let zones = pattern::list(&format!("{percent}/{percent}"), ':', MAX_ZONES);
        let absolute = pattern::list(&format!("{percent}/{size}"), ':', MAX_ZONES);
        let blocks = pattern::list("[0-9]{1,9}", ':', MAX_BLOCKS);
        ValueSchema::pattern(format!(
            "(random|{SKEWED}|zoned:{zones}|zoned_abs:{absolute}|sequence:{blocks})"
        ))
    }
}

/// Parses `parameter[:center]`.
fn parse_parameters(
    text: Option<&str>,
    default: f64,
    is_valid: fn(f64) -> bool,
    expected: &str,
) -> Result<(f64, Option<f64>), String> {
    let (text, center) = match text.and_then(|text| text.split_once(':')) {
        Some((text, center)) => (Some(text), Some(center)),
        None => (text, None),
    };
    let is_position = |center| (0.0..=1.0).contains(&center);
    let position = "a position from 0 to 1";
    let center = center.map(|center| parse_number(Some(center), 0.0, is_position, position));
    let value = parse_number(text, default, is_valid, expected)?;
    Ok((value, center.transpose()?))
}

fn parse_number(
    text: Option<&str>,
    default: f64,
    is_valid: fn(f64) -> bool,
    expected: &str,
) -> Result<f64, String> {
    let Some(text) = text else {
        return Ok(default);
    };
    match text.parse() {
        Ok(value) if f64::is_finite(value) && is_valid(value) => Ok(value),
        _ => Err(format!("`{text}` is not {expected}")),
    }
}

fn parse_zones(text: &str) -> Result<Vec<Zone>, String> {
    let zones = text
        .split(':')
        .map(parse_zone)
        .collect::<Result<Vec<_>, _>>()?;
    let accesses = zones.iter().map(|zone| u32::from(zone.access_percent));
    let sizes = zones.iter().map(|zone| u32::from(zone.size_percent));
    if accesses.sum::<u32>() != 100 || sizes.sum::<u32>() != 100 {
        return Err(format!(
            "the access shares and the size shares of `{text}` must each add up to 100 %"
        ));
    }
    check_zone_count(zones.len())?;
    Ok(zones)
}

fn parse_absolute_zones(text: &str) -> Result<Vec<AbsoluteZone>, String> {
    let parse = |zone: &str| {
        let (access, size) = split_zone(zone)?;
        let size = units::bytes(size)?;
        if size == 0 {
            return Err(format!("the zone `{zone}` is empty"));
        }
        Ok(AbsoluteZone {
            access_percent: units::percent(access)?,
            size,
        })
    };
    let zones: Vec<AbsoluteZone> = text.split(':').map(parse).collect::<Result<_, String>>()?;
    let accesses = zones.iter().map(|zone| u32::from(zone.access_percent));
    if accesses.sum::<u32>() != 100 {
        return Err(format!(
            "the access shares of `{text}` must add up to 100 %"
        ));
    }
    check_zone_count(zones.len())?;
    Ok(zones)
}

/// Block indexes are separated by colons instead of fio's commas, which separate directions here.
fn parse_sequence(text: &str) -> Result<Vec<u64>, String> {
    let block = |text: &str| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let block = text
            .parse()
            .ok()
            .filter(|block| is_number && *block <= MAX_BLOCK);
        block.ok_or_else(|| format!("`{text}` is not a block index"))
    };
    let blocks: Vec<u64> = text.split(':').map(block).collect::<Result<_, _>>()?;
    if blocks.len() > MAX_BLOCKS {
        let count = blocks.len();
        return Err(format!(
            "too many blocks in a sequence ({count}): use at most {MAX_BLOCKS}"
        ));
    }
    Ok(blocks)
}

fn check_zone_count(zones: usize) -> Result<(), String> {
    if zones > MAX_ZONES {
        return Err(format!("too many zones ({zones}): use at most {MAX_ZONES}"));
    }
    Ok(())
}

fn split_zone(text: &str) -> Result<(&str, &str), String> {
    text.split_once('/')
        .ok_or_else(|| format!("`{text}` is not a pair `access/size`"))
}

fn parse_zone(text: &str) -> Result<Zone, String> {
    let (access, size) = split_zone(text)?;
    Ok(Zone {
        access_percent: units::percent(access)?,
        size_percent: units::percent(size)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_centers_and_absolute_zones() {
        let parse = |text: &str| Distribution::parse(text).ok();
        let zipf = |theta, center| Some(Distribution::Zipf { theta, center });
        assert_eq!(parse("zipf:1.2"), zipf(1.2, None));
        assert_eq!(parse("zipf:1.2:0.25"), zipf(1.2, Some(0.25)));
        assert_eq!(
            parse("normal:10:1"),
            Some(Distribution::Normal {
                deviation_percent: 10.0,
                center: Some(1.0)
            })
        );
        let zone = |access_percent, size| AbsoluteZone {
            access_percent,
            size,
        };
        assert_eq!(
            parse("zoned_abs:60/64k:40/1m"),
            Some(Distribution::ZonedAbs {
                zones: vec![zone(60, 64 << 10), zone(40, 1 << 20)]
            })
        );
        for invalid in [
            "zipf:1.2:1.1",
            "zipf:1.2:",
            "pareto:0.2:-0.1",
            "random:1",
            "zoned_abs:",
            "zoned_abs:60/1m",
            "zoned_abs:60/0:40/1m",
            "zoned_abs:100",
        ] {
            assert_eq!(parse(invalid), None, "{invalid}");
        }
    }
}
