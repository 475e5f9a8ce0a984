//! Parses a test and its base job.

use crate::{
    limits::MAX_STEPS,
    problem::object_reader::ObjectReader,
    study::snia::{
        DEFAULT_CELL_SECONDS, DEFAULT_MAX_ROUNDS, DEFAULT_SATURATION_SECONDS, MAX_CELL_SECONDS,
        MIN_ROUNDS, SniaPurge, SniaTest, SniaTestDefinition, SniaTestName,
    },
    units,
};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

const FIELD: &str = "snia";
const REMEDY: &str = "Use {\"test\":\"iops\",\"class\":\"enterprise\"}.";
const CELL_SECONDS: RangeInclusive<u32> = 1..=3600;
const SATURATION_SECONDS: RangeInclusive<u32> = 1..=MAX_CELL_SECONDS;
/// Maximum number of block sizes. Each one is a separate job, and a run has at most 64 jobs.
const MAX_BLOCKS: usize = 16;
const MAX_NOTE: usize = 1000;

/// Options of the base job. The test sets all others.
const BASE_OPTIONS: &[&str] = &[
    "name",
    "filename",
    "directory",
    "loop_device",
    "loop",
    "size",
    "offset",
    "unlink",
    "direct",
    "ioengine",
    "ioengine_fallback",
    "iodepth",
    "numjobs",
    "fixedbufs",
    "hipri",
    "sqthread_poll",
    "spin",
    "mem",
    "iomem",
    "zero_buffers",
    "scramble_buffers",
    "refill_buffers",
    "buffer_compress_percentage",
    "dedupe_percentage",
    "cpus_allowed",
    "nice",
    "probes",
];

/// Returns `None` if there is no test or it is invalid.
pub(crate) fn parse_test(reader: &mut ObjectReader) -> Option<SniaTest> {
    let definition: SniaTestDefinition = match serde_json::from_value(reader.take(FIELD)?) {
        Ok(definition) => definition,
        Err(error) => {
            let detail = format!("snia is not a test: {error}.");
            reader.reject("bad_value", FIELD, detail, REMEDY);
            return None;
        }
    };
    let name = definition.test;
    let is_saturation = name == SniaTestName::WriteSaturation;
    let (seconds, default_seconds) = if is_saturation {
        (SATURATION_SECONDS, DEFAULT_SATURATION_SECONDS)
    } else {
        (CELL_SECONDS, DEFAULT_CELL_SECONDS)
    };
    let rounds = MIN_ROUNDS..=DEFAULT_MAX_ROUNDS;
    let test = SniaTest {
        test: name,
        class: definition.class,
        purge: definition.purge.unwrap_or_default(),
        purge_note: definition.purge_note.clone(),
        cell_seconds: number(
            reader,
            "cell_seconds",
            definition.cell_seconds.unwrap_or(default_seconds),
            &seconds,
        )?,
        max_rounds: number(
            reader,
            "max_rounds",
            definition.max_rounds.unwrap_or(DEFAULT_MAX_ROUNDS),
            &rounds,
        )?,
        mixes: parse_mixes(reader, &definition)?,
        blocks: parse_blocks(reader, &definition)?,
    };
    check_purge_note(reader, &test)?;
    let runs = test.runs().len();
    if runs > MAX_STEPS {
        let detail = format!("The test has up to {runs} runs.");
        let remedy = format!("Use fewer mixes or rounds: at most {MAX_STEPS} runs.");
        reader.reject("step_count", FIELD, detail, remedy);
        return None;
    }
    Some(test)
}

fn number(
    reader: &mut ObjectReader,
    name: &str,
    value: u32,
    allowed: &RangeInclusive<u32>,
) -> Option<u32> {
    if allowed.contains(&value) {
        return Some(value);
    }
    let (least, most) = (allowed.start(), allowed.end());
    let detail = format!("{name} must be between {least} and {most}.");
    let remedy = format!("Use a number from {least} to {most}.");
    reader.reject("out_of_range", &format!("{FIELD}.{name}"), detail, remedy);
    None
}

fn check_purge_note(reader: &mut ObjectReader, test: &SniaTest) -> Option<()> {
    let note = test.purge_note.as_deref().unwrap_or_default();
    let is_needed = test.purge == SniaPurge::Operator;
    if note.len() > MAX_NOTE || is_needed == note.trim().is_empty() {
        let detail = "purge_note is required with purge=operator, and not allowed otherwise.";
        let remedy = "Specify the method and time, such as \"nvme format -s1 at 10:15\".";
        reader.reject("bad_value", "snia.purge_note", detail, remedy);
        return None;
    }
    Some(())
}

fn parse_mixes(reader: &mut ObjectReader, definition: &SniaTestDefinition) -> Option<Vec<u8>> {
    let Some(mixes) = &definition.mixes else {
        return Some(definition.test.default_mixes().to_vec());
    };
    let is_saturation = definition.test == SniaTestName::WriteSaturation;
    let is_valid = !mixes.is_empty()
        && mixes.iter().all(|mix| *mix <= 100)
        && is_distinct(mixes)
        && (!is_saturation || mixes == &[0]);
    if !is_valid {
        let detail = "mixes must be distinct read percentages.";
        let remedy = format!("Use {:?}.", definition.test.default_mixes());
        reader.reject("bad_value", "snia.mixes", detail, remedy);
    }
    is_valid.then(|| mixes.clone())
}

fn parse_blocks(reader: &mut ObjectReader, definition: &SniaTestDefinition) -> Option<Vec<u64>> {
    let Some(texts) = &definition.blocks else {
        return Some(definition.test.default_blocks().to_vec());
    };
    let sizes: Option<Vec<u64>> = texts.iter().map(|text| units::bytes(text).ok()).collect();
    let most = match definition.test {
        SniaTestName::Iops | SniaTestName::Latency => MAX_BLOCKS,
        SniaTestName::Throughput | SniaTestName::WriteSaturation => 1,
    };
    let sizes = sizes.filter(|sizes| {
        (1..=most).contains(&sizes.len())
            && sizes.iter().all(|size| (512..=1 << 30).contains(size))
            && is_distinct(sizes)
    });
    if sizes.is_none() {
        let detail = format!("blocks must be 1 to {most} distinct sizes.");
        let remedy = "Use sizes from 512 to 1g, such as [\"128k\",\"4k\"].";
        reader.reject("bad_value", "snia.blocks", detail, remedy);
    }
    sizes
}

fn is_distinct<T: PartialEq>(values: &[T]) -> bool {
    let mut indexed = values.iter().enumerate();
    indexed.all(|(index, value)| !values[..index].contains(value))
}

/// The base job. Returns `None` if the study does not have exactly one step with one job, or if the
/// job has options that the test sets.
pub(crate) fn parse_base_job(
    reader: &mut ObjectReader,
    test: &SniaTest,
    steps: &[Value],
) -> Option<Map<String, Value>> {
    let jobs = match steps {
        [step] => step["jobs"].as_array().map(Vec::as_slice),
        _ => None,
    };
    let Some([Value::Object(base)]) = jobs else {
        let detail = "A test requires one step with one job, which defines its target.";
        let remedy = "Use \"steps\":[{\"jobs\":[{\"filename\":\"/dev/nvme0n1\",\"direct\":1}]}].";
        reader.reject("step_count", "steps", detail, remedy);
        return None;
    };
    // Without `filename`, each job would create its own file.
    if !base.contains_key("filename") {
        let detail = "The test requires a file or device.";
        reader.reject(
            "missing",
            "steps[0].jobs[0].filename",
            detail,
            "Set filename.",
        );
    }
    for option in base.keys() {
        if !BASE_OPTIONS.contains(&option.as_str()) {
            let field = format!("steps[0].jobs[0].{option}");
            let detail = format!("The test sets {option} or does not use it.");
            reader.reject("conflicting_options", &field, detail, "Remove it.");
        }
    }
    let has_depth = |name: &str| {
        base.get(name)
            .is_some_and(|value| value != 1 && value != "1")
    };
    if test.test == SniaTestName::Latency && (has_depth("iodepth") || has_depth("numjobs")) {
        let detail = "The latency test has one I/O in flight.";
        let remedy = "Use numjobs=1 and iodepth=1.";
        reader.reject(
            "conflicting_options",
            "steps[0].jobs[0].iodepth",
            detail,
            remedy,
        );
    }
    (!reader.has_problems()).then(|| base.clone())
}

#[cfg(test)]
mod tests {
    use crate::study::{
        parse::parse_study,
        procedure::Procedure,
        snia::{SniaRun, SniaTest},
        spec::StudySpec,
    };
    use serde_json::{Value, json};

    fn study(snia: Value, changes: Value) -> Value {
        let mut job = json!({"filename": "/dev/d", "size": "100%", "direct": 1});
        let changes = changes.as_object().unwrap().clone();
        job.as_object_mut().unwrap().extend(changes);
        json!({"snia": snia, "steps": [{"jobs": [job]}]})
    }

    fn parsed(snia: Value, changes: Value) -> (SniaTest, StudySpec) {
        let spec = parse_study(study(snia, changes)).unwrap();
        let Some(Procedure::Snia(test)) = spec.procedure.clone() else {
            panic!("no test");
        };
        (test, spec)
    }

    #[test]
    fn iops_test_has_the_specified_steps() {
        let snia = json!({"test": "iops", "class": "enterprise", "purge": "discard"});
        let (test, spec) = parsed(snia, json!({"iodepth": 32, "numjobs": 4}));
        assert_eq!(spec.steps.len(), 2 + 25 * 7);
        assert_eq!(test.runs().len(), spec.steps.len());
        assert_eq!(spec.steps[0].jobs[0]["rw"], "trim");
        let precondition = &spec.steps[1].jobs[0];
        assert_eq!(
            json!([
                precondition["rw"],
                precondition["bs"],
                precondition["loops"]
            ]),
            json!(["write", "128k", 2])
        );
        assert_eq!(
            json!([precondition["numjobs"], precondition["iodepth"]]),
            json!([1, 128])
        );
        // Each run has one mix. Its jobs have one block size each, and start one after another.
        let cell = &spec.steps[2 + 2].jobs[1];
        assert_eq!(
            json!([
                cell["rw"],
                cell["rwmixread"],
                cell["bs"],
                cell["startdelay"]
            ]),
            json!(["randrw", 65, "128k", 60])
        );
        assert_eq!(spec.steps[2].jobs.len(), 8);
        assert_eq!(spec.steps[2 + 6].jobs[7]["bs"], "512");
        // Each round uses different random offsets.
        let seed = |step: usize| spec.steps[step].jobs[0]["randseed"].clone();
        assert_ne!(seed(2), seed(2 + 7));
        assert_eq!(test.runs()[2 + 7], SniaRun::Round { round: 2, mix: 0 });
    }

    #[test]
    fn other_tests_have_the_specified_steps() {
        let snia = |test| json!({"test": test, "class": "client"});
        let (_, latency) = parsed(snia("latency"), json!({}));
        assert_eq!(latency.steps.len(), 1 + 25 * 3);
        let (_, throughput) = parsed(snia("throughput"), json!({}));
        assert_eq!(throughput.steps[0].jobs[0]["bs"], "1m");
        assert_eq!(throughput.steps[1].jobs[0]["rw"], "read");
        let (_, saturation) = parsed(snia("write_saturation"), json!({}));
        let job = &saturation.steps[0].jobs[0];
        assert_eq!(saturation.steps.len(), 1);
        assert_eq!(json!([job["loops"], job["runtime"]]), json!([4, 21_600]));
    }

    #[test]
    fn only_the_last_run_removes_the_file() {
        let snia = json!({"test": "latency", "class": "client", "max_rounds": 5});
        let (_, spec) = parsed(snia, json!({"unlink": 1}));
        let last = spec.steps.len() - 1;
        for (index, step) in spec.steps.iter().enumerate() {
            assert_eq!(step.jobs[0].get("unlink").is_some(), index == last);
        }
    }

    #[test]
    fn rejects_invalid_tests() {
        let check = |snia: Value, job: Value, field: &str| {
            let problems = parse_study(study(snia.clone(), job)).unwrap_err();
            assert_eq!(problems[0].field.as_deref(), Some(field), "{snia}");
        };
        let none = || json!({});
        check(json!({"test": "iops"}), none(), "snia");
        let with = |changes: Value| {
            let mut snia = json!({"test": "iops", "class": "client"});
            snia.as_object_mut()
                .unwrap()
                .extend(changes.as_object().unwrap().clone());
            snia
        };
        check(with(json!({"max_rounds": 4})), none(), "snia.max_rounds");
        check(
            with(json!({"cell_seconds": 0})),
            none(),
            "snia.cell_seconds",
        );
        check(with(json!({"mixes": [101]})), none(), "snia.mixes");
        check(with(json!({"blocks": ["4k", "4k"]})), none(), "snia.blocks");
        check(
            with(json!({"purge": "operator"})),
            none(),
            "snia.purge_note",
        );
        check(
            with(json!({"mixes": (0..=40).collect::<Vec<u8>>()})),
            none(),
            "snia",
        );
        check(with(none()), json!({"rw": "read"}), "steps[0].jobs[0].rw");
        let latency = json!({"test": "latency", "class": "client"});
        check(latency, json!({"iodepth": 2}), "steps[0].jobs[0].iodepth");
        let mut repeated = study(with(none()), none());
        repeated["repeats"] = 2.into();
        repeated["sweep"] = json!([{"option": "iodepth", "values": [1]}]);
        assert!(parse_study(repeated).is_err());
    }
}
