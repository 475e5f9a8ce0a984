//! The facts about the host that a result depends on. What cannot be found out is null, with the reason.

use crate::system::host::kernel::{Kernel, attribute};
use crate::system::host::{io_uring_support, meminfo};
use leadline_protocol::host::HostFacts;
use rustix::param::page_size;
use rustix::process::{Resource, getrlimit};
use rustix::system::uname;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Files that container run times leave in a container, with their name.
const CONTAINER_MARKS: &[(&str, &str)] =
    &[("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];

/// Looks at the host now.
pub fn host_facts() -> HostFacts {
    facts(&Kernel::live())
}

fn facts(kernel: &Kernel) -> HostFacts {
    let names = uname();
    let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
    let mut absent = BTreeMap::new();
    let mut noted = |field: &str, found: Option<String>, reason: &str| {
        if found.is_none() {
            absent.insert(field.into(), reason.into());
        }
        found
    };
    let cpu = kernel.sys.join("devices/system");
    let clocksource = noted(
        "clocksource",
        attribute(cpu.join("clocksource/clocksource0/current_clocksource")),
        "sysfs does not tell the clock source",
    );
    let governor = noted(
        "governor",
        attribute(cpu.join("cpu/cpu0/cpufreq/scaling_governor")),
        "no cpufreq driver: the hypervisor or the firmware decides",
    );
    let cpu_model = noted(
        "cpu_model",
        cpu_model(kernel),
        "/proc/cpuinfo names no model",
    );
    let thresholds = DirtyThresholds::read(kernel);
    if thresholds.is_none() {
        absent.insert(
            "dirty_bytes".into(),
            "/proc/vmstat tells no thresholds".into(),
        );
    }
    HostFacts {
        hostname: text(names.nodename()),
        kernel: text(names.release()),
        machine: text(names.machine()),
        cpu_model,
        cpus: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
        memory_bytes: meminfo::read(kernel, "MemTotal"),
        clocksource,
        governor,
        io_uring_unavailable: io_uring_support::unavailable(kernel).map(|(why, _)| why),
        memlock_bytes: getrlimit(Resource::Memlock).current,
        dirty_background_bytes: thresholds.as_ref().map(|limits| limits.background),
        dirty_bytes: thresholds.as_ref().map(|limits| limits.throttle),
        virtualization: virtualization(container(), hypervisor()),
        runner: env!("CARGO_PKG_VERSION").into(),
        absent,
    }
}

/// `model name` on x86, `Model` or `Hardware` on ARM boards.
fn cpu_model(kernel: &Kernel) -> Option<String> {
    let text = fs::read_to_string(kernel.proc.join("cpuinfo")).ok()?;
    let named = |key: &str| {
        text.lines().find_map(|line| {
            line.strip_prefix(key)?
                .split_once(':')
                .map(|(_, model)| model.trim().to_string())
        })
    };
    ["model name", "Model", "Hardware", "uarch"]
        .into_iter()
        .find_map(named)
}

/// What `vm.dirty_*` amount to now, as the kernel itself works them out of bytes or ratios (mm/page-writeback.c).
struct DirtyThresholds {
    background: u64,
    throttle: u64,
}

impl DirtyThresholds {
    fn read(kernel: &Kernel) -> Option<Self> {
        let text = fs::read_to_string(kernel.proc.join("vmstat")).ok()?;
        let pages = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok())
        };
        let bytes = |name: &str| pages(name).map(|pages| pages * page_size() as u64);
        Some(Self {
            background: bytes("nr_dirty_background_threshold ")?,
            throttle: bytes("nr_dirty_threshold ")?,
        })
    }
}

/// Such as `docker`, `kvm`, or `docker on kvm`.
fn virtualization(container: Option<String>, hypervisor: Option<String>) -> Option<String> {
    let layers: Vec<String> = container.into_iter().chain(hypervisor).collect();
    (!layers.is_empty()).then(|| layers.join(" on "))
}

fn container() -> Option<String> {
    let marked = CONTAINER_MARKS
        .iter()
        .find(|(path, _)| Path::new(path).exists())
        .map(|(_, name)| *name);
    marked.map(String::from).or_else(|| {
        std::env::var("container")
            .ok()
            .filter(|name| !name.is_empty())
    })
}

#[cfg(target_arch = "x86_64")]
fn hypervisor() -> Option<String> {
    use raw_cpuid::Hypervisor;
    let found = raw_cpuid::CpuId::new().get_hypervisor_info()?.identify();
    Some(match found {
        Hypervisor::Unknown(..) => "unknown hypervisor".into(),
        known => format!("{known:?}").to_lowercase(),
    })
}

/// Device trees and firmware tables name hypervisors in their own ways; the one of Xen is the kernel's.
#[cfg(not(target_arch = "x86_64"))]
fn hypervisor() -> Option<String> {
    attribute("/sys/hypervisor/type")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_is_known() {
        let facts = host_facts();
        assert!(!facts.kernel.is_empty() && facts.cpus >= 1 && facts.memory_bytes > Some(1 << 20));
        assert!(facts.dirty_bytes > facts.dirty_background_bytes);
        assert_eq!(
            facts.governor.is_none(),
            facts.absent.contains_key("governor")
        );
    }

    #[test]
    fn layers_are_named_from_the_inside() {
        let name = |name: &str| (!name.is_empty()).then(|| name.to_string());
        for (container, hypervisor, want) in [
            ("", "", ""),
            ("docker", "", "docker"),
            ("", "kvm", "kvm"),
            ("docker", "kvm", "docker on kvm"),
        ] {
            assert_eq!(
                virtualization(name(container), name(hypervisor)),
                name(want)
            );
        }
    }

    #[test]
    fn an_empty_host_tells_why_it_knows_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let facts = facts(&Kernel {
            sys: dir.path().into(),
            proc: dir.path().into(),
        });
        let absent: Vec<&str> = facts.absent.keys().map(String::as_str).collect();
        assert_eq!(
            absent,
            ["clocksource", "cpu_model", "dirty_bytes", "governor"]
        );
    }
}
