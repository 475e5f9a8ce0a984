-- Version 14: versions of fingerprints.

PRAGMA user_version = 14;

-- Version of both fingerprints (compare/src/fingerprint.rs), also set if they cannot be computed; 0 until then. The server
-- replaces fingerprints of other versions while no run is active.
ALTER TABLE runs ADD COLUMN fingerprint_version INTEGER NOT NULL DEFAULT 0;
CREATE INDEX runs_by_fingerprint_version ON runs (fingerprint_version);
CREATE INDEX runs_by_host_fingerprint ON runs (host_fingerprint, job_fingerprint, number) WHERE host_fingerprint IS NOT NULL;
