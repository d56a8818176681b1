"""What must not be in a store, whatever was killed: for tests and figures of fleets."""

WRONG = {
    "lost": "FROM assay.run WHERE key NOT IN (SELECT run FROM assay.record WHERE counted = 1)",
    "twice": "FROM (SELECT run FROM assay.record WHERE counted = 1 GROUP BY run HAVING count(*) > 1) AS more",
    "of an old epoch": "FROM assay.record JOIN assay.run ON run.key = record.run "
    "WHERE counted = 1 AND record.epoch <> run.epoch",
}
