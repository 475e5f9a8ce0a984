//! Scales sizes to the host.

use crate::{
    format::bytes,
    job::{Job, size::Extent},
    units,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Size limits of a study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scale {
    /// Largest size of a job, in bytes.
    pub max_size: Option<u64>,
    /// Largest size of a job, as a percentage of available memory.
    pub memory_percent: Option<u8>,
    /// Total size of all files, as a percentage of free space.
    pub free_percent: Option<u8>,
    pub note: Option<String>,
}

/// Scaling applied to a study.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Scaled {
    /// Divisor for all sizes; 1 if sizes are not scaled.
    pub divided_by: u64,
    /// Largest requested size of a job, in bytes; 0 if no size is given.
    pub requested_bytes: u64,
    /// Largest scaled size of a job, in bytes.
    pub largest_bytes: u64,
    /// Sentence with both sizes and the reason for scaling.
    pub sentence: String,
    /// The study's `scale.note`.
    pub note: Option<String>,
}

impl Scaled {
    /// `requested_bytes` is the largest size of any job.
    pub fn unscaled(requested_bytes: u64) -> Self {
        let sentence = match requested_bytes {
            0 => "The study does not set any sizes.".into(),
            largest => format!("Sizes are not scaled; the largest is {}.", bytes(largest)),
        };
        Self {
            divided_by: 1,
            requested_bytes,
            largest_bytes: requested_bytes,
            sentence,
            note: None,
        }
    }

    /// Scales the sizes in a job; `parsed` is the parsed form of `job`.
    pub fn scale_job(&self, job: &Value, parsed: &Job) -> Value {
        let mut job = job.clone();
        let Some(options) = job.as_object_mut() else {
            return job;
        };
        if self.divided_by == 1 {
            return job;
        }
        let sizes = [
            ("size", parsed.size.and_then(Extent::bytes)),
            ("io_size", parsed.io_size.and_then(Extent::bytes)),
            ("filesize", parsed.filesize.map(|size| size.0)),
        ];
        for (name, size) in sizes {
            if let Some(size) = size {
                // Also removes `io_limit`, the alias of `io_size`.
                options.shift_remove(if name == "io_size" { "io_limit" } else { name });
                options.insert(name.into(), units::size(size / self.divided_by).into());
            }
        }
        job
    }
}
