//! User-mode Linux for a test; its disks are removed afterward.

pub(crate) use leadline_lab::{Machine, is_inside};

pub(crate) fn run(machine: &Machine) {
    leadline_lab::run(machine, super::directory().path());
}
