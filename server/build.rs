//! Embeds the built web pages: into the binary for a release, read from disk while developing.

use std::path::Path;

fn main() {
    let pages = Path::new("../web/dist");
    // Without pages the server still builds, and says how to build them. The empty directory keeps cargo from taking
    // a path that is not there for one that changed, which would build the server anew every time.
    if !pages.exists() {
        std::fs::create_dir_all(pages).expect("web/dist can be made");
    }
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    memory_serve::load_directory_with_embed(pages, release);
}
