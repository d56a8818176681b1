-- Version 3: `pair` names a lock-step group of two or more. `side` is 'a' for its reference and 'b' for each of the others,
-- whose order is that of their keys. The tables are the same: a program that knows only pairs would take two runs of a group
-- and leave the others, and refuses this version.
SELECT 1;
