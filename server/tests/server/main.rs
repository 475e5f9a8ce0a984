//! Tests of the server binary with a separate data directory and port, using the fake runner in
//! `examples/fake_runner.rs` or the real runner.

mod access;
mod assets;
mod backup;
mod damaged_results;
mod deletion;
mod faults;
mod fingerprints;
mod hostile;
mod idle;
mod inputs;
mod kills;
mod leftovers;
mod lists;
mod lost_database;
mod openapi;
mod power_cuts;
mod procedures;
mod program;
mod real_runner;
mod repeats;
mod retries;
mod rollups;
mod runs;
mod sessions;
mod start;
mod store_faults;
mod streams;
mod studies;
mod trends;
mod until_decided;
mod upgrade;
