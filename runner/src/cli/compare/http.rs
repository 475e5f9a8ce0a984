//! Fetches results from a server.

use crate::cli::compare::{documents::order, sequential::Sequential};
use leadline_compare::group::Block;
use leadline_protocol::{study::definition::RepeatOrder, text::printable};
use serde_json::Value;
use std::{env, time::Duration};

const TOKEN_VARIABLE: &str = "LEADLINE_TOKEN";
const TIMEOUT: Duration = Duration::from_secs(30);
/// A result with all latency buckets is smaller than 1 MB.
const MAX_BYTES: u64 = 64 << 20;

pub(crate) fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// A run on a server.
pub(crate) struct ServerRun {
    pub address: String,
    pub document: Value,
    /// Name of the selected step.
    pub step: Option<String>,
    /// The run's block, if its study is interleaved.
    pub block: Option<Block>,
    /// Interim looks at the study, if it has `until_decided`.
    pub sequential: Option<Sequential>,
}

/// Fetches the run at `http://HOST/runs/12`, or one step's runs from `http://HOST/studies/3`.
pub(crate) fn runs(address: &str, step: Option<u64>) -> Result<Vec<ServerRun>, String> {
    let (server, kind, number) = split(address).ok_or_else(|| {
        format!(
            "{address} is not the URL of a run or study, such as http://127.0.0.1:7070/runs/12."
        )
    })?;
    if kind == "runs" {
        let document = fetch_intact_run(server, number)?;
        let study = match document["study"].as_u64() {
            Some(study) => get(server, "studies", study)?,
            None => Value::Null,
        };
        return Ok(vec![run(server, number, document, &study, None)]);
    }
    let study = get(server, "studies", number)?;
    let steps = steps(&study);
    if step.is_none() && steps.iter().any(|entry| entry["step"].as_u64() > Some(1)) {
        return Err(format!(
            "{address} has multiple steps; append #1 to select the first."
        ));
    }
    let selected = steps
        .iter()
        .filter(|entry| step.is_none() || entry["step"].as_u64() == step);
    selected
        .filter_map(|entry| Some((entry, entry["run"]["number"].as_u64()?)))
        .map(|(entry, number)| {
            let name = entry["name"].as_str().filter(|_| step.is_some());
            let document = fetch_intact_run(server, number)?;
            Ok(run(server, number, document, &study, name))
        })
        .collect()
}

fn steps(study: &Value) -> Vec<Value> {
    study["steps"].as_array().cloned().unwrap_or_default()
}

fn run(server: &str, number: u64, document: Value, study: &Value, step: Option<&str>) -> ServerRun {
    let is_interleaved = order(&steps(study)) == RepeatOrder::Interleaved;
    ServerRun {
        address: format!("{server}/runs/{number}"),
        block: block(server, &document).filter(|_| is_interleaved),
        step: step.map(str::to_owned),
        sequential: Sequential::from_study(study),
        document,
    }
}

/// Study numbers are unique only within a server.
fn block(server: &str, document: &Value) -> Option<Block> {
    let study = document["study"].as_u64()?;
    Some(Block {
        study: format!("{server}/studies/{study}"),
        repeat: u32::try_from(document["repeat"].as_u64()?).ok()?,
    })
}

/// Splits a URL into the server, `runs` or `studies`, and the number. Accepts page and API URLs.
fn split(address: &str) -> Option<(&str, &str, u64)> {
    let (rest, number) = address.trim_end_matches('/').rsplit_once('/')?;
    let number = number.parse().ok()?;
    let (server, kind) = rest.rsplit_once('/')?;
    let server = server.strip_suffix("/api/v1").unwrap_or(server);
    matches!(kind, "runs" | "studies").then_some((server, kind, number))
}

/// # Errors
/// The run cannot be fetched, or its stored data is damaged.
fn fetch_intact_run(server: &str, number: u64) -> Result<Value, String> {
    let document = get(server, "runs", number)?;
    if document["damaged"] == true {
        return Err(format!(
            "{server}/runs/{number}: the stored data of run #{number} is damaged, so it cannot be compared. Delete or exclude the run."
        ));
    }
    Ok(document)
}

fn get(server: &str, kind: &str, number: u64) -> Result<Value, String> {
    let address = format!("{server}/api/v1/{kind}/{number}");
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .http_status_as_error(false);
    let agent = ureq::Agent::new_with_config(config.build());
    let mut request = agent.get(&address);
    if let Ok(token) = env::var(TOKEN_VARIABLE) {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let failed = |error| format!("{address}: {error}.");
    let mut response = request.call().map_err(failed)?;
    let body = response.body_mut().with_config().limit(MAX_BYTES);
    let document: Value = body.read_json().map_err(failed)?;
    if response.status().is_success() {
        return Ok(document);
    }
    let hint = match response.status().as_u16() {
        401 => format!(" Set {TOKEN_VARIABLE}."),
        _ => String::new(),
    };
    let detail = document["detail"].as_str().unwrap_or("unexpected response");
    Err(format!("{address}: {}{hint}", printable(detail)))
}

#[cfg(test)]
mod tests {
    use super::{block, split};
    use serde_json::json;

    #[test]
    fn studies_on_different_servers_are_distinct() {
        let run = json!({"study": 1, "repeat": 2});
        let [a, b] = ["http://a", "http://b"].map(|server| block(server, &run));
        assert!(a.is_some() && a != b);
        assert_eq!(a, block("http://a", &run));
        assert_eq!(block("http://a", &json!({"study": null})), None);
    }

    #[test]
    fn page_and_api_urls_are_accepted() {
        for (address, expected) in [
            ("http://h:7070/runs/12", Some(("http://h:7070", "runs", 12))),
            (
                "http://h/api/v1/studies/3/",
                Some(("http://h", "studies", 3)),
            ),
            (
                "https://h/leadline/runs/1",
                Some(("https://h/leadline", "runs", 1)),
            ),
            ("http://h:7070", None),
            ("http://h:7070/compare/1", None),
            ("http://h:7070/runs/x", None),
        ] {
            assert_eq!(split(address), expected, "{address}");
        }
    }
}
