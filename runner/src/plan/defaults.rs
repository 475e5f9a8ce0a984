//! What counts where a job says nothing: the default text in the `options!` table, read as any text is. There is no
//! second place for a default, so that form, handbook and run cannot drift apart.

use leadline_protocol::job::OPTIONS;
use leadline_protocol::job::value::FioValue;

/// What a job says about an option, else its default.
macro_rules! said {
    ($job:expr, $option:ident) => {
        $job.$option
            .clone()
            .unwrap_or_else(|| $crate::plan::defaults::of(stringify!($option)))
    };
}

pub(crate) use said;

/// The default of an option that has one.
///
/// # Panics
/// Where the table has no default for it, or one that cannot be read; a test resolves every one of them.
pub(crate) fn of<T: FioValue>(option: &str) -> T {
    let default = OPTIONS
        .iter()
        .find(|doc| doc.name == option)
        .and_then(|doc| doc.default);
    let text = default.unwrap_or_else(|| panic!("`{option}` has no default in the table"));
    T::read(text).unwrap_or_else(|why| panic!("default of `{option}`: {why}"))
}
