-- What a store holds. Keys grow, so that the first and the last record need no search.
SELECT (SELECT uuid FROM store), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM campaign),
       (SELECT count(*) FROM trial), (SELECT coalesce(sum(ready), 0) FROM progress),
       (SELECT coalesce(sum(leased), 0) FROM progress), (SELECT coalesce(sum(done), 0) FROM progress),
       (SELECT coalesce(sum(failed), 0) FROM progress), (SELECT count(*) FROM record), (SELECT count(*) FROM writer),
       (SELECT started_utc FROM record ORDER BY key LIMIT 1), (SELECT started_utc FROM record ORDER BY key DESC LIMIT 1)
