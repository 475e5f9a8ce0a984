//! Detects contradictory numbers in a direction, which fio never prints.

use super::{document::runtime_ms, error::ResultError};
use serde_json::Value;

/// Maximum relative difference between related values, such as a rate and a count, in addition to
/// the rounding of the runtime to ms.
const MAX_DIFFERENCE: f64 = 0.05;
/// fio prints the midpoints of bins, which are up to 0.8 % above the latencies in a bin.
const MAX_BIN_ERROR: f64 = 0.01;
/// Maximum time in ns between the end of the submission and the start of the completion latency.
const MAX_LATENCY_GAP_NS: f64 = 2_000.0;
const LATENCIES: [&str; 3] = ["slat_ns", "clat_ns", "lat_ns"];

/// Bounds on the counts of a job that follow from its options.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    /// I/Os that the jobs may have in flight at once. fio counts I/Os when they are submitted, and
    /// latencies when they complete, so I/Os in flight at the end of the ramp appear only in the
    /// latencies.
    pub(super) in_flight: u64,
    /// Size of all I/Os in bytes; `None` if it is unknown or not constant.
    pub(super) block: Option<u64>,
}

pub(super) fn check(path: &str, direction: &Value, expected: Expected) -> Result<(), ResultError> {
    let number = |field: &str| direction[field].as_f64();
    let (Some(ios), Some(iops)) = (number("total_ios"), number("iops")) else {
        return Ok(());
    };
    if ios == 0.0 && iops > 0.0 {
        let detail = format!("is 0, but iops is {iops}");
        return Err(ResultError::invalid(format!("{path}.total_ios"), detail));
    }
    check_bytes(path, direction, expected)?;
    if ios > 0.0 && direction["runtime"].is_null() {
        return Err(ResultError::invalid(
            format!("{path}.runtime"),
            "is missing",
        ));
    }
    if let Some(runtime_ms) = number("runtime") {
        check_rate(&format!("{path}.iops"), iops, (ios, "I/Os"), runtime_ms)?;
        if let (Some(bytes), Some(rate)) = (number("io_bytes"), number("bw_bytes")) {
            check_kib(path, direction, rate)?;
            check_rate(
                &format!("{path}.bw_bytes"),
                rate,
                (bytes, "bytes"),
                runtime_ms,
            )?;
        }
    }
    check_sum_of_latencies(path, direction)?;
    for name in LATENCIES {
        let latency = &direction[name];
        let count = latency["N"].as_f64().unwrap_or(0.0);
        if count > ios + expected.in_flight as f64 {
            let detail = format!("is {count}, but total_ios is {ios}");
            return Err(ResultError::invalid(format!("{path}.{name}.N"), detail));
        }
        check_latency(&format!("{path}.{name}"), latency)?;
    }
    Ok(())
}

/// fio prints the bandwidth in KiB/s and in bytes/s.
fn check_kib(path: &str, direction: &Value, rate: f64) -> Result<(), ResultError> {
    let Some(kib) = direction["bw"].as_f64() else {
        return Ok(());
    };
    if (kib * 1024.0 - rate).abs() <= 1024.0 + MAX_DIFFERENCE * rate {
        return Ok(());
    }
    let detail = format!("is {kib} KiB/s, but bw_bytes is {rate}");
    Err(ResultError::invalid(format!("{path}.bw"), detail))
}

/// The mean latency is the sum of the mean submission and completion latencies if fio measured all
/// three for the same I/Os.
fn check_sum_of_latencies(path: &str, direction: &Value) -> Result<(), ResultError> {
    let stats = LATENCIES.map(|name| {
        let latency = &direction[name];
        Some((latency["N"].as_u64()?, latency["mean"].as_f64()?))
    });
    let [
        Some((submitted, slat)),
        Some((completed, clat)),
        Some((all, lat)),
    ] = stats
    else {
        return Ok(());
    };
    if all == 0 || submitted != all || completed != all {
        return Ok(());
    }
    let sum = slat + clat;
    if (lat - sum).abs() <= MAX_DIFFERENCE * sum + MAX_LATENCY_GAP_NS {
        return Ok(());
    }
    let detail = format!("is {lat}, but the means of slat_ns and clat_ns add up to {sum}");
    Err(ResultError::invalid(format!("{path}.lat_ns.mean"), detail))
}

/// `job_runtime` must not be much shorter than the measurement. It may be longer, because with
/// `group_reporting`, fio adds the times of all jobs.
pub(super) fn check_runtime(path: &str, job: &Value) -> Result<(), ResultError> {
    let (Some(sum), longest) = (job["job_runtime"].as_u64(), runtime_ms(job)) else {
        return Ok(());
    };
    if sum as f64 * (1.0 + MAX_DIFFERENCE) + 100.0 >= longest as f64 {
        return Ok(());
    }
    let detail = format!("is {sum} ms, but the job ran for {longest} ms");
    Err(ResultError::invalid(format!("{path}.job_runtime"), detail))
}

/// Compares a rate with a count of I/Os or bytes. Without a runtime, the rate must be 0.
fn check_rate(
    field: &str,
    rate: f64,
    (count, unit): (f64, &str),
    runtime_ms: f64,
) -> Result<(), ResultError> {
    let least = 1000.0 * count / (runtime_ms + 1.0) * (1.0 - MAX_DIFFERENCE);
    let most = 1000.0 * count / (runtime_ms - 1.0) * (1.0 + MAX_DIFFERENCE);
    let is_possible = match runtime_ms {
        0.0 => rate == 0.0,
        1.0 => rate >= least,
        // fio rounds bandwidths to bytes per second.
        _ => (least - 1.0..=most + 1.0).contains(&rate),
    };
    if is_possible {
        return Ok(());
    }
    let detail = match runtime_ms {
        0.0 => format!("is {rate}, but runtime is 0"),
        _ => format!(
            "is {rate}, but {count} {unit} in {runtime_ms} ms are {:.1} per second",
            1000.0 * count / runtime_ms
        ),
    };
    Err(ResultError::invalid(field, detail))
}

fn check_bytes(path: &str, direction: &Value, expected: Expected) -> Result<(), ResultError> {
    let count = |field: &str| direction[field].as_u64();
    let Some(bytes) = count("io_bytes") else {
        return Ok(());
    };
    if let Some(kib) = count("io_kbytes").filter(|kib| *kib != bytes / 1024) {
        let detail = format!("is {kib}, but io_bytes is {bytes}");
        return Err(ResultError::invalid(format!("{path}.io_kbytes"), detail));
    }
    let is_partial = ["short_ios", "drop_ios"]
        .iter()
        .any(|name| count(name).unwrap_or(0) > 0);
    let (Some(ios), Some(block), false) = (count("total_ios"), expected.block, is_partial) else {
        return Ok(());
    };
    let expected_bytes = ios as f64 * block as f64;
    let tolerated = expected.in_flight as f64 * block as f64 + MAX_DIFFERENCE * expected_bytes;
    if (bytes as f64 - expected_bytes).abs() <= tolerated {
        return Ok(());
    }
    let detail = format!("is {bytes}, but {ios} I/Os of {block} bytes are {expected_bytes}");
    Err(ResultError::invalid(format!("{path}.io_bytes"), detail))
}

fn check_latency(path: &str, latency: &Value) -> Result<(), ResultError> {
    check_percentiles(path, &latency["percentile"])?;
    let number = |field: &str| latency[field].as_f64();
    let (Some(min), Some(max)) = (number("min"), number("max")) else {
        return Ok(());
    };
    if number("N") == Some(0.0) {
        return match number("mean").filter(|mean| *mean > 0.0) {
            Some(mean) => {
                let detail = format!("is 0, but mean is {mean}");
                Err(ResultError::invalid(format!("{path}.N"), detail))
            }
            None => Ok(()),
        };
    }
    if let Some(mean) = number("mean").filter(|mean| !(min - 1.0..=max + 1.0).contains(mean)) {
        let detail = format!("is {mean}, but min is {min} and max is {max}");
        return Err(ResultError::invalid(format!("{path}.mean"), detail));
    }
    let percentiles = latency["percentile"].as_object().into_iter().flatten();
    for (percent, ns) in percentiles {
        let ns = ns.as_f64().unwrap_or(0.0);
        let is_zero = percent.parse::<f64>().is_ok_and(|percent| percent == 0.0);
        if ns < min * (1.0 - MAX_BIN_ERROR) - 1.0 && !is_zero {
            let detail = format!("is {ns}, but min is {min}");
            return Err(ResultError::invalid(
                format!("{path}.percentile.{percent}"),
                detail,
            ));
        }
        if ns > max * (1.0 + MAX_BIN_ERROR) + 1.0 {
            let detail = format!("is {ns}, but max is {max}");
            return Err(ResultError::invalid(
                format!("{path}.percentile.{percent}"),
                detail,
            ));
        }
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
            let detail = format!("is below percentile {below} ({upper} < {lower})");
            return Err(ResultError::invalid(field, detail));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const EXPECTED: Expected = Expected {
        in_flight: 1,
        block: Some(4096),
    };

    /// A direction as fio 3.33 prints it: 2,048 I/Os in 178 ms.
    fn direction(changes: &Value) -> Value {
        let latency = json!({"min": 1, "max": 9, "mean": 4.0, "N": 2048,
            "percentile": {"1.000000": 1, "50.000000": 4, "99.000000": 9, "99.900000": 9}});
        let mut read = json!({"total_ios": 2048, "io_bytes": 8_388_608, "iops": 11_505.617_978,
            "io_kbytes": 8192, "bw_bytes": 47_127_011, "bw": 46_022, "runtime": 178, "clat_ns": latency, "lat_ns": latency, "slat_ns": {"N": 0}});
        for (field, value) in changes.as_object().unwrap() {
            *read.pointer_mut(&format!("/{field}")).unwrap() = value.clone();
        }
        read
    }

    #[track_caller]
    fn assert_rejected(changes: Value, expected: &str) {
        let error = check("jobs[0].read", &direction(&changes), EXPECTED).unwrap_err();
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
            "jobs[0].read.lat_ns.percentile.99.000000 is below percentile 50.000000 (1 < 4)",
        );
        for (changes, expected) in [
            (
                json!({"bw_bytes": 94_254_022, "bw": 92_044}),
                "jobs[0].read.bw_bytes is",
            ),
            (
                json!({"io_kbytes": 16_384}),
                "jobs[0].read.io_kbytes is 16384",
            ),
            (
                json!({"io_bytes": 16_777_216, "io_kbytes": 16_384}),
                "jobs[0].read.io_bytes is",
            ),
            (
                json!({"total_ios": 4096, "iops": 23_011.2}),
                "jobs[0].read.io_bytes is",
            ),
            (
                json!({"runtime": 0}),
                "jobs[0].read.iops is 11505.617978, but runtime is 0",
            ),
            (
                json!({"clat_ns/mean": 100.0}),
                "jobs[0].read.clat_ns.mean is 100",
            ),
            (
                json!({"clat_ns/mean": 0.0, "clat_ns/min": 3}),
                "jobs[0].read.clat_ns.mean is 0",
            ),
            (json!({"runtime": null}), "jobs[0].read.runtime is missing"),
            (json!({"bw": 94_000}), "jobs[0].read.bw is 94000 KiB/s"),
            (
                json!({"clat_ns/N": 0}),
                "jobs[0].read.clat_ns.N is 0, but mean is 4",
            ),
            (
                json!({"slat_ns": {"N": 2048, "mean": 50_000.0}}),
                "jobs[0].read.lat_ns.mean is 4, but the means of slat_ns and clat_ns add up to 50004",
            ),
            (
                json!({"clat_ns/min": 3}),
                "jobs[0].read.clat_ns.percentile.1.000000 is 1, but min is 3",
            ),
            (
                json!({"clat_ns/percentile/99.900000": 100}),
                "jobs[0].read.clat_ns.percentile.99.900000 is 100, but max is 9",
            ),
        ] {
            assert_rejected(changes, expected);
        }
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
            json!({"runtime": 1, "iops": 5e6, "bw_bytes": 8_388_608_000_u64, "bw": 8_192_000}),
            json!({"runtime": 0, "iops": 0, "bw_bytes": 0, "bw": 0}),
            json!({"total_ios": 2049}),
            // One I/O was in flight at the end of the ramp, and none was submitted afterward.
            json!({"total_ios": 0, "io_bytes": 4096, "io_kbytes": 4, "bw_bytes": 23_011, "bw": 22, "iops": 0,
                "clat_ns/N": 1, "lat_ns/N": 1}),
            json!({"total_ios": 0, "io_bytes": 0, "io_kbytes": 0, "bw_bytes": 0, "bw": 0, "iops": 0, "runtime": 0,
                "clat_ns": {"N": 0}, "lat_ns": {"N": 0}}),
        ] {
            assert_eq!(
                check("read", &direction(&changes), EXPECTED),
                Ok(()),
                "{changes}"
            );
        }
    }

    #[test]
    fn job_runtime_is_at_least_the_runtime_of_its_directions() {
        let job = |sum: u64| json!({"job_runtime": sum, "read": {"runtime": 2000}});
        assert_eq!(check_runtime("jobs[0]", &job(4000)), Ok(()));
        assert_eq!(check_runtime("jobs[0]", &job(1990)), Ok(()));
        assert!(check_runtime("jobs[0]", &job(1)).is_err());
    }
}
