//! Finds numbers of a direction that contradict each other. fio does not print such documents.

use super::error::ResultError;
use serde_json::Value;

/// Largest difference between the IOPS and those computed from the number of I/Os and the runtime,
/// apart from rounding of the runtime to ms.
const MAX_DIFFERENCE: f64 = 0.05;
const LATENCIES: [&str; 3] = ["slat_ns", "clat_ns", "lat_ns"];

/// `in_flight`: I/Os that the jobs may have in flight at once. fio counts I/Os when they are
/// submitted, and latencies when they complete, so that those in flight at the end of the ramp are
/// only among the latencies.
pub(super) fn check(path: &str, direction: &Value, in_flight: u64) -> Result<(), ResultError> {
    let invalid =
        |field: &str, detail: String| Err(ResultError::invalid(format!("{path}.{field}"), detail));
    let number = |field: &str| direction[field].as_f64();
    let (Some(ios), Some(iops)) = (number("total_ios"), number("iops")) else {
        return Ok(());
    };
    if ios == 0.0 && iops > 0.0 {
        return invalid("total_ios", format!("is 0, but iops is {iops}"));
    }
    if let Some(runtime_ms) = number("runtime").filter(|runtime| *runtime > 0.0) {
        let least = 1000.0 * ios / (runtime_ms + 1.0) * (1.0 - MAX_DIFFERENCE);
        let most = match runtime_ms {
            1.0 => f64::INFINITY,
            _ => 1000.0 * ios / (runtime_ms - 1.0) * (1.0 + MAX_DIFFERENCE),
        };
        if !(least..=most).contains(&iops) {
            let detail = format!(
                "is {iops}, but {ios} I/Os in {runtime_ms} ms are {:.1} per second",
                1000.0 * ios / runtime_ms
            );
            return invalid("iops", detail);
        }
    }
    for name in LATENCIES {
        let latency = &direction[name];
        let count = latency["N"].as_f64().unwrap_or(0.0);
        if count > ios + in_flight as f64 {
            let detail = format!("is {count}, but total_ios is {ios}");
            return invalid(&format!("{name}.N"), detail);
        }
        check_percentiles(&format!("{path}.{name}"), &latency["percentile"])?;
    }
    Ok(())
}

fn check_percentiles(path: &str, percentiles: &Value) -> Result<(), ResultError> {
    let printed = percentiles.as_object().into_iter().flatten();
    let mut sorted: Vec<(f64, u64, &str)> = printed
        .filter_map(|(percent, ns)| Some((percent.parse().ok()?, ns.as_u64()?, percent.as_str())))
        .collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    for pair in sorted.windows(2) {
        let [(_, lower, below), (_, upper, percent)] = [pair[0], pair[1]];
        if upper < lower {
            let field = format!("{path}.percentile.{percent}");
            let detail = format!("is below that of {below} % ({upper} < {lower})");
            return Err(ResultError::invalid(field, detail));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A direction as fio 3.33 prints it: 2,048 I/Os in 178 ms.
    fn direction(changes: &Value) -> Value {
        let latency = json!({"min": 1, "max": 9, "mean": 4.0, "N": 2048,
            "percentile": {"1.000000": 100, "50.000000": 200, "99.000000": 300, "99.900000": 300}});
        let mut read = json!({"total_ios": 2048, "io_bytes": 8_388_608, "iops": 11_505.617_978,
            "runtime": 178, "clat_ns": latency, "lat_ns": latency, "slat_ns": {"N": 0}});
        for (field, value) in changes.as_object().unwrap() {
            *read.pointer_mut(&format!("/{field}")).unwrap() = value.clone();
        }
        read
    }

    #[track_caller]
    fn assert_rejected(changes: Value, expected: &str) {
        let error = check("jobs[0].read", &direction(&changes), 1).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }

    #[test]
    fn contradictions_are_rejected() {
        assert_rejected(
            json!({"total_ios": 0}),
            "jobs[0].read.total_ios is 0, but iops is 11505.6",
        );
        for iops in [1_150_561.8, 12_200.0, 10_700.0, 0.0] {
            assert_rejected(json!({"iops": iops}), "jobs[0].read.iops is");
        }
        assert_rejected(
            json!({"lat_ns/percentile/99.000000": 1}),
            "jobs[0].read.lat_ns.percentile.99.000000 is below that of 50.000000 % (1 < 200)",
        );
        assert_rejected(
            json!({"clat_ns/N": 2050}),
            "jobs[0].read.clat_ns.N is 2050, but total_ios is 2048",
        );
    }

    #[test]
    fn rounding_and_ios_in_flight_are_not_contradictions() {
        for changes in [
            json!({}),
            json!({"iops": 11_900.0}),
            json!({"clat_ns/N": 2049}),
            json!({"lat_ns/N": 5}),
            json!({"runtime": 1, "iops": 5e6}),
            json!({"runtime": 0, "iops": 0}),
            // One was in flight at the end of the ramp, and none was submitted afterward.
            json!({"total_ios": 0, "io_bytes": 4096, "iops": 0, "clat_ns/N": 1, "lat_ns/N": 1}),
            json!({"total_ios": 0, "io_bytes": 0, "iops": 0, "runtime": 0, "clat_ns/N": 0, "lat_ns/N": 0}),
        ] {
            assert_eq!(check("read", &direction(&changes), 1), Ok(()), "{changes}");
        }
    }
}
