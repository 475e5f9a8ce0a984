//! Columnar JSON values, which compress much better than rows. Integers are stored as differences,
//! and histograms as bucket gaps and counts.

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Values of one field, one per row.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(crate) enum Column {
    /// Objects that all have the same keys.
    #[serde(rename = "o")]
    Objects(BTreeMap<String, Column>),
    /// The first integer, then each integer's difference from the previous one.
    #[serde(rename = "d")]
    Differences(Vec<i64>),
    #[serde(rename = "h")]
    Histograms(Histograms),
    #[serde(rename = "v")]
    Values(Vec<Value>),
}

/// (bucket, count) pairs.
#[derive(Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Histograms {
    /// Number of (bucket, count) pairs in each histogram.
    pairs: Vec<usize>,
    /// Gap between each bucket and the previous one.
    gaps: Vec<u32>,
    counts: Vec<u64>,
}

impl Column {
    pub(crate) fn pack(rows: Vec<Value>) -> Self {
        if let Some(keys) = common_keys(&rows) {
            let mut columns: BTreeMap<String, Vec<Value>> = BTreeMap::new();
            for row in rows {
                if let Value::Object(fields) = row {
                    for (key, value) in fields {
                        columns.entry(key).or_default().push(value);
                    }
                }
            }
            debug_assert_eq!(columns.len(), keys);
            let columns = columns.into_iter();
            return Self::Objects(columns.map(|(key, rows)| (key, Self::pack(rows))).collect());
        }
        if let Some(integers) = rows.iter().map(Value::as_i64).collect::<Option<Vec<_>>>() {
            let before = std::iter::once(0).chain(integers.iter().copied());
            let pairs = integers.iter().zip(before);
            return Self::Differences(
                pairs
                    .map(|(now, before)| now.wrapping_sub(before))
                    .collect(),
            );
        }
        match Histograms::pack(&rows) {
            Some(histograms) => Self::Histograms(histograms),
            None => Self::Values(rows),
        }
    }

    /// Restores one value for each of `rows` rows.
    pub(crate) fn unpack(self, rows: usize) -> Result<Vec<Value>> {
        let values = match self {
            Self::Objects(columns) => {
                let mut objects = vec![Map::new(); rows];
                for (key, column) in columns {
                    for (object, value) in objects.iter_mut().zip(column.unpack(rows)?) {
                        object.insert(key.clone(), value);
                    }
                }
                objects.into_iter().map(Value::Object).collect()
            }
            Self::Differences(differences) => {
                let sums = differences.into_iter().scan(0i64, |sum, difference| {
                    *sum = sum.wrapping_add(difference);
                    Some(Value::from(*sum))
                });
                sums.collect()
            }
            Self::Histograms(histograms) => histograms.unpack()?,
            Self::Values(values) => values,
        };
        ensure!(values.len() == rows, "a column has {} rows", values.len());
        Ok(values)
    }
}

/// Returns the number of keys if all rows are objects with the same keys.
fn common_keys(rows: &[Value]) -> Option<usize> {
    let first = rows.first()?.as_object()?;
    let is_same = |row: &Value| {
        row.as_object()
            .is_some_and(|object| object.keys().eq(first.keys()))
    };
    rows.iter().all(is_same).then_some(first.len())
}

impl Histograms {
    /// Returns `None` if a row is not a histogram with ascending buckets.
    fn pack(rows: &[Value]) -> Option<Self> {
        let mut packed = Self::default();
        for row in rows {
            let pairs = row.as_array()?;
            packed.pairs.push(pairs.len());
            let mut last = 0;
            for pair in pairs {
                let [bucket, count] = pair.as_array()?.as_slice() else {
                    return None;
                };
                let bucket = u32::try_from(bucket.as_u64()?).ok()?;
                packed.gaps.push(bucket.checked_sub(last)?);
                packed.counts.push(count.as_u64()?);
                last = bucket;
            }
        }
        Some(packed)
    }

    fn unpack(self) -> Result<Vec<Value>> {
        let mut pairs = self.gaps.into_iter().zip(self.counts);
        let histogram = |length: usize| {
            let mut bucket = 0_u32;
            // No capacity is preallocated: a damaged length could exceed the available memory.
            let mut histogram = Vec::new();
            for _ in 0..length {
                let (gap, count) = pairs.next().context("truncated histogram")?;
                bucket = bucket
                    .checked_add(gap)
                    .context("invalid histogram bucket")?;
                histogram.push(Value::from(vec![u64::from(bucket), count]));
            }
            Ok(Value::from(histogram))
        };
        self.pairs.into_iter().map(histogram).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_are_restored() {
        let rows = vec![
            json!({"a": 7, "b": {"c": 1.5, "lat": [[3, 1], [9, 2]]}, "d": null, "e": []}),
            json!({"a": -2, "b": {"c": 2, "lat": []}, "d": {"x": 1}, "e": []}),
            json!({"a": 9_007_199_254_740_993_u64, "b": {"c": 2.5, "lat": [[0, 5]]}, "d": null, "e": []}),
        ];
        let packed = Column::pack(rows.clone());
        let stored = serde_json::to_string(&packed).unwrap();
        let column: Column = serde_json::from_str(&stored).unwrap();
        assert_eq!(column, packed);
        assert_eq!(column.unpack(3).unwrap(), rows);
        assert!(packed.unpack(2).is_err());
    }

    #[test]
    fn damaged_histograms_are_errors() {
        for (pairs, gaps, counts) in [
            (vec![usize::MAX], vec![1], vec![1]),
            (vec![2], vec![u32::MAX, 1], vec![1, 1]),
            (vec![2], vec![1, 1], vec![1]),
        ] {
            let histograms = Histograms {
                pairs,
                gaps,
                counts,
            };
            assert!(Column::Histograms(histograms).unpack(1).is_err());
        }
    }

    #[test]
    fn rows_without_a_compact_form_are_stored_as_is() {
        for rows in [
            vec![json!([[9, 1], [3, 1]])],
            vec![json!({"a": 1}), json!({"b": 1})],
            vec![json!(u64::MAX), json!(1)],
            vec![json!([1]), json!("x")],
        ] {
            let packed = Column::pack(rows.clone());
            assert!(matches!(packed, Column::Values(_)), "{rows:?}");
            assert_eq!(packed.unpack(rows.len()).unwrap(), rows);
        }
    }
}
