"""The report as people read it who do not see it, or see it otherwise: axe-core finds nothing serious."""

import json
import os
import pathlib

import pytest
from reporting import BUILD, FORM, User

AXE = pathlib.Path(os.environ.get("ASSAY_AXE", BUILD / "lib/report/page/work/node_modules/axe-core/axe.min.js"))
LOOKS = [(1280, False), (1280, True), (400, False), (400, True)]

pytestmark = pytest.mark.skipif(not FORM.exists(), reason="the page was not built: node or npm is missing")


@pytest.fixture(scope="module")
def page(full_store, tmp_path_factory):
    """Of a store that has data for every picture; no test here changes it."""
    return User(tmp_path_factory.mktemp("page")).report(store=full_store)


def serious(browser):
    """Rules that the page breaks for some readers, each with the first elements that break it."""
    browser.run(AXE.read_text() + ";1")
    found = browser.run("axe.run(document, {resultTypes: ['violations']}).then((r) => JSON.stringify(r.violations))")
    return {
        one["id"]: [(node["html"][:200], node["failureSummary"][:300]) for node in one["nodes"][:3]]
        for one in json.loads(found)
        if one["impact"] in ("serious", "critical")
    }


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_nothing_serious_is_found(page, browser, width, dark):
    browser.look(width, dark=dark)
    browser.open(page)
    assert serious(browser) == {}


def test_what_is_serious_is_found(page, browser):
    """A picture without words, grey on grey, and a button without a name: one rule each."""
    browser.look(1280)
    browser.open(page)
    browser.run("""document.body.insertAdjacentHTML('beforeend',
      '<img src="data:,"><p id="pale">pale words</p><button></button>');
      document.getElementById('pale').style.cssText = 'color: #ccc; background: #fff'; 1""")
    assert {"image-alt", "color-contrast", "button-name"} <= set(serious(browser))
