-- Emptied by the server itself after a crash and on the way from standby to primary: nobody could renew a lease then.
CREATE UNLOGGED TABLE up (
  slot integer PRIMARY KEY DEFAULT 0 CHECK (slot = 0),
  since_ms bigint NOT NULL
);

-- Since when the server takes writes without a break, as far as anybody has asked. A start of the server, a recovery, a
-- promotion, and a clock that goes back are breaks.
CREATE FUNCTION up_since_ms() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint := assay.now_ms();
  v_start bigint := (extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint;
  v_since bigint;
BEGIN
  SELECT since_ms INTO v_since FROM assay.up;
  IF NOT FOUND OR v_since > v_now THEN
    v_since := v_now;
    INSERT INTO assay.up AS known (since_ms) VALUES (v_since)
      ON CONFLICT (slot) DO UPDATE SET since_ms = excluded.since_ms WHERE known.since_ms > excluded.since_ms;
  END IF;
  RETURN CASE WHEN v_start > v_now THEN v_since ELSE greatest(v_since, v_start) END;
END $$;

-- When a lease was first found to have run out. It counts for a lease that ended before, and not for one that was given or
-- renewed later.
ALTER TABLE run ADD COLUMN overdue_ms bigint;   -- only here

-- What was said to be stored stays stored, also where synchronous_commit is off for the database or the role. Every other
-- value waits for the disk of the server at least.
CREATE FUNCTION commit_durably() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER commit_durably AFTER UPDATE ON run FOR EACH STATEMENT EXECUTE FUNCTION commit_durably();
CREATE TRIGGER commit_durably AFTER INSERT ON record FOR EACH STATEMENT EXECUTE FUNCTION commit_durably();
CREATE TRIGGER commit_durably AFTER INSERT OR UPDATE ON platform FOR EACH STATEMENT EXECUTE FUNCTION commit_durably();

-- Whether the role that is connected may work on a campaign: by itself, or as a member of a role that may. Names of roles
-- that are gone give no right. Its callers allow no sequential scans, which would make these small tables look so costly
-- that the server compiles the query.
CREATE OR REPLACE FUNCTION works_on(a_campaign bigint) RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = assay, pg_temp SET enable_seqscan = on AS $$
BEGIN
  RETURN pg_has_role(session_user, current_user, 'MEMBER') OR EXISTS (
    SELECT FROM access JOIN pg_roles ON pg_roles.rolname = access.role::name
    WHERE access.kind = 'agent' AND (access.campaign IS NULL OR access.campaign = a_campaign)
      AND pg_has_role(session_user, pg_roles.oid, 'USAGE'));
END $$;

-- Campaigns that the role that is connected may see.
CREATE OR REPLACE FUNCTION seen() RETURNS SETOF bigint LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = assay, pg_temp AS $$
  SELECT campaign.key FROM campaign WHERE pg_has_role(session_user, current_user, 'MEMBER') OR EXISTS (
    SELECT FROM access JOIN pg_roles ON pg_roles.rolname = access.role::name
    WHERE (access.kind = 'reader' OR access.campaign IS NULL OR access.campaign = campaign.key)
      AND pg_has_role(session_user, pg_roles.oid, 'USAGE'))
$$;

CREATE OR REPLACE FUNCTION found_campaign(a_id text) RETURNS campaign LANGUAGE plpgsql SECURITY DEFINER
SET search_path = assay, pg_temp AS $$
DECLARE v_campaign campaign%ROWTYPE;
BEGIN
  SELECT * INTO v_campaign FROM campaign WHERE campaign.id = a_id;
  IF NOT FOUND OR NOT works_on(v_campaign.key) THEN
    RAISE EXCEPTION 'there is no campaign % for role %', a_id, session_user USING ERRCODE = 'no_data_found';
  END IF;
  RETURN v_campaign;
END $$;

-- Rights go to the functions and tables of the store whoever calls this, and from wherever.
ALTER FUNCTION allow SET search_path = assay, pg_temp;
ALTER FUNCTION forbid SET search_path = assay, pg_temp;
ALTER FUNCTION grant_rights SET search_path = assay, pg_temp;
ALTER FUNCTION grant_all_rights SET search_path = assay, pg_temp;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA assay FROM PUBLIC;
