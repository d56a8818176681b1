-- What a store holds. Keys grow, so that the first and the last record need no search.
SELECT (SELECT uuid FROM store), (SELECT version FROM store), (SELECT count(*) FROM campaign),
       (SELECT count(*) FROM trial), (SELECT coalesce(sum(ready), 0)::bigint FROM progress),
       (SELECT coalesce(sum(leased), 0)::bigint FROM progress), (SELECT coalesce(sum(done), 0)::bigint FROM progress),
       (SELECT coalesce(sum(failed), 0)::bigint FROM progress), (SELECT count(*) FROM record), (SELECT count(*) FROM writer),
       (SELECT started_utc FROM record ORDER BY key LIMIT 1), (SELECT started_utc FROM record ORDER BY key DESC LIMIT 1),
       (SELECT coalesce(sum(pg_total_relation_size(kept.oid)), 0)::bigint FROM pg_class AS kept
        JOIN pg_namespace ON pg_namespace.oid = kept.relnamespace
        WHERE pg_namespace.nspname = 'assay' AND kept.relkind = 'r')
