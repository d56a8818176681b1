-- Every receipt in the order of its chain, with its writer and with what its record holds now. NULL: that row is gone.
SELECT receipt.writer, receipt.seq, receipt.record, receipt.hash, receipt.link, writer.role, writer.host, writer.agent,
       run.key, trial.id, run.idx, record.run = receipt.run,
       record.attempt, record.counted, record.outcome, record.message, record.trusted, record.platform,
       record.started_utc, record.duration_ns, record.n, record.steady_from, record.median_ns, record.p90_ns,
       record.p99_ns, record.samples_per_second, record.summary_version, record.peak_memory_bytes, record.digest,
       record.json, record.samples
FROM receipt
LEFT JOIN writer ON writer.key = receipt.writer
LEFT JOIN run ON run.key = receipt.run
LEFT JOIN trial ON trial.key = run.trial
LEFT JOIN record ON record.key = receipt.record
ORDER BY receipt.writer, receipt.seq
