"""Folders that take long to make, kept in a worker's cache."""

import hashlib
import os
import shutil
import tempfile


def folder(cache, key, largest, fill):
    """A folder that fill(path) filled, and what removes it when it is not kept. Kept in `cache`, by `key`, where there
    is one; `largest` names the file in it whose time says that it was used."""
    kept = os.path.join(cache, hashlib.sha256(key.encode()).hexdigest()[:32]) if cache else None
    if kept and os.path.exists(kept):
        os.utime(os.path.join(kept, largest))
        return kept, None
    place = tempfile.TemporaryDirectory(prefix="assay-", dir=cache)
    fill(place.name)
    if not kept:
        return place.name, place
    try:
        os.rename(place.name, kept)
    except OSError:  # another run was faster
        shutil.rmtree(place.name, ignore_errors=True)
    os.makedirs(place.name, exist_ok=True)  # its end wants to find it
    place.cleanup()
    return kept, None
