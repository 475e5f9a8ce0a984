-- Version 11: checksums of results. A migration that changes stored results must set them to NULL.

PRAGMA user_version = 11;

ALTER TABLE run_details ADD COLUMN result_sha256 BLOB; -- see store/digest.rs; NULL for results of earlier versions
