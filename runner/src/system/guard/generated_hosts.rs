//! Compares the guard's decisions on generated hosts with an oracle that does not use the guard.
//!
//! Regular test runs check 300 hosts. To check 10,000 hosts:
//!
//!     cargo test -p leadline-runner --lib generated_hosts -- --ignored
//!
//! `LEADLINE_HOST=seed` selects one host.

mod kernel_files;
mod model;
mod oracle;

use crate::{
    plan::host_view::HostView,
    system::{
        guard::{Guard, Purpose, permissions::Permissions},
        host::{identity::identity, resolved_path::ResolvedPath, view::View},
    },
};
use kernel_files::Scratch;
use model::{Backing, Host, Kind};
use std::collections::BTreeSet;

const IN_USE: [&str; 3] = ["device_in_use", "backs_loop", "swap_file"];

#[test]
fn the_guard_agrees_with_the_oracle_on_300_hosts() {
    check_hosts(0..300);
}

#[test]
#[ignore = "takes a minute"]
fn the_guard_agrees_with_the_oracle_on_10_000_hosts() {
    check_hosts(0..10_000);
}

fn check_hosts(seeds: std::ops::Range<u64>) {
    let Some(scratch) = Scratch::new() else {
        return crate::system::host::fixture::skip("cannot create device nodes");
    };
    let selected = std::env::var("LEADLINE_HOST");
    let seeds = match selected.map(|seed| seed.parse().unwrap()) {
        Ok(seed) => seed..seed + 1,
        Err(_) => seeds,
    };
    let mut decisions = Decisions::default();
    let mut wrong = Vec::new();
    for seed in seeds {
        let host = Host::generate(seed);
        for error in check(&host, &scratch, &mut decisions) {
            wrong.push(format!("host {seed}: {error}"));
        }
    }
    eprintln!("{decisions:?}");
    let first = wrong
        .iter()
        .take(20)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        wrong.is_empty(),
        "{} wrong decisions:\n{first}",
        wrong.len()
    );
    assert!(
        decisions.admitted > 0 && decisions.rejected > 0,
        "{decisions:?}"
    );
}

#[derive(Debug, Default)]
struct Decisions {
    admitted: usize,
    rejected: usize,
}

/// Wrong decisions about a host's devices and files.
fn check(host: &Host, scratch: &Scratch, decisions: &mut Decisions) -> Vec<String> {
    let fixture = scratch.fixture(host);
    let inventory = fixture.inventory();
    let listed: Vec<String> = (inventory.blocks.values())
        .filter_map(|block| identity(&inventory, block))
        .collect();
    let guard = Guard::new(inventory, &Permissions::new(&[scratch.images()], &listed));
    let view = View::of(fixture.kernel(), guard.clone());
    let mut wrong = Vec::new();
    let mut compare = |target: &str, want: &Expected, found: Option<String>, is_plan: bool| {
        let is_right = match &found {
            Some(code) => want.codes.contains(code.as_str()),
            None => want.codes.is_empty(),
        };
        if !is_right {
            let by = if is_plan { "plan" } else { "guard" };
            let want = &want.codes;
            wrong.push(format!(
                "{by}: {target} is {found:?}, not {want:?}: {host:?}"
            ));
        }
    };
    for (device, node) in host.nodes.iter().enumerate() {
        let want = Expected::for_device(host, device);
        decisions.count(&want);
        let block = &guard.host.blocks[&node.name];
        let found = guard.check_write(block).err();
        compare(&node.name, &want, found.map(|problem| problem.code), false);
        // The node of a nonexistent device cannot be opened, but all other checks come first.
        let path = scratch.node(device);
        let opened = guard.admit(&ResolvedPath::find(&path), Purpose::Write);
        let opened = opened.err().map(|problem| problem.code);
        let planned = view.path(path.to_str().unwrap()).write_problem;
        let planned = planned.map(|problem| problem.code);
        assert_eq!(opened, planned, "plan and run: {host:?}");
        let checked = planned.filter(|code| code != "permission_denied");
        compare(&node.name, &want, checked, true);
    }
    for file in 0..host.files.len() {
        let want = Expected::for_file(host, file);
        decisions.count(&want);
        let path = scratch.image(file);
        let found = view.path(path.to_str().unwrap()).write_problem;
        let found = found.map(|problem| problem.code);
        compare(&format!("file {file}"), &want, found, true);
    }
    wrong
}

impl Decisions {
    fn count(&mut self, want: &Expected) {
        if want.codes.is_empty() {
            self.admitted += 1;
        } else {
            self.rejected += 1;
        }
    }
}

/// Codes of the checks that a target fails; it is admitted if there are no codes.
struct Expected {
    codes: BTreeSet<&'static str>,
}

impl Expected {
    fn for_device(host: &Host, device: usize) -> Self {
        if host.is_in_use(device) {
            return Self::with(&IN_USE);
        }
        let mut codes = Vec::new();
        if host.is_read_only(device) {
            codes.push("read_only");
        }
        if host.is_ambiguous(device) {
            codes.push("ambiguous_identity");
        }
        if !host.has_identity(device) {
            codes.push("raw_write_refused");
        }
        Self::with(&codes)
    }

    fn for_file(host: &Host, file: usize) -> Self {
        let mut codes = Vec::new();
        if host.backs_loop(file) {
            codes.push("backs_loop");
        }
        if host.files[file].is_swap {
            codes.push("swap_file");
        }
        Self::with(&codes)
    }

    fn with(codes: &[&'static str]) -> Self {
        let codes = codes.iter().copied().collect();
        Self { codes }
    }
}

/// The hazards that the generated hosts must contain.
#[test]
fn generated_hosts_contain_every_hazard() {
    let hosts: Vec<Host> = (0..300).map(Host::generate).collect();
    let has = |relation: &dyn Fn(&Host) -> bool| hosts.iter().filter(|host| relation(host)).count();
    let has_kind = |is_kind: fn(&Kind) -> bool| {
        has(&|host: &Host| host.nodes.iter().any(|node| is_kind(&node.kind)))
    };
    for count in [
        has_kind(|kind| matches!(kind, Kind::Partition { .. })),
        has_kind(|kind| matches!(kind, Kind::Md { .. })),
        has_kind(|kind| matches!(kind, Kind::Dm { .. })),
        has_kind(|kind| {
            matches!(
                kind,
                Kind::Loop {
                    backing: Backing::Device(_)
                }
            )
        }),
        has_kind(|kind| {
            matches!(
                kind,
                Kind::Loop {
                    backing: Backing::File(_)
                }
            )
        }),
        has(&|host: &Host| !host.pools.is_empty()),
        has(&|host: &Host| host.nodes.iter().any(|node| node.mounted_elsewhere)),
        has(&|host: &Host| host.nodes.iter().any(|node| node.swap.is_some())),
        has(&|host: &Host| (0..host.nodes.len()).any(|device| host.is_ambiguous(device))),
    ] {
        assert!(count >= 10, "{count} of {} hosts", hosts.len());
    }
}
