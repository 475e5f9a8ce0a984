//! Values by direction: `read[,write[,trim]]`. The last value applies to the remaining directions.

use crate::job::{
    range::ValueRange,
    value::FioValue,
    value_schema::{TextSchema, ValueSchema},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct PerDirection<T> {
    pub read: T,
    pub write: T,
    pub trim: T,
}

impl<T: Clone> PerDirection<T> {
    pub fn same(value: T) -> Self {
        Self {
            read: value.clone(),
            write: value.clone(),
            trim: value,
        }
    }

    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> PerDirection<U> {
        PerDirection {
            read: f(&self.read),
            write: f(&self.write),
            trim: f(&self.trim),
        }
    }
}

impl<T: FioValue + Clone> FioValue for PerDirection<T> {
    const KIND: &'static str = T::KIND;

    fn parse(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        if parts.contains(&"") || parts.len() > 3 {
            return Err(format!(
                "`{text}` must be one value, or values for read,write or read,write,trim"
            ));
        }
        let values = parts
            .into_iter()
            .map(T::parse)
            .collect::<Result<Vec<T>, String>>()?;
        let at = |index: usize| values[index.min(values.len() - 1)].clone();
        Ok(Self {
            read: at(0),
            write: at(1),
            trim: at(2),
        })
    }

    fn schema(range: Option<ValueRange>) -> ValueSchema {
        let mut values = T::schema(range);
        if let TextSchema::Pattern(value) = values.text {
            values.text = TextSchema::Directions {
                value,
                may_omit: false,
            };
        }
        values
    }
}
