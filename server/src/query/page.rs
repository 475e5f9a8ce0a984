//! Checks the page parameters of lists whose cursor is a number.

use crate::error::Error;
use leadline_protocol::query::MAX_NUMBER;

/// `max` is the maximum page size.
///
/// # Errors
/// `bad_value` if the limit is not between 1 and `max`, or if the cursor is larger than `MAX_NUMBER`.
pub(crate) fn check_page(limit: u32, max: u32, cursor: Option<u64>) -> Result<(), Error> {
    if !(1..=max).contains(&limit) {
        return Err(Error::invalid(
            "bad_value",
            "limit",
            format!("limit must be between 1 and {max}, not {limit}."),
            format!("Use a number from 1 to {max}."),
        ));
    }
    if cursor.is_some_and(|cursor| cursor > MAX_NUMBER) {
        let remedy = "Use `next_cursor` from the previous page.";
        return Err(Error::invalid(
            "bad_value",
            "cursor",
            "Invalid cursor.",
            remedy,
        ));
    }
    Ok(())
}
