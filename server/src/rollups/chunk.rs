//! Compressed samples. The latency histograms of consecutive windows are merged into the last
//! window; all other data is preserved exactly.

use crate::rollups::{LEVELS, aggregate::merge, columns::Column};
use anyhow::Result;
use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use leadline_protocol::{counters::IoCounts, sample::Sample};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{Read, Write};

/// Number of windows whose histograms are merged: the length of the shortest rollup.
pub(crate) const MERGED_WINDOWS: usize = LEVELS[0] as usize;

/// Maximum decompressed size in bytes. Damaged data could expand a thousandfold. 200 samples of 64
/// disks take 4 MiB.
const MAX_BYTES: u64 = 64 << 20;

/// A sample and the time of its event.
pub(crate) type TimedSample = (f64, Sample);

#[derive(Deserialize, Serialize)]
struct Chunk {
    t_ms: Vec<f64>,
    samples: Column,
}

pub(crate) fn encode(mut samples: Vec<TimedSample>) -> Result<Vec<u8>> {
    for windows in samples.chunks_mut(MERGED_WINDOWS) {
        merge_histograms(windows);
    }
    let rows = samples
        .iter()
        .map(|(_, sample)| serde_json::to_value(sample));
    let rows = rows.collect::<serde_json::Result<Vec<Value>>>()?;
    let chunk = Chunk {
        t_ms: samples.iter().map(|(t_ms, _)| *t_ms).collect(),
        samples: Column::pack(rows),
    };
    deflate(&chunk)
}

pub(crate) fn decode(data: &[u8]) -> Result<Vec<TimedSample>> {
    let chunk: Chunk = inflate(data)?;
    let rows = chunk.samples.unpack(chunk.t_ms.len())?;
    let samples = rows.into_iter().map(serde_json::from_value);
    let samples = samples.collect::<serde_json::Result<Vec<Sample>>>()?;
    Ok(chunk.t_ms.into_iter().zip(samples).collect())
}

pub(crate) fn deflate(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&serde_json::to_vec(value)?)?;
    Ok(encoder.finish()?)
}

pub(crate) fn inflate<T: serde::de::DeserializeOwned>(data: &[u8]) -> Result<T> {
    let mut json = Vec::new();
    let decoder = DeflateDecoder::new(data);
    decoder.take(MAX_BYTES).read_to_end(&mut json)?;
    Ok(serde_json::from_slice(&json)?)
}

/// Merges the windows' latency histograms into the last window.
pub(crate) fn merge_histograms(windows: &mut [TimedSample]) {
    let fields: [fn(&mut Sample) -> &mut IoCounts; 4] = [
        |sample| &mut sample.read,
        |sample| &mut sample.write,
        |sample| &mut sample.trim,
        |sample| &mut sample.sync,
    ];
    for field in fields {
        let mut merged = Vec::new();
        for (_, sample) in windows.iter_mut() {
            merged = merge(&merged, &std::mem::take(&mut field(sample).lat_ns));
        }
        if let Some((_, last)) = windows.last_mut() {
            field(last).lat_ns = merged;
        }
    }
}
