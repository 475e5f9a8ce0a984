//! The experiments that come with the server: `examples/experiments`, each a study that shows how a number misleads.

use leadline_protocol::study::record::Experiment;

macro_rules! experiments {
    ($($id:literal),+ $(,)?) => {
        /// Name and text of each.
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

/// All of them, in order.
///
/// # Errors
/// Never: a test reads every one.
pub fn all() -> serde_json::Result<Vec<Experiment>> {
    ALL.iter()
        .map(|(id, text)| {
            Ok(Experiment {
                id: (*id).into(),
                study: serde_json::from_str(text)?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use leadline_protocol::study::parse::parse_study;

    use super::*;

    #[test]
    fn every_experiment_is_a_study_that_says_why_it_is_there() {
        for (id, text) in ALL {
            let ask = parse_study(serde_json::from_str(text).unwrap())
                .unwrap_or_else(|problems| panic!("{id}: {problems:?}"));
            let words = ask.words;
            assert!(
                words.about.is_some()
                    && words.missed_by_author.is_some()
                    && words.published.is_some(),
                "{id}"
            );
            assert!(
                ask.scale.note.is_some(),
                "{id} says nothing about its sizes"
            );
        }
    }

    #[test]
    fn what_is_offered_can_be_asked_for_as_it_is() {
        for (offered, (_, text)) in all().unwrap().into_iter().zip(ALL) {
            let (offered, own) = (
                serde_json::to_value(offered.study).unwrap(),
                serde_json::from_str::<serde_json::Value>(text).unwrap(),
            );
            for (name, value) in own.as_object().unwrap() {
                assert_eq!(offered[name].is_null(), value.is_null(), "{name}");
            }
            assert!(crate::api::requests::study_request(offered).is_ok());
        }
    }
}
