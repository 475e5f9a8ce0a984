//! Embeds the built web application into release builds. Development builds read it from disk.

use std::path::Path;

fn main() {
    let dist = Path::new("../web/dist");
    // The server also builds without the web application. Cargo would rerun this script on every
    // build if the directory did not exist.
    if !dist.exists() {
        std::fs::create_dir_all(dist).expect("web/dist can be created");
    }
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    memory_serve::load_directory_with_embed(dist, release);
}
