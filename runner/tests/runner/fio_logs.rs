//! Log files of `leadline-runner fio`. Their names, columns and order must match the logs that fio
//! writes with the same arguments.

use crate::scratch::fio_link::Programs;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// 100 I/Os per second per worker, for one second.
const RATE_LIMITED: &str =
    "--size=1m --direct=0 --rate_iops=100 --time_based --runtime=1 --output-format=json";

/// Lines of all logs in a directory, keyed by file name.
fn logs(directory: &Path) -> BTreeMap<String, Vec<Vec<String>>> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let named = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.path()));
    let logs = named.filter(|(name, _)| name.ends_with(".log"));
    let lines = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        let cells = |line: &str| line.split(", ").map(str::to_owned).collect();
        text.lines().map(cells).collect()
    };
    logs.map(|(name, path)| (name, lines(&path))).collect()
}

/// The number of columns and the values that do not depend on time: direction, block size, offset
/// and priority or, in a histogram log, only direction and block size.
fn shape(name: &str, lines: &[Vec<String>]) -> BTreeSet<(usize, Vec<String>)> {
    let fixed = |cells: &Vec<String>| match name.contains("_hist") {
        true => cells[1..3].to_vec(),
        false => cells[2..].to_vec(),
    };
    lines
        .iter()
        .map(|cells| (cells.len(), fixed(cells)))
        .collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Runs both programs and returns fio's logs and the runner's logs.
fn both(programs: &Programs, arguments: &str, input: &str) -> Option<[Logs; 2]> {
    programs.both(&words(arguments), input)?;
    let fio = logs(&programs.directory_of(Path::new("fio")));
    Some([fio, logs(&programs.directory_of(&programs.runner))])
}

type Logs = BTreeMap<String, Vec<Vec<String>>>;

#[test]
fn logs_have_the_same_names_and_columns_as_in_fio() {
    for options in [
        "--rw=read --log_avg_msec=100 --name=a --write_bw_log=x --write_iops_log=y --numjobs=2 \
         --name=b --write_lat_log=z",
        "--rw=randrw --ioengine=libaio --log_avg_msec=100 --log_offset=1 --name=a --write_lat_log=x \
         --write_hist_log=x --log_hist_msec=200",
        "--rw=write --log_avg_msec=100 --log_prio=1 --name=a --write_bw_log=x --write_lat_log=y \
         --disable_clat=1 --write_hist_log=h",
        "--rw=read --log_avg_msec=100 --per_job_logs=0 --write_bw_log=x --name=a --name=b \
         --numjobs=2",
        "--rw=read --log_hist_msec=100 --log_hist_coarseness=3 --write_hist_log=h --name=a \
         --startdelay=100ms",
        "--rw=read --log_avg_msec=100 --gtod_reduce=1 --write_lat_log=l --write_bw_log=b --name=a",
        "--rw=read --log_avg_msec=100 --ramp_time=200ms --write_bw_log=b --bwavgtime=50 --name=a",
    ] {
        let programs = Programs::new();
        let Some([fio, runner]) = both(&programs, &format!("{RATE_LIMITED} {options}"), "") else {
            return;
        };
        let names = |logs: &Logs| logs.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&runner), names(&fio), "{options}");
        for (name, lines) in &runner {
            let (runner, fio) = (shape(name, lines), shape(name, &fio[name]));
            assert_eq!(runner, fio, "{options}: {name}");
        }
    }
}

#[test]
fn jobs_without_a_prefix_use_their_names() {
    let programs = Programs::new();
    let file = "[global]\nrw=read\nlog_avg_msec=100\nwrite_bw_log\n[first]\nwrite_lat_log\n\
        write_iops_log=own\n[second job]\n";
    let Some([fio, runner]) = both(&programs, &format!("{RATE_LIMITED} -"), file) else {
        return;
    };
    let expected = [
        "first_bw.1.log",
        "first_clat.1.log",
        "first_lat.1.log",
        "first_slat.1.log",
        "own_iops.1.log",
        "second job_bw.2.log",
    ];
    assert!(fio.keys().eq(&expected), "{:?}", fio.keys());
    assert!(runner.keys().eq(&expected), "{:?}", runner.keys());
    assert!(runner["first_slat.1.log"].is_empty() && fio["first_slat.1.log"].is_empty());
}

/// Each worker has its own log, which contains only its own I/Os, in windows of the requested
/// length.
#[test]
fn each_log_contains_the_ios_of_one_worker() {
    let programs = Programs::new();
    let options = "--rw=read --bs=8k --log_avg_msec=200 --write_iops_log=x --write_bw_log=x \
        --write_hist_log=x --log_hist_msec=200 --numjobs=2 --name=a --name=b --numjobs=1 --stonewall \
        --rate_iops=50";
    let Some([_, runner]) = both(&programs, &format!("{RATE_LIMITED} {options}"), "") else {
        return;
    };
    for (number, expected) in [(1, 100.0), (2, 100.0), (3, 50.0)] {
        let mean = |kind: &str| {
            let lines = &runner[&format!("x_{kind}.{number}.log")];
            let values = lines.iter().map(|cells| cells[1].parse::<f64>().unwrap());
            values.sum::<f64>() / lines.len() as f64
        };
        // On a busy host, a rate may be reached late, but it is never exceeded by much.
        let iops = mean("iops");
        assert!(
            iops > expected * 0.3 && iops < expected * 1.5,
            "{number}: {iops}"
        );
        let bandwidth = mean("bw");
        assert!(
            (bandwidth / iops / 8.0 - 1.0).abs() < 0.05,
            "{bandwidth} {iops}"
        );
        let histogram = &runner[&format!("x_clat_hist.{number}.log")];
        let bins = histogram.iter().flat_map(|cells| &cells[3..]);
        let ios: u64 = bins.map(|cell| cell.parse::<u64>().unwrap()).sum();
        assert!(ios as f64 <= expected * 1.5 && ios > 0, "{number}: {ios}");
        let times = histogram
            .iter()
            .map(|cells| cells[0].parse::<u64>().unwrap());
        let times: Vec<u64> = times.collect();
        assert!(
            times.windows(2).all(|pair| pair[1] >= pair[0] + 150),
            "{times:?}"
        );
    }
}

/// The log contains all lines of the first worker, then all lines of the next one.
#[test]
fn a_shared_log_has_the_lines_of_all_workers() {
    let programs = Programs::new();
    let options = "--rw=read --log_avg_msec=100 --per_job_logs=0 --write_bw_log=x --numjobs=2 \
        --name=a --name=b --stonewall";
    let arguments = format!("{RATE_LIMITED} {options}");
    let Some([fio, _]) = both(&programs, &arguments, "") else {
        return;
    };
    // fio appends to an earlier log; the runner replaces it.
    let again = programs.runner(&words(&arguments), "");
    assert!(again.status.success(), "{again:?}");
    let runner = logs(&programs.directory_of(&programs.runner));
    let parts = |logs: &Logs| {
        let times = logs["x_bw.log"]
            .iter()
            .map(|cells| cells[0].parse::<u64>().unwrap());
        let times: Vec<u64> = times.collect();
        1 + times.windows(2).filter(|pair| pair[1] < pair[0]).count()
    };
    assert_eq!(parts(&fio), 4);
    assert_eq!(parts(&runner), 4);
}

#[test]
fn logs_do_not_overwrite_other_files() {
    let programs = Programs::new();
    let directory = programs.directory_of(&programs.runner);
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("notes_bw.1.log"), "do not delete").unwrap();
    fs::write(directory.join("target_lat.1.log"), vec![1; 1 << 16]).unwrap();
    for (options, expected) in [
        (
            "--rw=read --filename=new --size=64k --write_bw_log=notes",
            "notes_bw.1.log exists and is not a log of an earlier run",
        ),
        (
            "--rw=read --filename=target_lat.1.log --write_lat_log=target",
            "target_lat.1.log is a target of the run",
        ),
        (
            "--rw=read --filename=new --size=64k --write_iops_log=missing/x",
            "missing is not a writable directory",
        ),
    ] {
        let arguments = format!("--direct=0 --name=a {options}");
        let output = programs.runner(&words(&arguments), "");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options}: {errors}");
        assert!(errors.contains(expected), "{options}: {errors}");
        assert!(!directory.join("new").exists(), "{options}");
    }
    let kept = fs::read_to_string(directory.join("notes_bw.1.log")).unwrap();
    assert_eq!(kept, "do not delete");
}

#[test]
fn differences_from_fio_are_reported() {
    let programs = Programs::new();
    let options = "--ioengine=null --size=1m --rw=read --name=a --write_bw_log=a \
        --log_window_value=max --log_compression=1m";
    let output = programs.runner(&words(options), "");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{errors}");
    for expected in [
        "log_avg_msec is not set",
        "log_window_value: the logs contain mean values",
        "log_compression: the logs are not compressed",
    ] {
        assert!(errors.contains(expected), "{expected}: {errors}");
    }
}
