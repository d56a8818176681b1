-- Columns have the names and the meaning that they have in SQLite; those that are only here say so.
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

CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql AS 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint';

CREATE TABLE access (
  role text COLLATE "C" NOT NULL,
  kind text NOT NULL CHECK (kind IN ('agent', 'reader')),
  campaign bigint REFERENCES campaign(key)  -- NULL: every one
);
CREATE INDEX access_by_role ON access(role);

-- Whether the role that is connected may work on a campaign. Functions run as the owner of the store: current_user.
CREATE FUNCTION works_on(a_campaign bigint) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = assay, pg_temp AS $$
  SELECT pg_has_role(session_user, current_user, 'MEMBER') OR EXISTS (
    SELECT FROM access WHERE role = session_user AND kind = 'agent' AND (campaign IS NULL OR campaign = a_campaign))
$$;

CREATE FUNCTION found_campaign(a_id text) RETURNS campaign LANGUAGE plpgsql SECURITY DEFINER
SET search_path = assay, pg_temp AS $$
DECLARE v_campaign campaign%ROWTYPE;
BEGIN
  SELECT * INTO v_campaign FROM campaign WHERE campaign.id = a_id;
  IF NOT FOUND OR NOT works_on(v_campaign.key) THEN
    RAISE EXCEPTION 'there is no campaign % for this role', a_id USING ERRCODE = 'no_data_found';
  END IF;
  RETURN v_campaign;
END $$;

-- Whether what an agent has is enough for a trial; without a list of workers it takes every one.
CREATE FUNCTION meets(a_trial trial, a_workers text[], a_devices text[], a_hosts bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT a_workers IS NULL OR (
    a_trial.worker || '==' || a_trial.release = ANY (a_workers) AND a_trial.device = ANY (a_devices)
    AND a_trial.ranks <= coalesce(a_trial.ranks_per_node, a_trial.ranks) * a_hosts)
$$;

-- Live owners with this boot id.
CREATE FUNCTION owners(a_campaign text, a_boot_id text)
RETURNS TABLE (l_host text, l_boot_id text, l_pid bigint, l_start_ticks bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = assay, pg_temp AS $$
DECLARE v_campaign campaign%ROWTYPE;
BEGIN
  v_campaign := found_campaign(a_campaign);
  RETURN QUERY SELECT DISTINCT run.owner_host, run.owner_boot_id, run.owner_pid, run.owner_start_ticks FROM run
    WHERE run.campaign = v_campaign.key AND run.state = 1 AND run.owner_boot_id = a_boot_id;
END $$;

-- Frees leases that ran out and those of owners that are dead. No lease runs out until the server has been up for as long
-- as it was given: agents could not renew while it was away.
CREATE FUNCTION free_leases(a_campaign bigint, a_boot_id text, a_dead_pids bigint[], a_dead_ticks bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint := now_ms();
  v_up bigint := (extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint;
  v_freed bigint[];
  v_dead bigint[];
BEGIN
  v_freed := ARRAY(SELECT run.key FROM run WHERE run.campaign = a_campaign AND run.state = 1
    AND run.side IS DISTINCT FROM 'b' AND run.lease_end_ms <= v_now AND v_up + run.lease_ms <= v_now
    FOR UPDATE SKIP LOCKED);
  IF cardinality(a_dead_pids) > 0 THEN
    v_dead := ARRAY(SELECT run.key FROM run WHERE run.campaign = a_campaign AND run.state = 1
      AND run.side IS DISTINCT FROM 'b' AND run.owner_boot_id = a_boot_id
      AND (run.owner_pid, run.owner_start_ticks) IN (SELECT * FROM unnest(a_dead_pids, a_dead_ticks))
      FOR UPDATE SKIP LOCKED);
    v_freed := v_freed || v_dead;
  END IF;
  IF cardinality(v_freed) = 0 THEN RETURN; END IF;
  UPDATE run SET state = 0 WHERE key = ANY (v_freed);
  UPDATE run SET state = 0 WHERE side = 'b' AND state = 1
    AND pair IN (SELECT freed.pair FROM run AS freed WHERE freed.key = ANY (v_freed) AND freed.pair IS NOT NULL);
END $$;

CREATE FUNCTION lease(a_campaign text, a_seconds double precision, a_host text, a_boot_id text, a_pid bigint,
  a_start_ticks bigint, a_dead_pids bigint[], a_dead_ticks bigint[], a_platform text, a_workers text[],
  a_devices text[], a_hosts bigint)
RETURNS TABLE (l_run bigint, l_epoch bigint, l_attempt bigint, l_index bigint, l_trial text, l_json text, l_pair text,
  l_side text, l_seed bigint, l_measure text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = assay, pg_temp AS $$
DECLARE
  v_campaign campaign%ROWTYPE;
  v_first run%ROWTYPE;
  v_partner bigint;
  v_taken bigint[];
  v_ms bigint := (a_seconds * 1000)::bigint;
BEGIN
  v_campaign := found_campaign(a_campaign);
  PERFORM free_leases(v_campaign.key, a_boot_id, a_dead_pids, a_dead_ticks);
  IF a_workers IS NOT NULL AND left(a_platform, length(v_campaign.platform)) <> v_campaign.platform THEN RETURN; END IF;
  SELECT run.* INTO v_first FROM run JOIN trial AS asked ON asked.key = run.trial
    WHERE run.campaign = v_campaign.key AND run.state = 0 AND run.side IS DISTINCT FROM 'b'
      AND meets(asked, a_workers, a_devices, a_hosts)
      AND NOT EXISTS (SELECT FROM run AS partner JOIN trial AS other ON other.key = partner.trial
        WHERE partner.pair = run.pair AND partner.side = 'b' AND NOT meets(other, a_workers, a_devices, a_hosts))
    ORDER BY run.campaign, run.idx, run.ord, run.key LIMIT 1 FOR UPDATE OF run SKIP LOCKED;
  IF NOT FOUND THEN RETURN; END IF;
  v_taken := ARRAY[v_first.key];
  IF v_first.pair IS NOT NULL THEN
    SELECT run.key INTO v_partner FROM run WHERE run.pair = v_first.pair AND run.side = 'b' AND run.state = 0 FOR UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the partner of run % is not ready too; the store was changed by another program', v_first.key;
    END IF;
    v_taken := v_taken || v_partner;
  END IF;
  UPDATE run SET state = 1, epoch = run.epoch + 1, owner_host = a_host, owner_boot_id = a_boot_id, owner_pid = a_pid,
    owner_start_ticks = a_start_ticks, lease_ms = v_ms, lease_end_ms = now_ms() + v_ms WHERE run.key = ANY (v_taken);
  RETURN QUERY SELECT run.key, run.epoch, run.attempt, run.idx, trial.id, trial.json, run.pair, run.side,
      v_campaign.seed, v_campaign.measure
    FROM run JOIN trial ON trial.key = run.trial WHERE run.key = ANY (v_taken) ORDER BY run.side;
END $$;

-- Whether these runs are still in the hands of these epochs; locks them.
CREATE FUNCTION holds(a_campaign text, a_runs bigint[], a_epochs bigint[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_campaign bigint;
  v_held bigint;
BEGIN
  SELECT campaign.key INTO v_campaign FROM campaign WHERE campaign.id = a_campaign;
  IF NOT FOUND THEN RETURN false; END IF;
  IF NOT works_on(v_campaign) THEN
    RAISE EXCEPTION 'campaign % is not for this role', a_campaign USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT count(*) INTO v_held FROM (
    SELECT run.key FROM run JOIN unnest(a_runs, a_epochs) AS held(run, epoch) ON held.run = run.key
      WHERE run.campaign = v_campaign AND run.epoch = held.epoch AND run.state <> 2
      ORDER BY run.side FOR UPDATE OF run) AS locked;
  RETURN v_held = cardinality(a_runs);
END $$;

CREATE FUNCTION renew(a_campaign text, a_runs bigint[], a_epochs bigint[], a_seconds double precision) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = assay, pg_temp AS $$
DECLARE v_ms bigint := (a_seconds * 1000)::bigint;
BEGIN
  IF NOT holds(a_campaign, a_runs, a_epochs) THEN RETURN 0; END IF;
  -- One that ran out and was taken by nobody is held again.
  UPDATE run SET state = 1, lease_ms = v_ms, lease_end_ms = now_ms() + v_ms WHERE key = ANY (a_runs);
  RETURN 1;
END $$;

-- Stores one record for each run. 'repeated': this very result is stored already.
CREATE FUNCTION complete(a_campaign text, a_runs bigint[], a_epochs bigint[], a_again integer, a_records json,
  a_contents json) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = assay, pg_temp AS $$
DECLARE v_stored bigint;
BEGIN
  IF NOT holds(a_campaign, a_runs, a_epochs) THEN
    SELECT count(*) INTO v_stored FROM record JOIN unnest(a_runs, a_epochs) AS held(run, epoch) USING (run, epoch);
    RETURN CASE WHEN v_stored = cardinality(a_runs) THEN 'repeated' ELSE 'stale' END;
  END IF;
  -- Other campaigns share contents: one must be what its hash says, whoever brings it.
  IF EXISTS (SELECT FROM json_to_recordset(a_contents) AS new(hash text, json text) WHERE new.hash <>
      left(encode(sha256(convert_to(replace(new.json, U&'\E000e', U&'\E000'), 'UTF8')), 'hex'), 32)) THEN
    RAISE EXCEPTION 'a content does not fit its hash';
  END IF;
  INSERT INTO content(hash, json) SELECT new.hash, new.json FROM json_to_recordset(a_contents) AS new(hash text, json text)
    ORDER BY new.hash ON CONFLICT (hash) DO NOTHING;
  INSERT INTO record(run, epoch, attempt, counted, outcome, message, trusted, platform, started_utc, duration_ns, n,
      steady_from, median_ns, p90_ns, p99_ns, samples_per_second, summary_version, peak_memory_bytes, digest, json,
      samples)
    SELECT run.key, run.epoch, run.attempt, 1 - a_again, new.outcome, new.message, new.trusted, new.platform,
      new.started_utc, new.duration_ns, new.n, new.steady_from, new.median_ns, new.p90_ns, new.p99_ns,
      new.samples_per_second, new.summary_version, new.peak_memory_bytes, new.digest, new.json,
      decode(new.samples, 'hex')
    FROM json_to_recordset(a_records) AS new(run bigint, outcome text, message text, trusted integer, platform text,
      started_utc text, duration_ns bigint, n bigint, steady_from bigint, median_ns bigint, p90_ns bigint, p99_ns bigint,
      samples_per_second double precision, summary_version bigint, peak_memory_bytes bigint, digest text, json text,
      samples text)
    JOIN run ON run.key = new.run AND run.key = ANY (a_runs) ORDER BY run.side;
  GET DIAGNOSTICS v_stored = ROW_COUNT;
  IF v_stored <> cardinality(a_runs) THEN RAISE EXCEPTION '% records for % runs', v_stored, cardinality(a_runs); END IF;
  IF a_again = 1 THEN
    UPDATE run SET state = 0, attempt = attempt + 1, epoch = epoch + 1 WHERE key = ANY (a_runs);
  ELSE
    UPDATE run SET state = 2 WHERE key = ANY (a_runs);
  END IF;
  RETURN 'accepted';
END $$;

-- Named give_back, since RELEASE is a word of SQL.
CREATE FUNCTION give_back(a_campaign text, a_runs bigint[], a_epochs bigint[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = assay, pg_temp AS $$
BEGIN
  IF NOT holds(a_campaign, a_runs, a_epochs) THEN RETURN 0; END IF;
  UPDATE run SET state = 0, epoch = epoch + 1 WHERE key = ANY (a_runs);
  RETURN 1;
END $$;

CREATE FUNCTION put_platform(a_id text, a_json text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = assay, pg_temp AS $$
BEGIN
  INSERT INTO platform(id, json) VALUES (a_id, a_json)
    ON CONFLICT (id) DO UPDATE SET json = excluded.json WHERE platform.json <> excluded.json;
  RETURN 1;
END $$;

-- Campaigns that the role that is connected may see.
CREATE FUNCTION seen() RETURNS SETOF bigint LANGUAGE sql STABLE SECURITY DEFINER SET search_path = assay, pg_temp AS $$
  SELECT campaign.key FROM campaign WHERE pg_has_role(session_user, current_user, 'MEMBER') OR EXISTS (
    SELECT FROM access WHERE access.role = session_user
      AND (access.kind = 'reader' OR access.campaign IS NULL OR access.campaign = campaign.key))
$$;
ALTER TABLE campaign ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON campaign FOR SELECT USING (key IN (SELECT one FROM seen() AS one));
ALTER TABLE progress ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON progress FOR SELECT USING (campaign IN (SELECT one FROM seen() AS one));

CREATE FUNCTION grant_rights(a_role text, a_kind text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA assay TO %I', a_role);
  EXECUTE format('GRANT SELECT ON store, campaign, progress TO %I', a_role);
  EXECUTE format('GRANT EXECUTE ON FUNCTION seen TO %I', a_role);
  IF a_kind = 'reader' THEN
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA assay TO %I', a_role);
  ELSE
    EXECUTE format('GRANT EXECUTE ON FUNCTION owners, lease, renew, complete, give_back, put_platform TO %I', a_role);
  END IF;
END $$;

CREATE FUNCTION grant_all_rights() RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_access access%ROWTYPE;
BEGIN
  FOR v_access IN SELECT * FROM access WHERE role IN (SELECT rolname FROM pg_roles) LOOP
    PERFORM grant_rights(v_access.role, v_access.kind);
  END LOOP;
END $$;

CREATE FUNCTION allow(a_role text, a_kind text, a_campaign text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE v_campaign bigint;
BEGIN
  IF a_campaign <> '' THEN
    SELECT key INTO v_campaign FROM campaign WHERE id = a_campaign;
    IF NOT FOUND THEN RAISE EXCEPTION 'there is no campaign %', a_campaign USING ERRCODE = 'no_data_found'; END IF;
  END IF;
  PERFORM grant_rights(a_role, a_kind);
  INSERT INTO access(role, kind, campaign) SELECT a_role, a_kind, v_campaign WHERE NOT EXISTS (
    SELECT FROM access WHERE role = a_role AND kind = a_kind AND campaign IS NOT DISTINCT FROM v_campaign);
  RETURN 1;
END $$;

CREATE FUNCTION forbid(a_role text) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA assay FROM %I', a_role);
  EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA assay FROM %I', a_role);
  EXECUTE format('REVOKE ALL ON SCHEMA assay FROM %I', a_role);
  DELETE FROM access WHERE role = a_role;
  RETURN 1;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA assay FROM PUBLIC;
