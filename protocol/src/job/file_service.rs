//! The `file_service_type` option: which of a worker's files the next I/O uses.

use crate::job::value::FioValue;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileOrder {
    /// The files in turn.
    Roundrobin,
    /// The next file only after the last one is finished.
    Sequential,
    /// Any file that is not finished.
    Random,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct FileService {
    pub order: FileOrder,
    /// I/Os before the next file is chosen; not used by `sequential`.
    pub ios: u32,
}

impl Default for FileService {
    fn default() -> Self {
        Self {
            order: FileOrder::Roundrobin,
            ios: 1,
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
            "zipf" | "pareto" | "normal" | "gauss" => {
                return Err(format!(
                    "`{name}` is not supported as a file order: use roundrobin, sequential or random"
                ));
            }
            _ => {
                return Err(format!(
                    "`{text}` is not a file order: use roundrobin, sequential, random or a number of I/Os such as random:8"
                ));
            }
        };
        let ios = ios.map_or(Ok(1), |ios| {
            let ios = ios.trim().parse().ok().filter(|ios| *ios > 0);
            ios.ok_or_else(|| format!("`{text}` must have at least 1 I/O per file"))
        })?;
        Ok(Self { order, ios })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_numbers_of_ios() {
        let parse = |text: &str| FileService::parse(text).ok();
        let service = |order, ios| Some(FileService { order, ios });
        assert_eq!(parse("roundrobin"), Some(FileService::default()));
        assert_eq!(parse("random:8"), service(FileOrder::Random, 8));
        assert_eq!(parse(" sequential"), service(FileOrder::Sequential, 1));
        for invalid in ["", "zipf:1.2", "random:0", "random:", "random:x", "rr"] {
            assert_eq!(parse(invalid), None, "{invalid}");
        }
    }
}
