//! The `random_distribution` option.

use crate::{job::value::FioValue, units};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Maximum number of zones, as in fio.
const MAX_ZONES: usize = 256;

/// A zone of a `zoned` distribution.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Zone {
    /// Percentage of the I/Os.
    pub access_percent: u8,
    /// Percentage of the region.
    pub size_percent: u8,
}

/// Distribution of random offsets.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Distribution {
    /// Uniform.
    Random,
    Zipf {
        /// Exponent: above 0, not 1.
        theta: f64,
    },
    Pareto {
        /// Power h, between 0 and 1.
        power: f64,
    },
    /// Centered in the middle of the region.
    Normal {
        /// Standard deviation as a percentage of the region.
        deviation_percent: f64,
    },
    Zoned {
        /// The zones, in region order.
        zones: Vec<Zone>,
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
                let theta = number(
                    parameter,
                    1.1,
                    is_valid,
                    "a zipf exponent above 0 that is not 1",
                )?;
                Ok(Self::Zipf { theta })
            }
            "pareto" => {
                let is_valid = |power: f64| power > 0.0 && power < 1.0;
                let power = number(parameter, 0.2, is_valid, "a pareto power between 0 and 1")?;
                Ok(Self::Pareto { power })
            }
            "normal" => {
                let is_valid = |percent: f64| percent > 0.0 && percent <= 100.0;
                let deviation_percent = number(
                    parameter,
                    10.0,
                    is_valid,
                    "a deviation above 0 and up to 100 %",
                )?;
                Ok(Self::Normal { deviation_percent })
            }
            "zoned" => Ok(Self::Zoned {
                zones: parse_zones(parameter.unwrap_or_default())?,
            }),
            _ => Err(format!(
                "`{text}` is not a distribution: use random, zipf:1.2, pareto:0.2, normal:10 or zoned:60/10:40/90"
            )),
        }
    }
}

fn number(
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
    if zones.len() > MAX_ZONES {
        return Err(format!(
            "too many zones ({}): use at most {MAX_ZONES}",
            zones.len()
        ));
    }
    let sum = |share: fn(&Zone) -> u8| zones.iter().map(|zone| u32::from(share(zone))).sum::<u32>();
    if sum(|zone| zone.access_percent) != 100 || sum(|zone| zone.size_percent) != 100 {
        return Err(format!(
            "the access shares and the size shares of `{text}` must each add up to 100 %"
        ));
    }
    Ok(zones)
}

fn parse_zone(text: &str) -> Result<Zone, String> {
    let (access, size) = text
        .split_once('/')
        .ok_or_else(|| format!("`{text}` is not a pair of percentages `access/size`"))?;
    Ok(Zone {
        access_percent: units::percent(access)?,
        size_percent: units::percent(size)?,
    })
}
