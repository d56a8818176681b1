"""A store that has data for every picture, made once; a browser; and pages of the one in the other."""

import pathlib
import shutil
import sqlite3

import browser as browsers
import pytest
from reporting import User, make_full_store


@pytest.fixture(scope="session")
def full_store(tmp_path_factory):
    user = User(tmp_path_factory.mktemp("store"))
    make_full_store(user)
    return user.path / "assay.db"


@pytest.fixture
def user(tmp_path):
    return User(tmp_path)


@pytest.fixture
def store(full_store, tmp_path):
    """A copy that a test may spoil."""
    with sqlite3.connect(full_store) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return pathlib.Path(shutil.copy(full_store, tmp_path / "assay.db"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if browsers.program() is None:
        pytest.skip("there is no Chromium")
    one = browsers.Browser(tmp_path_factory.mktemp("profile"))
    yield one
    one.close()
