//! Describes the JSON values that an option accepts, and generates their JSON schema.

pub(crate) mod pattern;

use crate::{job::range::ValueRange, text::plain_pattern};
use std::ops::RangeInclusive;
use utoipa::{
    Number,
    openapi::schema::{ObjectBuilder, Type},
};

/// JSON values of an option.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueSchema {
    pub text: TextSchema,
    pub numbers: Vec<NumberSchema>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TextSchema {
    Words(Vec<&'static str>),
    /// A regular expression for the whole text, without anchors.
    Pattern(String),
    /// A regular expression for one value; the text has up to three, for reads, writes and trims.
    /// `may_omit`: values may be missing.
    Directions {
        value: String,
        may_omit: bool,
    },
    /// Printable text with at most this many characters.
    Name(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub enum NumberSchema {
    Integers(RangeInclusive<i128>),
    /// From 0 to 100, or only above 0.
    Percent {
        is_positive: bool,
    },
    Any,
}

impl ValueSchema {
    /// Text only.
    pub(crate) fn pattern(expression: impl Into<String>) -> Self {
        Self {
            text: TextSchema::Pattern(expression.into()),
            numbers: Vec::new(),
        }
    }

    /// Numbers, and the same numbers as text.
    pub(crate) fn integers(expression: impl Into<String>, range: ValueRange) -> Self {
        Self::pattern(expression).with_integers(range, 1)
    }

    /// `unit`: unit of a bare number.
    pub(crate) fn with_integers(mut self, range: ValueRange, unit: u64) -> Self {
        let unit = i128::from(unit);
        let (min, max) = (i128::from(range.min), i128::from(range.max));
        // Rounded up.
        let min = min.div_euclid(unit) + i128::from(min.rem_euclid(unit) > 0);
        if range.or_zero && min > 0 {
            self.numbers.push(NumberSchema::Integers(0..=0));
        }
        self.numbers.push(NumberSchema::Integers(min..=max / unit));
        self
    }

    /// Keywords. Numeric keywords are also accepted as numbers.
    pub(crate) fn words(words: Vec<&'static str>) -> Self {
        let numbers = || words.iter().filter_map(|word| word.parse::<i128>().ok());
        let range = numbers().min().zip(numbers().max());
        let integers = range.map(|(min, max)| NumberSchema::Integers(min..=max));
        Self {
            numbers: integers.into_iter().collect(),
            text: TextSchema::Words(words),
        }
    }

    /// Whether `true` and `false` are accepted.
    pub(crate) fn accepts_booleans(&self) -> bool {
        matches!(&self.text, TextSchema::Words(words) if words.contains(&"0") && words.contains(&"1"))
    }

    pub(crate) fn schemas(&self) -> Vec<ObjectBuilder> {
        let mut schemas = vec![self.text.schema()];
        schemas.extend(self.numbers.iter().map(NumberSchema::schema));
        if self.accepts_booleans() {
            schemas.push(ObjectBuilder::new().schema_type(Type::Boolean));
        }
        schemas
    }
}

impl TextSchema {
    fn schema(&self) -> ObjectBuilder {
        let text = ObjectBuilder::new().schema_type(Type::String);
        match self {
            Self::Words(words) => text.enum_values(Some(words.clone())),
            Self::Pattern(expression) => text.pattern(Some(pattern::anchored(expression))),
            Self::Directions { value, may_omit } => {
                let expression = pattern::directions(value, *may_omit);
                text.pattern(Some(pattern::anchored(&expression)))
            }
            Self::Name(length) => text
                .pattern(Some(plain_pattern("")))
                .max_length(Some(*length)),
        }
    }
}

impl NumberSchema {
    fn schema(&self) -> ObjectBuilder {
        let number = ObjectBuilder::new();
        match self {
            Self::Integers(range) => number
                .schema_type(Type::Integer)
                .minimum(Some(bound(*range.start())))
                .maximum(Some(bound(*range.end()))),
            Self::Percent { is_positive } => {
                let number = number
                    .schema_type(Type::Number)
                    .maximum(Some(Number::Int(100)));
                match is_positive {
                    true => number.exclusive_minimum(Some(Number::Int(0))),
                    false => number.minimum(Some(Number::Int(0))),
                }
            }
            Self::Any => number.schema_type(Type::Number),
        }
    }
}

fn bound(number: i128) -> Number {
    match usize::try_from(number) {
        Ok(number) => Number::UInt(number),
        Err(_) => Number::Int(isize::try_from(number).unwrap_or(isize::MIN)),
    }
}
