//! Global options of multiple clients (`--client`): fio 3.40 and newer print one object per client.

use serde_json::{Map, Value};
use std::borrow::Cow;

/// The fields that identify a client. All other fields are options.
const CLIENT: [&str; 2] = ["hostname", "port"];

/// Moves each client's global options into the options of its jobs. Options of a job override them.
pub(super) fn merge_client_options(document: &Value) -> Cow<'_, Value> {
    let Some(clients) = document["global options"].as_array() else {
        return Cow::Borrowed(document);
    };
    let mut merged = document.clone();
    let jobs = merged["client_stats"].as_array_mut().into_iter().flatten();
    for job in jobs {
        let is_of_job = |client: &&Value| CLIENT.iter().all(|field| client[*field] == job[*field]);
        let Some(global) = clients
            .iter()
            .find(is_of_job)
            .and_then(Value::as_object)
            .map(options)
        else {
            continue;
        };
        if let Some(own) = job["job options"].as_object_mut() {
            let overriding = std::mem::replace(own, global);
            own.extend(overriding);
        }
    }
    merged["global options"] = Value::Null;
    Cow::Owned(merged)
}

fn options(client: &Map<String, Value>) -> Map<String, Value> {
    let options = client.iter();
    options
        .filter(|(name, _)| !CLIENT.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn jobs_get_the_global_options_of_their_client() {
        let client = |port: u32, changes: Value| {
            let mut client = json!({"hostname": "a", "port": port});
            client
                .as_object_mut()
                .unwrap()
                .extend(changes.as_object().unwrap().clone());
            client
        };
        let document = json!({
            "global options": [client(1, json!({"bs": "4k", "rw": "read"})), client(2, json!({"bs": "8k"}))],
            "client_stats": [
                client(1, json!({"job options": {"rw": "write"}})),
                client(2, json!({"job options": {}})),
                {"jobname": "All clients"},
            ],
        });
        let merged = merge_client_options(&document);
        let jobs = &merged["client_stats"];
        assert_eq!(jobs[0]["job options"], json!({"bs": "4k", "rw": "write"}));
        assert_eq!(jobs[1]["job options"], json!({"bs": "8k"}));
        assert!(jobs[2]["job options"].is_null() && merged["global options"].is_null());
    }
}
