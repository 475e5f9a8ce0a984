//! Fuzzes job text for `POST /import`: job files and commands.
#![no_main]

use leadline_protocol::{
    import::ImportRequest,
    job::run_spec::parse_run,
    study::parse::{is_study, parse_study},
};
use leadline_runner::dialect::{HostFacts, PathKind, import};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

fuzz_target!(|text: &str| {
    let variables = BTreeMap::from([("DEV".to_owned(), "/dev/sdb".to_owned())]);
    let request = ImportRequest {
        text: text.into(),
        variables: Some(variables),
    };
    let host = HostFacts {
        cpus: 2,
        page_size: 4096,
        memory_mib: 1024,
        path_kind: &|path| match path.len() % 3 {
            0 => PathKind::Missing,
            1 => PathKind::RegularFile,
            _ => PathKind::Other,
        },
    };
    let found = import(&request, &host);
    assert_eq!(found, import(&request, &host));
    let lines = text.split('\n').count();
    for note in &found.notes {
        let line = note.span.line as usize;
        assert!(
            (1..=lines).contains(&line) && note.span.column >= 1,
            "{note:?}"
        );
        assert!(!note.sentence.is_empty(), "{note:?}");
    }
    // The parser accepts every imported document unless the text exceeds its limits.
    let Some(document) = found.document else {
        assert!(!found.notes.is_empty() || !found.questions.is_empty());
        return;
    };
    if is_study(&document) {
        let _ = parse_study(document);
    } else {
        let _ = parse_run(&document);
    }
});
