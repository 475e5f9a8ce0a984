-- Version 10: browsers that are signed in.

PRAGMA user_version = 10;

CREATE TABLE sessions (
    id_sha256     BLOB PRIMARY KEY, -- SHA-256 of the secret in the cookie
    token_sha256  BLOB NOT NULL,    -- of the token that opened it: another token ends the session
    scope         TEXT NOT NULL,    -- full or read
    expires_at_ms INTEGER NOT NULL  -- Unix time in milliseconds
) STRICT, WITHOUT ROWID;
