-- The life of a run is that of stores/sqlite/leases.cpp; here it is in functions of the server, for two reasons. A lease or
-- a result is one statement: one transaction, one round trip, on the server's clock. And an agent's role may call them and
-- touch nothing else. Arguments begin with a_, variables with v_, results with l_.
--
-- Locks are taken in one order, side a of a group before the others, those by their keys, so that no two calls wait for each other. This file holds the
-- functions as they are now; it is run after the steps of a migration.

-- What the store keeps of the claim of a lease: whoever reads the tables must not be able to bring results with it.
CREATE OR REPLACE FUNCTION kept_claim(a_claim text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT left(encode(sha256(convert_to(a_claim, 'UTF8')), 'hex'), 32)
$$;

-- Live owners with this boot id.
CREATE OR REPLACE FUNCTION owners(a_campaign text, a_boot_id text)
RETURNS TABLE (l_host text, l_boot_id text, l_pid bigint, l_start_ticks bigint, l_pid_namespace text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = assay, pg_temp AS $$
DECLARE v_campaign campaign%ROWTYPE;
BEGIN
  v_campaign := found_campaign(a_campaign);
  RETURN QUERY SELECT DISTINCT run.owner_host, run.owner_boot_id, run.owner_pid, run.owner_start_ticks,
      coalesce(run.owner_pid_namespace, '')
    FROM run WHERE run.campaign = v_campaign.key AND run.state = 1 AND run.owner_boot_id = a_boot_id;
END $$;

-- Frees leases that ran out and those of owners that are dead, as another agent of their role says. No lease runs out until
-- the server has been up, and has taken writes, for as long as it was given: agents could not renew while it was away or a
-- standby. And the server's clock may have jumped: a lease that is found to have run out is left for half its length, in which
-- whoever lives renews it; one that was given later than it is now begins again.
CREATE OR REPLACE FUNCTION free_leases(a_campaign bigint, a_boot_id text, a_dead_pids bigint[], a_dead_ticks bigint[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint := now_ms();
  v_up bigint := up_since_ms();
  v_odd bigint[];
  v_freed bigint[];
  v_dead bigint[];
BEGIN
  v_odd := ARRAY(SELECT run.key FROM run WHERE run.campaign = a_campaign AND run.state = 1
    AND run.side IS DISTINCT FROM 'b' AND (run.lease_end_ms <= v_now AND v_up + run.lease_ms <= v_now
      OR run.lease_end_ms - run.lease_ms > v_now + 60000)
    FOR UPDATE SKIP LOCKED);
  IF cardinality(v_odd) > 0 THEN
    UPDATE run SET lease_end_ms = v_now + run.lease_ms WHERE run.key = ANY (v_odd) AND run.lease_end_ms > v_now;
    UPDATE run SET overdue_ms = v_now WHERE run.key = ANY (v_odd) AND run.lease_end_ms <= v_now
      AND coalesce(run.overdue_ms < run.lease_end_ms OR run.overdue_ms > v_now, true);
    v_freed := ARRAY(SELECT run.key FROM run WHERE run.key = ANY (v_odd) AND run.lease_end_ms <= v_now
      AND run.overdue_ms + run.lease_ms / 2 <= v_now);
  END IF;
  IF cardinality(a_dead_pids) > 0 THEN
    v_dead := ARRAY(SELECT run.key FROM run WHERE run.campaign = a_campaign AND run.state = 1
      AND run.side IS DISTINCT FROM 'b' AND run.owner_boot_id = a_boot_id
      AND coalesce(run.owner_role = session_user, true)
      AND (run.owner_pid, run.owner_start_ticks) IN (SELECT * FROM unnest(a_dead_pids, a_dead_ticks))
      FOR UPDATE SKIP LOCKED);
    v_freed := v_freed || v_dead;
  END IF;
  IF coalesce(cardinality(v_freed), 0) = 0 THEN RETURN; END IF;
  UPDATE run SET state = 0 WHERE key = ANY (v_freed);
  UPDATE run SET state = 0 WHERE side = 'b' AND state = 1
    AND pair IN (SELECT freed.pair FROM run AS freed WHERE freed.key = ANY (v_freed) AND freed.pair IS NOT NULL);
END $$;

-- Takes a run and its group under a claim that the agent has drawn. The same claim again gives the same runs: an agent
-- whose answer was lost asks once more.
CREATE OR REPLACE FUNCTION lease(a_campaign text, a_claim text, a_seconds double precision, a_host text, a_boot_id text,
  a_pid bigint, a_start_ticks bigint, a_pid_namespace text, a_dead_pids bigint[], a_dead_ticks bigint[], a_platform text,
  a_workers text[], a_devices text[], a_hosts bigint)
RETURNS TABLE (l_run bigint, l_epoch bigint, l_attempt bigint, l_index bigint, l_trial text, l_json text, l_pair text,
  l_side text, l_seed bigint, l_measure text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = assay, pg_temp AS $$
DECLARE
  v_campaign campaign%ROWTYPE;
  v_first run%ROWTYPE;
  v_group bigint[];
  v_taken bigint[];
  v_ms bigint := (a_seconds * 1000)::bigint;
BEGIN
  v_campaign := found_campaign(a_campaign);
  IF a_claim !~ '^[0-9a-f]{32}$' OR a_claim IS NULL THEN
    RAISE EXCEPTION 'a claim has 32 hexadecimal digits' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF length(a_host) > 300 OR length(a_boot_id) > 300 OR length(a_pid_namespace) > 300 THEN
    RAISE EXCEPTION 'the name of an owner is too long' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  v_taken := ARRAY(SELECT run.key FROM run WHERE run.claim = kept_claim(a_claim) AND run.campaign = v_campaign.key AND run.state = 1
    ORDER BY run.side, run.key FOR UPDATE);
  IF cardinality(v_taken) = 0 THEN
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
      v_group := ARRAY(SELECT run.key FROM run WHERE run.pair = v_first.pair AND run.side = 'b' AND run.state = 0
        ORDER BY run.key FOR UPDATE);
      IF cardinality(v_group) = 0 OR EXISTS (SELECT FROM run WHERE run.pair = v_first.pair AND run.state <> 0) THEN
        RAISE EXCEPTION 'not all runs of the group of run % are ready; the store was changed by another program', v_first.key;
      END IF;
      v_taken := v_taken || v_group;
    END IF;
    UPDATE run SET state = 1, epoch = run.epoch + 1, claim = kept_claim(a_claim), owner_host = a_host, owner_boot_id = a_boot_id,
      owner_pid = a_pid, owner_start_ticks = a_start_ticks, owner_pid_namespace = a_pid_namespace,
      owner_role = session_user, lease_ms = v_ms, lease_end_ms = now_ms() + v_ms WHERE run.key = ANY (v_taken);
  END IF;
  RETURN QUERY SELECT run.key, run.epoch, run.attempt, run.idx, trial.id, trial.json, run.pair, run.side,
      v_campaign.seed, v_campaign.measure
    FROM run JOIN trial ON trial.key = run.trial WHERE run.key = ANY (v_taken) ORDER BY run.side, run.key;
END $$;

-- Whether this claim holds all these runs; locks them. No list is not an empty list: false. Nor is a part of a group a list: nobody
-- could take the rest then.
CREATE OR REPLACE FUNCTION holds(a_campaign text, a_claim text, a_runs bigint[]) RETURNS boolean LANGUAGE plpgsql AS $$
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
    SELECT run.key FROM run
      WHERE run.key = ANY (a_runs) AND run.campaign = v_campaign AND run.claim = kept_claim(a_claim) AND run.state <> 2
      ORDER BY run.side, run.key FOR UPDATE OF run) AS locked;
  RETURN coalesce(v_held = cardinality(a_runs) AND v_held > 0, false) AND NOT EXISTS (
    SELECT FROM run AS held JOIN run AS partner ON partner.pair = held.pair
    WHERE held.key = ANY (a_runs) AND held.pair IS NOT NULL AND partner.key <> ALL (a_runs));
END $$;

CREATE OR REPLACE FUNCTION renew(a_campaign text, a_claim text, a_runs bigint[], a_seconds double precision)
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = assay, pg_temp AS $$
DECLARE v_ms bigint := (a_seconds * 1000)::bigint;
BEGIN
  IF NOT holds(a_campaign, a_claim, a_runs) THEN RETURN 0; END IF;
  -- One that ran out and was taken by nobody is held again.
  UPDATE run SET state = 1, lease_ms = v_ms, lease_end_ms = now_ms() + v_ms WHERE key = ANY (a_runs);
  RETURN 1;
END $$;

-- Whether a text is JSON whose value is an object.
CREATE OR REPLACE FUNCTION is_object(a_text text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN coalesce(json_typeof(a_text::json) = 'object', false);
EXCEPTION WHEN data_exception OR statement_too_complex OR program_limit_exceeded THEN
  RETURN false;
END $$;

-- Hash of all that the store keeps of a record.
CREATE OR REPLACE FUNCTION record_hash(a_record assay.record, a_trial text, a_index bigint) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT left(encode(sha256(convert_to(concat_ws(chr(31), a_trial, a_index, a_record.attempt, a_record.counted,
    a_record.outcome, a_record.message, a_record.trusted, a_record.platform, a_record.started_utc, a_record.duration_ns,
    a_record.n, a_record.steady_from, coalesce(a_record.median_ns::text, 'null'), coalesce(a_record.p90_ns::text, 'null'),
    coalesce(a_record.p99_ns::text, 'null'), coalesce(encode(float8send(a_record.samples_per_second), 'hex'), 'null'),
    a_record.summary_version, coalesce(a_record.peak_memory_bytes::text, 'null'), a_record.digest, a_record.json,
    left(encode(sha256(a_record.samples), 'hex'), 32)), 'UTF8')), 'hex'), 32)
$$;

-- The link of a chain after another, which is empty for the first.
CREATE OR REPLACE FUNCTION link_of(a_previous text, a_hash text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT left(encode(sha256(convert_to(a_previous || a_hash, 'UTF8')), 'hex'), 32)
$$;

-- Notes who wrote the records of these runs that were brought with a claim.
CREATE OR REPLACE FUNCTION put_receipts(a_claim text, a_records bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_writer writer%ROWTYPE;
  v_new pg_catalog.record;  -- not a row of our table of that name
BEGIN
  FOR v_new IN SELECT record.key, run.key AS run, record_hash(record, trial.id, run.idx) AS hash, run.owner_host AS host,
      concat_ws(':', run.owner_boot_id, run.owner_pid, run.owner_start_ticks) AS agent
    FROM record JOIN run ON run.key = record.run JOIN trial ON trial.key = run.trial
    WHERE record.key = ANY (a_records) ORDER BY run.side, run.key LOOP
    INSERT INTO writer(role, host, agent) VALUES (session_user, coalesce(v_new.host, ''), v_new.agent)
      ON CONFLICT (role, host, agent) DO NOTHING;
    UPDATE writer SET seq = writer.seq + 1, link = link_of(writer.link, v_new.hash)
      WHERE writer.role = session_user AND writer.host = coalesce(v_new.host, '') AND writer.agent = v_new.agent
      RETURNING * INTO v_writer;
    INSERT INTO receipt(writer, seq, record, run, claim, hash, link)
      VALUES (v_writer.key, v_writer.seq, v_new.key, v_new.run, a_claim, v_new.hash, v_writer.link);
  END LOOP;
END $$;

-- Stores one record for each run. 'repeated': this very result is stored already.
CREATE OR REPLACE FUNCTION complete(a_campaign text, a_claim text, a_runs bigint[], a_again integer, a_records json,
  a_contents json) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = assay, pg_temp AS $$
DECLARE
  v_stored bigint[];
  v_repeated bigint;
BEGIN
  IF NOT holds(a_campaign, a_claim, a_runs) THEN
    SELECT count(DISTINCT run.key) INTO v_repeated FROM run JOIN campaign ON campaign.key = run.campaign
      WHERE run.key = ANY (a_runs) AND campaign.id = a_campaign
        AND EXISTS (SELECT FROM receipt WHERE receipt.run = run.key AND receipt.claim = a_claim);
    RETURN CASE WHEN v_repeated > 0 AND v_repeated = cardinality(a_runs) THEN 'repeated' ELSE 'stale' END;
  END IF;
  IF EXISTS (SELECT FROM json_to_recordset(a_records) AS new(run bigint, trial text, index bigint, attempt bigint)
      JOIN run ON run.key = new.run JOIN trial ON trial.key = run.trial
      WHERE run.key = ANY (a_runs)
        AND (trial.id, run.idx, run.attempt) IS DISTINCT FROM (new.trial, new.index, new.attempt)) THEN
    RETURN 'stale';
  END IF;
  -- Other campaigns share contents: one must be what its hash says, whoever brings it, and JSON, or readers would stumble.
  IF EXISTS (SELECT FROM json_to_recordset(a_contents) AS new(hash text, json text) WHERE new.hash IS DISTINCT FROM
      left(encode(sha256(convert_to(replace(new.json, U&'\E000e', U&'\E000'), 'UTF8')), 'hex'), 32)) THEN
    RAISE EXCEPTION 'a content does not fit its hash' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM new.json::json FROM json_to_recordset(a_contents) AS new(hash text, json text);
  INSERT INTO content(hash, json) SELECT new.hash, new.json FROM json_to_recordset(a_contents) AS new(hash text, json text)
    ORDER BY new.hash ON CONFLICT (hash) DO NOTHING;
  WITH stored AS (
    INSERT INTO record(run, epoch, attempt, counted, outcome, message, trusted, platform, started_utc, duration_ns, n,
        steady_from, median_ns, p90_ns, p99_ns, samples_per_second, summary_version, peak_memory_bytes, digest, json,
        samples)
      SELECT run.key, run.epoch, run.attempt, 1 - a_again, new.outcome, new.message, new.trusted, new.platform,
        new.started_utc, new.duration_ns, new.n, new.steady_from, new.median_ns, new.p90_ns, new.p99_ns,
        new.samples_per_second, new.summary_version, new.peak_memory_bytes, new.digest, new.json,
        decode(new.samples, 'hex')
      FROM json_to_recordset(a_records) AS new(run bigint, outcome text,
        message text, trusted integer, platform text, started_utc text, duration_ns bigint, n bigint, steady_from bigint,
        median_ns bigint, p90_ns bigint, p99_ns bigint, samples_per_second double precision, summary_version bigint,
        peak_memory_bytes bigint, digest text, json text, samples text)
      JOIN run ON run.key = new.run AND run.key = ANY (a_runs) JOIN trial ON trial.key = run.trial
      WHERE is_object(new.json) AND is_object(new.digest) ORDER BY run.side, run.key
      RETURNING key)
    SELECT array_agg(stored.key) INTO v_stored FROM stored;
  IF cardinality(v_stored) IS DISTINCT FROM cardinality(a_runs) THEN
    RAISE EXCEPTION '% valid records for % runs', coalesce(cardinality(v_stored), 0), cardinality(a_runs)
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM put_receipts(a_claim, v_stored);
  IF a_again = 1 THEN
    UPDATE run SET state = 0, attempt = attempt + 1, claim = NULL WHERE key = ANY (a_runs);
  ELSE
    UPDATE run SET state = 2, claim = NULL WHERE key = ANY (a_runs);
  END IF;
  RETURN 'accepted';
END $$;

-- Named give_back, since RELEASE is a word of SQL.
CREATE OR REPLACE FUNCTION give_back(a_campaign text, a_claim text, a_runs bigint[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = assay, pg_temp AS $$
BEGIN
  IF NOT holds(a_campaign, a_claim, a_runs) THEN RETURN 0; END IF;
  UPDATE run SET state = 0, claim = NULL WHERE key = ANY (a_runs);
  RETURN 1;
END $$;

-- Others measured on a platform too: what an agent says of it stands only where nobody has described it. The owner may
-- say otherwise.
CREATE OR REPLACE FUNCTION put_platform(a_id text, a_json text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = assay, pg_temp AS $$
BEGIN
  IF length(a_id) NOT BETWEEN 1 AND 200 OR length(a_json) > 1000000 OR NOT is_object(a_json) THEN
    RAISE EXCEPTION 'a platform is described by a JSON object' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  INSERT INTO platform(id, json) VALUES (a_id, a_json)
    ON CONFLICT (id) DO UPDATE SET json = excluded.json
    WHERE platform.json <> excluded.json AND pg_has_role(session_user, current_user, 'MEMBER');
  RETURN 1;
END $$;

-- What a record may say; older ones are left as they are.
ALTER TABLE record DROP CONSTRAINT IF EXISTS what_is_known;
ALTER TABLE record ADD CONSTRAINT what_is_known CHECK (
  outcome IN ('ok', 'refused', 'failed', 'crashed', 'out_of_memory', 'timed_out', 'bad_output', 'not_started', 'interrupted')
  AND trusted IN (0, 1) AND counted IN (0, 1) AND n >= 0 AND steady_from >= 0 AND duration_ns >= 0
  AND coalesce(median_ns >= 0, true) AND coalesce(p90_ns >= 0, true) AND coalesce(p99_ns >= 0, true)
  AND coalesce(samples_per_second >= 0 AND samples_per_second < 'infinity', true)
  AND coalesce(peak_memory_bytes >= 0, true)
  AND started_utc ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$' AND length(message) <= 1000000
  AND length(platform) <= 200 AND octet_length(samples) % 8 = 0) NOT VALID;

-- One plan for each connection instead of one for each call, which took longer than the look for a run itself. It goes by
-- indexes, also where the tables were small when it was made: they grow while the connection stays.
DO $$
DECLARE v_name text;
BEGIN
  FOREACH v_name IN ARRAY ARRAY['owners', 'lease', 'renew', 'complete', 'give_back'] LOOP
    EXECUTE format('ALTER FUNCTION %I SET plan_cache_mode = force_generic_plan', v_name);
    EXECUTE format('ALTER FUNCTION %I SET enable_seqscan = off', v_name);
    EXECUTE format('ALTER FUNCTION %I SET enable_bitmapscan = off', v_name);
    EXECUTE format('ALTER FUNCTION %I SET enable_hashjoin = off', v_name);
    EXECUTE format('ALTER FUNCTION %I SET enable_mergejoin = off', v_name);
  END LOOP;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA assay FROM PUBLIC;
