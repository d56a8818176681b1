-- Version 5: `pair` names a lock-step group of two or more. `side` is 'a' for its reference and 'b' for each of the others,
-- whose order is that of their keys. The tables are the same; functions.sql takes, keeps and frees whole groups.
SELECT 1;
