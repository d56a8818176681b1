--
-- PostgreSQL database dump
--

\restrict Sm7X9oDdVJn00OnVL59K1QuydLmpzOKf0x3Kn12E759t2pTv13dDeWSikeQFNmC

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: assay; Type: SCHEMA; Schema: -; Owner: owner
--

CREATE SCHEMA assay;


ALTER SCHEMA assay OWNER TO owner;

--
-- Name: allow(text, text, text); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.allow(a_role text, a_kind text, a_campaign text) RETURNS integer
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION assay.allow(a_role text, a_kind text, a_campaign text) OWNER TO owner;

--
-- Name: campaign_added(); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.campaign_added() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO assay.progress(campaign, slot) SELECT new.key, slot FROM generate_series(0, 15) AS slot;
  RETURN NULL;
END $$;


ALTER FUNCTION assay.campaign_added() OWNER TO owner;

--
-- Name: complete(text, bigint[], bigint[], integer, json, json); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.complete(a_campaign text, a_runs bigint[], a_epochs bigint[], a_again integer, a_records json, a_contents json) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'assay', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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


ALTER FUNCTION assay.complete(a_campaign text, a_runs bigint[], a_epochs bigint[], a_again integer, a_records json, a_contents json) OWNER TO owner;

--
-- Name: forbid(text); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.forbid(a_role text) RETURNS integer
    LANGUAGE plpgsql
    AS $$
BEGIN
  EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA assay FROM %I', a_role);
  EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA assay FROM %I', a_role);
  EXECUTE format('REVOKE ALL ON SCHEMA assay FROM %I', a_role);
  DELETE FROM access WHERE role = a_role;
  RETURN 1;
END $$;


ALTER FUNCTION assay.forbid(a_role text) OWNER TO owner;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: campaign; Type: TABLE; Schema: assay; Owner: owner
--

CREATE TABLE assay.campaign (
    key bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    family text NOT NULL COLLATE pg_catalog."C",
    round bigint NOT NULL,
    name text NOT NULL,
    seed bigint NOT NULL,
    lockstep integer NOT NULL,
    runs bigint NOT NULL,
    measure text NOT NULL,
    platform text,
    created_utc text NOT NULL
);


ALTER TABLE assay.campaign OWNER TO owner;

--
-- Name: found_campaign(text); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.found_campaign(a_id text) RETURNS assay.campaign
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'assay', 'pg_temp'
    AS $$
DECLARE v_campaign campaign%ROWTYPE;
BEGIN
  SELECT * INTO v_campaign FROM campaign WHERE campaign.id = a_id;
  IF NOT FOUND OR NOT works_on(v_campaign.key) THEN
    RAISE EXCEPTION 'there is no campaign % for this role', a_id USING ERRCODE = 'no_data_found';
  END IF;
  RETURN v_campaign;
END $$;


ALTER FUNCTION assay.found_campaign(a_id text) OWNER TO owner;

--
-- Name: free_leases(bigint, text, bigint[], bigint[]); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.free_leases(a_campaign bigint, a_boot_id text, a_dead_pids bigint[], a_dead_ticks bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION assay.free_leases(a_campaign bigint, a_boot_id text, a_dead_pids bigint[], a_dead_ticks bigint[]) OWNER TO owner;

--
-- Name: give_back(text, bigint[], bigint[]); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.give_back(a_campaign text, a_runs bigint[], a_epochs bigint[]) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'assay', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
BEGIN
  IF NOT holds(a_campaign, a_runs, a_epochs) THEN RETURN 0; END IF;
  UPDATE run SET state = 0, epoch = epoch + 1 WHERE key = ANY (a_runs);
  RETURN 1;
END $$;


ALTER FUNCTION assay.give_back(a_campaign text, a_runs bigint[], a_epochs bigint[]) OWNER TO owner;

--
-- Name: grant_all_rights(); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.grant_all_rights() RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE v_access access%ROWTYPE;
BEGIN
  FOR v_access IN SELECT * FROM access WHERE role IN (SELECT rolname FROM pg_roles) LOOP
    PERFORM grant_rights(v_access.role, v_access.kind);
  END LOOP;
END $$;


ALTER FUNCTION assay.grant_all_rights() OWNER TO owner;

--
-- Name: grant_rights(text, text); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.grant_rights(a_role text, a_kind text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION assay.grant_rights(a_role text, a_kind text) OWNER TO owner;

--
-- Name: holds(text, bigint[], bigint[]); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.holds(a_campaign text, a_runs bigint[], a_epochs bigint[]) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION assay.holds(a_campaign text, a_runs bigint[], a_epochs bigint[]) OWNER TO owner;

--
-- Name: lease(text, double precision, text, text, bigint, bigint, bigint[], bigint[], text, text[], text[], bigint); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.lease(a_campaign text, a_seconds double precision, a_host text, a_boot_id text, a_pid bigint, a_start_ticks bigint, a_dead_pids bigint[], a_dead_ticks bigint[], a_platform text, a_workers text[], a_devices text[], a_hosts bigint) RETURNS TABLE(l_run bigint, l_epoch bigint, l_attempt bigint, l_index bigint, l_trial text, l_json text, l_pair text, l_side text, l_seed bigint, l_measure text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'assay', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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


ALTER FUNCTION assay.lease(a_campaign text, a_seconds double precision, a_host text, a_boot_id text, a_pid bigint, a_start_ticks bigint, a_dead_pids bigint[], a_dead_ticks bigint[], a_platform text, a_workers text[], a_devices text[], a_hosts bigint) OWNER TO owner;

--
-- Name: trial; Type: TABLE; Schema: assay; Owner: owner
--

CREATE TABLE assay.trial (
    key bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    network text NOT NULL COLLATE pg_catalog."C",
    mode text NOT NULL,
    batch bigint NOT NULL,
    "precision" text NOT NULL,
    worker text NOT NULL,
    release text NOT NULL,
    device text NOT NULL,
    ranks bigint NOT NULL,
    ranks_per_node bigint,
    settings text NOT NULL,
    json text NOT NULL
);


ALTER TABLE assay.trial OWNER TO owner;

--
-- Name: meets(assay.trial, text[], text[], bigint); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.meets(a_trial assay.trial, a_workers text[], a_devices text[], a_hosts bigint) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT a_workers IS NULL OR (
    a_trial.worker || '==' || a_trial.release = ANY (a_workers) AND a_trial.device = ANY (a_devices)
    AND a_trial.ranks <= coalesce(a_trial.ranks_per_node, a_trial.ranks) * a_hosts)
$$;


ALTER FUNCTION assay.meets(a_trial assay.trial, a_workers text[], a_devices text[], a_hosts bigint) OWNER TO owner;

--
-- Name: now_ms(); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.now_ms() RETURNS bigint
    LANGUAGE sql
    AS $$SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint$$;


ALTER FUNCTION assay.now_ms() OWNER TO owner;

--
-- Name: owners(text, text); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.owners(a_campaign text, a_boot_id text) RETURNS TABLE(l_host text, l_boot_id text, l_pid bigint, l_start_ticks bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'assay', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
DECLARE v_campaign campaign%ROWTYPE;
BEGIN
  v_campaign := found_campaign(a_campaign);
  RETURN QUERY SELECT DISTINCT run.owner_host, run.owner_boot_id, run.owner_pid, run.owner_start_ticks FROM run
    WHERE run.campaign = v_campaign.key AND run.state = 1 AND run.owner_boot_id = a_boot_id;
END $$;


ALTER FUNCTION assay.owners(a_campaign text, a_boot_id text) OWNER TO owner;

--
-- Name: progress_slot(); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.progress_slot() RETURNS integer
    LANGUAGE sql
    AS $$SELECT pg_backend_pid() & 15$$;


ALTER FUNCTION assay.progress_slot() OWNER TO owner;

--
-- Name: put_platform(text, text); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.put_platform(a_id text, a_json text) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'assay', 'pg_temp'
    AS $$
BEGIN
  INSERT INTO platform(id, json) VALUES (a_id, a_json)
    ON CONFLICT (id) DO UPDATE SET json = excluded.json
    WHERE platform.json <> excluded.json AND pg_has_role(session_user, current_user, 'MEMBER');
  RETURN 1;
END $$;


ALTER FUNCTION assay.put_platform(a_id text, a_json text) OWNER TO owner;

--
-- Name: record_added(); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.record_added() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE assay.progress SET failed = failed + (new.counted = 1 AND new.outcome <> 'ok')::integer,
    set_aside = set_aside + (new.counted = 0)::integer
    WHERE campaign = (SELECT run.campaign FROM assay.run WHERE run.key = new.run) AND slot = assay.progress_slot();
  RETURN NULL;
END $$;


ALTER FUNCTION assay.record_added() OWNER TO owner;

--
-- Name: renew(text, bigint[], bigint[], double precision); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.renew(a_campaign text, a_runs bigint[], a_epochs bigint[], a_seconds double precision) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'assay', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
DECLARE v_ms bigint := (a_seconds * 1000)::bigint;
BEGIN
  IF NOT holds(a_campaign, a_runs, a_epochs) THEN RETURN 0; END IF;
  -- One that ran out and was taken by nobody is held again.
  UPDATE run SET state = 1, lease_ms = v_ms, lease_end_ms = now_ms() + v_ms WHERE key = ANY (a_runs);
  RETURN 1;
END $$;


ALTER FUNCTION assay.renew(a_campaign text, a_runs bigint[], a_epochs bigint[], a_seconds double precision) OWNER TO owner;

--
-- Name: run_moved(); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.run_moved() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE assay.progress SET ready = ready + (new.state = 0)::integer - (old.state = 0)::integer,
    leased = leased + (new.state = 1)::integer - (old.state = 1)::integer,
    done = done + (new.state = 2)::integer - (old.state = 2)::integer
    WHERE campaign = new.campaign AND slot = assay.progress_slot();
  RETURN NULL;
END $$;


ALTER FUNCTION assay.run_moved() OWNER TO owner;

--
-- Name: seen(); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.seen() RETURNS SETOF bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'assay', 'pg_temp'
    AS $$
  SELECT campaign.key FROM campaign WHERE pg_has_role(session_user, current_user, 'MEMBER') OR EXISTS (
    SELECT FROM access WHERE access.role = session_user
      AND (access.kind = 'reader' OR access.campaign IS NULL OR access.campaign = campaign.key))
$$;


ALTER FUNCTION assay.seen() OWNER TO owner;

--
-- Name: works_on(bigint); Type: FUNCTION; Schema: assay; Owner: owner
--

CREATE FUNCTION assay.works_on(a_campaign bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'assay', 'pg_temp'
    AS $$
BEGIN
  RETURN pg_has_role(session_user, current_user, 'MEMBER') OR EXISTS (
    SELECT FROM access WHERE role = session_user AND kind = 'agent' AND (campaign IS NULL OR campaign = a_campaign));
END $$;


ALTER FUNCTION assay.works_on(a_campaign bigint) OWNER TO owner;

--
-- Name: access; Type: TABLE; Schema: assay; Owner: owner
--

CREATE TABLE assay.access (
    role text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    campaign bigint,
    CONSTRAINT access_kind_check CHECK ((kind = ANY (ARRAY['agent'::text, 'reader'::text])))
);


ALTER TABLE assay.access OWNER TO owner;

--
-- Name: artifact; Type: TABLE; Schema: assay; Owner: owner
--

CREATE TABLE assay.artifact (
    key bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    inputs_hash text NOT NULL COLLATE pg_catalog."C",
    created_utc text NOT NULL,
    json text NOT NULL
);


ALTER TABLE assay.artifact OWNER TO owner;

--
-- Name: artifact_key_seq; Type: SEQUENCE; Schema: assay; Owner: owner
--

ALTER TABLE assay.artifact ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME assay.artifact_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: campaign_key_seq; Type: SEQUENCE; Schema: assay; Owner: owner
--

ALTER TABLE assay.campaign ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME assay.campaign_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: campaign_trial; Type: TABLE; Schema: assay; Owner: owner
--

CREATE TABLE assay.campaign_trial (
    campaign bigint NOT NULL,
    "position" bigint NOT NULL,
    trial bigint NOT NULL
);


ALTER TABLE assay.campaign_trial OWNER TO owner;

--
-- Name: content; Type: TABLE; Schema: assay; Owner: owner
--

CREATE TABLE assay.content (
    hash text NOT NULL COLLATE pg_catalog."C",
    json text NOT NULL
);


ALTER TABLE assay.content OWNER TO owner;

--
-- Name: platform; Type: TABLE; Schema: assay; Owner: owner
--

CREATE TABLE assay.platform (
    id text NOT NULL COLLATE pg_catalog."C",
    json text NOT NULL
);


ALTER TABLE assay.platform OWNER TO owner;

--
-- Name: progress; Type: TABLE; Schema: assay; Owner: owner
--

CREATE TABLE assay.progress (
    campaign bigint NOT NULL,
    slot integer NOT NULL,
    runs bigint DEFAULT 0 NOT NULL,
    ready bigint DEFAULT 0 NOT NULL,
    leased bigint DEFAULT 0 NOT NULL,
    done bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    set_aside bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');


ALTER TABLE assay.progress OWNER TO owner;

--
-- Name: record; Type: TABLE; Schema: assay; Owner: owner
--

CREATE TABLE assay.record (
    key bigint NOT NULL,
    run bigint NOT NULL,
    epoch bigint NOT NULL,
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
    samples bytea NOT NULL
);


ALTER TABLE assay.record OWNER TO owner;

--
-- Name: record_key_seq; Type: SEQUENCE; Schema: assay; Owner: owner
--

ALTER TABLE assay.record ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME assay.record_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: run; Type: TABLE; Schema: assay; Owner: owner
--

CREATE TABLE assay.run (
    key bigint NOT NULL,
    campaign bigint NOT NULL,
    trial bigint NOT NULL,
    idx bigint NOT NULL,
    ord bigint NOT NULL,
    state integer DEFAULT 0 NOT NULL,
    attempt bigint DEFAULT 0 NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    pair text COLLATE pg_catalog."C",
    side text COLLATE pg_catalog."C",
    owner_host text,
    owner_boot_id text,
    owner_pid bigint,
    owner_start_ticks bigint,
    lease_ms bigint,
    lease_end_ms bigint,
    CONSTRAINT lease_of_at_most_a_day CHECK (((state <> 1) OR COALESCE(((lease_ms >= 0) AND (lease_ms <= 86400000)), false))),
    CONSTRAINT run_side_check CHECK ((side = ANY (ARRAY['a'::text, 'b'::text]))),
    CONSTRAINT run_state_check CHECK ((state = ANY (ARRAY[0, 1, 2])))
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='5000');


ALTER TABLE assay.run OWNER TO owner;

--
-- Name: result; Type: VIEW; Schema: assay; Owner: owner
--

CREATE VIEW assay.result AS
 SELECT campaign.id AS campaign,
    campaign.name AS campaign_name,
    campaign.round,
    trial.id AS trial,
    trial.network,
    trial.mode,
    trial.batch,
    trial."precision",
    trial.worker,
    trial.release,
    trial.device,
    trial.ranks,
    trial.settings,
    run.idx AS index,
    record.attempt,
    record.outcome,
    record.message,
    record.trusted,
    run.pair,
    run.side,
    record.platform,
    record.started_utc,
    record.duration_ns,
    record.n,
    record.steady_from,
    record.median_ns,
    record.p90_ns,
    record.p99_ns,
    record.samples_per_second,
    record.peak_memory_bytes
   FROM (((assay.record
     JOIN assay.run ON ((run.key = record.run)))
     JOIN assay.trial ON ((trial.key = run.trial)))
     JOIN assay.campaign ON ((campaign.key = run.campaign)))
  WHERE (record.counted = 1);


ALTER TABLE assay.result OWNER TO owner;

--
-- Name: run_key_seq; Type: SEQUENCE; Schema: assay; Owner: owner
--

ALTER TABLE assay.run ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME assay.run_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: store; Type: TABLE; Schema: assay; Owner: owner
--

CREATE TABLE assay.store (
    version bigint NOT NULL
);


ALTER TABLE assay.store OWNER TO owner;

--
-- Name: trial_key_seq; Type: SEQUENCE; Schema: assay; Owner: owner
--

ALTER TABLE assay.trial ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME assay.trial_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Data for Name: access; Type: TABLE DATA; Schema: assay; Owner: owner
--

COPY assay.access (role, kind, campaign) FROM stdin;
\.


--
-- Data for Name: artifact; Type: TABLE DATA; Schema: assay; Owner: owner
--

COPY assay.artifact (key, kind, inputs_hash, created_utc, json) FROM stdin;
\.


--
-- Data for Name: campaign; Type: TABLE DATA; Schema: assay; Owner: owner
--

COPY assay.campaign (key, id, family, round, name, seed, lockstep, runs, measure, platform, created_utc) FROM stdin;
1	878ff6798e7082cae15bcb5cd8f448b6	878ff6798e7082cae15bcb5cd8f448b6	0	done	1	0	3	{"layers":false,"limit_seconds":300.0,"max_samples":10000,"pair_steps":2,"prepare_limit_seconds":600.0,"retries":0,"seconds":0.02,"slice_seconds":0.5,"warmup_seconds":0.0}	\N	2026-11-18T01:10:17.506Z
2	afafd4eb9e3a8ade4157e72cb35da66c	afafd4eb9e3a8ade4157e72cb35da66c	0	pair	1	1	2	{"layers":false,"limit_seconds":300.0,"max_samples":10000,"pair_steps":2,"prepare_limit_seconds":600.0,"retries":0,"seconds":0.02,"slice_seconds":0.5,"warmup_seconds":0.0}	\N	2026-11-18T01:10:17.736Z
3	dc3ccc57bc16fe4b7378077b9d620f0c	dc3ccc57bc16fe4b7378077b9d620f0c	0	open	1	0	4	{"layers":false,"limit_seconds":300.0,"max_samples":10000,"pair_steps":2,"prepare_limit_seconds":600.0,"retries":0,"seconds":0.02,"slice_seconds":0.5,"warmup_seconds":0.0}	\N	2026-11-18T01:10:17.846Z
4	bf5bdc2ec7fca4dc478b34d5bdb1994a	bf5bdc2ec7fca4dc478b34d5bdb1994a	0	killed	1	0	1	{"layers":false,"limit_seconds":300.0,"max_samples":10000,"pair_steps":2,"prepare_limit_seconds":600.0,"retries":0,"seconds":4.0,"slice_seconds":0.5,"warmup_seconds":0.0}	\N	2026-11-18T01:10:17.938Z
\.


--
-- Data for Name: campaign_trial; Type: TABLE DATA; Schema: assay; Owner: owner
--

COPY assay.campaign_trial (campaign, "position", trial) FROM stdin;
1	0	1
1	1	2
2	0	1
2	1	2
3	0	5
4	0	6
\.


--
-- Data for Name: content; Type: TABLE DATA; Schema: assay; Owner: owner
--

COPY assay.content (hash, json) FROM stdin;
\.


--
-- Data for Name: platform; Type: TABLE DATA; Schema: assay; Owner: owner
--

COPY assay.platform (id, json) FROM stdin;
ab5bff9979522e49570a826953630380	{"about":{"bios":null,"board":null,"cpu_list":"0-1","gpu_driver":null,"machine_cpus":2,"memory_bytes":25274793984,"microcode":"0x1","os":"Debian GNU/Linux 12 (bookworm)"},"identity":{"architecture":"x86_64","container":"docker","cores":2,"cpu_quota":null,"cpus":[{"family":"6","flags":["avx","avx2","avx512bw","avx512cd","avx512dq","avx512f","avx512vl","f16c","fma"],"model":"85","name":"Intel(R) Xeon(R) Processor @ 2.50GHz","stepping":"4","threads":2,"vendor":"GenuineIntel"}],"gpus":[],"memory_bytes":25769803776,"nodes":1,"shape":"socket[node[L3 33792K[2 L2 1024K[L1 32K[core[thread]]]]]]","sockets":1,"threads":2,"virtual_machine":"kvm"}}
\.


--
-- Data for Name: progress; Type: TABLE DATA; Schema: assay; Owner: owner
--

COPY assay.progress (campaign, slot, runs, ready, leased, done, failed, set_aside) FROM stdin;
1	1	0	0	0	0	0	0
1	2	0	0	0	0	0	0
1	3	0	0	0	0	0	0
1	4	0	0	0	0	0	0
1	5	0	0	0	0	0	0
1	6	0	0	0	0	0	0
1	7	0	0	0	0	0	0
1	8	0	0	0	0	0	0
1	9	0	0	0	0	0	0
1	10	0	0	0	0	0	0
1	11	0	0	0	0	0	0
1	12	0	0	0	0	0	0
1	14	0	0	0	0	0	0
1	15	0	0	0	0	0	0
1	0	6	6	0	0	0	0
2	11	0	-4	0	4	0	0
1	13	0	-6	0	6	0	0
2	1	0	0	0	0	0	0
2	2	0	0	0	0	0	0
2	3	0	0	0	0	0	0
2	4	0	0	0	0	0	0
2	5	0	0	0	0	0	0
2	6	0	0	0	0	0	0
2	7	0	0	0	0	0	0
2	8	0	0	0	0	0	0
2	9	0	0	0	0	0	0
2	10	0	0	0	0	0	0
2	12	0	0	0	0	0	0
2	13	0	0	0	0	0	0
2	14	0	0	0	0	0	0
2	0	4	4	0	0	0	0
2	15	0	0	0	0	0	0
3	1	0	0	0	0	0	0
3	2	0	0	0	0	0	0
3	3	0	0	0	0	0	0
3	4	0	0	0	0	0	0
3	5	0	0	0	0	0	0
3	6	0	0	0	0	0	0
3	8	0	0	0	0	0	0
3	9	0	0	0	0	0	0
3	10	0	0	0	0	0	0
3	11	0	0	0	0	0	0
3	12	0	0	0	0	0	0
3	13	0	0	0	0	0	0
3	14	0	0	0	0	0	0
3	15	0	0	0	0	0	0
3	7	0	-1	0	1	0	0
3	0	4	4	0	0	0	0
4	2	0	0	0	0	0	0
4	3	0	0	0	0	0	0
4	4	0	0	0	0	0	0
4	5	0	0	0	0	0	0
4	6	0	0	0	0	0	0
4	7	0	0	0	0	0	0
4	8	0	0	0	0	0	0
4	9	0	0	0	0	0	0
4	10	0	0	0	0	0	0
4	11	0	0	0	0	0	0
4	12	0	0	0	0	0	0
4	13	0	0	0	0	0	0
4	14	0	0	0	0	0	0
4	15	0	0	0	0	0	0
4	0	1	1	0	0	0	0
4	1	0	-1	1	0	0	0
\.


--
-- Data for Name: record; Type: TABLE DATA; Schema: assay; Owner: owner
--

COPY assay.record (key, run, epoch, attempt, counted, outcome, message, trusted, platform, started_utc, duration_ns, n, steady_from, median_ns, p90_ns, p99_ns, samples_per_second, summary_version, peak_memory_bytes, digest, json, samples) FROM stdin;
1	4	1	0	1	ok		1	ab5bff9979522e49570a826953630380	2026-11-18T01:10:17.525Z	12502245	50	0	400000	400000	400000	5000	1	3678208	{"effective":{"inter_op":[1],"intra_op":[1]},"peak_memory_bytes":3678208,"phase_medians_ns":[{"forward":320000.0,"load":40000.0,"transfer":40000.0}],"probe_ns":1460879.5,"reasons":[],"steady":{"kind":"flat"}}	{"assay_version":"0.1.0","outcome":{},"ranks":[{"buckets":[],"cpus":[],"disturbance":{"assay_cpu_ns":3475809,"cpu_ns":107270,"cpu_pressure_ns":0,"cpus":2,"involuntary_switches":0,"measured_ns":3358731,"other_cpu_ns":16416921,"steal_ns":0,"swap_bytes":0,"threads":1,"throttled_ns":0,"wait_ns":0,"window_ns":3358731},"layer_step_ns":[],"layers":[],"notes":[],"outcome":{"kind":"ok","message":""},"parameters_built":1234,"peak_memory_bytes":3678208,"phase_step_ns":[400000,400000,400000,400000,400000],"phases_ns":{"forward":[320000,320000,320000,320000,320000],"load":[40000,40000,40000,40000,40000],"transfer":[40000,40000,40000,40000,40000]},"prepare_ns":2617430,"probe_after_ns":1424148,"rank":0,"samples":50,"shared":{"inline":{"effective":{"inter_op":1,"intra_op":1},"versions":{"fake":"1.0.0"}}},"slices":[{"begin_ns":27944439795365,"end_ns":27944459795365,"probe_ns":1497611,"samples":50,"turn":0,"warmup":false}]}],"record_version":1,"state":{"inline":{"clocksource":"tsc","frequency_khz":null,"governor":null,"huge_pages":"madvise","hypervisor":"KVMKVMKVM","kernel":"6.18.44-fc-v445","load":[0.31,1.15,2.15],"memory_available_bytes":24599748608,"swap_total_bytes":0,"swap_used_bytes":0,"throttled_ns":0,"throttled_periods":0,"turbo":null}},"steady":{"kind":"flat"},"validity":{"reasons":[]}}	\\x801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000
2	1	1	0	1	ok		1	ab5bff9979522e49570a826953630380	2026-11-18T01:10:17.542Z	15859956	67	0	300000	300000	300000	3333.3333333333335	1	3653632	{"effective":{"inter_op":[1],"intra_op":[1]},"peak_memory_bytes":3653632,"phase_medians_ns":[{"forward":240000.0,"load":30000.0,"transfer":30000.0}],"probe_ns":1554683.0,"reasons":[],"steady":{"kind":"flat"}}	{"assay_version":"0.1.0","outcome":{},"ranks":[{"buckets":[],"cpus":[],"disturbance":{"assay_cpu_ns":3716877,"cpu_ns":150279,"cpu_pressure_ns":0,"cpus":2,"involuntary_switches":0,"measured_ns":3649583,"other_cpu_ns":6132844,"steal_ns":0,"swap_bytes":0,"threads":1,"throttled_ns":0,"wait_ns":0,"window_ns":3649583},"layer_step_ns":[],"layers":[],"notes":[],"outcome":{"kind":"ok","message":""},"parameters_built":1234,"peak_memory_bytes":3653632,"phase_step_ns":[300000,300000,300000,300000,300000,300000,300000],"phases_ns":{"forward":[240000,240000,240000,240000,240000,240000,240000],"load":[30000,30000,30000,30000,30000,30000,30000],"transfer":[30000,30000,30000,30000,30000,30000,30000]},"prepare_ns":7024518,"probe_after_ns":1488022,"rank":0,"samples":67,"shared":{"inline":{"effective":{"inter_op":1,"intra_op":1},"versions":{"fake":"1.0.0"}}},"slices":[{"begin_ns":27944459819098,"end_ns":27944479919098,"probe_ns":1621344,"samples":67,"turn":0,"warmup":false}]}],"record_version":1,"state":{"inline":{"clocksource":"tsc","frequency_khz":null,"governor":null,"huge_pages":"madvise","hypervisor":"KVMKVMKVM","kernel":"6.18.44-fc-v445","load":[0.31,1.15,2.15],"memory_available_bytes":24583262208,"swap_total_bytes":0,"swap_used_bytes":0,"throttled_ns":0,"throttled_periods":0,"turbo":null}},"steady":{"kind":"flat"},"validity":{"reasons":[]}}	\\xe093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000
3	5	1	0	1	ok		1	ab5bff9979522e49570a826953630380	2026-11-18T01:10:17.561Z	27531212	50	0	400000	400000	400000	5000	1	3686400	{"effective":{"inter_op":[1],"intra_op":[1]},"peak_memory_bytes":3686400,"phase_medians_ns":[{"forward":320000.0,"load":40000.0,"transfer":40000.0}],"probe_ns":1549124.0,"reasons":[],"steady":{"kind":"flat"}}	{"assay_version":"0.1.0","outcome":{},"ranks":[{"buckets":[],"cpus":[],"disturbance":{"assay_cpu_ns":3624411,"cpu_ns":152801,"cpu_pressure_ns":0,"cpus":2,"involuntary_switches":0,"measured_ns":3631024,"other_cpu_ns":6222788,"steal_ns":0,"swap_bytes":0,"threads":1,"throttled_ns":0,"wait_ns":0,"window_ns":3631024},"layer_step_ns":[],"layers":[],"notes":[],"outcome":{"kind":"ok","message":""},"parameters_built":1234,"peak_memory_bytes":3686400,"phase_step_ns":[400000,400000,400000,400000,400000],"phases_ns":{"forward":[320000,320000,320000,320000,320000],"load":[40000,40000,40000,40000,40000],"transfer":[40000,40000,40000,40000,40000]},"prepare_ns":2673761,"probe_after_ns":1422159,"rank":0,"samples":50,"shared":{"inline":{"effective":{"inter_op":1,"intra_op":1},"versions":{"fake":"1.0.0"}}},"slices":[{"begin_ns":27944474407192,"end_ns":27944494407192,"probe_ns":1676089,"samples":50,"turn":0,"warmup":false}]}],"record_version":1,"state":{"inline":{"clocksource":"tsc","frequency_khz":null,"governor":null,"huge_pages":"madvise","hypervisor":"KVMKVMKVM","kernel":"6.18.44-fc-v445","load":[0.31,1.15,2.15],"memory_available_bytes":24573394944,"swap_total_bytes":0,"swap_used_bytes":0,"throttled_ns":0,"throttled_periods":0,"turbo":null}},"steady":{"kind":"flat"},"validity":{"reasons":[]}}	\\x801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000
4	2	1	0	1	ok		1	ab5bff9979522e49570a826953630380	2026-11-18T01:10:17.591Z	27501266	67	0	300000	300000	300000	3333.3333333333335	1	3743744	{"effective":{"inter_op":[1],"intra_op":[1]},"peak_memory_bytes":3743744,"phase_medians_ns":[{"forward":240000.0,"load":30000.0,"transfer":30000.0}],"probe_ns":1997773.5,"reasons":[],"steady":{"kind":"flat"}}	{"assay_version":"0.1.0","outcome":{},"ranks":[{"buckets":[],"cpus":[],"disturbance":{"assay_cpu_ns":4829723,"cpu_ns":155351,"cpu_pressure_ns":134000,"cpus":2,"involuntary_switches":0,"measured_ns":4635159,"other_cpu_ns":5014926,"steal_ns":0,"swap_bytes":0,"threads":1,"throttled_ns":0,"wait_ns":0,"window_ns":4635159},"layer_step_ns":[],"layers":[],"notes":[],"outcome":{"kind":"ok","message":""},"parameters_built":1234,"peak_memory_bytes":3743744,"phase_step_ns":[300000,300000,300000,300000,300000,300000,300000],"phases_ns":{"forward":[240000,240000,240000,240000,240000,240000,240000],"load":[30000,30000,30000,30000,30000,30000,30000],"transfer":[30000,30000,30000,30000,30000,30000,30000]},"prepare_ns":3686692,"probe_after_ns":1917390,"rank":0,"samples":67,"shared":{"inline":{"effective":{"inter_op":1,"intra_op":1},"versions":{"fake":"1.0.0"}}},"slices":[{"begin_ns":27944507970305,"end_ns":27944528070305,"probe_ns":2078157,"samples":67,"turn":0,"warmup":false}]}],"record_version":1,"state":{"inline":{"clocksource":"tsc","frequency_khz":null,"governor":null,"huge_pages":"madvise","hypervisor":"KVMKVMKVM","kernel":"6.18.44-fc-v445","load":[0.31,1.15,2.15],"memory_available_bytes":24575827968,"swap_total_bytes":0,"swap_used_bytes":0,"throttled_ns":0,"throttled_periods":0,"turbo":null}},"steady":{"kind":"flat"},"validity":{"reasons":[]}}	\\xe093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000
5	6	1	0	1	ok		1	ab5bff9979522e49570a826953630380	2026-11-18T01:10:17.621Z	53541493	50	0	400000	400000	400000	5000	1	3702784	{"effective":{"inter_op":[1],"intra_op":[1]},"peak_memory_bytes":3702784,"phase_medians_ns":[{"forward":320000.0,"load":40000.0,"transfer":40000.0}],"probe_ns":1470733.0,"reasons":[],"steady":{"kind":"flat"}}	{"assay_version":"0.1.0","outcome":{},"ranks":[{"buckets":[],"cpus":[],"disturbance":{"assay_cpu_ns":3532275,"cpu_ns":116170,"cpu_pressure_ns":0,"cpus":2,"involuntary_switches":0,"measured_ns":3566624,"other_cpu_ns":0,"steal_ns":0,"swap_bytes":0,"threads":1,"throttled_ns":0,"wait_ns":0,"window_ns":3566624},"layer_step_ns":[],"layers":[],"notes":[],"outcome":{"kind":"ok","message":""},"parameters_built":1234,"peak_memory_bytes":3702784,"phase_step_ns":[400000,400000,400000,400000,400000],"phases_ns":{"forward":[320000,320000,320000,320000,320000],"load":[40000,40000,40000,40000,40000],"transfer":[40000,40000,40000,40000,40000]},"prepare_ns":1962310,"probe_after_ns":1457765,"rank":0,"samples":50,"shared":{"inline":{"effective":{"inter_op":1,"intra_op":1},"versions":{"fake":"1.0.0"}}},"slices":[{"begin_ns":27944533751938,"end_ns":27944553751938,"probe_ns":1483701,"samples":50,"turn":0,"warmup":false}]}],"record_version":1,"state":{"inline":{"clocksource":"tsc","frequency_khz":null,"governor":null,"huge_pages":"madvise","hypervisor":"KVMKVMKVM","kernel":"6.18.44-fc-v445","load":[0.31,1.15,2.15],"memory_available_bytes":24578801664,"swap_total_bytes":0,"swap_used_bytes":0,"throttled_ns":0,"throttled_periods":0,"turbo":null}},"steady":{"kind":"flat"},"validity":{"reasons":[]}}	\\x801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000
6	3	1	0	1	ok		1	ab5bff9979522e49570a826953630380	2026-11-18T01:10:17.677Z	24490578	67	0	300000	300000	300000	3333.3333333333335	1	3743744	{"effective":{"inter_op":[1],"intra_op":[1]},"peak_memory_bytes":3743744,"phase_medians_ns":[{"forward":240000.0,"load":30000.0,"transfer":30000.0}],"probe_ns":1302552.5,"reasons":[],"steady":{"kind":"flat"}}	{"assay_version":"0.1.0","outcome":{},"ranks":[{"buckets":[],"cpus":[],"disturbance":{"assay_cpu_ns":3160162,"cpu_ns":119697,"cpu_pressure_ns":0,"cpus":2,"involuntary_switches":0,"measured_ns":3115930,"other_cpu_ns":0,"steal_ns":0,"swap_bytes":0,"threads":1,"throttled_ns":0,"wait_ns":0,"window_ns":3115930},"layer_step_ns":[],"layers":[],"notes":[],"outcome":{"kind":"ok","message":""},"parameters_built":1234,"peak_memory_bytes":3743744,"phase_step_ns":[300000,300000,300000,300000,300000,300000,300000],"phases_ns":{"forward":[240000,240000,240000,240000,240000,240000,240000],"load":[30000,30000,30000,30000,30000,30000,30000],"transfer":[30000,30000,30000,30000,30000,30000,30000]},"prepare_ns":1954167,"probe_after_ns":1314919,"rank":0,"samples":67,"shared":{"inline":{"effective":{"inter_op":1,"intra_op":1},"versions":{"fake":"1.0.0"}}},"slices":[{"begin_ns":27944589762078,"end_ns":27944609862078,"probe_ns":1290186,"samples":67,"turn":0,"warmup":false}]}],"record_version":1,"state":{"inline":{"clocksource":"tsc","frequency_khz":null,"governor":null,"huge_pages":"madvise","hypervisor":"KVMKVMKVM","kernel":"6.18.44-fc-v445","load":[0.31,1.15,2.15],"memory_available_bytes":24580116480,"swap_total_bytes":0,"swap_used_bytes":0,"throttled_ns":0,"throttled_periods":0,"turbo":null}},"steady":{"kind":"flat"},"validity":{"reasons":[]}}	\\xe093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000
7	7	1	0	1	ok		1	ab5bff9979522e49570a826953630380	2026-11-18T01:10:17.753Z	25975385	52	0	300000	300000	300000	3333.3333333333335	1	3686400	{"effective":{"inter_op":[1],"intra_op":[1]},"pair_log_ratio":0.28768207245178085,"peak_memory_bytes":3686400,"phase_medians_ns":[{"forward":240000.0,"load":30000.0,"transfer":30000.0}],"probe_ns":1454492.5,"reasons":[],"steady":{"kind":"flat"}}	{"assay_version":"0.1.0","outcome":{},"pair_log_ratio":0.28768207245178085,"ranks":[{"buckets":[],"cpus":[],"disturbance":{"assay_cpu_ns":4876547,"cpu_ns":831650,"cpu_pressure_ns":6536000,"cpus":2,"involuntary_switches":1,"measured_ns":11945248,"other_cpu_ns":24291803,"steal_ns":0,"swap_bytes":0,"threads":1,"throttled_ns":0,"wait_ns":326577,"window_ns":11945248},"layer_step_ns":[],"layers":[],"notes":[],"outcome":{"kind":"ok","message":""},"parameters_built":1234,"peak_memory_bytes":3686400,"phase_step_ns":[300000,300000,300000,300000,300000,300000,300000],"phases_ns":{"forward":[240000,240000,240000,240000,240000,240000,240000],"load":[30000,30000,30000,30000,30000,30000,30000],"transfer":[30000,30000,30000,30000,30000,30000,30000]},"prepare_ns":2712085,"probe_after_ns":1438321,"rank":0,"samples":52,"shared":{"inline":{"effective":{"inter_op":1,"intra_op":1},"versions":{"fake":"1.0.0"}}},"slices":[{"begin_ns":27944673711448,"end_ns":27944674311448,"probe_ns":1470664,"samples":2,"turn":3,"warmup":false},{"begin_ns":27944674311448,"end_ns":27944674911448,"samples":2,"turn":4,"warmup":false},{"begin_ns":27944674911448,"end_ns":27944675511448,"samples":2,"turn":7,"warmup":false},{"begin_ns":27944675511448,"end_ns":27944676111448,"samples":2,"turn":8,"warmup":false},{"begin_ns":27944676111448,"end_ns":27944676711448,"samples":2,"turn":11,"warmup":false},{"begin_ns":27944676711448,"end_ns":27944677311448,"samples":2,"turn":12,"warmup":false},{"begin_ns":27944677311448,"end_ns":27944677911448,"samples":2,"turn":15,"warmup":false},{"begin_ns":27944677911448,"end_ns":27944678511448,"samples":2,"turn":16,"warmup":false},{"begin_ns":27944678511448,"end_ns":27944679111448,"samples":2,"turn":19,"warmup":false},{"begin_ns":27944679111448,"end_ns":27944679711448,"samples":2,"turn":20,"warmup":false},{"begin_ns":27944679711448,"end_ns":27944680311448,"samples":2,"turn":23,"warmup":false},{"begin_ns":27944680311448,"end_ns":27944680911448,"samples":2,"turn":24,"warmup":false},{"begin_ns":27944680911448,"end_ns":27944681511448,"samples":2,"turn":27,"warmup":false},{"begin_ns":27944681511448,"end_ns":27944682111448,"samples":2,"turn":28,"warmup":false},{"begin_ns":27944682111448,"end_ns":27944682711448,"samples":2,"turn":31,"warmup":false},{"begin_ns":27944682711448,"end_ns":27944683311448,"samples":2,"turn":32,"warmup":false},{"begin_ns":27944683311448,"end_ns":27944683911448,"samples":2,"turn":35,"warmup":false},{"begin_ns":27944683911448,"end_ns":27944684511448,"samples":2,"turn":36,"warmup":false},{"begin_ns":27944684511448,"end_ns":27944685111448,"samples":2,"turn":39,"warmup":false},{"begin_ns":27944685111448,"end_ns":27944685711448,"samples":2,"turn":40,"warmup":false},{"begin_ns":27944685711448,"end_ns":27944686311448,"samples":2,"turn":43,"warmup":false},{"begin_ns":27944686311448,"end_ns":27944686911448,"samples":2,"turn":44,"warmup":false},{"begin_ns":27944686911448,"end_ns":27944687511448,"samples":2,"turn":47,"warmup":false},{"begin_ns":27944687511448,"end_ns":27944688111448,"samples":2,"turn":48,"warmup":false},{"begin_ns":27944688111448,"end_ns":27944688711448,"samples":2,"turn":51,"warmup":false},{"begin_ns":27944688711448,"end_ns":27944689311448,"samples":2,"turn":52,"warmup":false}]}],"record_version":1,"state":{"inline":{"clocksource":"tsc","frequency_khz":null,"governor":null,"huge_pages":"madvise","hypervisor":"KVMKVMKVM","kernel":"6.18.44-fc-v445","load":[0.31,1.15,2.15],"memory_available_bytes":24637968384,"swap_total_bytes":0,"swap_used_bytes":0,"throttled_ns":0,"throttled_periods":0,"turbo":null}},"steady":{"kind":"flat"},"validity":{"reasons":[]}}	\\xe093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000
8	9	1	0	1	ok		1	ab5bff9979522e49570a826953630380	2026-11-18T01:10:17.753Z	25978200	52	0	400000	400000	400000	5000	1	3592192	{"effective":{"inter_op":[1],"intra_op":[1]},"pair_log_ratio":0.28768207245178085,"peak_memory_bytes":3592192,"phase_medians_ns":[{"forward":320000.0,"load":40000.0,"transfer":40000.0}],"probe_ns":1539884.5,"reasons":[],"steady":{"kind":"flat"}}	{"assay_version":"0.1.0","outcome":{},"pair_log_ratio":0.28768207245178085,"ranks":[{"buckets":[],"cpus":[],"disturbance":{"assay_cpu_ns":5135242,"cpu_ns":852364,"cpu_pressure_ns":6536000,"cpus":2,"involuntary_switches":0,"measured_ns":12702550,"other_cpu_ns":24012394,"steal_ns":0,"swap_bytes":0,"threads":1,"throttled_ns":0,"wait_ns":3064533,"window_ns":12702550},"layer_step_ns":[],"layers":[],"notes":[],"outcome":{"kind":"ok","message":""},"parameters_built":1234,"peak_memory_bytes":3592192,"phase_step_ns":[400000,400000,400000,400000,400000],"phases_ns":{"forward":[320000,320000,320000,320000,320000],"load":[40000,40000,40000,40000,40000],"transfer":[40000,40000,40000,40000,40000]},"prepare_ns":4091447,"probe_after_ns":1632712,"rank":0,"samples":52,"shared":{"inline":{"effective":{"inter_op":1,"intra_op":1},"versions":{"fake":"1.0.0"}}},"slices":[{"begin_ns":27944672057742,"end_ns":27944672857742,"probe_ns":1447057,"samples":2,"turn":2,"warmup":false},{"begin_ns":27944673970018,"end_ns":27944674770018,"samples":2,"turn":5,"warmup":false},{"begin_ns":27944674770018,"end_ns":27944675570018,"samples":2,"turn":6,"warmup":false},{"begin_ns":27944675570018,"end_ns":27944676370018,"samples":2,"turn":9,"warmup":false},{"begin_ns":27944676370018,"end_ns":27944677170018,"samples":2,"turn":10,"warmup":false},{"begin_ns":27944677170018,"end_ns":27944677970018,"samples":2,"turn":13,"warmup":false},{"begin_ns":27944677970018,"end_ns":27944678770018,"samples":2,"turn":14,"warmup":false},{"begin_ns":27944678770018,"end_ns":27944679570018,"samples":2,"turn":17,"warmup":false},{"begin_ns":27944679570018,"end_ns":27944680370018,"samples":2,"turn":18,"warmup":false},{"begin_ns":27944680370018,"end_ns":27944681170018,"samples":2,"turn":21,"warmup":false},{"begin_ns":27944681170018,"end_ns":27944681970018,"samples":2,"turn":22,"warmup":false},{"begin_ns":27944681970018,"end_ns":27944682770018,"samples":2,"turn":25,"warmup":false},{"begin_ns":27944682770018,"end_ns":27944683570018,"samples":2,"turn":26,"warmup":false},{"begin_ns":27944683570018,"end_ns":27944684370018,"samples":2,"turn":29,"warmup":false},{"begin_ns":27944684370018,"end_ns":27944685170018,"samples":2,"turn":30,"warmup":false},{"begin_ns":27944685170018,"end_ns":27944685970018,"samples":2,"turn":33,"warmup":false},{"begin_ns":27944685970018,"end_ns":27944686770018,"samples":2,"turn":34,"warmup":false},{"begin_ns":27944686770018,"end_ns":27944687570018,"samples":2,"turn":37,"warmup":false},{"begin_ns":27944687570018,"end_ns":27944688370018,"samples":2,"turn":38,"warmup":false},{"begin_ns":27944688370018,"end_ns":27944689170018,"samples":2,"turn":41,"warmup":false},{"begin_ns":27944689170018,"end_ns":27944689970018,"samples":2,"turn":42,"warmup":false},{"begin_ns":27944689970018,"end_ns":27944690770018,"samples":2,"turn":45,"warmup":false},{"begin_ns":27944690770018,"end_ns":27944691570018,"samples":2,"turn":46,"warmup":false},{"begin_ns":27944691570018,"end_ns":27944692370018,"samples":2,"turn":49,"warmup":false},{"begin_ns":27944692370018,"end_ns":27944693170018,"samples":2,"turn":50,"warmup":false},{"begin_ns":27944693170018,"end_ns":27944693970018,"samples":2,"turn":53,"warmup":false}]}],"record_version":1,"state":{"inline":{"clocksource":"tsc","frequency_khz":null,"governor":null,"huge_pages":"madvise","hypervisor":"KVMKVMKVM","kernel":"6.18.44-fc-v445","load":[0.31,1.15,2.15],"memory_available_bytes":24637968384,"swap_total_bytes":0,"swap_used_bytes":0,"throttled_ns":0,"throttled_periods":0,"turbo":null}},"steady":{"kind":"flat"},"validity":{"reasons":[]}}	\\x801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000
9	8	1	0	1	ok		1	ab5bff9979522e49570a826953630380	2026-11-18T01:10:17.784Z	28246631	52	0	300000	300000	300000	3333.3333333333335	1	3440640	{"effective":{"inter_op":[1],"intra_op":[1]},"pair_log_ratio":0.28768207245178085,"peak_memory_bytes":3440640,"phase_medians_ns":[{"forward":240000.0,"load":30000.0,"transfer":30000.0}],"probe_ns":1359026.5,"reasons":[],"steady":{"kind":"flat"}}	{"assay_version":"0.1.0","outcome":{},"pair_log_ratio":0.28768207245178085,"ranks":[{"buckets":[],"cpus":[],"disturbance":{"assay_cpu_ns":4594826,"cpu_ns":714876,"cpu_pressure_ns":4579000,"cpus":2,"involuntary_switches":0,"measured_ns":10201640,"other_cpu_ns":14690298,"steal_ns":0,"swap_bytes":0,"threads":1,"throttled_ns":0,"wait_ns":1782368,"window_ns":10201640},"layer_step_ns":[],"layers":[],"notes":[],"outcome":{"kind":"ok","message":""},"parameters_built":1234,"peak_memory_bytes":3440640,"phase_step_ns":[300000,300000,300000,300000,300000,300000,300000],"phases_ns":{"forward":[240000,240000,240000,240000,240000,240000,240000],"load":[30000,30000,30000,30000,30000,30000,30000],"transfer":[30000,30000,30000,30000,30000,30000,30000]},"prepare_ns":6396926,"probe_after_ns":1385099,"rank":0,"samples":52,"shared":{"inline":{"effective":{"inter_op":1,"intra_op":1},"versions":{"fake":"1.0.0"}}},"slices":[{"begin_ns":27944707607307,"end_ns":27944708207307,"probe_ns":1332954,"samples":2,"turn":3,"warmup":false},{"begin_ns":27944708207307,"end_ns":27944708807307,"samples":2,"turn":4,"warmup":false},{"begin_ns":27944708807307,"end_ns":27944709407307,"samples":2,"turn":7,"warmup":false},{"begin_ns":27944709407307,"end_ns":27944710007307,"samples":2,"turn":8,"warmup":false},{"begin_ns":27944710007307,"end_ns":27944710607307,"samples":2,"turn":11,"warmup":false},{"begin_ns":27944710607307,"end_ns":27944711207307,"samples":2,"turn":12,"warmup":false},{"begin_ns":27944711207307,"end_ns":27944711807307,"samples":2,"turn":15,"warmup":false},{"begin_ns":27944711807307,"end_ns":27944712407307,"samples":2,"turn":16,"warmup":false},{"begin_ns":27944712407307,"end_ns":27944713007307,"samples":2,"turn":19,"warmup":false},{"begin_ns":27944713007307,"end_ns":27944713607307,"samples":2,"turn":20,"warmup":false},{"begin_ns":27944713607307,"end_ns":27944714207307,"samples":2,"turn":23,"warmup":false},{"begin_ns":27944714207307,"end_ns":27944714807307,"samples":2,"turn":24,"warmup":false},{"begin_ns":27944714807307,"end_ns":27944715407307,"samples":2,"turn":27,"warmup":false},{"begin_ns":27944715407307,"end_ns":27944716007307,"samples":2,"turn":28,"warmup":false},{"begin_ns":27944716007307,"end_ns":27944716607307,"samples":2,"turn":31,"warmup":false},{"begin_ns":27944716607307,"end_ns":27944717207307,"samples":2,"turn":32,"warmup":false},{"begin_ns":27944717207307,"end_ns":27944717807307,"samples":2,"turn":35,"warmup":false},{"begin_ns":27944717807307,"end_ns":27944718407307,"samples":2,"turn":36,"warmup":false},{"begin_ns":27944718407307,"end_ns":27944719007307,"samples":2,"turn":39,"warmup":false},{"begin_ns":27944719007307,"end_ns":27944719607307,"samples":2,"turn":40,"warmup":false},{"begin_ns":27944719607307,"end_ns":27944720207307,"samples":2,"turn":43,"warmup":false},{"begin_ns":27944720207307,"end_ns":27944720807307,"samples":2,"turn":44,"warmup":false},{"begin_ns":27944720807307,"end_ns":27944721407307,"samples":2,"turn":47,"warmup":false},{"begin_ns":27944721407307,"end_ns":27944722007307,"samples":2,"turn":48,"warmup":false},{"begin_ns":27944722007307,"end_ns":27944722607307,"samples":2,"turn":51,"warmup":false},{"begin_ns":27944722607307,"end_ns":27944723207307,"samples":2,"turn":52,"warmup":false}]}],"record_version":1,"state":{"inline":{"clocksource":"tsc","frequency_khz":null,"governor":null,"huge_pages":"madvise","hypervisor":"KVMKVMKVM","kernel":"6.18.44-fc-v445","load":[0.31,1.15,2.15],"memory_available_bytes":24637562880,"swap_total_bytes":0,"swap_used_bytes":0,"throttled_ns":0,"throttled_periods":0,"turbo":null}},"steady":{"kind":"flat"},"validity":{"reasons":[]}}	\\xe093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000e093040000000000
10	10	1	0	1	ok		1	ab5bff9979522e49570a826953630380	2026-11-18T01:10:17.784Z	28252802	52	0	400000	400000	400000	5000	1	3760128	{"effective":{"inter_op":[1],"intra_op":[1]},"pair_log_ratio":0.28768207245178085,"peak_memory_bytes":3760128,"phase_medians_ns":[{"forward":320000.0,"load":40000.0,"transfer":40000.0}],"probe_ns":1459990.0,"reasons":[],"steady":{"kind":"flat"}}	{"assay_version":"0.1.0","outcome":{},"pair_log_ratio":0.28768207245178085,"ranks":[{"buckets":[],"cpus":[],"disturbance":{"assay_cpu_ns":4846674,"cpu_ns":726589,"cpu_pressure_ns":4579000,"cpus":2,"involuntary_switches":0,"measured_ns":10788351,"other_cpu_ns":14426737,"steal_ns":0,"swap_bytes":0,"threads":1,"throttled_ns":0,"wait_ns":1658056,"window_ns":10788351},"layer_step_ns":[],"layers":[],"notes":[],"outcome":{"kind":"ok","message":""},"parameters_built":1234,"peak_memory_bytes":3760128,"phase_step_ns":[400000,400000,400000,400000,400000],"phases_ns":{"forward":[320000,320000,320000,320000,320000],"load":[40000,40000,40000,40000,40000],"transfer":[40000,40000,40000,40000,40000]},"prepare_ns":3286670,"probe_after_ns":1316471,"rank":0,"samples":52,"shared":{"inline":{"effective":{"inter_op":1,"intra_op":1},"versions":{"fake":"1.0.0"}}},"slices":[{"begin_ns":27944706036765,"end_ns":27944706836765,"probe_ns":1603509,"samples":2,"turn":2,"warmup":false},{"begin_ns":27944707837536,"end_ns":27944708637536,"samples":2,"turn":5,"warmup":false},{"begin_ns":27944708637536,"end_ns":27944709437536,"samples":2,"turn":6,"warmup":false},{"begin_ns":27944709437536,"end_ns":27944710237536,"samples":2,"turn":9,"warmup":false},{"begin_ns":27944710237536,"end_ns":27944711037536,"samples":2,"turn":10,"warmup":false},{"begin_ns":27944711037536,"end_ns":27944711837536,"samples":2,"turn":13,"warmup":false},{"begin_ns":27944711837536,"end_ns":27944712637536,"samples":2,"turn":14,"warmup":false},{"begin_ns":27944712637536,"end_ns":27944713437536,"samples":2,"turn":17,"warmup":false},{"begin_ns":27944713437536,"end_ns":27944714237536,"samples":2,"turn":18,"warmup":false},{"begin_ns":27944714237536,"end_ns":27944715037536,"samples":2,"turn":21,"warmup":false},{"begin_ns":27944715037536,"end_ns":27944715837536,"samples":2,"turn":22,"warmup":false},{"begin_ns":27944715837536,"end_ns":27944716637536,"samples":2,"turn":25,"warmup":false},{"begin_ns":27944716637536,"end_ns":27944717437536,"samples":2,"turn":26,"warmup":false},{"begin_ns":27944717437536,"end_ns":27944718237536,"samples":2,"turn":29,"warmup":false},{"begin_ns":27944718237536,"end_ns":27944719037536,"samples":2,"turn":30,"warmup":false},{"begin_ns":27944719037536,"end_ns":27944719837536,"samples":2,"turn":33,"warmup":false},{"begin_ns":27944719837536,"end_ns":27944720637536,"samples":2,"turn":34,"warmup":false},{"begin_ns":27944720637536,"end_ns":27944721437536,"samples":2,"turn":37,"warmup":false},{"begin_ns":27944721437536,"end_ns":27944722237536,"samples":2,"turn":38,"warmup":false},{"begin_ns":27944722237536,"end_ns":27944723037536,"samples":2,"turn":41,"warmup":false},{"begin_ns":27944723037536,"end_ns":27944723837536,"samples":2,"turn":42,"warmup":false},{"begin_ns":27944723837536,"end_ns":27944724637536,"samples":2,"turn":45,"warmup":false},{"begin_ns":27944724637536,"end_ns":27944725437536,"samples":2,"turn":46,"warmup":false},{"begin_ns":27944725437536,"end_ns":27944726237536,"samples":2,"turn":49,"warmup":false},{"begin_ns":27944726237536,"end_ns":27944727037536,"samples":2,"turn":50,"warmup":false},{"begin_ns":27944727037536,"end_ns":27944727837536,"samples":2,"turn":53,"warmup":false}]}],"record_version":1,"state":{"inline":{"clocksource":"tsc","frequency_khz":null,"governor":null,"huge_pages":"madvise","hypervisor":"KVMKVMKVM","kernel":"6.18.44-fc-v445","load":[0.31,1.15,2.15],"memory_available_bytes":24637562880,"swap_total_bytes":0,"swap_used_bytes":0,"throttled_ns":0,"throttled_periods":0,"turbo":null}},"steady":{"kind":"flat"},"validity":{"reasons":[]}}	\\x801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000801a060000000000
11	11	1	0	1	ok		1	ab5bff9979522e49570a826953630380	2026-11-18T01:10:17.864Z	14881772	34	0	600000	600000	600000	6666.666666666666	1	3690496	{"effective":{"inter_op":[1],"intra_op":[1]},"peak_memory_bytes":3690496,"phase_medians_ns":[{"forward":480000.0,"load":60000.0,"transfer":60000.0}],"probe_ns":1433698.0,"reasons":[],"steady":{"kind":"flat"}}	{"assay_version":"0.1.0","outcome":{},"ranks":[{"buckets":[],"cpus":[],"disturbance":{"assay_cpu_ns":3425256,"cpu_ns":118682,"cpu_pressure_ns":0,"cpus":2,"involuntary_switches":0,"measured_ns":3316603,"other_cpu_ns":16456062,"steal_ns":0,"swap_bytes":0,"threads":1,"throttled_ns":0,"wait_ns":0,"window_ns":3316603},"layer_step_ns":[],"layers":[],"notes":[],"outcome":{"kind":"ok","message":""},"parameters_built":1234,"peak_memory_bytes":3690496,"phase_step_ns":[600000,600000,600000,600000],"phases_ns":{"forward":[480000,480000,480000,480000],"load":[60000,60000,60000,60000],"transfer":[60000,60000,60000,60000]},"prepare_ns":6351146,"probe_after_ns":1388278,"rank":0,"samples":34,"shared":{"inline":{"effective":{"inter_op":1,"intra_op":1},"versions":{"fake":"1.0.0"}}},"slices":[{"begin_ns":27944780908929,"end_ns":27944801308929,"probe_ns":1479118,"samples":34,"turn":0,"warmup":false}]}],"record_version":1,"state":{"inline":{"clocksource":"tsc","frequency_khz":null,"governor":null,"huge_pages":"madvise","hypervisor":"KVMKVMKVM","kernel":"6.18.44-fc-v445","load":[0.31,1.15,2.15],"memory_available_bytes":24637698048,"swap_total_bytes":0,"swap_used_bytes":0,"throttled_ns":0,"throttled_periods":0,"turbo":null}},"steady":{"kind":"flat"},"validity":{"reasons":[]}}	\\xc027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000c027090000000000
\.


--
-- Data for Name: run; Type: TABLE DATA; Schema: assay; Owner: owner
--

COPY assay.run (key, campaign, trial, idx, ord, state, attempt, epoch, pair, side, owner_host, owner_boot_id, owner_pid, owner_start_ticks, lease_ms, lease_end_ms) FROM stdin;
4	1	2	0	3199327490033816277	2	0	1	\N	\N	vm	2534a488-fa7d-47c9-b81d-80e797217b0f	3052	2794435	60000	1794964277525
1	1	1	0	7399263367364121277	2	0	1	\N	\N	vm	2534a488-fa7d-47c9-b81d-80e797217b0f	3052	2794435	60000	1794964277542
5	1	2	1	1092107128650273987	2	0	1	\N	\N	vm	2534a488-fa7d-47c9-b81d-80e797217b0f	3052	2794435	60000	1794964277561
2	1	1	1	3410326168212275671	2	0	1	\N	\N	vm	2534a488-fa7d-47c9-b81d-80e797217b0f	3052	2794435	60000	1794964277592
6	1	2	2	2449895274180619391	2	0	1	\N	\N	vm	2534a488-fa7d-47c9-b81d-80e797217b0f	3052	2794435	60000	1794964277621
3	1	1	2	9006017508029574513	2	0	1	\N	\N	vm	2534a488-fa7d-47c9-b81d-80e797217b0f	3052	2794435	60000	1794964277677
7	2	1	0	7399263367364121277	2	0	1	597eb2531fc4127b90a927e8c517f5dd	a	vm	2534a488-fa7d-47c9-b81d-80e797217b0f	3066	2794461	60000	1794964277752
9	2	2	0	7399263367364121277	2	0	1	597eb2531fc4127b90a927e8c517f5dd	b	vm	2534a488-fa7d-47c9-b81d-80e797217b0f	3066	2794461	60000	1794964277752
8	2	1	1	3410326168212275671	2	0	1	0202cc54a5975eecfa531574b82cd8d8	a	vm	2534a488-fa7d-47c9-b81d-80e797217b0f	3066	2794461	60000	1794964277784
10	2	2	1	3410326168212275671	2	0	1	0202cc54a5975eecfa531574b82cd8d8	b	vm	2534a488-fa7d-47c9-b81d-80e797217b0f	3066	2794461	60000	1794964277784
11	3	5	0	3351236894707838438	2	0	1	\N	\N	vm	2534a488-fa7d-47c9-b81d-80e797217b0f	3078	2794472	60000	1794964277863
12	3	5	1	6637705010730385226	0	0	0	\N	\N	\N	\N	\N	\N	\N	\N
13	3	5	2	8956601595667261959	0	0	0	\N	\N	\N	\N	\N	\N	\N	\N
14	3	5	3	4119218249372740884	0	0	0	\N	\N	\N	\N	\N	\N	\N	\N
15	4	6	0	5732564477864967384	1	0	1	\N	\N	vm	2534a488-fa7d-47c9-b81d-80e797217b0f	3086	2794485	1000	1794964218996
\.


--
-- Data for Name: store; Type: TABLE DATA; Schema: assay; Owner: owner
--

COPY assay.store (version) FROM stdin;
2
\.


--
-- Data for Name: trial; Type: TABLE DATA; Schema: assay; Owner: owner
--

COPY assay.trial (key, id, network, mode, batch, "precision", worker, release, device, ranks, ranks_per_node, settings, json) FROM stdin;
1	ead686d9b8ad0efdae788bed61425ef5	toy	infer	1	fp32	fake	1.0.0	cpu	1	\N	{}	{"placement":{"device":"cpu","ranks":1},"settings":{"env":{}},"worker":{"name":"fake","release":"1.0.0"},"workload":{"batch":1,"data":"memory","mode":"infer","network":"toy","options":{"noise":0},"precision":"fp32"}}
2	fb051b70df260daa5ebfaead7d1553e4	toy	infer	2	fp32	fake	1.0.0	cpu	1	\N	{}	{"placement":{"device":"cpu","ranks":1},"settings":{"env":{}},"worker":{"name":"fake","release":"1.0.0"},"workload":{"batch":2,"data":"memory","mode":"infer","network":"toy","options":{"noise":0},"precision":"fp32"}}
5	9b201b2c818a646c0d9a7fcf029b7941	toy	infer	4	fp32	fake	1.0.0	cpu	1	\N	{}	{"placement":{"device":"cpu","ranks":1},"settings":{"env":{}},"worker":{"name":"fake","release":"1.0.0"},"workload":{"batch":4,"data":"memory","mode":"infer","network":"toy","options":{"noise":0},"precision":"fp32"}}
6	e3c42082830d6e8625cb141435bd6137	toy	infer	8	fp32	fake	1.0.0	cpu	1	\N	{}	{"placement":{"device":"cpu","ranks":1},"settings":{"env":{}},"worker":{"name":"fake","release":"1.0.0"},"workload":{"batch":8,"data":"memory","mode":"infer","network":"toy","options":{"base_ns":50000000,"noise":0,"pace":1},"precision":"fp32"}}
\.


--
-- Name: artifact_key_seq; Type: SEQUENCE SET; Schema: assay; Owner: owner
--

SELECT pg_catalog.setval('assay.artifact_key_seq', 1, false);


--
-- Name: campaign_key_seq; Type: SEQUENCE SET; Schema: assay; Owner: owner
--

SELECT pg_catalog.setval('assay.campaign_key_seq', 4, true);


--
-- Name: record_key_seq; Type: SEQUENCE SET; Schema: assay; Owner: owner
--

SELECT pg_catalog.setval('assay.record_key_seq', 11, true);


--
-- Name: run_key_seq; Type: SEQUENCE SET; Schema: assay; Owner: owner
--

SELECT pg_catalog.setval('assay.run_key_seq', 15, true);


--
-- Name: trial_key_seq; Type: SEQUENCE SET; Schema: assay; Owner: owner
--

SELECT pg_catalog.setval('assay.trial_key_seq', 6, true);


--
-- Name: artifact artifact_kind_inputs_hash_key; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.artifact
    ADD CONSTRAINT artifact_kind_inputs_hash_key UNIQUE (kind, inputs_hash);


--
-- Name: artifact artifact_pkey; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.artifact
    ADD CONSTRAINT artifact_pkey PRIMARY KEY (key);


--
-- Name: campaign campaign_family_round_key; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.campaign
    ADD CONSTRAINT campaign_family_round_key UNIQUE (family, round);


--
-- Name: campaign campaign_id_key; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.campaign
    ADD CONSTRAINT campaign_id_key UNIQUE (id);


--
-- Name: campaign campaign_pkey; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.campaign
    ADD CONSTRAINT campaign_pkey PRIMARY KEY (key);


--
-- Name: campaign_trial campaign_trial_campaign_trial_key; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.campaign_trial
    ADD CONSTRAINT campaign_trial_campaign_trial_key UNIQUE (campaign, trial);


--
-- Name: campaign_trial campaign_trial_pkey; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.campaign_trial
    ADD CONSTRAINT campaign_trial_pkey PRIMARY KEY (campaign, "position");


--
-- Name: content content_pkey; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.content
    ADD CONSTRAINT content_pkey PRIMARY KEY (hash);


--
-- Name: platform platform_pkey; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.platform
    ADD CONSTRAINT platform_pkey PRIMARY KEY (id);


--
-- Name: progress progress_pkey; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.progress
    ADD CONSTRAINT progress_pkey PRIMARY KEY (campaign, slot);


--
-- Name: record record_pkey; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.record
    ADD CONSTRAINT record_pkey PRIMARY KEY (key);


--
-- Name: record record_run_attempt_key; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.record
    ADD CONSTRAINT record_run_attempt_key UNIQUE (run, attempt);


--
-- Name: run run_pkey; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (key);


--
-- Name: trial trial_id_key; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.trial
    ADD CONSTRAINT trial_id_key UNIQUE (id);


--
-- Name: trial trial_pkey; Type: CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.trial
    ADD CONSTRAINT trial_pkey PRIMARY KEY (key);


--
-- Name: access_by_role; Type: INDEX; Schema: assay; Owner: owner
--

CREATE INDEX access_by_role ON assay.access USING btree (role);


--
-- Name: campaign_trial_by_trial; Type: INDEX; Schema: assay; Owner: owner
--

CREATE INDEX campaign_trial_by_trial ON assay.campaign_trial USING btree (trial);


--
-- Name: record_counted_once; Type: INDEX; Schema: assay; Owner: owner
--

CREATE UNIQUE INDEX record_counted_once ON assay.record USING btree (run) WHERE (counted = 1);


--
-- Name: run_by_pair; Type: INDEX; Schema: assay; Owner: owner
--

CREATE INDEX run_by_pair ON assay.run USING btree (pair) WHERE (pair IS NOT NULL);


--
-- Name: run_by_trial; Type: INDEX; Schema: assay; Owner: owner
--

CREATE UNIQUE INDEX run_by_trial ON assay.run USING btree (trial, campaign, idx);


--
-- Name: run_leased; Type: INDEX; Schema: assay; Owner: owner
--

CREATE INDEX run_leased ON assay.run USING btree (campaign, lease_end_ms) WHERE (state = 1);


--
-- Name: run_ready; Type: INDEX; Schema: assay; Owner: owner
--

CREATE INDEX run_ready ON assay.run USING btree (campaign, idx, ord, key) WHERE ((state = 0) AND (side IS DISTINCT FROM 'b'::text));


--
-- Name: trial_by_network; Type: INDEX; Schema: assay; Owner: owner
--

CREATE INDEX trial_by_network ON assay.trial USING btree (network);


--
-- Name: campaign campaign_added; Type: TRIGGER; Schema: assay; Owner: owner
--

CREATE TRIGGER campaign_added AFTER INSERT ON assay.campaign FOR EACH ROW EXECUTE FUNCTION assay.campaign_added();


--
-- Name: record record_added; Type: TRIGGER; Schema: assay; Owner: owner
--

CREATE TRIGGER record_added AFTER INSERT ON assay.record FOR EACH ROW WHEN (((new.counted = 0) OR (new.outcome <> 'ok'::text))) EXECUTE FUNCTION assay.record_added();


--
-- Name: run run_moved; Type: TRIGGER; Schema: assay; Owner: owner
--

CREATE TRIGGER run_moved AFTER UPDATE OF state ON assay.run FOR EACH ROW WHEN ((old.state <> new.state)) EXECUTE FUNCTION assay.run_moved();


--
-- Name: access access_campaign_fkey; Type: FK CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.access
    ADD CONSTRAINT access_campaign_fkey FOREIGN KEY (campaign) REFERENCES assay.campaign(key);


--
-- Name: campaign_trial campaign_trial_campaign_fkey; Type: FK CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.campaign_trial
    ADD CONSTRAINT campaign_trial_campaign_fkey FOREIGN KEY (campaign) REFERENCES assay.campaign(key);


--
-- Name: campaign_trial campaign_trial_trial_fkey; Type: FK CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.campaign_trial
    ADD CONSTRAINT campaign_trial_trial_fkey FOREIGN KEY (trial) REFERENCES assay.trial(key);


--
-- Name: progress progress_campaign_fkey; Type: FK CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.progress
    ADD CONSTRAINT progress_campaign_fkey FOREIGN KEY (campaign) REFERENCES assay.campaign(key);


--
-- Name: record record_run_fkey; Type: FK CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.record
    ADD CONSTRAINT record_run_fkey FOREIGN KEY (run) REFERENCES assay.run(key);


--
-- Name: run run_campaign_fkey; Type: FK CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.run
    ADD CONSTRAINT run_campaign_fkey FOREIGN KEY (campaign) REFERENCES assay.campaign(key);


--
-- Name: run run_trial_fkey; Type: FK CONSTRAINT; Schema: assay; Owner: owner
--

ALTER TABLE ONLY assay.run
    ADD CONSTRAINT run_trial_fkey FOREIGN KEY (trial) REFERENCES assay.trial(key);


--
-- Name: campaign; Type: ROW SECURITY; Schema: assay; Owner: owner
--

ALTER TABLE assay.campaign ENABLE ROW LEVEL SECURITY;

--
-- Name: progress; Type: ROW SECURITY; Schema: assay; Owner: owner
--

ALTER TABLE assay.progress ENABLE ROW LEVEL SECURITY;

--
-- Name: campaign seen; Type: POLICY; Schema: assay; Owner: owner
--

CREATE POLICY seen ON assay.campaign FOR SELECT USING ((key IN ( SELECT one.one
   FROM assay.seen() one(one))));


--
-- Name: progress seen; Type: POLICY; Schema: assay; Owner: owner
--

CREATE POLICY seen ON assay.progress FOR SELECT USING ((campaign IN ( SELECT one.one
   FROM assay.seen() one(one))));


--
-- Name: FUNCTION allow(a_role text, a_kind text, a_campaign text); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.allow(a_role text, a_kind text, a_campaign text) FROM PUBLIC;


--
-- Name: FUNCTION campaign_added(); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.campaign_added() FROM PUBLIC;


--
-- Name: FUNCTION complete(a_campaign text, a_runs bigint[], a_epochs bigint[], a_again integer, a_records json, a_contents json); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.complete(a_campaign text, a_runs bigint[], a_epochs bigint[], a_again integer, a_records json, a_contents json) FROM PUBLIC;


--
-- Name: FUNCTION forbid(a_role text); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.forbid(a_role text) FROM PUBLIC;


--
-- Name: FUNCTION found_campaign(a_id text); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.found_campaign(a_id text) FROM PUBLIC;


--
-- Name: FUNCTION free_leases(a_campaign bigint, a_boot_id text, a_dead_pids bigint[], a_dead_ticks bigint[]); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.free_leases(a_campaign bigint, a_boot_id text, a_dead_pids bigint[], a_dead_ticks bigint[]) FROM PUBLIC;


--
-- Name: FUNCTION give_back(a_campaign text, a_runs bigint[], a_epochs bigint[]); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.give_back(a_campaign text, a_runs bigint[], a_epochs bigint[]) FROM PUBLIC;


--
-- Name: FUNCTION grant_all_rights(); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.grant_all_rights() FROM PUBLIC;


--
-- Name: FUNCTION grant_rights(a_role text, a_kind text); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.grant_rights(a_role text, a_kind text) FROM PUBLIC;


--
-- Name: FUNCTION holds(a_campaign text, a_runs bigint[], a_epochs bigint[]); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.holds(a_campaign text, a_runs bigint[], a_epochs bigint[]) FROM PUBLIC;


--
-- Name: FUNCTION lease(a_campaign text, a_seconds double precision, a_host text, a_boot_id text, a_pid bigint, a_start_ticks bigint, a_dead_pids bigint[], a_dead_ticks bigint[], a_platform text, a_workers text[], a_devices text[], a_hosts bigint); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.lease(a_campaign text, a_seconds double precision, a_host text, a_boot_id text, a_pid bigint, a_start_ticks bigint, a_dead_pids bigint[], a_dead_ticks bigint[], a_platform text, a_workers text[], a_devices text[], a_hosts bigint) FROM PUBLIC;


--
-- Name: FUNCTION meets(a_trial assay.trial, a_workers text[], a_devices text[], a_hosts bigint); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.meets(a_trial assay.trial, a_workers text[], a_devices text[], a_hosts bigint) FROM PUBLIC;


--
-- Name: FUNCTION now_ms(); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.now_ms() FROM PUBLIC;


--
-- Name: FUNCTION owners(a_campaign text, a_boot_id text); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.owners(a_campaign text, a_boot_id text) FROM PUBLIC;


--
-- Name: FUNCTION progress_slot(); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.progress_slot() FROM PUBLIC;


--
-- Name: FUNCTION put_platform(a_id text, a_json text); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.put_platform(a_id text, a_json text) FROM PUBLIC;


--
-- Name: FUNCTION record_added(); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.record_added() FROM PUBLIC;


--
-- Name: FUNCTION renew(a_campaign text, a_runs bigint[], a_epochs bigint[], a_seconds double precision); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.renew(a_campaign text, a_runs bigint[], a_epochs bigint[], a_seconds double precision) FROM PUBLIC;


--
-- Name: FUNCTION run_moved(); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.run_moved() FROM PUBLIC;


--
-- Name: FUNCTION seen(); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.seen() FROM PUBLIC;


--
-- Name: FUNCTION works_on(a_campaign bigint); Type: ACL; Schema: assay; Owner: owner
--

REVOKE ALL ON FUNCTION assay.works_on(a_campaign bigint) FROM PUBLIC;


--
-- PostgreSQL database dump complete
--

\unrestrict Sm7X9oDdVJn00OnVL59K1QuydLmpzOKf0x3Kn12E759t2pTv13dDeWSikeQFNmC

