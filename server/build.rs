//! Creates `web/dist` if it is missing, so the server builds without the web application.

use std::path::Path;

fn main() {
    let dist = Path::new("../web/dist");
    std::fs::create_dir_all(dist).expect("web/dist can be created");
    println!("cargo::rerun-if-changed=build.rs");
    // Release builds embed the files; development builds read them from disk.
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo::rerun-if-changed={}", dist.display());
    }
}
