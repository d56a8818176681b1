"""The fixture `assay_bench`: measures a function in fresh processes against a baseline, and fails by gate.

def decode():
    mycodec.decode(DATA)

def test_decode_is_as_fast(assay_bench):
    assay_bench(decode, gate="5%")

pytest --assay-baseline ../main/src     # a folder, package==release, or 'stored'
"""

from __future__ import annotations

import os
import pathlib
import warnings
from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from assay import _bench
from assay._baseline import Function
from assay._display import duration
from assay._program import AssayError

_OPTIONS = {
    "baseline": "compare with this: a folder to import from, package==release, or 'stored' [measure only]",
    "gate": "fail where a slow-down of at least this is proved [5%]",
    "runs": "measure each side in this many fresh processes [10]",
    "most-runs": "where the gate cannot decide, double the runs up to this many [40]",
    "seconds": "measure for this long in each process [500ms]",
    "store": "keep everything in this store [.assay/pytest.db in the root folder]",
    "undecided": "where the gate still cannot decide: skip, fail or pass [skip]",
}
_LINES: pytest.StashKey[list[str]] = pytest.StashKey()


class AssayBench(Protocol):
    """What the fixture gives. What is left out is as the command line or the ini file says."""

    def __call__(
        self,
        function: Function,
        *,
        baseline: str | os.PathLike[str] | None = None,
        gate: str | None = None,
        runs: int | None = None,
        seconds: str | None = None,
    ) -> _bench.Judged: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("assay", "measuring with Assay")
    for name, text in _OPTIONS.items():
        group.addoption(f"--assay-{name}", default=None, metavar=name.upper(), help=text.replace("%", "%%"))
        parser.addini(f"assay_{name.replace('-', '_')}", text, default=None)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_LINES] = []


def _option(config: pytest.Config, name: str) -> str | None:
    given = config.getoption(f"--assay-{name}")
    found = given if given is not None else config.getini(f"assay_{name.replace('-', '_')}")
    return str(found) if found else None


def _number(config: pytest.Config, name: str) -> int | None:
    text = _option(config, name)
    if text is None:
        return None
    if not text.isdigit() or int(text) < 1:
        raise pytest.UsageError(f"assay {name}: {text!r} is not a positive number.")
    return int(text)


def _undecided(config: pytest.Config) -> str:
    text = _option(config, "undecided") or "skip"
    if text not in ("skip", "fail", "pass"):
        raise pytest.UsageError(f"assay undecided: {text!r} is not valid. There is skip, fail and pass.")
    return text


def _plan(config: pytest.Config) -> _bench.Plan:
    store = pathlib.Path(_option(config, "store") or config.rootpath / ".assay" / "pytest.db")
    if "://" not in str(store) and not str(store).startswith("@"):
        store.parent.mkdir(parents=True, exist_ok=True)
    return _bench.changed(
        _bench.Plan(store=str(store), sides=str(config.rootpath / ".assay" / "sides")),
        baseline=_option(config, "baseline"),
        gate=_option(config, "gate"),
        runs=_number(config, "runs"),
        most_runs=_number(config, "most-runs"),
        seconds=_option(config, "seconds"),
    )


def _judged(function: Function, plan: _bench.Plan, name: str) -> _bench.Judged:
    """What cannot be measured fails the test, with the reason alone."""
    try:
        return _bench.bench(function, plan, name)
    except AssayError as error:
        reason = str(error)
    pytest.fail(f"assay: {reason}", pytrace=False)


def _settle(judged: _bench.Judged, undecided: str) -> None:
    if judged.passed is False:
        pytest.fail(judged.sentence, pytrace=False)
    if judged.comparisons is None or judged.passed is not None or undecided == "pass":
        return
    said = f"the gate cannot decide: {judged.sentence}"
    if undecided == "fail":
        pytest.fail(said, pytrace=False)
    pytest.skip(said)


@pytest.fixture
def assay_bench(request: pytest.FixtureRequest) -> Iterator[AssayBench]:
    """Measures a function without arguments in fresh processes, in lock-step with the same function on a baseline, and
    fails the test where a slow-down is proved that is as large as the gate."""
    config = request.config
    counted = 0

    def measure(
        function: Function,
        *,
        baseline: str | os.PathLike[str] | None = None,
        gate: str | None = None,
        runs: int | None = None,
        seconds: str | None = None,
    ) -> _bench.Judged:
        nonlocal counted
        counted += 1
        named = None if baseline is None else os.fspath(baseline)
        plan = _bench.changed(_plan(config), baseline=named, gate=gate, runs=runs, seconds=seconds)
        name = request.node.nodeid + ("" if counted == 1 else f" {counted}")
        judged = _judged(function, plan, name)
        took = judged.seconds_a_call
        shown = "" if took is None else f"{duration(took)} a call. "
        config.stash[_LINES].append(f"{name}: {shown}{judged.sentence}")
        _settle(judged, _undecided(config))
        return judged

    yield measure
    if counted == 0:
        warnings.warn(
            pytest.PytestWarning(f"{request.node.nodeid} takes assay_bench and measures nothing"), stacklevel=1
        )


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    lines = config.stash.get(_LINES, [])
    if lines:
        terminalreporter.section("assay")
        for line in lines:
            terminalreporter.write_line(line)
