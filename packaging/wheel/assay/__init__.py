"""Assay as a wheel: the program lies in `prefix`, and the command `assay` starts it."""
