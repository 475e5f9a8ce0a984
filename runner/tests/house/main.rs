//! The house rules that no compiler knows, each one test whose message says what to do: which way the arrows point
//! (ARCHITECTURE.md), where `unsafe`, SQL and axum may stand, and how files are kept.
//!
//! What rustfmt, Clippy, Biome and knip can check is theirs.

mod arrows;
mod form;
mod papers;
mod source;
mod web;
