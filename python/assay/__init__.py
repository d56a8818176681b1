"""Assay from Python: measure, compare and predict by calling the program, with its JSON as values.

    import assay

    store = assay.open("assay.db")
    store.run("toy", worker="fake", batch=[1, 2, 4], runs=6)
    store.results().frame()                       # a pandas.DataFrame; the list itself needs no pandas
    store.compare("before", "after", gate="3%").passed

Nothing but the program is needed; docs/packages.md has the whole of it.
"""

from assay._commands import Campaign, Store, compare, open, predict, run
from assay._comparisons import Comparison, Comparisons
from assay._display import Picture
from assay._predictions import Point, Prediction
from assay._program import AssayError, program, version
from assay._results import Result, Results, Run, Runs
from assay._values import Interval

__all__ = [
    "AssayError",
    "Campaign",
    "Comparison",
    "Comparisons",
    "Interval",
    "Picture",
    "Point",
    "Prediction",
    "Result",
    "Results",
    "Run",
    "Runs",
    "Store",
    "compare",
    "open",
    "predict",
    "program",
    "run",
    "version",
]
