//! Creates `web/dist`, so that the server also builds without the web application.

use std::path::Path;

fn main() {
    let dist = Path::new("../web/dist");
    std::fs::create_dir_all(dist).expect("web/dist can be created");
    println!("cargo::rerun-if-changed=build.rs");
}
