"""What values made from the program's JSON share."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from assay._program import AssayError

Document = dict[str, Any]


@dataclass(frozen=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float


def interval_of(found: Document | None, names: tuple[str, str] = ("low", "high")) -> Interval | None:
    return None if found is None else Interval(found[names[0]], found[names[1]])


def workload_title(trial: Document) -> str:
    """As tables of the program have it: resnet50 infer b1."""
    workload = trial["workload"]
    return f"{workload['network']} {workload['mode']} b{workload['batch']}"


def settings_text(trial: Document) -> str:
    given = {name: value for name, value in trial["settings"].items() if value not in (None, {})}
    variables = given.pop("env", {})
    given |= {f"env.{name}": value for name, value in variables.items()}
    given |= {f"{name}": value for name, value in (trial["workload"].get("options") or {}).items()}
    return " ".join(f"{name}={value}" for name, value in given.items()) or "default"


def frame_of(rows: Iterable[Document]) -> Any:
    """A pandas.DataFrame. Raises AssayError where pandas is not installed."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise AssayError("pandas is not installed in this environment. Install it, or use the list as it is.") from None
    return pandas.DataFrame(list(rows))
