//! Facts about the host that affect results.

use crate::system::host::{
    io_uring_support,
    kernel::{Kernel, attribute, field},
    meminfo,
};
use leadline_protocol::host::HostFacts;
use rustix::{
    param::page_size,
    process::{Resource, getrlimit},
    system::uname,
};
use std::{collections::BTreeMap, fs, path::Path};

/// Files that container runtimes create in a container.
const CONTAINER_FILES: &[(&str, &str)] =
    &[("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];

pub(crate) fn host_facts() -> HostFacts {
    facts(&Kernel::live())
}

pub(crate) fn facts(kernel: &Kernel) -> HostFacts {
    let names = uname();
    let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
    let sys = kernel.sys.join("devices/system");
    let clocksource = attribute(sys.join("clocksource/clocksource0/current_clocksource"));
    let governor = attribute(sys.join("cpu/cpu0/cpufreq/scaling_governor"));
    let cpu_model = cpu_model(kernel);
    let vmstat = fs::read_to_string(kernel.proc.join("vmstat")).unwrap_or_default();
    // vm.dirty_* in pages, as computed by the kernel from bytes or ratios (mm/page-writeback.c).
    let threshold = |name| field(&vmstat, name)?.checked_mul(page_size() as u64);
    let dirty_bytes = threshold("nr_dirty_threshold");
    let reasons = [
        (
            "clocksource",
            clocksource.is_none(),
            "sysfs has no clock source",
        ),
        (
            "governor",
            governor.is_none(),
            "no cpufreq driver: the hypervisor or the firmware controls the frequency",
        ),
        (
            "cpu_model",
            cpu_model.is_none(),
            "/proc/cpuinfo has no model",
        ),
        (
            "dirty_bytes",
            dirty_bytes.is_none(),
            "/proc/vmstat has no thresholds",
        ),
    ];
    let absent: BTreeMap<String, String> = reasons
        .into_iter()
        .filter(|(_, is_absent, _)| *is_absent)
        .map(|(name, _, reason)| (name.into(), reason.into()))
        .collect();
    HostFacts {
        hostname: text(names.nodename()),
        kernel: text(names.release()),
        machine: text(names.machine()),
        cpu_model,
        cpus: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
        memory_bytes: meminfo::read(kernel, "MemTotal"),
        clocksource,
        governor,
        io_uring_unavailable: io_uring_support::unavailable(kernel).map(|(reason, _)| reason),
        memlock_bytes: getrlimit(Resource::Memlock).current,
        dirty_background_bytes: threshold("nr_dirty_background_threshold"),
        dirty_bytes,
        virtualization: virtualization(container(), hypervisor()),
        runner: env!("CARGO_PKG_VERSION").into(),
        absent,
    }
}

/// `model name` on x86, `Model` or `Hardware` on ARM boards, `uarch` on RISC-V.
fn cpu_model(kernel: &Kernel) -> Option<String> {
    let text = fs::read_to_string(kernel.proc.join("cpuinfo")).ok()?;
    let value_of = |key: &str| {
        text.lines().find_map(|line| {
            let (_, model) = line.strip_prefix(key)?.split_once(':')?;
            Some(model.trim().to_string())
        })
    };
    let mut keys = ["model name", "Model", "Hardware", "uarch"].into_iter();
    keys.find_map(value_of)
}

/// Such as `docker`, `kvm`, or `docker on kvm`.
fn virtualization(container: Option<String>, hypervisor: Option<String>) -> Option<String> {
    let layers: Vec<String> = container.into_iter().chain(hypervisor).collect();
    (!layers.is_empty()).then(|| layers.join(" on "))
}

fn container() -> Option<String> {
    let mut files = CONTAINER_FILES.iter();
    if let Some((_, name)) = files.find(|(path, _)| Path::new(path).exists()) {
        return Some((*name).into());
    }
    let name = std::env::var("container").ok()?;
    (!name.is_empty()).then_some(name)
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

/// The kernel sets this only on Xen.
#[cfg(not(target_arch = "x86_64"))]
fn hypervisor() -> Option<String> {
    attribute("/sys/hypervisor/type")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_this_host() {
        let facts = host_facts();
        assert!(!facts.kernel.is_empty() && facts.cpus >= 1 && facts.memory_bytes > Some(1 << 20));
        assert!(facts.dirty_bytes > facts.dirty_background_bytes);
        assert_eq!(
            facts.governor.is_none(),
            facts.absent.contains_key("governor")
        );
    }

    #[test]
    fn virtualization_layers_start_with_the_container() {
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
    fn missing_facts_have_reasons() {
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
