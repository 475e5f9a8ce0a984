use crate::format::bytes;
use crate::job::Job;
use crate::job::value::Extent;
use crate::units;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The bounds that a study asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scale {
    /// The largest size of one job, in bytes.
    pub max_size: Option<u64>,
    /// The largest size of one job, in percent of the memory that is available.
    pub memory_percent: Option<u8>,
    /// The sizes of all files together, in percent of the free space.
    pub free_percent: Option<u8>,
    /// What the sizes were elsewhere, and why they are others here.
    pub note: Option<String>,
}

/// How the sizes of a study were fitted to the host.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Scaled {
    /// What every size was divided by; 1 when they are as asked.
    pub divided_by: u64,
    /// The largest size of one job as asked, in bytes; 0 when none is said.
    pub requested_bytes: u64,
    /// The largest size of one job here, in bytes.
    pub largest_bytes: u64,
    /// Both in words, with the reason.
    pub sentence: String,
    /// What the study itself says about its sizes.
    pub note: Option<String>,
}

impl Scaled {
    /// Sizes as asked, the largest of so many bytes.
    pub fn as_asked(requested_bytes: u64) -> Self {
        let sentence = match requested_bytes {
            0 => "No sizes are said.".into(),
            most => format!("Sizes are as asked: {} at most.", bytes(most)),
        };
        Self {
            divided_by: 1,
            requested_bytes,
            largest_bytes: requested_bytes,
            sentence,
            note: None,
        }
    }

    /// A job with its sizes divided. `read`: the same as read.
    pub fn job(&self, job: &Value, read: &Job) -> Value {
        let mut job = job.clone();
        let sizes = [
            ("size", read.size.and_then(Extent::bytes)),
            ("io_size", read.io_size.and_then(Extent::bytes)),
            ("filesize", read.filesize.map(|size| size.0)),
        ];
        for (name, size) in sizes.into_iter().filter(|_| self.divided_by > 1) {
            if let Some((size, options)) = size.zip(job.as_object_mut()) {
                // The alias must not stay beside it.
                options.shift_remove(if name == "io_size" { "io_limit" } else { name });
                options.insert(name.into(), units::size(size / self.divided_by).into());
            }
        }
        job
    }
}
