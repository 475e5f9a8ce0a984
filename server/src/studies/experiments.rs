//! Built-in studies that reproduce misleading benchmark results (`examples/experiments`).

use leadline_protocol::study::detail::Experiment;

macro_rules! experiments {
    ($($id:literal),+ $(,)?) => {
        /// IDs and studies.
        const ALL: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../../../examples/experiments/", $id, ".json")))),+];
    };
}

experiments!(
    "000-page-cache",
    "001-first-write",
    "002-buffered-or-not",
    "003-readahead",
    "004-buffers-and-cached"
);

pub(crate) fn all() -> serde_json::Result<Vec<Experiment>> {
    let experiment = |(id, study): &(&str, &str)| {
        Ok(Experiment {
            id: (*id).into(),
            study: serde_json::from_str(study)?,
        })
    };
    ALL.iter().map(experiment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::study::parse::parse_study;
    use serde_json::Value;

    #[test]
    fn experiments_are_complete() {
        for (id, text) in ALL {
            let study = parse_study(serde_json::from_str(text).unwrap())
                .unwrap_or_else(|problems| panic!("{id}: {problems:?}"));
            assert!(study.description.about.is_some(), "{id}");
            assert!(study.description.missed_by_author.is_some(), "{id}");
            assert!(study.description.published.is_some(), "{id}");
            assert!(study.scale.note.is_some(), "{id}");
        }
    }

    #[test]
    fn experiments_can_be_submitted_unchanged() {
        for (experiment, (_, text)) in all().unwrap().into_iter().zip(ALL) {
            let served = serde_json::to_value(experiment.study).unwrap();
            let source: Value = serde_json::from_str(text).unwrap();
            for (name, value) in source.as_object().unwrap() {
                assert_eq!(served[name].is_null(), value.is_null(), "{name}");
            }
        }
    }
}
