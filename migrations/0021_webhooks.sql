-- Version 21: webhooks.

PRAGMA user_version = 21;

-- Receivers of messages.
CREATE TABLE webhooks (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,          -- never reused
    name          TEXT NOT NULL,                              -- chosen by the user
    url           TEXT NOT NULL,                              -- http URL; its path is often a secret
    key           BLOB NOT NULL,                              -- of the signature
    events        TEXT NOT NULL,                              -- JSON array of WebhookEvent
    enabled       INTEGER NOT NULL CHECK (enabled IN (0, 1)), -- 0: receives no new messages
    created_at_ms INTEGER NOT NULL                            -- time of the request
) STRICT;

-- Messages. They are stored in the transaction that changes what they report, and sent later.
CREATE TABLE webhook_deliveries (
    sequence        INTEGER PRIMARY KEY,                                                         -- order of the messages
    id              TEXT NOT NULL UNIQUE,                                                        -- the header webhook-id
    webhook         INTEGER NOT NULL REFERENCES webhooks (number) ON DELETE CASCADE,             -- number of the receiver
    event           TEXT NOT NULL,                                                               -- WebhookEvent
    body            TEXT NOT NULL,                                                               -- JSON
    created_at_ms   INTEGER NOT NULL,                                                            -- time of the event
    status          TEXT NOT NULL DEFAULT 'pending',                                             -- DeliveryStatus
    attempts        INTEGER NOT NULL DEFAULT 0,                                                  -- number of requests
    next_attempt_ms INTEGER NOT NULL,                                                            -- of a pending message
    last_result     TEXT                                                                         -- HTTP status or error of the last attempt
) STRICT;
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook, sequence) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook, sequence);

-- The last known states of series with a baseline. A different state is an event.
CREATE TABLE trend_states (
    job_fingerprint     TEXT NOT NULL,    -- of the series
    machine_fingerprint TEXT NOT NULL,    -- of the series
    pinned_at_ms        INTEGER NOT NULL, -- of the baseline
    state               TEXT NOT NULL,    -- TrendState
    PRIMARY KEY (job_fingerprint, machine_fingerprint)
) STRICT;
