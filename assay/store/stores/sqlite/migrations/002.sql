-- Version 2: a run is held by a random claim, leases follow a clock that nobody sets, and every record has a receipt that
-- names its writer.

CREATE TABLE store (
  uuid TEXT NOT NULL,              -- names the store wherever its file is moved to
  next_run INTEGER NOT NULL        -- key of the next run: keys are never given twice
);
INSERT INTO store VALUES (lower(hex(randomblob(16))), (SELECT coalesce(max(key), 0) + 1 FROM run));

ALTER TABLE run ADD COLUMN claim TEXT;                -- of the last lease, until its result is stored or it is given back
ALTER TABLE run ADD COLUMN owner_pid_namespace TEXT;
ALTER TABLE run ADD COLUMN lease_ms INTEGER;          -- how long the lease was given for
ALTER TABLE run ADD COLUMN lease_clock TEXT;          -- boot id of the kernel whose CLOCK_BOOTTIME lease_end_ms is read from
-- A result of version 1 that waits in a spool is known by its epoch.
UPDATE run SET claim = 'epoch ' || epoch WHERE state <> 2 AND epoch > 0;
UPDATE run SET lease_ms = 60000 WHERE state = 1;

-- Who wrote records: the user, and the process that took the run.
CREATE TABLE writer (
  key INTEGER PRIMARY KEY,
  role TEXT NOT NULL,
  host TEXT NOT NULL,
  agent TEXT NOT NULL,             -- boot id, pid and start time
  UNIQUE (role, host, agent)
);

-- What the store notes of each record it takes. The receipts of a writer are a chain: `link` is the hash of the link before
-- it and of `hash`, which is that of the record. They outlive the record, so that what was removed by other means shows.
CREATE TABLE receipt (
  writer INTEGER NOT NULL REFERENCES writer(key),
  seq INTEGER NOT NULL,            -- 1, 2, … for each writer
  record INTEGER,                  -- NULL once the record's campaign was dropped
  run INTEGER NOT NULL,
  claim TEXT NOT NULL,
  hash TEXT NOT NULL,
  link TEXT NOT NULL,
  PRIMARY KEY (writer, seq)
) WITHOUT ROWID;
CREATE INDEX receipt_by_record ON receipt(record) WHERE record IS NOT NULL;
CREATE INDEX receipt_by_run ON receipt(run);
