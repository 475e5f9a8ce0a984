//! Clones of a job (`numjobs`), which fio prints separately without `group_reporting`.

use serde_json::Value;

/// The jobs, with one entry for all clones of a job.
pub(super) fn distinct<'a>(jobs: &[&'a Value]) -> Vec<&'a Value> {
    let mut distinct: Vec<&Value> = Vec::new();
    for job in jobs {
        let is_clone = |other: &&Value| {
            other["jobname"] == job["jobname"] && other["job options"] == job["job options"]
        };
        if !distinct.last().is_some_and(is_clone) {
            distinct.push(job);
        }
    }
    distinct
}
