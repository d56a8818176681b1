"""Where a measurement stands: a bar in a notebook, one line that is written over on a terminal, nothing elsewhere."""

from __future__ import annotations

import html
import re
import sys
from typing import Any

from assay._program import Progress

_COUNT = re.compile(r"^\[(\d+)/(\d+)\]")


def _kernel_display() -> Any:
    """IPython's display module where this is a notebook, else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None  # type: ignore[attr-defined, unused-ignore]
    if shell is None or not hasattr(shell, "kernel"):
        return None
    import importlib

    return importlib.import_module("IPython.display")


class _Notebook:
    def __init__(self, display: Any) -> None:
        self._html = display.HTML
        self._shown = display.display(self._html(self._markup("", None)), display_id=True)

    @staticmethod
    def _markup(line: str, count: tuple[str, str] | None) -> str:
        bar = f'<progress value="{count[0]}" max="{count[1]}"></progress> ' if count else ""
        return f"{bar}<code>{html.escape(line)}</code>" if line else ""

    def __call__(self, line: str) -> None:
        found = _COUNT.match(line)
        self._shown.update(self._html(self._markup(line, (found[1], found[2]) if found else None)))


class _Terminal:
    def __call__(self, line: str) -> None:
        if _COUNT.match(line):
            sys.stderr.write(f"\r\033[K{line[:120]}")
            if line.endswith(": done"):
                sys.stderr.write("\r\033[K")
        else:
            sys.stderr.write(f"\r\033[K{line}\n")
        sys.stderr.flush()


def progress_of(wanted: bool | Progress) -> Progress | None:
    """True chooses by where this runs; a function is called with each line of the program's."""
    if callable(wanted):
        return wanted
    if not wanted:
        return None
    display = _kernel_display()
    if display is not None:
        return _Notebook(display)
    return _Terminal() if sys.stderr.isatty() else None
