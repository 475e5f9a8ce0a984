//! The `file_service_type` option: which of a worker's files the next I/O uses.

use crate::job::{
    distribution::{Distribution, SKEWED},
    range::ValueRange,
    value::FioValue,
    value_schema::{ValueSchema, pattern},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileOrder {
    /// Each file in turn.
    Roundrobin,
    /// The next file only after the previous one is finished.
    Sequential,
    /// Any file that is not finished.
    Random,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct FileService {
    pub order: FileOrder,
    /// I/Os before the next file is chosen; not used by `sequential`.
    pub ios: u32,
    /// Distribution of random files: `zipf`, `pareto` or `normal`; absent if it is uniform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<Distribution>,
}

impl Default for FileService {
    fn default() -> Self {
        Self {
            order: FileOrder::Roundrobin,
            ios: 1,
            distribution: None,
        }
    }
}

impl FioValue for FileService {
    const KIND: &'static str = "file order";

    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (name, ios) = match text.split_once(':') {
            Some((name, ios)) => (name, Some(ios)),
            None => (text, None),
        };
        let order = match name {
            "roundrobin" => FileOrder::Roundrobin,
            "sequential" => FileOrder::Sequential,
            "random" => FileOrder::Random,
            "zipf" | "pareto" | "normal" => {
                return Ok(Self {
                    order: FileOrder::Random,
                    ios: 1,
                    distribution: Some(Distribution::parse(text)?),
                });
            }
            _ => {
                return Err(format!(
                    "`{text}` is not a file order: use roundrobin, sequential, random (with a number of I/Os such as random:8), zipf, pareto or normal"
                ));
            }
        };
        let ios = ios.map_or(Ok(1), |ios| {
            let ios = ios.trim().parse().ok().filter(|ios| *ios > 0);
            ios.ok_or_else(|| format!("`{text}` must have at least 1 I/O per file"))
        })?;
        Ok(Self {
            order,
            ios,
            distribution: None,
        })
    }

    fn schema(_: Option<ValueRange>) -> ValueSchema {
        let ios = pattern::integer(1..=u64::from(u32::MAX));
        ValueSchema::pattern(format!(
            "((roundrobin|sequential|random)(:{ios})?|{SKEWED})"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_file_orders_and_ios_per_file() {
        let parse = |text: &str| FileService::parse(text).ok();
        let service = |order, ios| {
            Some(FileService {
                order,
                ios,
                distribution: None,
            })
        };
        assert_eq!(parse("roundrobin"), Some(FileService::default()));
        assert_eq!(parse("random:8"), service(FileOrder::Random, 8));
        assert_eq!(parse(" sequential"), service(FileOrder::Sequential, 1));
        let zipf = parse("zipf:1.2").unwrap();
        let distribution = Distribution::Zipf {
            theta: 1.2,
            center: None,
        };
        assert_eq!(zipf.order, FileOrder::Random);
        assert_eq!(zipf.distribution, Some(distribution));
        assert!(parse("pareto").is_some() && parse("normal:5:0.5").is_some());
        for invalid in [
            "", "zipf:1", "pareto:2", "random:0", "random:", "random:x", "rr",
        ] {
            assert_eq!(parse(invalid), None, "{invalid}");
        }
    }
}
