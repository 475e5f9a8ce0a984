//! Which room of the pages may import which: `api, ui <- model <- charts <- pages`. Biome says the same while one types;
//! here it is checked by where an import really leads, however it is spelled.

use super::source::{Source, refuse, sources};

const WEB: &str = "web/src";

/// Room → rooms that it may import besides itself. Rooms that are not named (the frame around the pages) may import all.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("api", &[]),
    ("ui", &[]),
    ("model", &["api"]),
    ("charts", &["api", "ui", "model"]),
    ("pages", &["api", "ui", "model", "charts"]),
];

/// Package → the only rooms that know it; the rooms that must not.
const PACKAGES: &[(&str, &[&str])] = &[
    ("react", &["api", "model"]),
    ("chart.js", &["api", "ui", "model", "pages"]),
    ("react-chartjs-2", &["api", "ui", "model", "pages"]),
    ("chartjs-plugin-zoom", &["api", "ui", "model", "pages"]),
];

/// Path inside web/src, such as `pages/run/chart.tsx`.
fn inside(file: &Source) -> &str {
    file.path.strip_prefix(WEB).unwrap().trim_start_matches('/')
}

/// What a file imports, with the line.
fn imports(file: &Source) -> impl Iterator<Item = (usize, &str)> {
    file.code().filter_map(|(number, line)| {
        let after = line
            .split_once(" from ")
            .or_else(|| line.split_once("import("))
            .or_else(|| line.split_once("import "))
            .map(|(_, rest)| rest.trim())?;
        let quote = after
            .chars()
            .next()
            .filter(|quote| matches!(quote, '\'' | '"'))?;
        Some((number, after[1..].split(quote).next()?))
    })
}

/// Where a relative import leads, inside web/src.
fn resolve(file: &str, import: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in import.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

fn room(path: &str) -> &str {
    path.split('/').next().unwrap_or_default()
}

/// The page that a path under pages/ belongs to: `pages/run/chart.tsx` and `pages/run.tsx` are both of `run`.
fn page(path: &str) -> &str {
    path.split('/')
        .nth(1)
        .unwrap_or_default()
        .split('.')
        .next()
        .unwrap_or_default()
}

fn points_back(from: &str, to: &str) -> bool {
    let Some((_, may)) = MAY_IMPORT.iter().find(|(name, _)| *name == room(from)) else {
        return false;
    };
    if room(from) == room(to) {
        room(from) == "pages" && page(from) != page(to)
    } else {
        !may.contains(&room(to))
    }
}

fn offences(bad: impl Fn(&Source, &str) -> bool) -> Vec<String> {
    let files = sources(WEB, &[".ts", ".tsx"]);
    let broken = |file: &Source| {
        imports(file)
            .filter(|(_, import)| bad(file, import))
            .map(|(number, import)| file.at(number, import))
            .collect::<Vec<_>>()
    };
    files.iter().flat_map(broken).collect()
}

fn is_test(file: &Source) -> bool {
    file.path.contains(".test.")
}

#[test]
fn no_import_points_back() {
    // Tests of a page stand it into a router of their own (`test-page`).
    let stands_in =
        |file: &Source, import: &str| is_test(file) && resolve(inside(file), import) == "test-page";
    let bad = |file: &Source, import: &str| {
        import.starts_with('.')
            && !stands_in(file, import)
            && points_back(inside(file), &resolve(inside(file), import))
    };
    refuse(
        offences(bad),
        "api, ui <- model <- charts <- pages, and pages never import pages: move what both need down a room.",
    );
}

#[test]
fn rooms_know_only_the_packages_they_are_for() {
    let bad = |file: &Source, import: &str| {
        let forbidden = |(package, rooms): &(&str, &[&str])| {
            import == *package && rooms.contains(&room(inside(file)))
        };
        !is_test(file) && PACKAGES.iter().any(forbidden)
    };
    refuse(
        offences(bad),
        "model is pure, and only charts knows Chart.js.",
    );
}

#[test]
fn the_rules_hold_what_they_say() {
    for (from, to, back) in [
        ("model/fold.ts", "api/index", false),
        ("model/fold.ts", "charts/panel", true),
        ("ui/button.tsx", "api/index", true),
        ("charts/line.tsx", "model/course", false),
        ("pages/run/index.tsx", "pages/run/chart", false),
        ("pages/run.tsx", "pages/run/chart", false),
        ("pages/run/index.tsx", "pages/history/table", true),
        ("app/routes.tsx", "pages/history/table", false),
    ] {
        assert_eq!(points_back(from, to), back, "{from} → {to}");
    }
    assert_eq!(
        resolve("pages/run/index.tsx", "../../model/fold"),
        "model/fold"
    );
}
