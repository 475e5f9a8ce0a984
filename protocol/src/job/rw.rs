//! The `rw` option.

use crate::{
    job::{
        range::{JSON_INTEGER, POSITIVE, ValueRange},
        value::FioValue,
        value_schema::{ValueSchema, pattern},
    },
    named_enum::named_enum,
    units,
};
use strum::{EnumMessage, IntoEnumIterator, VariantNames};

named_enum! {
    names: "lowercase";
    pub enum RwKind {
        Read,
        Write,
        Trim,
        Randread,
        Randwrite,
        Randtrim,
        #[strum(to_string = "rw", serialize = "readwrite")]
        Rw,
        Randrw,
        /// Each block is trimmed and then written.
        Trimwrite,
        Randtrimwrite,
    }
}

impl RwKind {
    pub fn is_random(self) -> bool {
        matches!(
            self,
            Self::Randread | Self::Randwrite | Self::Randtrim | Self::Randrw | Self::Randtrimwrite
        )
    }

    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Randread | Self::Rw | Self::Randrw)
    }

    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::Write
                | Self::Randwrite
                | Self::Rw
                | Self::Randrw
                | Self::Trimwrite
                | Self::Randtrimwrite
        )
    }

    pub fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::Randtrim) || self.is_trimwrite()
    }

    /// Whether each trim is followed by a write of the same block.
    pub fn is_trimwrite(self) -> bool {
        matches!(self, Self::Trimwrite | Self::Randtrimwrite)
    }

    /// Whether existing data is overwritten or discarded.
    pub fn is_destructive(self) -> bool {
        self.writes() || self.trims()
    }
}

/// An I/O pattern with its `:N` modifier.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rw {
    pub kind: RwKind,
    /// For random patterns, I/Os per offset. For sequential patterns, bytes to skip after each I/O;
    /// negative values go backward.
    pub modifier: Option<i64>,
}

impl FioValue for Rw {
    const KIND: &'static str = "pattern";
    /// Without modifiers.
    const VALUES: &'static [&'static str] = RwKind::VARIANTS;

    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (name, modifier) = match text.split_once(':') {
            Some((name, modifier)) => (name, Some(modifier)),
            None => (text, None),
        };
        let kind = name
            .parse()
            .map_err(|_| format!("`{name}` is not one of: {}", RwKind::VARIANTS.join(", ")))?;
        let modifier = modifier
            .map(|text| parse_modifier(kind, text))
            .transpose()?;
        Ok(Self { kind, modifier })
    }

    fn schema(_: Option<ValueRange>) -> ValueSchema {
        let names = |is_random: bool| {
            let kinds = RwKind::iter().filter(|kind| kind.is_random() == is_random);
            let names = kinds.flat_map(|kind| kind.get_serializations().iter().copied());
            names.collect::<Vec<_>>().join("|")
        };
        let [ios, gap] = [POSITIVE, JSON_INTEGER].map(pattern::size);
        let (random, sequential) = (names(true), names(false));
        ValueSchema::pattern(format!("(({random})(:{ios})?|({sequential})(:-?{gap})?)"))
    }
}

fn parse_modifier(kind: RwKind, text: &str) -> Result<i64, String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let value =
        i64::try_from(units::bytes(digits)?).map_err(|_| format!("`{text}` is too large"))?;
    let value = value * sign;
    if kind.is_random() && value < 1 {
        return Err(format!(
            "`:{text}` is the number of I/Os per random offset: use at least 1"
        ));
    }
    Ok(value)
}
