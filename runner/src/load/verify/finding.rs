//! Describes the damage that was found in a block.

use leadline_protocol::report::verify::Damage;

/// What is wrong with a block.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Finding {
    pub kind: Damage,
    pub detail: String,
    /// For misplaced data: the offset to which it was written.
    pub found_offset: Option<u64>,
    /// Offset in the target of the first sector known to be bad.
    pub bad_offset: Option<u64>,
}

impl Finding {
    pub(crate) fn new(kind: Damage, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            found_offset: None,
            bad_offset: None,
        }
    }
}
