"""Looks for secrets wherever something may have left them: in bytes, in folders, and in what runs.

A secret is a name and its text. It is also found where it was quoted for a URL or JSON, or written as hex or base64.
"""

import base64
import json
import os
import pathlib
import threading
import urllib.parse

LARGEST_FILE = 1 << 26


def forms_of(text):
    """The bytes as which a text may be written."""
    raw = text.encode()
    forms = {
        raw,
        urllib.parse.quote(text, safe="").encode(),
        urllib.parse.quote(text).encode(),
        urllib.parse.quote_plus(text).encode(),
        json.dumps(text)[1:-1].encode(),
        json.dumps(text, ensure_ascii=False)[1:-1].encode(),
        raw.hex().encode(),
        text.encode("utf-16-le"),
    }
    # In base64 it begins at one of three places of a group; its first and last letters hang on what is beside it.
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + raw)
        begin = -(-before * 8 // 6)
        end = (before + len(raw)) * 8 // 6
        forms.add(whole[begin:end])
    return forms


class Search:
    """`secrets` are texts by name."""

    def __init__(self, secrets):
        self.forms = [(name, form) for name, text in secrets.items() for form in forms_of(text)]

    def in_bytes(self, data, where):
        """What was found, as (name, where)."""
        data = data.encode() if isinstance(data, str) else data
        return {(name, where) for name, form in self.forms if form in data}

    def in_file(self, path):
        try:
            if not path.is_file() or path.stat().st_size > LARGEST_FILE:
                return set()
            data = path.read_bytes()
        except OSError:  # it was there a moment ago
            return set()
        return self.in_bytes(data, str(path))

    def in_folder(self, folder):
        """In names and contents of all files, and in where links lead."""
        found = set()
        for place, folders, files in os.walk(folder):
            for name in (*folders, *files):
                path = pathlib.Path(place) / name
                found |= self.in_bytes(name, f"name of {path}")
                if path.is_symlink():
                    found |= self.in_bytes(os.readlink(path), f"link {path}")
                elif name in files:
                    found |= self.in_file(path)
        return found

    def in_processes(self, is_worker):
        """In every command line there is, and in the environment of processes whose command line `is_worker`."""
        found = set()
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes()
                found |= self.in_bytes(words, "command line")
                if is_worker(words):
                    found |= self.in_bytes((process / "environ").read_bytes(), "environment of a worker")
            except OSError:
                continue
        return found


class Watch:
    """Looks at processes and at a folder, again and again while its block runs. `found` is what it has seen."""

    def __init__(self, search, folder, is_worker):
        self.look = lambda: search.in_processes(is_worker) | search.in_folder(folder)
        self.found = set()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        while not self.ended.is_set():
            self.found |= self.look()
            self.ended.wait(0.02)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def names(found):
    return {name for name, _ in found}


def places(found):
    return {where for _, where in found}
