//! Facts about the host that affect results.

use crate::system::host::{
    io_uring_support,
    kernel::{Kernel, attribute, field, names},
    meminfo,
};
use leadline_protocol::host::HostFacts;
use rustix::{
    param::page_size,
    process::{Resource, getrlimit},
    system::uname,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// The kernel's text for vulnerabilities that do not affect the host.
const NOT_AFFECTED: &str = "Not affected";

/// Files that container runtimes create in a container.
const CONTAINER_FILES: &[(&str, &str)] =
    &[("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];

pub(crate) fn host_facts() -> HostFacts {
    facts(&Kernel::live())
}

pub(crate) fn facts(kernel: &Kernel) -> HostFacts {
    let system = uname();
    let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
    let sys = kernel.sys.join("devices/system");
    let clocksource = attribute(sys.join("clocksource/clocksource0/current_clocksource"));
    let governor = governors(kernel);
    let vulnerabilities = vulnerabilities(kernel);
    let cpu_model = cpu_model(kernel);
    let vmstat = fs::read_to_string(kernel.proc.join("vmstat")).unwrap_or_default();
    // vm.dirty_* in pages, as computed by the kernel from bytes or ratios (mm/page-writeback.c).
    let threshold = |name| field(&vmstat, name)?.checked_mul(page_size() as u64);
    let dirty_bytes = threshold("nr_dirty_threshold");
    let reasons = [
        (
            "clocksource",
            clocksource.is_none(),
            "sysfs does not list a clock source",
        ),
        (
            "governor",
            governor.is_none(),
            "no cpufreq driver: the hypervisor or the firmware controls the frequency",
        ),
        (
            "cpu_model",
            cpu_model.is_none(),
            "/proc/cpuinfo does not contain a CPU model",
        ),
        (
            "dirty_bytes",
            dirty_bytes.is_none(),
            "/proc/vmstat does not contain the dirty thresholds",
        ),
        (
            "vulnerabilities",
            vulnerabilities.is_none(),
            "sysfs does not list CPU vulnerabilities",
        ),
    ];
    let absent: BTreeMap<String, String> = reasons
        .into_iter()
        .filter(|(_, is_absent, _)| *is_absent)
        .map(|(name, _, reason)| (name.into(), reason.into()))
        .collect();
    HostFacts {
        hostname: text(system.nodename()),
        kernel: text(system.release()),
        machine: text(system.machine()),
        cpu_model,
        cpus: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
        memory_bytes: meminfo::read(kernel, "MemTotal"),
        clocksource,
        governor,
        vulnerabilities,
        io_uring_unavailable: io_uring_support::unavailable_reason(kernel)
            .map(|(reason, _)| reason),
        memlock_bytes: getrlimit(Resource::Memlock).current,
        dirty_background_bytes: threshold("nr_dirty_background_threshold"),
        dirty_bytes,
        virtualization: virtualization(container(), hypervisor()),
        storage: None,
        runner: env!("CARGO_PKG_VERSION").into(),
        absent,
    }
}

/// Lists each governor once, because CPUs in the same frequency domain share a policy.
fn governors(kernel: &Kernel) -> Option<String> {
    let policies = kernel.sys.join("devices/system/cpu/cpufreq");
    let governors: BTreeSet<String> = names(&policies)
        .into_iter()
        .filter_map(|policy| attribute(policies.join(policy).join("scaling_governor")))
        .collect();
    let governors: Vec<String> = governors.into_iter().collect();
    (!governors.is_empty()).then(|| governors.join(" "))
}

/// State of each vulnerability that affects the host, keyed by its name in sysfs.
fn vulnerabilities(kernel: &Kernel) -> Option<BTreeMap<String, String>> {
    let dir = kernel.sys.join("devices/system/cpu/vulnerabilities");
    let names = names(&dir);
    let is_known = !names.is_empty();
    let states = names.into_iter().filter_map(|name| {
        let state = attribute(dir.join(&name))?;
        (state != NOT_AFFECTED).then_some((name, state))
    });
    is_known.then(|| states.collect())
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

/// Only Xen guests have this file.
#[cfg(not(target_arch = "x86_64"))]
fn hypervisor() -> Option<String> {
    attribute("/sys/hypervisor/type")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::Fixture;

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
            [
                "clocksource",
                "cpu_model",
                "dirty_bytes",
                "governor",
                "vulnerabilities"
            ]
        );
    }

    #[test]
    fn governors_of_all_cpus_are_listed_once() {
        let cpu = "sys/devices/system/cpu/cpufreq";
        let governor = |policies: [&str; 3]| {
            let lines = (0..).zip(policies);
            let lines: Vec<String> = lines
                .map(|(n, name)| format!("{cpu}/policy{n}/scaling_governor = {name}"))
                .collect();
            facts(&Fixture::new(&lines.join("\n")).kernel()).governor
        };
        let same = governor(["performance"; 3]);
        assert_eq!(same.as_deref(), Some("performance"));
        let mixed = governor(["powersave", "performance", "powersave"]);
        assert_eq!(mixed.as_deref(), Some("performance powersave"));
    }

    #[test]
    fn vulnerabilities_that_affect_the_host() {
        let cpu = "sys/devices/system/cpu/vulnerabilities";
        let fixture = Fixture::new(&format!(
            "{cpu}/meltdown = Not affected
            {cpu}/spectre_v2 = Mitigation: Retpolines; STIBP: disabled
            {cpu}/spec_store_bypass = Vulnerable"
        ));
        let found = facts(&fixture.kernel()).vulnerabilities.unwrap();
        let want = [
            ("spec_store_bypass", "Vulnerable"),
            ("spectre_v2", "Mitigation: Retpolines; STIBP: disabled"),
        ];
        let want = want.map(|(name, state)| (name.to_owned(), state.to_owned()));
        assert_eq!(found, BTreeMap::from(want));
    }
}
