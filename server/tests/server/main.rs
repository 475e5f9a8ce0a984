//! The server as a whole: the built program on a free port with a data directory of its own, and a runner that does no
//! I/O (`examples/fake_runner.rs`), or the real one (`real`). Nothing is mocked between the socket and the disk.

mod access;
mod full;
mod inputs;
mod kills;
mod leftovers;
mod lists;
mod openapi;
mod program;
mod real;
mod runs;
mod start;
mod streams;
mod studies;
