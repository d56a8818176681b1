"""Finds the program, calls it without a shell, and turns what it prints into values or an AssayError."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Scalar = str | int | float | os.PathLike[str]
#: The value of a flag: True gives the flag alone, None and False leave it out, a sequence becomes a comma list, and a
#: mapping the flag once for each NAME=VALUE.
Flag = Scalar | bool | Sequence[Scalar] | Mapping[str, Scalar] | None
Progress = Callable[[str], None]

_SECONDS_TO_STOP = 30.0


class AssayError(Exception):
    """The program could not do what was asked: its message, and its exit code (None: it was not started)."""

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Done:
    """What the program printed, and how it ended."""

    output: str
    messages: str
    exit_code: int

    def document(self) -> Any:
        """Its output as JSON. Raises AssayError where there is none, with what it said instead."""
        try:
            return json.loads(self.output)
        except ValueError:
            raise self.error() from None

    def error(self) -> AssayError:
        said = [line for line in self.messages.splitlines() if line.strip()]
        last = said[-1].removeprefix("assay: ") if said else f"the program ended with exit code {self.exit_code}."
        return AssayError(last, self.exit_code)


def program() -> pathlib.Path:
    """The program: ASSAY_PROGRAM, else the one beside this interpreter's scripts, else the one on PATH."""
    if named := os.environ.get("ASSAY_PROGRAM"):
        if shutil.which(named) is None:
            raise AssayError(f"ASSAY_PROGRAM is {named!r}, which is not a program that can be started.")
        return pathlib.Path(named).absolute()
    for folder in (sysconfig.get_path("scripts"), os.path.dirname(sys.executable)):
        found = shutil.which("assay", path=folder)
        if found:
            return pathlib.Path(found)
    on_path = shutil.which("assay")
    if on_path is None:
        raise AssayError(
            "the program 'assay' is neither beside this Python nor on PATH. Install the wheel of Assay into this "
            "environment, or name the program with the variable ASSAY_PROGRAM."
        )
    return pathlib.Path(on_path)


def version() -> str:
    """The first line of `assay --version`; the others say how it was built, and for what."""
    return call(["--version"]).output.strip().partition("\n")[0]


def position(text: Scalar, what: str) -> str:
    """An argument that is not a flag. One that would be read as a flag is refused."""
    word = os.fspath(text) if isinstance(text, os.PathLike) else str(text)
    if not word or word.startswith("-"):
        raise AssayError(f"{what}: {word!r} is not valid; it is empty or begins with '-'.", 2)
    return word


def words_of(flags: Mapping[str, Flag]) -> list[str]:
    """Flags as words of a command line: batch=[1, 2] is --batch=1,2, and option={"a": 1} is --option=a=1."""
    words: list[str] = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is False and name == "phases":
            words.append("--no-phases")
        elif value is None or value is False:
            continue
        elif value is True:
            words.append(flag)
        elif isinstance(value, Mapping):
            words += [f"{flag}={key}={_text(one)}" for key, one in value.items()]
        elif isinstance(value, (str, int, float, os.PathLike)):
            words.append(f"{flag}={_text(value)}")
        else:
            words.append(f"{flag}={','.join(_text(one) for one in value)}")
    return words


def _text(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def call(
    words: Sequence[str],
    *,
    allowed: Sequence[int] = (0,),
    progress: Progress | None = None,
    variables: Mapping[str, str] | None = None,
) -> Done:
    """Runs the program to its end. Raises AssayError where its exit code is not in `allowed`. An interrupt is passed on
    to the program, which stores what it has finished."""
    environment = {**os.environ, **(variables or {})}
    try:
        process = subprocess.Popen(
            [program(), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise AssayError(f"{program()} cannot be started: {error.strerror}.") from None
    done = _collect(process, progress)
    if done.exit_code not in allowed:
        raise done.error()
    return done


def _collect(process: subprocess.Popen[str], progress: Progress | None) -> Done:
    """Reads both pipes at once, so that neither side waits for the other."""
    output: list[str] = []
    messages: list[str] = []

    def read_output() -> None:
        assert process.stdout is not None
        output.append(process.stdout.read())

    reader = threading.Thread(target=read_output, daemon=True)
    reader.start()
    assert process.stderr is not None
    try:
        for line in process.stderr:
            messages.append(line)
            if progress is not None:
                progress(line.rstrip("\n"))
        process.wait()
    except BaseException:
        _stop(process)
        raise
    reader.join()
    return Done("".join(output), "".join(messages), process.returncode)


def _stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
