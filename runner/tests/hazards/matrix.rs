//! Sends the same 4 KiB write to each hazard with fio and with leadline-runner, as root and with
//! every permission that Leadline has. The result is a Markdown table for docs/safety.md. Run it
//! with `make safety-matrix`.

use crate::{
    aliases, contents, devices_in_use as devices, files,
    fingerprint::Copies,
    hazard::{Hazard, device, file},
    hidden,
    product::{Name, job},
    runner::Runner,
    scene::{MIB, Scene, Scratch, length, run, text},
};
use serde_json::json;
use std::{collections::BTreeSet, env, fmt::Write as _, fs, path::Path, process::Command};

const DEVICE_NAMES: [Name; 4] = [Name::Path, Name::Symlink, Name::ById, Name::Node];
/// A file has no device node.
const FILE_NAMES: [Name; 3] = [Name::Path, Name::Symlink, Name::ById];
const BEGIN: &str = "<!-- start of the safety matrix, see `make safety-matrix` -->\n";
const END: &str = "<!-- end of the safety matrix -->\n";

struct Row {
    /// Letter of a hazard known from accidents with other tools; empty for other hazards.
    letter: &'static str,
    title: &'static str,
    hazard: Option<Hazard>,
}

fn row(letter: &'static str, title: &'static str, hazard: Hazard) -> Row {
    let hazard = Some(hazard);
    Row {
        letter,
        title,
        hazard,
    }
}

fn row_not_on_this_host(letter: &'static str, title: &'static str) -> Row {
    let hazard = None;
    Row {
        letter,
        title,
        hazard,
    }
}

/// A, B and C are the same device: its path, a link to it, and another node.
fn rows() -> Vec<Row> {
    vec![
        row("A–C", "mounted device", device(devices::mounted)),
        row(
            "D",
            "mounted in another mount namespace",
            device(devices::mounted_in_another_namespace),
        ),
        row("E", "unmounted ext4", contents::ext4()),
        row(
            "F",
            "disk with a mounted partition",
            device(devices::whole_disk_with_a_mounted_partition),
        ),
        row(
            "G",
            "disk with a GPT, nothing mounted",
            contents::gpt_disk(),
        ),
        row(
            "H",
            "second member of a mounted btrfs",
            device(devices::second_member_of_a_mounted_btrfs),
        ),
        row("I", "active swap device", device(devices::active_swap)),
        row(
            "J",
            "device below a mounted loop device",
            device(devices::below_a_mounted_loop_device),
        ),
        row(
            "K",
            "file of a mounted loop device",
            file(hidden::behind_a_mounted_loop),
        ),
        row("L", "active swap file", file(files::active_swap_file)),
        row(
            "M",
            "held exclusively by another process",
            device(devices::held_by_another_process),
        ),
        row_not_on_this_host("N", "device below a dm device"),
        row_not_on_this_host("O", "member of a running md RAID1"),
        row(
            "",
            "mounted in a namespace without processes",
            device(devices::mounted_in_a_namespace_without_processes),
        ),
        row(
            "",
            "lazily unmounted, still in use",
            device(devices::lazily_unmounted),
        ),
        row(
            "",
            "device below an unmounted loop device",
            device(devices::below_an_unmounted_loop_device),
        ),
        row(
            "",
            "second loop device on the backing file of a mounted one",
            device(devices::twin_of_a_mounted_loop_device),
        ),
        row(
            "",
            "loop device on a mounted device",
            device(devices::loop_on_a_mounted_device),
        ),
        row(
            "",
            "loop device on a held device",
            device(devices::loop_on_a_held_device),
        ),
        row(
            "",
            "partition of a held disk",
            device(devices::partition_of_a_held_disk),
        ),
        row(
            "",
            "partition of a disk below a mounted loop device",
            device(devices::partition_below_a_loop_device),
        ),
        row("", "inactive LVM physical volume", contents::lvm()),
        row("", "closed LUKS volume", contents::luks1()),
        row(
            "",
            "only the backup GPT",
            contents::gpt_with_only_the_backup(),
        ),
        row(
            "",
            "data without a signature",
            contents::noise_in_the_middle(),
        ),
        row(
            "",
            "blank device that is not allowed",
            device(devices::outside_the_root).not_allowed(),
        ),
        row(
            "",
            "file of an unmounted loop device",
            file(hidden::behind_an_unmounted_loop),
        ),
        row(
            "",
            "file-backed erofs mount",
            file(hidden::behind_a_file_backed_mount),
        ),
        row(
            "",
            "file with another program's data",
            file(files::foreign_file),
        ),
        row(
            "",
            "file that another process has open",
            file(files::open_for_writing),
        ),
        row(
            "",
            "hard link to a file outside the roots",
            file(files::hard_linked),
        ),
        row(
            "",
            "link to a file outside the roots",
            file(files::link_out_of_the_root),
        ),
        row(
            "",
            "second loop device, through an overlay, on the file of a mounted one",
            device(aliases::loop_device_through_an_overlay),
        ),
        row(
            "",
            "second loop device, through FUSE, on the file of a mounted one",
            device(aliases::loop_device_through_fuse),
        ),
        row(
            "",
            "file of a mounted loop device, through FUSE",
            file(aliases::file_through_fuse),
        ),
        row(
            "",
            "active swap file, through FUSE",
            file(aliases::swap_file_through_fuse),
        ),
        row(
            "",
            "loop device on a file that another process has open",
            device(aliases::on_an_open_file),
        ),
    ]
}

#[test]
#[ignore = "compares with fio: make safety-matrix"]
fn safety_matrix() {
    let version = run("fio", &["--version"]).expect("fio is required");
    let mut lost_by_fio = 0;
    let mut rows_here = 0;
    let mut table = format!(
        "| | hazard | {version}: path | link | by-id | other node | leadline-runner: all names |\n\
         |---|---|---|---|---|---|---|\n"
    );
    let mut lost = Vec::new();
    for Row {
        letter,
        title,
        hazard,
    } in rows()
    {
        let Some(hazard) = hazard else {
            writeln!(table, "| {letter} | {title} | not on this host | | | | |").unwrap();
            continue;
        };
        let scratch = Scratch::new();
        let scene = match hazard.scene(&scratch) {
            Ok(scene) => scene,
            Err(reason) => {
                eprintln!("{title}: {reason}");
                writeln!(table, "| {letter} | {title} | not on this host | | | | |").unwrap();
                continue;
            }
        };
        let tested = Tested::new(&hazard, &scene, &scratch);
        rows_here += 1;
        lost_by_fio += usize::from(tested.fio.iter().any(|cell| cell.starts_with("**lost")));
        if tested
            .leadline
            .iter()
            .any(|cell| !cell.starts_with("rejected"))
        {
            lost.push(title);
        }
        let fio = tested.fio.iter().map(String::as_str).chain([""; 2]);
        let fio: Vec<&str> = fio.take(DEVICE_NAMES.len()).collect();
        let leadline: Vec<&str> = tested.leadline.iter().map(String::as_str).collect();
        let line = format!(
            "| {letter} | {title} | {} | {} |\n",
            fio.join(" | "),
            leadline.join("; ")
        );
        eprint!("{line}");
        table.push_str(&line);
    }
    let counts = format!(
        "\nOf {rows_here} hazards, fio overwrites {lost_by_fio} under at least one name,\nleadline-runner {}.\n",
        lost.len()
    );
    publish(&format!("{table}{counts}"));
    assert!(lost.is_empty(), "overwritten or accepted: {lost:?}");
}

/// Results for each name of the target.
struct Tested {
    fio: Vec<String>,
    leadline: BTreeSet<String>,
}

impl Tested {
    fn new(hazard: &Hazard, scene: &Scene, scratch: &Scratch) -> Self {
        let is_device = scene.target.starts_with("/dev");
        let names = if is_device {
            &DEVICE_NAMES[..]
        } else {
            &FILE_NAMES
        };
        let before = scene.idle_state();
        let runner = hazard.runner(scene);
        let leadline = names
            .iter()
            .map(|name| {
                let path = name.of(scene, scratch);
                leadline(&runner, &path, || scene.state() != before)
            })
            .collect();
        let copies = Copies::of(&scene.protected);
        let fio = names
            .iter()
            .map(|name| {
                let path = name.of(scene, scratch);
                let cell = fio(&path, || scene.state() != before);
                copies.restore(&scene.protected);
                for device in &scene.devices {
                    let _ = run("blockdev", &["--flushbufs", text(device)]);
                }
                assert_eq!(scene.state(), before, "cannot restore {}", path.display());
                cell
            })
            .collect();
        Self { fio, leadline }
    }
}

fn fio(path: &Path, is_changed: impl Fn() -> bool) -> String {
    let escaped = text(path).replace(':', "\\:");
    let status = Command::new("timeout")
        .args([
            "20",
            "fio",
            "--name=hazard",
            "--rw=write",
            "--bs=4k",
            "--size=4k",
        ])
        .args(["--ioengine=psync", "--end_fsync=1"])
        .arg(format!("--filename={escaped}"))
        .output()
        .unwrap()
        .status;
    let exit = status.code().unwrap_or(-1);
    match (is_changed(), exit) {
        (true, exit) => format!("**lost**, exit {exit}"),
        (false, exit) => format!("rejected, exit {exit}"),
    }
}

fn leadline(runner: &Runner, path: &Path, is_changed: impl Fn() -> bool) -> String {
    let options = json!({"rw": "write", "io_size": "4k", "direct": 0});
    let job = job(path, length(path).min(MIB), options);
    let output = runner.run(&job, &[]);
    let codes: Vec<String> = output
        .codes
        .iter()
        .map(|code| format!("`{code}`"))
        .collect();
    let codes = codes.join(" ");
    match (is_changed(), output.exit) {
        (true, exit) => format!("**lost**, exit {exit}"),
        (false, 0) => "**accepted**, exit 0".to_string(),
        (false, exit) => format!("rejected, exit {exit}, {codes}"),
    }
}

/// Prints the table and replaces the one in the file named by `LEADLINE_SAFETY_MATRIX`.
fn publish(table: &str) {
    eprintln!("{table}");
    let Some(path) = env::var_os("LEADLINE_SAFETY_MATRIX") else {
        return;
    };
    let document = fs::read_to_string(&path).unwrap();
    let (head, rest) = document.split_once(BEGIN).expect("begin marker");
    let (_, tail) = rest.split_once(END).expect("end marker");
    fs::write(&path, format!("{head}{BEGIN}\n{table}\n{END}{tail}")).unwrap();
}
