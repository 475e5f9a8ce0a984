-- Version 30: the checksum that binds an imported document to its run.

PRAGMA user_version = 30;

ALTER TABLE foreign_results ADD COLUMN run_sha256 BLOB; -- of `sha256` and the number of the run; NULL in rows of earlier versions
