//! Settings that users change in the web UI.

use crate::{
    error::Error,
    runs::{Runs, run_detached},
};
use leadline_compare::rule::tested_metric;
use leadline_protocol::{limits::THRESHOLDS, problem::Problem, settings::Settings};

impl Runs {
    pub(crate) async fn settings(&self) -> Result<Settings, Error> {
        Ok(self.store.settings().await?)
    }

    pub(crate) async fn set_settings(&self, settings: Settings) -> Result<Settings, Error> {
        let settings = normalize_metric_names(&settings).map_err(Error::Rejected)?;
        let (store, new) = (self.store.clone(), settings.clone());
        let stored = async move { Ok(store.set_settings(&new).await?) };
        run_detached(stored).await?;
        Ok(settings)
    }
}

/// Replaces metric names with those used in results.
fn normalize_metric_names(settings: &Settings) -> Result<Settings, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut named = Settings::default();
    for (name, percent) in &settings.thresholds {
        let field = format!("thresholds.{name}");
        let mut reject = |detail: String, remedy: &str| {
            problems.push(Problem::invalid("bad_value", &field, detail, remedy));
        };
        let Some(metric) = tested_metric(name) else {
            let detail = format!("Comparisons do not test {name}.");
            reject(
                detail,
                "Use a metric that comparisons test, such as read_iops or read.iops.",
            );
            continue;
        };
        if !THRESHOLDS.contains(percent) {
            let detail = format!("{percent} is not between 0.01 and 1000 %.");
            reject(detail, "For example: 2.");
        }
        if named
            .thresholds
            .insert(metric.name.into(), *percent)
            .is_some()
        {
            let detail = format!("{} has two thresholds.", metric.name);
            reject(detail, "Remove one of them.");
        }
    }
    if problems.is_empty() {
        Ok(named)
    } else {
        Err(problems)
    }
}
