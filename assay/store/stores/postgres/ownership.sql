-- One row where the schema is there: who owns it, whether it holds a store, how the role that is connected stands to the
-- owner, and the first thing in it that somebody else could use to run code of theirs.
SELECT owner.rolname,
  EXISTS (SELECT FROM pg_catalog.pg_class AS t WHERE t.relnamespace = s.oid AND t.relname = 'store' AND t.relkind = 'r')
    ::integer,
  -- A superuser counts as a member of every role, and would run the code of any.
  (pg_catalog.pg_has_role(current_user, owner.oid, 'MEMBER') AND (owner.rolsuper OR NOT me.rolsuper))::integer,
  me.rolname,
  me.rolsuper::integer,
  (SELECT what FROM (
    SELECT 'the role ' || coalesce(r.rolname, 'PUBLIC') || ' may make objects in it' AS what
    FROM pg_catalog.aclexplode(s.nspacl) AS granted LEFT JOIN pg_catalog.pg_roles AS r ON r.oid = granted.grantee
    WHERE granted.privilege_type = 'CREATE' AND granted.grantee <> s.nspowner
    UNION ALL
    SELECT 'the ' || pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, t.oid, 0) || ' belongs to '
      || pg_catalog.pg_get_userbyid(t.relowner)
    FROM pg_catalog.pg_class AS t WHERE t.relnamespace = s.oid AND t.relowner <> s.nspowner
    UNION ALL
    SELECT 'the ' || pg_catalog.pg_describe_object('pg_catalog.pg_proc'::pg_catalog.regclass, f.oid, 0) || ' belongs to '
      || pg_catalog.pg_get_userbyid(f.proowner)
    FROM pg_catalog.pg_proc AS f WHERE f.pronamespace = s.oid AND f.proowner <> s.nspowner
    UNION ALL
    SELECT 'the ' || pg_catalog.pg_describe_object('pg_catalog.pg_operator'::pg_catalog.regclass, o.oid, 0) || ' is in it'
    FROM pg_catalog.pg_operator AS o WHERE o.oprnamespace = s.oid
    UNION ALL
    SELECT 'the ' || pg_catalog.pg_describe_object('pg_catalog.pg_trigger'::pg_catalog.regclass, g.oid, 0)
      || ' calls a function of another schema'
    FROM pg_catalog.pg_trigger AS g JOIN pg_catalog.pg_class AS t ON t.oid = g.tgrelid
      JOIN pg_catalog.pg_proc AS f ON f.oid = g.tgfoid
    WHERE t.relnamespace = s.oid AND NOT g.tgisinternal AND f.pronamespace <> s.oid
    UNION ALL
    -- What an agent calls runs with the rights of the owner, never with its own.
    SELECT 'the ' || pg_catalog.pg_describe_object('pg_catalog.pg_proc'::pg_catalog.regclass, f.oid, 0)
      || ' runs with the rights of whoever calls it'
    FROM pg_catalog.pg_proc AS f WHERE f.pronamespace = s.oid AND NOT f.prosecdef
      AND f.proname IN ('owners', 'lease', 'renew', 'complete', 'give_back', 'put_platform', 'seen')
  ) AS found LIMIT 1)
FROM pg_catalog.pg_namespace AS s
  JOIN pg_catalog.pg_roles AS owner ON owner.oid = s.nspowner
  JOIN pg_catalog.pg_roles AS me ON me.rolname = current_user
WHERE s.nspname = 'assay'
