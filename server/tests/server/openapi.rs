//! The committed OpenAPI document, from which the TypeScript types are generated.

#[test]
fn committed_document_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../web/openapi.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == leadline_server::api::routes::openapi_json(),
        "web/openapi.json is outdated: run `cargo run -p leadline -- openapi > web/openapi.json`"
    );
}

#[test]
fn all_operations_have_an_id_a_tag_and_a_summary() {
    let document: serde_json::Value =
        serde_json::from_str(&leadline_server::api::routes::openapi_json()).unwrap();
    let calls = document["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|path| path.as_object().unwrap().values());
    for call in calls {
        for field in ["operationId", "summary"] {
            assert!(
                call[field].as_str().is_some_and(|text| !text.is_empty()),
                "{call}"
            );
        }
        assert!(
            call["tags"].as_array().is_some_and(|tags| tags.len() == 1),
            "{call}"
        );
    }
}

#[test]
fn all_references_resolve() {
    let text = leadline_server::api::routes::openapi_json();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    for line in text
        .lines()
        .filter_map(|line| line.split_once("\"$ref\": \"#"))
    {
        let path = line.1.split('"').next().unwrap();
        assert!(document.pointer(path).is_some(), "{path} is missing");
    }
}
