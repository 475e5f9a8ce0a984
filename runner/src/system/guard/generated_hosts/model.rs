//! A host with random block devices: disks, partitions, and stacked md, dm and loop devices, with
//! random uses.

use rand::{Rng, RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};
use std::fmt;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Backing {
    Device(usize),
    File(usize),
}

/// Devices are identified by node index.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Disk,
    Partition { of: usize },
    Md { on: Vec<usize> },
    Dm { on: Vec<usize> },
    Loop { backing: Backing },
}

/// How swap space is named in /proc/swaps.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum SwapName {
    Kernel,
    /// Another node with the same device number.
    Node,
}

#[derive(Clone)]
pub(super) struct Node {
    pub name: String,
    pub kind: Kind,
    pub serial: Option<String>,
    pub read_only: bool,
    pub mounted: bool,
    pub mounted_elsewhere: bool,
    pub swap: Option<SwapName>,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.name, self.kind)?;
        let serial = self.serial.as_deref().unwrap_or_default();
        for (is, text) in [
            (!serial.is_empty(), serial),
            (self.read_only, "read-only"),
            (self.mounted, "mounted"),
            (self.mounted_elsewhere, "mounted elsewhere"),
            (self.swap == Some(SwapName::Kernel), "swap"),
            (self.swap == Some(SwapName::Node), "swap by another node"),
        ] {
            if is {
                write!(f, " {text}")?;
            }
        }
        Ok(())
    }
}

impl Node {
    pub(super) fn is_mounted(&self) -> bool {
        self.mounted || self.mounted_elsewhere
    }
}

#[derive(Clone, Debug)]
pub(super) struct Image {
    pub is_swap: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Host {
    pub nodes: Vec<Node>,
    pub files: Vec<Image>,
    /// Members of mounted btrfs filesystems.
    pub pools: Vec<Vec<usize>>,
}

impl Host {
    pub(super) fn generate(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut host = Self::default();
        for disk in 0..random.random_range(1..=4) {
            host.add_disk(disk, &mut random);
        }
        for _ in 0..random.random_range(0..=3) {
            let is_swap = random.random_bool(0.1);
            host.files.push(Image { is_swap });
        }
        for _ in 0..random.random_range(0..=6) {
            host.add_layer(&mut random);
        }
        for _ in 0..random.random_range(0..=2) {
            host.add_use(&mut random);
        }
        host
    }

    fn add(&mut self, name: String, kind: Kind) -> usize {
        self.nodes.push(Node {
            name,
            kind,
            serial: None,
            read_only: false,
            mounted: false,
            mounted_elsewhere: false,
            swap: None,
        });
        self.nodes.len() - 1
    }

    fn add_disk(&mut self, disk: u8, random: &mut impl Rng) {
        let name = format!("sdzz{}", char::from(b'a' + disk));
        let node = self.add(name, Kind::Disk);
        let twin = random.random_bool(0.2);
        let serial = if twin {
            "TWIN".into()
        } else {
            format!("S{disk}")
        };
        self.nodes[node].serial = random.random_bool(0.9).then_some(serial);
        if random.random_bool(0.5) {
            self.add_partitions(node, random);
        }
    }

    fn add_partitions(&mut self, of: usize, random: &mut impl Rng) {
        let disk = self.nodes[of].name.clone();
        let separator = if disk.ends_with(|last: char| last.is_ascii_digit()) {
            "p"
        } else {
            ""
        };
        for number in 1..=random.random_range(1..=2) {
            self.add(format!("{disk}{separator}{number}"), Kind::Partition { of });
        }
    }

    fn add_layer(&mut self, random: &mut impl Rng) {
        let number = self.nodes.len();
        let any = |host: &Self, random: &mut dyn Rng| random.random_range(0..host.nodes.len());
        match random.random_range(0..8) {
            0 => {
                let on = self.members(random, |host, node| !host.is_held(node, |_| true));
                if !on.is_empty() {
                    self.add(format!("md90{number:02}"), Kind::Md { on });
                }
            }
            1 | 2 => {
                let is_md = |kind: &Kind| matches!(kind, Kind::Md { .. });
                let on = self.members(random, |host, node| !host.is_held(node, is_md));
                if !on.is_empty() {
                    self.add(format!("dm-90{number:02}"), Kind::Dm { on });
                }
            }
            3 => {
                let backing = Backing::Device(any(self, random));
                self.add(format!("loop90{number:02}"), Kind::Loop { backing });
            }
            4..=6 if !self.files.is_empty() => {
                let backing = Backing::File(random.random_range(0..self.files.len()));
                self.add(format!("loop90{number:02}"), Kind::Loop { backing });
            }
            _ => {
                let of = any(self, random);
                let has_partitions = |node: &Node| node.kind == Kind::Partition { of };
                let is_partition = matches!(self.nodes[of].kind, Kind::Partition { .. });
                if !is_partition && !self.nodes.iter().any(has_partitions) {
                    self.add_partitions(of, random);
                }
            }
        }
    }

    /// One or two devices to which another holder can be added.
    fn members(&self, random: &mut impl Rng, is_free: impl Fn(&Self, usize) -> bool) -> Vec<usize> {
        let mut on: Vec<usize> = (0..random.random_range(1..=2))
            .map(|_| random.random_range(0..self.nodes.len()))
            .filter(|node| is_free(self, *node))
            .collect();
        on.dedup();
        on
    }

    fn is_held(&self, device: usize, is_kind: impl Fn(&Kind) -> bool) -> bool {
        self.nodes.iter().any(|node| match &node.kind {
            Kind::Md { on } | Kind::Dm { on } => is_kind(&node.kind) && on.contains(&device),
            _ => false,
        })
    }

    fn add_use(&mut self, random: &mut impl Rng) {
        let index = random.random_range(0..self.nodes.len());
        let other = random.random_range(0..self.nodes.len());
        let node = &mut self.nodes[index];
        match random.random_range(0..7) {
            0 | 1 => node.mounted = true,
            2 => node.mounted_elsewhere = true,
            3 => node.swap = Some(SwapName::Kernel),
            4 => node.swap = Some(SwapName::Node),
            5 => self.pools.push(vec![index, other]),
            _ => node.read_only = true,
        }
    }
}
