-- A placeholder.
SELECT 1;
