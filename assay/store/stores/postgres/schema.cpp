#include "assay/store/stores/postgres/schema.hpp"

namespace assay::store::postgres {

// Columns have the names and the meaning that they have in SQLite; those that are only here say so.
const char* const kTables1 = R"sql(
CREATE TABLE store (
  version bigint NOT NULL
);
INSERT INTO store VALUES (0);

-- Repeated JSON, stored once.
CREATE TABLE content (
  hash text COLLATE "C" PRIMARY KEY,
  json text NOT NULL
);

CREATE TABLE campaign (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  family text COLLATE "C" NOT NULL,
  round bigint NOT NULL,
  name text NOT NULL,
  seed bigint NOT NULL,
  lockstep integer NOT NULL,
  runs bigint NOT NULL,
  measure text NOT NULL,
  platform text,                   -- only here: measure's platform, where it asks for one
  created_utc text NOT NULL,
  UNIQUE (family, round)
);

CREATE TABLE trial (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  network text COLLATE "C" NOT NULL,
  mode text NOT NULL,
  batch bigint NOT NULL,
  precision text NOT NULL,
  worker text NOT NULL,
  release text NOT NULL,
  device text NOT NULL,
  ranks bigint NOT NULL,
  ranks_per_node bigint,           -- only here
  settings text NOT NULL,
  json text NOT NULL
);
CREATE INDEX trial_by_network ON trial(network);

CREATE TABLE campaign_trial (
  campaign bigint NOT NULL REFERENCES campaign(key),
  position bigint NOT NULL,
  trial bigint NOT NULL REFERENCES trial(key),
  PRIMARY KEY (campaign, position),
  UNIQUE (campaign, trial)
);
CREATE INDEX campaign_trial_by_trial ON campaign_trial(trial);

CREATE TABLE run (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  campaign bigint NOT NULL REFERENCES campaign(key),
  trial bigint NOT NULL REFERENCES trial(key),
  idx bigint NOT NULL,
  ord bigint NOT NULL,
  state integer NOT NULL DEFAULT 0 CHECK (state IN (0, 1, 2)),
  attempt bigint NOT NULL DEFAULT 0,
  epoch bigint NOT NULL DEFAULT 0,
  pair text COLLATE "C",
  side text COLLATE "C" CHECK (side IN ('a', 'b')),
  owner_host text,
  owner_boot_id text,
  owner_pid bigint,
  owner_start_ticks bigint,
  lease_ms bigint,                 -- only here: how long the lease was given for
  lease_end_ms bigint              -- since 1970, on the server's clock
);
CREATE UNIQUE INDEX run_by_trial ON run(trial, campaign, idx);
-- A pair is found by its side a, so that two agents never take one side each.
CREATE INDEX run_ready ON run(campaign, idx, ord, key) WHERE state = 0 AND side IS DISTINCT FROM 'b';
CREATE INDEX run_leased ON run(campaign, lease_end_ms) WHERE state = 1;
CREATE INDEX run_by_pair ON run(pair) WHERE pair IS NOT NULL;

CREATE TABLE record (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run bigint NOT NULL REFERENCES run(key),
  epoch bigint NOT NULL,           -- only here: of the lease that brought it
  attempt bigint NOT NULL,
  counted integer NOT NULL,
  outcome text NOT NULL,
  message text NOT NULL,
  trusted integer NOT NULL,
  platform text NOT NULL,
  started_utc text NOT NULL,
  duration_ns bigint NOT NULL,
  n bigint NOT NULL,
  steady_from bigint NOT NULL,
  median_ns bigint,
  p90_ns bigint,
  p99_ns bigint,
  samples_per_second double precision,
  summary_version bigint NOT NULL,
  peak_memory_bytes bigint,
  digest text NOT NULL,
  json text NOT NULL,
  samples bytea NOT NULL,
  UNIQUE (run, attempt)
);
CREATE UNIQUE INDEX record_counted_once ON record(run) WHERE counted = 1;

CREATE TABLE platform (
  id text COLLATE "C" PRIMARY KEY,
  json text NOT NULL
);

CREATE TABLE artifact (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text COLLATE "C" NOT NULL,
  inputs_hash text COLLATE "C" NOT NULL,
  created_utc text NOT NULL,
  json text NOT NULL,
  UNIQUE (kind, inputs_hash)
);

-- Where each campaign stands, kept by triggers. In slots, of which a connection uses one: with one row for all, every
-- agent would wait for the commit of every other. What counts is their sum.
CREATE TABLE progress (
  campaign bigint NOT NULL REFERENCES campaign(key),
  slot integer NOT NULL,
  runs bigint NOT NULL DEFAULT 0,
  ready bigint NOT NULL DEFAULT 0,
  leased bigint NOT NULL DEFAULT 0,
  done bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  set_aside bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (campaign, slot)
) WITH (fillfactor = 50);

CREATE FUNCTION progress_slot() RETURNS integer LANGUAGE sql AS 'SELECT pg_backend_pid() & 15';

CREATE FUNCTION campaign_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO assay.progress(campaign, slot) SELECT new.key, slot FROM generate_series(0, 15) AS slot;
  RETURN NULL;
END $$;
CREATE TRIGGER campaign_added AFTER INSERT ON campaign FOR EACH ROW EXECUTE FUNCTION campaign_added();

CREATE FUNCTION run_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE assay.progress SET ready = ready + (new.state = 0)::integer - (old.state = 0)::integer,
    leased = leased + (new.state = 1)::integer - (old.state = 1)::integer,
    done = done + (new.state = 2)::integer - (old.state = 2)::integer
    WHERE campaign = new.campaign AND slot = assay.progress_slot();
  RETURN NULL;
END $$;
CREATE TRIGGER run_moved AFTER UPDATE OF state ON run FOR EACH ROW WHEN (old.state <> new.state)
  EXECUTE FUNCTION run_moved();

CREATE FUNCTION record_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE assay.progress SET failed = failed + (new.counted = 1 AND new.outcome <> 'ok')::integer,
    set_aside = set_aside + (new.counted = 0)::integer
    WHERE campaign = (SELECT run.campaign FROM assay.run WHERE run.key = new.run) AND slot = assay.progress_slot();
  RETURN NULL;
END $$;
CREATE TRIGGER record_added AFTER INSERT ON record FOR EACH ROW WHEN (new.counted = 0 OR new.outcome <> 'ok')
  EXECUTE FUNCTION record_added();

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
)sql";

namespace {

constexpr const char* kDoing = "preparing its tables";
constexpr std::int64_t kLock = 0x41535359;  // "ASSY"; one program at a time makes or changes the schema

/// Version of the schema; null where there is none.
std::optional<std::int64_t> version_of(Connection& connection) {
  const auto found = connection.integer(
      "SELECT count(*) FROM pg_catalog.pg_class AS t JOIN pg_catalog.pg_namespace AS s ON s.oid = t.relnamespace "
      "WHERE s.nspname = 'assay' AND t.relname = 'store' AND t.relkind = 'r'",
      kDoing);
  if (found == 0) return std::nullopt;
  return connection.integer("SELECT version FROM assay.store", kDoing);
}

/// Refuses what this program must not touch. True where all is as it should be.
bool is_ready(const Connection& connection, std::optional<std::int64_t> version, Access access, std::int64_t newest) {
  if (!version) {
    if (access == Access::create) return false;
    fail(ErrorKind::usage,
         "{}: there is no store in this database. Make it with `assay run`, as the role that shall own "
         "it.",
         connection.shown());
  }
  if (*version > newest) {
    fail(ErrorKind::failure,
         "{}: this store was written by a newer Assay (store version {}; this program knows {}). Update Assay.",
         connection.shown(), *version, newest);
  }
  if (*version < newest && access == Access::read) {
    fail(
        ErrorKind::failure,
        "{}: this store was written by an older Assay (store version {}; this program needs {}) and cannot be brought "
        "up to date while it is only read. Let its owner run any command that writes to it, such as `assay run`, once.",
        connection.shown(), *version, newest);
  }
  return *version == newest;
}

}  // namespace

const Migrations& migrations() {
  static const Migrations steps{std::string(kTables1) + kFunctions1 + kRoles1, kFunctions2};
  return steps;
}

void prepare_schema(Connection& connection, Access access, const Migrations& steps) {
  const auto newest = static_cast<std::int64_t>(steps.size());
  if (is_ready(connection, version_of(connection), access, newest)) return;
  Transaction transaction(connection, kDoing);
  connection.once("SELECT pg_advisory_xact_lock($1)", kDoing, kLock);
  const auto version = version_of(connection);  // another program may have been here first
  if (is_ready(connection, version, access, newest)) return;
  if (!version) connection.execute("CREATE SCHEMA IF NOT EXISTS assay", kDoing);
  for (auto step = version.value_or(0); step < newest; ++step) {
    connection.execute(steps[static_cast<std::size_t>(step)], kDoing);
  }
  connection.once("UPDATE store SET version = $1", kDoing, newest);
  connection.once("SELECT grant_all_rights()", kDoing);  // roles get what is new
  transaction.commit();
}

}  // namespace assay::store::postgres
