//! Fuzzes HTTP request bodies and stored event lines.
#![no_main]

use leadline_fuzz::mutate_json;
use leadline_protocol::json::{DocumentError, parse_document};
use leadline_server::api::fuzzing::{body, stored_line};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|text: &str| {
    stored_line(text);
    let value = serde_json::from_str(text);
    match (parse_document(text.as_bytes()), &value) {
        (Ok(document), Ok(value)) => assert_eq!(&document, value),
        (Err(DocumentError::Repeated(_)), Ok(_)) | (Err(DocumentError::Syntax(_)), Err(_)) => {}
        (document, value) => panic!("{document:?}, {value:?}"),
    }
    if let Ok(value) = value {
        body(&value);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed)
});
