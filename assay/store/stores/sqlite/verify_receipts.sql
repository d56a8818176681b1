-- Every receipt in the order of its chain, with its writer and with what its record holds now. NULL: that row is gone.
SELECT receipt.writer, receipt.seq, receipt.record, receipt.hash, receipt.link, writer.role, writer.host, writer.agent,
       run.key, trial.id, run.idx, record.run = receipt.run,
       {record}
FROM receipt
LEFT JOIN writer ON writer.key = receipt.writer
LEFT JOIN run ON run.key = receipt.run
LEFT JOIN trial ON trial.key = run.trial
LEFT JOIN record ON record.key = receipt.record
ORDER BY receipt.writer, receipt.seq
