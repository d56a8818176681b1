-- Version 3: a run is held by a random claim, every record has a receipt that names its writer, and what is stored is
-- checked. The functions are in functions.sql, which is run after the last step.

ALTER TABLE store ADD COLUMN uuid text;
UPDATE store SET uuid = md5(gen_random_uuid()::text || gen_random_uuid()::text);
ALTER TABLE store ALTER COLUMN uuid SET NOT NULL;

-- Hash of the claim of the last lease, until its result is stored or it is given back.
ALTER TABLE run ADD COLUMN claim text COLLATE "C";
ALTER TABLE run ADD COLUMN owner_pid_namespace text;
ALTER TABLE run ADD COLUMN owner_role text COLLATE "C";   -- only here
-- A result of version 2 that waits in a spool is known by its epoch.
UPDATE run SET claim = left(encode(sha256(convert_to('epoch ' || epoch, 'UTF8')), 'hex'), 32) WHERE state <> 2 AND epoch > 0;
CREATE INDEX run_by_claim ON run(claim) WHERE claim IS NOT NULL;

-- Who wrote records: the role, and the process that took the run.
CREATE TABLE writer (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  role text COLLATE "C" NOT NULL,
  host text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  seq bigint NOT NULL DEFAULT 0,   -- only here: of the writer's last receipt
  link text COLLATE "C" NOT NULL DEFAULT '',
  UNIQUE (role, host, agent)
);

-- What the store notes of each record it takes. The receipts of a writer are a chain: `link` is the hash of the link before
-- it and of `hash`, which is that of the record.
CREATE TABLE receipt (
  writer bigint NOT NULL REFERENCES writer(key),
  seq bigint NOT NULL,
  record bigint,                   -- NULL once the record's campaign was dropped
  run bigint NOT NULL,
  claim text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  link text COLLATE "C" NOT NULL,
  PRIMARY KEY (writer, seq)
);
CREATE INDEX receipt_by_record ON receipt(record) WHERE record IS NOT NULL;
CREATE INDEX receipt_by_run ON receipt(run);

-- Their arguments change.
DROP FUNCTION owners(text, text);
DROP FUNCTION lease(text, double precision, text, text, bigint, bigint, bigint[], bigint[], text, text[], text[], bigint);
DROP FUNCTION holds(text, bigint[], bigint[]);
DROP FUNCTION renew(text, bigint[], bigint[], double precision);
DROP FUNCTION complete(text, bigint[], bigint[], integer, json, json);
DROP FUNCTION give_back(text, bigint[], bigint[]);
