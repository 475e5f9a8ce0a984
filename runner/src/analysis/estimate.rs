//! Estimates shares of I/Os from a sample, with confidence intervals. Performs no I/O.

#[cfg(test)]
mod tests;

use leadline_protocol::{
    report::layers::{LayerEstimate, LayerShare, Share},
    verdict::StorageLayer,
};

/// z-score of a two-sided 99.9 % confidence interval.
const Z: f64 = 3.29;

/// Number of I/Os and bytes represented by one worker's samples, by layer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LayerCounts {
    pub samples: u64,
    pub ios: [f64; StorageLayer::COUNT],
    pub bytes: [f64; StorageLayer::COUNT],
    /// See `LayerSums::spread`.
    pub spread: f64,
    /// I/Os that overwrote dirty pages; `None` for reads.
    pub overwritten: Option<f64>,
}

impl LayerCounts {
    pub(crate) fn estimate(&self) -> LayerEstimate {
        let total: f64 = self.ios.iter().sum();
        if total == 0.0 {
            return LayerEstimate {
                overwritten: self.overwritten.map(|_| Share::UNKNOWN),
                ..unknown()
            };
        }
        let bytes: f64 = self.bytes.iter().sum();
        let share = |part: f64| interval(part / total, total, self.spread);
        let layers = StorageLayer::TOP_DOWN.map(|layer| LayerShare {
            layer,
            ios: share(self.ios[layer as usize]),
            bytes: self.bytes[layer as usize] / bytes.max(1.0),
        });
        LayerEstimate {
            samples: self.samples,
            layers: layers.to_vec(),
            overwritten: self.overwritten.map(share),
        }
    }
}

/// The estimate if no I/O was sampled: the layer of every I/O is unknown.
pub(crate) fn unknown() -> LayerEstimate {
    let layers = StorageLayer::TOP_DOWN.map(|layer| {
        let is_unknown = layer == StorageLayer::Unknown;
        LayerShare {
            layer,
            ios: Share {
                share: f64::from(u8::from(is_unknown)),
                ..Share::UNKNOWN
            },
            bytes: f64::from(u8::from(is_unknown)),
        }
    });
    LayerEstimate {
        samples: 0,
        layers: layers.to_vec(),
        overwritten: None,
    }
}

/// Wilson score interval (E. B. Wilson, 1927) for a share of `total` I/Os. The effective number of
/// samples is total² / spread. If `spread` is 0, every I/O was looked up, so the share is exact.
fn interval(share: f64, total: f64, spread: f64) -> Share {
    if spread <= 0.0 {
        return Share::exact(share);
    }
    let samples = total * total / spread;
    let z2 = Z * Z / samples;
    let center = (share + z2 / 2.0) / (1.0 + z2);
    let half = Z / (1.0 + z2) * (share * (1.0 - share) / samples + z2 / samples / 4.0).sqrt();
    Share {
        share,
        low: (center - half).clamp(0.0, share),
        high: (center + half).clamp(share, 1.0),
    }
}

/// The estimate of one worker or job, and the number of I/Os and bytes that it covers.
pub(crate) struct PartEstimate {
    pub ios: u64,
    pub bytes: u64,
    pub estimate: LayerEstimate,
}

/// Combines estimates from multiple workers or jobs, whose errors are independent. `None` if there
/// are no estimates.
pub(crate) fn merged(parts: impl Iterator<Item = PartEstimate>) -> Option<LayerEstimate> {
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() {
        return None;
    }
    let ios: u64 = parts.iter().map(|part| part.ios).sum();
    let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
    let of_ios = |part: &PartEstimate| part.ios as f64 / ios.max(1) as f64;
    let of_bytes = |part: &PartEstimate| part.bytes as f64 / bytes.max(1) as f64;
    let layers = StorageLayer::TOP_DOWN.map(|layer| {
        let each = parts.iter().filter_map(|part| {
            let share = part.estimate.of(layer)?;
            Some((of_ios(part), share.ios))
        });
        let bytes = parts
            .iter()
            .filter_map(|part| Some(of_bytes(part) * part.estimate.of(layer)?.bytes));
        LayerShare {
            layer,
            ios: sum(each),
            bytes: bytes.sum(),
        }
    });
    let overwritten = parts
        .iter()
        .filter_map(|part| Some((of_ios(part), part.estimate.overwritten?)));
    let has_writes = parts.iter().any(|part| part.estimate.overwritten.is_some());
    Some(LayerEstimate {
        samples: parts.iter().map(|part| part.estimate.samples).sum(),
        layers: layers.to_vec(),
        overwritten: has_writes.then(|| sum(overwritten)),
    })
}

/// Weighted sum of independent shares.
fn sum(parts: impl Iterator<Item = (f64, Share)>) -> Share {
    let mut share = 0.0;
    let mut below = 0.0;
    let mut above = 0.0;
    for (weight, part) in parts {
        share += weight * part.share;
        below += (weight * (part.share - part.low)).powi(2);
        above += (weight * (part.high - part.share)).powi(2);
    }
    // Rounding can push the sum of all parts above 1.
    let share = share.min(1.0);
    Share {
        share,
        low: (share - below.sqrt()).max(0.0),
        high: (share + above.sqrt()).min(1.0),
    }
}
