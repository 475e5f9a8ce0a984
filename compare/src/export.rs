//! Exports comparisons to files for spreadsheets, pull requests, and readers without Leadline.

pub mod csv;
pub mod html;
pub mod markdown;
pub mod markup;
mod plot;
pub mod table;
