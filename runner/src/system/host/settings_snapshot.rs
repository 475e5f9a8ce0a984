//! Host settings that affect results and that other programs can change during a run: CPU
//! frequency limits, mount options, and request queues.

use crate::system::host::{
    inventory::Inventory,
    kernel::{Kernel, attribute, names},
    target_storage::storage,
};
use leadline_protocol::{plan::job::ResolvedJob, report::host_change::HostChange};
use std::collections::{BTreeMap, BTreeSet};

/// Files that control boost frequencies, for `acpi-cpufreq` and others, and for `intel_pstate`.
const BOOST: &[&str] = &["cpufreq/boost", "intel_pstate/no_turbo"];

/// Values by setting name.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SettingsSnapshot(BTreeMap<String, String>);

impl SettingsSnapshot {
    pub(crate) fn read(jobs: &[ResolvedJob]) -> Self {
        Self::of(&Kernel::live(), jobs)
    }

    fn of(kernel: &Kernel, jobs: &[ResolvedJob]) -> Self {
        let mut snapshot = Self::default();
        snapshot.add_frequencies(kernel);
        let storage = storage(&Inventory::read(kernel), jobs);
        for mount in storage.mounts {
            snapshot.add(
                format!("mount options of {}", mount.point),
                Some(mount.options),
            );
        }
        for device in storage.devices {
            let name = &device.name;
            let number = |value: Option<u64>| value.map(|value| value.to_string());
            let length = device.nr_requests.map(u64::from);
            snapshot.add(format!("I/O scheduler of {name}"), device.scheduler);
            snapshot.add(
                format!("read-ahead of {name} in bytes"),
                number(device.read_ahead_bytes),
            );
            snapshot.add(format!("queue length of {name}"), number(length));
            snapshot.add(format!("write cache of {name}"), device.write_cache);
        }
        snapshot
    }

    /// Adds the frequency limits. The current frequency is omitted, because it changes constantly.
    fn add_frequencies(&mut self, kernel: &Kernel) {
        let cpu = kernel.sys.join("devices/system/cpu");
        for policy in names(cpu.join("cpufreq")) {
            for (file, setting) in [
                ("scaling_governor", "frequency governor"),
                ("scaling_min_freq", "minimum frequency in kHz"),
                ("scaling_max_freq", "maximum frequency in kHz"),
            ] {
                let value = attribute(cpu.join("cpufreq").join(&policy).join(file));
                self.add(format!("{setting} of {policy}"), value);
            }
        }
        for file in BOOST {
            self.add((*file).into(), attribute(cpu.join(file)));
        }
    }

    fn add(&mut self, setting: String, value: Option<String>) {
        self.0.extend(value.map(|value| (setting, value)));
    }

    pub(crate) fn changes_since(&self, before: &Self) -> Vec<HostChange> {
        let settings: BTreeSet<&String> = self.0.keys().chain(before.0.keys()).collect();
        settings
            .into_iter()
            .filter(|setting| self.0.get(*setting) != before.0.get(*setting))
            .map(|setting| HostChange {
                setting: setting.clone(),
                before: before.0.get(setting).cloned(),
                after: self.0.get(setting).cloned(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        plan::fixture::{resolved, target},
        system::host::fixture::Fixture,
    };
    use leadline_protocol::plan::target::{Target, TargetKind};
    use serde_json::json;

    fn snapshot(governor: &str, scheduler: &str) -> SettingsSnapshot {
        let host = Fixture::new(&format!(
            r"
            sys/devices/sda/dev = 4008:0
            sys/devices/sda/device @
            sys/devices/sda/queue/scheduler = {scheduler}
            sys/devices/sda/queue/nr_requests = 64
            sys/devices/system/cpu/cpufreq/policy0/scaling_governor = {governor}
            sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq = 3000000
            "
        ));
        let mut job = resolved(json!({}));
        job.targets = vec![Target {
            path: "/file".into(),
            kind: TargetKind::File,
            device: Some("sda".into()),
            ..target(4096, 512)
        }];
        SettingsSnapshot::of(&host.kernel(), &[job])
    }

    #[test]
    fn each_changed_setting_is_listed() {
        let before = snapshot("performance", "[none] bfq");
        assert_eq!(before.changes_since(&before), []);
        let after = snapshot("powersave", "none [bfq]");
        let changes = after.changes_since(&before);
        let changes: Vec<_> = changes
            .iter()
            .map(|change| {
                let text = |value: &Option<String>| value.clone().unwrap_or_default();
                (
                    change.setting.as_str(),
                    text(&change.before),
                    text(&change.after),
                )
            })
            .collect();
        let expected = [
            ("I/O scheduler of sda", "none", "bfq"),
            ("frequency governor of policy0", "performance", "powersave"),
        ];
        let expected = expected.map(|(setting, one, other)| (setting, one.into(), other.into()));
        assert_eq!(changes, expected);
        let vanished = SettingsSnapshot::default().changes_since(&before);
        assert!(vanished.iter().all(|change| change.after.is_none()));
        assert_eq!(vanished.len(), 4);
    }
}
