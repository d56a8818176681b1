-- In plpgsql, which keeps its plan: one in SQL is planned in every call.
CREATE OR REPLACE FUNCTION works_on(a_campaign bigint) RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = assay, pg_temp AS $$
BEGIN
  RETURN pg_has_role(session_user, current_user, 'MEMBER') OR EXISTS (
    SELECT FROM access WHERE role = session_user AND kind = 'agent' AND (campaign IS NULL OR campaign = a_campaign));
END $$;

-- Others measured on a platform too: what an agent says of it stands only where nobody has described it. The owner may
-- say otherwise.
CREATE OR REPLACE FUNCTION put_platform(a_id text, a_json text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = assay, pg_temp AS $$
BEGIN
  INSERT INTO platform(id, json) VALUES (a_id, a_json)
    ON CONFLICT (id) DO UPDATE SET json = excluded.json
    WHERE platform.json <> excluded.json AND pg_has_role(session_user, current_user, 'MEMBER');
  RETURN 1;
END $$;

-- Whether these runs are still in the hands of these epochs; locks them. No list is not an empty list: false.
CREATE OR REPLACE FUNCTION holds(a_campaign text, a_runs bigint[], a_epochs bigint[]) RETURNS boolean LANGUAGE plpgsql AS $$
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
      WHERE run.key = ANY (a_runs) AND run.campaign = v_campaign AND run.epoch = held.epoch AND run.state <> 2
      ORDER BY run.side FOR UPDATE OF run) AS locked;
  RETURN coalesce(v_held = cardinality(a_runs), false);
END $$;

-- As in version 1, but that 'repeated' is said of runs of this campaign alone.
CREATE OR REPLACE FUNCTION complete(a_campaign text, a_runs bigint[], a_epochs bigint[], a_again integer, a_records json,
  a_contents json) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = assay, pg_temp AS $$
DECLARE v_stored bigint;
BEGIN
  IF NOT holds(a_campaign, a_runs, a_epochs) THEN
    SELECT count(*) INTO v_stored FROM record JOIN unnest(a_runs, a_epochs) AS held(run, epoch) USING (run, epoch)
      JOIN run ON run.key = record.run JOIN campaign ON campaign.key = run.campaign WHERE campaign.id = a_campaign;
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

-- An agent that calls lease or renew by itself and goes silent blocks a run for a day at most.
ALTER TABLE run ADD CONSTRAINT lease_of_at_most_a_day
  CHECK (state <> 1 OR coalesce(lease_ms BETWEEN 0 AND 86400000, false));

-- Who looks for the next run steps over those that were taken since the last vacuum. By default that is a fifth of all.
ALTER TABLE run SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000);

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA assay FROM PUBLIC;
