-- Repeated JSON, stored once.
CREATE TABLE content (
  hash TEXT PRIMARY KEY,
  json TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE campaign (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  family TEXT NOT NULL,            -- id of round 0: the same for every round of one command
  round INTEGER NOT NULL,
  name TEXT NOT NULL,
  seed INTEGER NOT NULL,
  lockstep INTEGER NOT NULL,
  runs INTEGER NOT NULL,           -- planned for every trial
  measure TEXT NOT NULL,           -- JSON
  created_utc TEXT NOT NULL,
  UNIQUE (family, round)
);

CREATE TABLE trial (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  network TEXT NOT NULL,
  mode TEXT NOT NULL,
  batch INTEGER NOT NULL,
  precision TEXT NOT NULL,
  worker TEXT NOT NULL,
  release TEXT NOT NULL,
  device TEXT NOT NULL,
  ranks INTEGER NOT NULL,
  settings TEXT NOT NULL,          -- JSON of the settings that are set
  json TEXT NOT NULL               -- the whole trial
);

CREATE TABLE campaign_trial (
  campaign INTEGER NOT NULL REFERENCES campaign(key),
  position INTEGER NOT NULL,
  trial INTEGER NOT NULL REFERENCES trial(key),
  PRIMARY KEY (campaign, position),
  UNIQUE (campaign, trial)
) WITHOUT ROWID;

CREATE TABLE run (
  key INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaign(key),
  trial INTEGER NOT NULL REFERENCES trial(key),
  idx INTEGER NOT NULL,
  ord INTEGER NOT NULL,            -- position inside the block idx
  state INTEGER NOT NULL DEFAULT 0 CHECK (state IN (0, 1, 2)),  -- ready, leased, done
  attempt INTEGER NOT NULL DEFAULT 0,
  epoch INTEGER NOT NULL DEFAULT 0,
  pair TEXT,
  side TEXT CHECK (side IN ('a', 'b')),
  owner_host TEXT,                 -- of the last lease
  owner_boot_id TEXT,
  owner_pid INTEGER,
  owner_start_ticks INTEGER,
  lease_end_ms INTEGER             -- since 1970, on the clock of this store
);
CREATE UNIQUE INDEX run_by_trial ON run(trial, campaign, idx);
CREATE INDEX trial_by_network ON trial(network);
CREATE INDEX run_ready ON run(campaign, idx, ord) WHERE state = 0;
CREATE INDEX run_leased ON run(campaign, owner_boot_id, owner_pid) WHERE state = 1;
CREATE INDEX run_by_pair ON run(pair) WHERE pair IS NOT NULL;

-- json and samples stand last, so that reading the figures skips over them.
CREATE TABLE record (
  key INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run(key),
  attempt INTEGER NOT NULL,
  counted INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  message TEXT NOT NULL,
  trusted INTEGER NOT NULL,
  platform TEXT NOT NULL,
  started_utc TEXT NOT NULL,
  duration_ns INTEGER NOT NULL,
  n INTEGER NOT NULL,
  steady_from INTEGER NOT NULL,
  median_ns INTEGER,
  p90_ns INTEGER,
  p99_ns INTEGER,
  samples_per_second REAL,
  summary_version INTEGER NOT NULL,
  peak_memory_bytes INTEGER,
  digest TEXT NOT NULL,            -- JSON of what tables show beyond the columns
  json TEXT NOT NULL,
  samples BLOB NOT NULL,
  UNIQUE (run, attempt)
);
CREATE UNIQUE INDEX record_counted_once ON record(run) WHERE counted = 1;

CREATE TABLE platform (
  id TEXT PRIMARY KEY,
  json TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE artifact (
  key INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  inputs_hash TEXT NOT NULL,
  created_utc TEXT NOT NULL,
  json TEXT NOT NULL,
  UNIQUE (kind, inputs_hash)
);

-- Where each campaign stands; asked for after every run, so it is kept instead of counted. Triggers keep it, so that no
-- path that changes a run can forget to; only planning, which adds many runs at once, adds their number itself.
CREATE TABLE progress (
  campaign INTEGER PRIMARY KEY REFERENCES campaign(key),
  runs INTEGER NOT NULL DEFAULT 0,
  ready INTEGER NOT NULL DEFAULT 0,
  leased INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  set_aside INTEGER NOT NULL DEFAULT 0
);
CREATE TRIGGER campaign_added AFTER INSERT ON campaign BEGIN
  INSERT INTO progress(campaign) VALUES (new.key);
END;
CREATE TRIGGER run_moved AFTER UPDATE OF state ON run WHEN old.state <> new.state BEGIN
  UPDATE progress SET ready = ready + (new.state = 0) - (old.state = 0),
    leased = leased + (new.state = 1) - (old.state = 1), done = done + (new.state = 2) - (old.state = 2)
    WHERE campaign = new.campaign;
END;
CREATE TRIGGER record_added AFTER INSERT ON record BEGIN
  UPDATE progress SET failed = failed + (new.counted = 1 AND new.outcome <> 'ok'), set_aside = set_aside + (new.counted = 0)
    WHERE campaign = (SELECT campaign FROM run WHERE key = new.run);
END;

CREATE VIEW result AS
SELECT campaign.id AS campaign, campaign.name AS campaign_name, campaign.round AS round, trial.id AS trial,
       trial.network, trial.mode, trial.batch, trial.precision, trial.worker, trial.release, trial.device, trial.ranks,
       trial.settings, run.idx AS "index", record.attempt, record.outcome, record.message, record.trusted,
       run.pair, run.side, record.platform, record.started_utc, record.duration_ns, record.n, record.steady_from,
       record.median_ns, record.p90_ns, record.p99_ns, record.samples_per_second, record.peak_memory_bytes
FROM record
JOIN run ON run.key = record.run
JOIN trial ON trial.key = run.trial
JOIN campaign ON campaign.key = run.campaign
WHERE record.counted = 1;
