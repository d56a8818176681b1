-- Records that no receipt names and that are not older than receipts: keys grow. And runs that are done without a record.
SELECT 'slipped_in', record.key, trial.id, run.idx, record.attempt
FROM record
LEFT JOIN run ON run.key = record.run
LEFT JOIN trial ON trial.key = run.trial
WHERE record.key > (SELECT min(receipt.record) FROM receipt WHERE receipt.record IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM receipt WHERE receipt.record = record.key)
UNION ALL
SELECT 'lost', NULL, trial.id, run.idx, run.attempt
FROM run
LEFT JOIN trial ON trial.key = run.trial
WHERE run.state = 2 AND NOT EXISTS (SELECT 1 FROM record WHERE record.run = run.key AND record.counted = 1)
  AND NOT EXISTS (SELECT 1 FROM receipt WHERE receipt.run = run.key)
