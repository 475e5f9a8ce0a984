//! Devices that are slow or return errors, and stopped runs.

use super::*;

/// Every I/O takes this long, which is slow but not a stall.
pub(super) fn slow(case: &str, ms: u64, changes: Value, depth: u64) {
    let (part_number, part) = part();
    let device = Mapped::new(
        &format!("slow{part_number}"),
        PART_BYTES,
        &format!("delay {part} {ms}"),
    );
    let job = job(
        device.node.as_ref(),
        with(&changes, json!({"runtime": "7s"})),
    );
    let outcome = Run::start(&job, &[]).finish(|| ());
    let read = &outcome.report()["read"];
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    let delay = ms as f64 / 1e3;
    let latency = &read["lat_ns"];
    claims.within(
        "min",
        number(&latency["min"]) / 1e9,
        delay - TICK..=delay + LATE,
    );
    claims.within(
        "max",
        number(&latency["max"]) / 1e9,
        delay - TICK..=delay + EARLY,
    );
    let rounds = (7.0 / (delay + 0.06)).floor()..=(7.0 / delay).ceil();
    let depth = depth as f64;
    claims.within(
        "completed",
        number(&read["ios"]),
        rounds.start() * depth..=rounds.end() * depth,
    );
}

/// Writes take 1.2 s, but reads do not: I/Os complete continuously until a write occupies every
/// slot.
pub(super) fn slow_writes(case: &str) {
    let (part_number, part) = part();
    let device = ext4_on(part_number, &part);
    device.top.suspend(&[]);
    device
        .top
        .load(&format!("delay {part} {HEALTHY_MS} {part} 1200"));
    device.top.resume();
    let changes = json!({"rw": "randrw", "iodepth": 8, "runtime": "7s"});
    let outcome = Run::start(&job(&device.path(), changes), &[]).finish(|| ());
    device.top.load(&device.healthy_table);
    device.top.suspend(&[]);
    device.top.resume();
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    let write = &outcome.report()["write"]["lat_ns"];
    claims.within("min", number(&write["min"]) / 1e9, 1.2 - TICK..=1.2 + LATE);
    let read = &outcome.report()["read"]["lat_ns"];
    claims.within("slowest read", number(&read["max"]) / 1e9, 0.01..=0.5);
}

pub(super) const BAD_OFFSET: u64 = 8 << 20;

/// One block of the device fails. The error must identify the I/O that includes it.
pub(super) fn bad_block(case: &str, bs: &str, changes: Value) {
    let device = raw();
    let sectors = |bytes: u64| bytes / SECTOR_BYTES;
    // Inside a 256 KiB I/O.
    let offset = BAD_OFFSET + if bs == "4k" { 0 } else { 128 << 10 };
    let after = offset + 4096;
    let linear = device.healthy_table.trim_end_matches(" 0");
    let (first, rest) = (sectors(offset), sectors(PART_BYTES - after));
    device.top.suspend(&[]);
    device.top.load_table(&format!(
        "0 {first} {linear} 0\n{first} 8 error\n{} {rest} {linear} {}",
        sectors(after),
        sectors(after)
    ));
    device.top.resume();
    let plain = json!({"rw": "read", "bs": bs, "time_based": 0, "offset": BAD_OFFSET - (256 << 10), "size": "1m"});
    let outcome = Run::start(&read(with(&plain, changes))(&device), &[]).finish(|| ());
    let mut claims = Claims::about(case, &outcome);
    claim_error(&mut claims, &outcome, "read");
    let error = &outcome.report()["errors"]["first"];
    claims.equal("offset", error["offset"].as_u64(), Some(BAD_OFFSET));
}

pub(super) fn claim_error(claims: &mut Claims, outcome: &Outcome, operation: &str) {
    claims.equal("exit code", outcome.code, Some(1));
    claims.equal("finding", outcome.finding("io_errors"), Some("serious"));
    let error = &outcome.report()["errors"]["first"];
    claims.equal("errno", error["errno"].as_u64(), Some(5));
    claims.equal("operation", error["operation"].as_str(), Some(operation));
    let offset = number(&error["offset"]);
    claims.within("offset", offset, 0.0..=(LENGTH - 4096) as f64);
    claims.equal("remainder of the offset", offset % 4096.0, 0.0);
    let message = error["message"].as_str().unwrap_or_default();
    claims.holds("error reported", message.contains("Input/output error"));
}

/// The table is replaced with dm-error during the run.
pub(super) fn dies(case: &str, device: &Device, job: Job, operation: &str) {
    let run = start(&job(device), "20s");
    device.top.load("error");
    device.top.suspend(NEITHER);
    device.top.resume();
    let died = Instant::now();
    let outcome = run.finish(|| ());
    let waited = (outcome.reported_at() - died).as_secs_f64();
    // Restore the table before the filesystem is unmounted.
    device.top.load(&device.healthy_table);
    device.top.suspend(NEITHER);
    device.top.resume();
    let mut claims = Claims::about(case, &outcome);
    claims.within("seconds until the report", waited, -2.0..=3.0);
    claim_error(&mut claims, &outcome, operation);
}

/// SIGTERM during a hang: a complete report must follow within 1 s.
pub(super) fn stop(case: &str, device: &Device, options: &[&str], job: Job) {
    let run = start(&job(device), "30s");
    let suspended = Suspended::new(&device.top, options);
    let at = SystemTime::now();
    sleep(Duration::from_millis(2000));
    let stopped = run.signal("TERM");
    let outcome = run.finish(|| drop(suspended));
    let from = seconds(&outcome, at);
    let waited = (outcome.reported_at() - stopped).as_secs_f64();
    let window = number(&outcome.report()["duration_ms"]) / 1e3;
    let mut claims = Claims::about(case, &outcome);
    claims.within("seconds until the report", waited, 0.0..=1.0);
    claims.equal("exit code", outcome.code, Some(143));
    claims.equal("stalled", outcome.finding("stalled"), Some("serious"));
    claims.one_stall(0, from..window, window);
    let report = outcome.report();
    let is_sync = number(&report["sync"]["unfinished"]["ios"]) > 0.0;
    let stats = if is_sync {
        &report["sync"]
    } else {
        busier_direction(report)
    };
    unfinished(&mut claims, stats, &(1..=32), window - from);
}
