-- Version 26: checksums of what a run is: its place in a study, its request and its status. A migration that changes these columns must set them to NULL.

PRAGMA user_version = 26;

ALTER TABLE run_details ADD COLUMN run_sha256 BLOB; -- see store/run_digest.rs; NULL in rows of earlier versions
