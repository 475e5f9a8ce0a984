//! Defaults of options, parsed from the option table. There is no second list of defaults, so the plan,
//! the form and the documentation agree.

use leadline_protocol::job::{OPTIONS, value::FioValue};

/// Value of an option of a job, or its default.
macro_rules! option_or_default {
    ($job:expr, $option:ident) => {
        $job.$option
            .clone()
            .unwrap_or_else(|| $crate::plan::defaults::default_of(stringify!($option)))
    };
}

pub(crate) use option_or_default;

/// # Panics
/// If the table has no valid default for the option. A test resolves each default.
pub(crate) fn default_of<T: FioValue>(option: &str) -> T {
    let text = OPTIONS
        .iter()
        .find(|doc| doc.name == option)
        .and_then(|doc| doc.default)
        .unwrap_or_else(|| panic!("`{option}` has no default"));
    T::parse(text).unwrap_or_else(|error| panic!("default of `{option}`: {error}"))
}
