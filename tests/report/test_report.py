"""`assay report` in a real browser: every picture is drawn, nothing outside is asked for, it fits a telephone."""

import json
import re
import sqlite3

import jsonschema
import pytest
from reporting import FORM, ROOT

pytestmark = pytest.mark.skipif(not FORM.exists(), reason="the page was not built: node or npm is missing")
PICTURES = ["fastest", "waterfall", "phases", "layers-1", "settings-1", "throughput-1", "latency-1", "roofline-1",
            "nodes", "scores-1", "residuals-1", "history-dates-1", "run-order"]  # fmt: skip
LOOKS = [(1280, False), (1280, True), (400, False), (400, True)]

# Of each figure: which series have no mark in their colour, and how large the drawing is.
SURVEY = """
(() => {
  const page = JSON.parse(document.getElementById('report-data').textContent);
  const styles = getComputedStyle(document.documentElement);
  return [...document.querySelectorAll('figure[data-picture]')].map((figure) => {
    const picture = page.pictures[Number(figure.dataset.picture)];
    const live = figure.querySelector('.live svg');
    const drawn = live ? [...live.querySelectorAll('path,rect,circle,polygon,polyline,line')] : [];
    const colours = drawn.flatMap((e) => [e.getAttribute('fill'), e.getAttribute('stroke')]).filter(Boolean)
      .map((c) => c.toLowerCase());
    const missing = picture.series.filter((series) =>
      !colours.includes(styles.getPropertyValue('--c' + series.colour).trim().toLowerCase())).map((s) => s.name);
    const box = live ? live.getBoundingClientRect() : { width: 0, height: 0 };
    const names = [...(live ? live.querySelectorAll('text') : [])].length;
    return { id: figure.id, missing, names, width: box.width, height: box.height,
      buttons: [...figure.querySelectorAll('button')].map((b) => b.textContent),
      command: figure.querySelector('code').textContent };
  });
})()
"""
WIDTHS = "[document.documentElement.scrollWidth, window.innerWidth]"


def data_of(page):
    found = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', page.read_text(), re.DOTALL)
    return json.loads(found[1])


@pytest.fixture
def page(user, store):
    return user.report()


def test_the_page_has_every_picture_and_keeps_its_schema(page):
    data = data_of(page)
    assert [p["id"] for p in data["pictures"]] == PICTURES
    schema = json.loads((ROOT / "docs/formats/report.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(data)
    assert len(data["verdict"]["findings"]) == 3
    assert page.stat().st_size <= 3_000_000


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_every_picture_is_drawn_and_nothing_is_wrong(page, browser, width, dark):
    browser.look(width, dark=dark)
    browser.open(page)
    assert browser.complaints() == []
    assert browser.requests() == [f"file://{page}"]
    survey = browser.run(SURVEY)
    assert [one["id"] for one in survey] == PICTURES
    for one in survey:
        assert one["missing"] == [] and one["names"] >= 2, one
        assert 200 < one["width"] < width and one["height"] > 100, one
        assert one["buttons"] == ["Copy", "CSV", "JSON"] and one["command"].startswith("assay "), one
    scrolled, inner = browser.run(WIDTHS)
    assert inner == width and scrolled <= inner
    background = browser.run("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")


def test_the_colours_follow_the_reader(page, browser):
    browser.look(1280, dark=False)
    browser.open(page)
    browser.look(1280, dark=True)
    browser.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
    assert all(one["missing"] == [] for one in browser.run(SURVEY))


def test_on_paper_the_plain_drawings_stand(page, browser, tmp_path):
    browser.look(720, dark=True, media="print")
    browser.open(page)
    shown = "[...document.querySelectorAll('{}')].map(e => e.getBoundingClientRect().width)"
    assert browser.run(shown.format("figure .live")) == [0] * len(PICTURES)
    assert min(browser.run(shown.format("figure .static svg"))) > 400
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.run("[...document.querySelectorAll('button')].every(b => b.offsetWidth === 0)")
    browser.look(720)
    browser.print_to(tmp_path / "r.pdf")
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF")


def test_it_reads_without_javascript(page, browser, tmp_path):
    browser.look(1280, script=False)
    browser.open(page)
    root = browser.call("DOM.getDocument", depth=-1)["root"]["nodeId"]
    plain = browser.call("DOM.querySelectorAll", nodeId=root, selector="figure:not(.drawn) .static svg")["nodeIds"]
    assert len(plain) == len(PICTURES)
    marks = browser.call("DOM.querySelectorAll", nodeId=root, selector=".static svg g > *")["nodeIds"]
    assert len(marks) > 100
    browser.look(1280)


def test_the_data_behind_a_picture_can_be_saved(page, browser, tmp_path):
    browser.look(1280)
    browser.open(page)
    allowed = {"behavior": "allow", "downloadPath": str(tmp_path), "eventsEnabled": True}
    browser.call("Browser.setDownloadBehavior", session=None, **allowed)
    for label in ("CSV", "JSON"):
        browser.run(
            f"[...document.querySelectorAll('#throughput-1 button')].find(b => b.textContent === '{label}').click()"
        )
    while len(browser.saved()) < 2:
        browser.await_event()
    [picture] = [p for p in data_of(page)["pictures"] if p["id"] == "throughput-1"]
    assert json.loads((tmp_path / "throughput-1.json").read_text()) == picture
    lines = (tmp_path / "throughput-1.csv").read_text().splitlines()
    assert len(lines) == 1 + sum(len(series["marks"]) for series in picture["series"])


def test_which_is_fastest_and_scores_of_predictions_have_their_pictures(page):
    """The law of the fake worker: 300 us, and twice that for the other runtime. Layers a and b take 60 us, and nothing
    else is predicted for one device; what was measured before the prediction does not count."""
    pictures = {one["id"]: one for one in data_of(page)["pictures"]}
    fastest = pictures["fastest"]
    assert fastest["x"]["categories"] == ["fake 1.0.0", "other 2.0"]
    [own, other] = fastest["series"][0]["marks"]
    assert own["ringed"] and own["text"] == "1.00" and own["note"] == "300 us"
    assert other["text"] == "2.00" and other["note"].startswith("600 us, ")
    scores = pictures["scores-1"]
    assert scores["question"] == "Can the prediction be believed?" and scores["x"]["categories"] == ["1"]
    assert [one["name"].split(" ")[0:2] for one in scores["series"]] == [
        ["predicted,", "with"], ["measured", "after"], ["measured", "before"]]  # fmt: skip
    [said] = scores["series"][0]["marks"]
    assert said["y"] == pytest.approx(0.06) and said["low"] <= said["y"] <= said["high"]


def test_numbers_are_those_of_the_store(page, store):
    """Throughput by batch against medians that SQL and Python find."""
    [picture] = [p for p in data_of(page)["pictures"] if p["id"] == "throughput-1"]
    with sqlite3.connect(store) as database:
        rows = database.execute(
            "SELECT batch, samples_per_second FROM result WHERE campaign_name = 'sweep' AND round = 1"
        ).fetchall()
    line = picture["series"][0]
    for mark in line["marks"]:
        batch = int(picture["x"]["categories"][round(mark["x"])])
        rates = sorted(rate for size, rate in rows if size == batch)
        assert len(rates) == 6
        assert mark["y"] == pytest.approx((rates[2] + rates[3]) / 2)


def test_only_what_was_asked_for(user, store):
    user.assay("report", "--campaign", "sweep", "--title", "Mine & yours", "-o", "r.html")
    page = user.path / "r.html"
    assert "<title>Mine &amp; yours</title>" in page.read_text()
    assert "waterfall" not in [p["id"] for p in data_of(page)["pictures"]]
    assert "there is no campaign" in user.assay("report", "--campaign", "none", "-o", "r.html", code=2).stderr
    done = user.assay("report")
    assert "wrote report.html" in done.stdout + done.stderr
    assert "waterfall" in [p["id"] for p in data_of(user.path / "report.html")["pictures"]]
