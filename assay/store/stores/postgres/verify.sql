-- What does not fit in a store: the words of Fault in verification.hpp, and where. One statement, so one moment.
WITH chain AS (
  SELECT receipt.*, lag(receipt.link, 1, '') OVER by_writer AS previous, lag(receipt.seq, 1, 0::bigint) OVER by_writer AS before
  FROM receipt WINDOW by_writer AS (PARTITION BY receipt.writer ORDER BY receipt.seq)
),
found AS (
  SELECT 'altered' AS fault, kept.key AS record, kept.run AS run, kept.attempt AS attempt, receipt.writer AS writer,
         receipt.seq AS receipt, NULL AS content
  FROM receipt
  JOIN record AS kept ON kept.key = receipt.record  -- by itself, record would be the column of receipt
  JOIN run ON run.key = kept.run
  JOIN trial ON trial.key = run.trial
  WHERE kept.run <> receipt.run OR record_hash(kept, trial.id, run.idx) <> receipt.hash
  UNION ALL
  SELECT 'lost', receipt.record, run.key, NULL, receipt.writer, receipt.seq, NULL
  FROM receipt
  LEFT JOIN run ON run.key = receipt.run
  LEFT JOIN record ON record.key = receipt.record
  WHERE record.key IS NULL AND (receipt.record IS NOT NULL OR run.key IS NOT NULL)
  UNION ALL
  SELECT 'broken_link', chain.record, chain.run, NULL, chain.writer, chain.seq, NULL
  FROM chain WHERE chain.seq <> chain.before + 1 OR chain.link <> link_of(chain.previous, chain.hash)
  UNION ALL
  -- The writer's own row knows where its chain ends.
  SELECT 'broken_link', NULL, NULL, NULL, writer.key, writer.seq, NULL
  FROM writer WHERE writer.seq > 0 AND NOT EXISTS (
    SELECT FROM receipt WHERE receipt.writer = writer.key AND receipt.seq = writer.seq AND receipt.link = writer.link)
  UNION ALL
  -- Keys grow: one above that of a record with a receipt is not older than receipts.
  SELECT 'slipped_in', record.key, record.run, record.attempt, NULL, NULL, NULL
  FROM record
  WHERE record.key > (SELECT min(receipt.record) FROM receipt)
    AND NOT EXISTS (SELECT FROM receipt WHERE receipt.record = record.key)
  UNION ALL
  SELECT 'lost', NULL, run.key, run.attempt, NULL, NULL, NULL
  FROM run
  WHERE run.state = 2 AND NOT EXISTS (SELECT FROM record WHERE record.run = run.key AND record.counted = 1)
    AND NOT EXISTS (SELECT FROM receipt WHERE receipt.run = run.key)
  UNION ALL
  SELECT 'wrong_content', NULL, NULL, NULL, NULL, NULL, content.hash
  FROM content WHERE content.hash <>
    left(encode(sha256(convert_to(replace(content.json, U&'\E000e', U&'\E000'), 'UTF8')), 'hex'), 32)
)
SELECT found.fault, found.record, trial.id, run.idx, found.attempt, found.receipt, found.content, writer.role, writer.host,
       writer.agent
FROM found
LEFT JOIN run ON run.key = found.run
LEFT JOIN trial ON trial.key = run.trial
LEFT JOIN writer ON writer.key = found.writer
ORDER BY found.writer, found.receipt, found.record, found.run, found.content
