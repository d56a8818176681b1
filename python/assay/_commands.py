"""The commands as functions: each calls the program once, and its JSON becomes values."""

from __future__ import annotations

import json
from dataclasses import dataclass

from assay._comparisons import Comparisons
from assay._predictions import Prediction
from assay._program import AssayError, Flag, Progress, Scalar, call, position, words_of
from assay._progress import progress_of
from assay._results import Results, Run, Runs
from assay._values import Document

_OK, _GATE, _FAILED_RUNS, _UNDECIDED, _STOPPED = 0, 3, 4, 5, 130
DEFAULT_STORE = "assay.db"


def run(
    what: Scalar | None = None,
    *,
    command: list[str] | None = None,
    store: Scalar = DEFAULT_STORE,
    progress: bool | Progress = True,
    **flags: Flag,
) -> Results:
    """Measures as `assay run` does: a network, a campaign file, or `command`, a program with its arguments.

    Flags are those of the program with _ for -: run("resnet50", worker="pytorch", batch=[1, 8], runs=6). Failed
    runs raise nothing: look at `failed_runs`. An interrupt keeps what is finished, and the same call goes on.
    """
    words = ["run"] + ([position(what, "run")] if what is not None else [])
    words += [*words_of(flags), *words_of({"store": store}), "--json"]
    if command is not None:
        words += ["--", *command]
    done = call(words, allowed=(_OK, _FAILED_RUNS), progress=progress_of(progress))
    return Results.of(done.document())


def compare(
    first: str,
    second: str,
    *,
    store: Scalar = DEFAULT_STORE,
    progress: bool | Progress = True,
    **flags: Flag,
) -> Comparisons:
    """Compares two sides as `assay compare` does. run=True measures what is missing, in lock-step; gate="3%" judges.

    A gate that fails raises nothing: look at `passed`, `failed` and `open`.
    """
    words = ["compare", position(first, "compare"), position(second, "compare"), *words_of(flags)]
    words += [*words_of({"store": store}), "--json"]
    done = call(words, allowed=(_OK, _GATE, _UNDECIDED), progress=progress_of(progress))
    return Comparisons.of(done.document())


def predict(network: str, *, cluster: Scalar, **flags: Flag) -> Prediction:
    """Predicts training on a cluster as `assay predict` does: predict("resnet50", cluster="a.yaml", devices="1,8")."""
    words = ["predict", position(network, "predict"), *words_of({"cluster": cluster, **flags}), "--json"]
    found = call(words).document()
    if "prediction_version" not in found:
        raise AssayError("these flags ask for a transformer that is split; only the program itself prints that.", 2)
    return Prediction.of(found)


@dataclass(frozen=True)
class Campaign:
    """A campaign of a store, and where it stands."""

    id: str
    name: str
    round: int
    created_utc: str
    runs: int
    done: int
    failed: int

    @classmethod
    def of(cls, found: Document) -> Campaign:
        return cls(**{name: found[name] for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class Store:
    """A store by its place: an SQLite file, postgresql://USER@HOST/DATABASE, or @FILE that holds such a URL."""

    place: str

    def campaigns(self) -> list[Campaign]:
        """The campaigns in the order in which they were planned."""
        words = ["list", "--json", *words_of({"store": self.place})]
        return [Campaign.of(one) for one in call(words).document()]

    def results(self, campaign: str | None = None) -> Results:
        """Results of one campaign, by name or the first digits of its id, or of all. `frame()` gives a DataFrame."""
        chosen = [f"--campaign={campaign}"] if campaign is not None else ["--all"]
        return Results.of(call(["show", "--json", *chosen, *words_of({"store": self.place})]).document())

    def runs(self, campaign: str | None = None, *, trial: str | None = None, all_attempts: bool = False) -> Runs:
        """Runs with every sample, of a campaign, of the trial whose id begins so, or of all."""
        words = ["export"] + ([position(campaign, "runs")] if campaign is not None else [])
        words += words_of({"trial": trial, "all_attempts": all_attempts, "store": self.place, "format": "jsonl"})
        return Runs(Run.of(json.loads(line)) for line in call(words).output.splitlines())

    def run(
        self,
        what: Scalar | None = None,
        *,
        command: list[str] | None = None,
        progress: bool | Progress = True,
        **flags: Flag,
    ) -> Results:
        """`assay.run` into this store."""
        return run(what, command=command, store=self.place, progress=progress, **flags)

    def compare(self, first: str, second: str, *, progress: bool | Progress = True, **flags: Flag) -> Comparisons:
        """`assay.compare` on this store."""
        return compare(first, second, store=self.place, progress=progress, **flags)


def open(place: Scalar = DEFAULT_STORE) -> Store:
    """A store. Nothing is read yet; what measures makes a file that is not there."""
    return Store(position(place, "open"))
