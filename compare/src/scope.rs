//! Which runs determine the comparability of groups.

use crate::group::{ComparedRun, Group, all_runs};

pub(crate) struct Scope<'g, 'a> {
    pub groups: &'g [Group<'a>],
    /// One per group: why it is not comparable with the baseline. `None` for the baseline itself.
    pub obstacles: &'g [Option<String>],
    pub baseline: usize,
    /// Whether each run is compared: it is included in the statistics, and its group is comparable
    /// with the baseline. Without any comparable group, the runs of all groups are compared.
    pub is_compared: Vec<bool>,
}

impl<'g, 'a> Scope<'g, 'a> {
    pub(crate) fn new(
        groups: &'g [Group<'a>],
        obstacles: &'g [Option<String>],
        baseline: usize,
    ) -> Self {
        let mut scope = Self {
            groups,
            obstacles,
            baseline,
            is_compared: Vec::new(),
        };
        let all = !scope.has_comparable_group();
        for (group, obstacle) in groups.iter().zip(obstacles) {
            let is_comparable = all || obstacle.is_none();
            let included = group.is_included().into_iter();
            scope
                .is_compared
                .extend(included.map(|included| included && is_comparable));
        }
        scope
    }

    /// Whether at least one group is comparable with the baseline.
    pub(crate) fn has_comparable_group(&self) -> bool {
        let mut obstacles = self.obstacles.iter().enumerate();
        obstacles.any(|(index, obstacle)| index != self.baseline && obstacle.is_none())
    }

    pub(crate) fn compared_runs(&self) -> impl Iterator<Item = &'g ComparedRun<'a>> {
        let runs = all_runs(self.groups).zip(&self.is_compared);
        runs.filter(|(_, is_compared)| **is_compared)
            .map(|(run, _)| run)
    }

    /// The groups with only their compared runs.
    pub(crate) fn compared_groups(&self) -> Vec<Group<'a>> {
        let mut is_compared = self.is_compared.iter();
        let groups = self.groups.iter().map(|group| {
            let runs = group.runs.iter().zip(is_compared.by_ref());
            Group {
                label: group.label.clone(),
                runs: runs
                    .filter(|(_, is_compared)| **is_compared)
                    .map(|(run, _)| run.clone())
                    .collect(),
            }
        });
        let groups: Vec<Group> = groups.collect();
        let has_runs = |group: &Group| !group.runs.is_empty();
        groups.into_iter().filter(has_runs).collect()
    }

    /// Whether each run is included in the statistics.
    pub(crate) fn is_included(&self) -> Vec<bool> {
        self.groups.iter().flat_map(Group::is_included).collect()
    }

    /// The values of a fact, one per run; `None` for runs that are not included in the statistics.
    pub(crate) fn values<T>(&self, value: impl Fn(&ComparedRun) -> Option<T>) -> Vec<Option<T>> {
        let runs = all_runs(self.groups).zip(self.is_included());
        runs.map(|(run, included)| value(run).filter(|_| included))
            .collect()
    }

    /// Whether the compared runs have different values.
    pub(crate) fn is_different<T: PartialEq>(&self, values: &[Option<T>]) -> bool {
        let mut compared = self.compared_items(values);
        let Some(first) = compared.next() else {
            return false;
        };
        compared.any(|value| value != first)
    }

    /// The items of compared runs; `items` contains one item per run.
    pub(crate) fn compared_items<'v, T>(&'v self, items: &'v [T]) -> impl Iterator<Item = &'v T> {
        let items = items.iter().zip(&self.is_compared);
        items
            .filter(|(_, is_compared)| **is_compared)
            .map(|(item, _)| item)
    }
}
