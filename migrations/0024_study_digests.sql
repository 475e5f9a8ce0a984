-- Version 24: checksums of studies and of looks at them. A migration that changes these rows must set them to NULL.

PRAGMA user_version = 24;

ALTER TABLE studies ADD COLUMN sha256 BLOB;     -- see store/study_digest.rs; NULL in rows of earlier versions
ALTER TABLE study_looks ADD COLUMN sha256 BLOB; -- see store/study_digest.rs; NULL in rows of earlier versions
