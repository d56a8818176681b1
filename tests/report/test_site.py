"""`assay report --site`: pages of a whole store, in a real browser, with hostile text in it, and while it is killed."""

import html.parser
import json
import re
import shutil
import sqlite3
import subprocess
import time

import payloads
import pytest
from reporting import BUILD, FAKE, User
from test_accessible import AXE, serious

KINDS = ["workload", "history", "campaign", "comparison", "machine", "tuning", "prediction"]
LOOKS = [(1280, False), (1280, True), (400, False), (400, True)]
LINK = re.compile(r'(?:href|src)="([^"]*)"')
ADDRESS = re.compile(r"(\.\./)?([a-z]+/)?[a-z0-9-]+\.(html|css|js)")
BUILT = re.compile(r"(\d+) files, .*; (\d+) written, (\d+) removed")
# All that pages are made of; text of a store must not add to it.
WORDS = """html head meta title link body nav a main h1 h2 h3 p div table thead tbody tr th td figure figcaption code
    ul li dl dt dd pre svg defs pattern path g text rect circle footer script label input"""
ELEMENTS = set(WORDS.split())


def build(user, folder="site", store="assay.db", program="assay"):
    """Files in all, written and removed, as the command says."""
    said = user.assay("report", "--site", folder, "--store", store, program=program).stderr
    return tuple(map(int, BUILT.search(said).groups()))


def pages_of(site):
    return sorted(site.rglob("*.html"))


def one_of_each(site):
    """The index, a list, and the largest page of each kind."""
    chosen = [max((site / kind).glob("*.html"), key=lambda page: page.stat().st_size) for kind in KINDS]
    return [site / "index.html", site / "list" / "workloads-1.html", *chosen]


def links_of(page):
    return [link for link in LINK.findall(page.read_text()) if not link.startswith("#")]


def assert_whole(site, reached=False):
    """Each page is complete, and whatever leads to another finds it; of a site that is being written, each page that a
    reader can reach from the index."""
    pages = [site / "index.html"] if reached else pages_of(site)
    seen = set(pages)
    for page in pages:
        assert page.read_text().endswith("</html>\n"), page
        for link in links_of(page):
            target = (page.parent / link).resolve()
            assert target.is_file(), (page, link)
            if target not in seen and target.suffix == ".html":
                seen.add(target)
                pages.append(target)


def files_of(site):
    return {path.relative_to(site): path.read_bytes() for path in site.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def team(full_store, tmp_path_factory):
    """A folder with a store that has something of every kind, two sides in lock-step among it, and its site."""
    user = User(tmp_path_factory.mktemp("team"))
    with sqlite3.connect(full_store) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(full_store, user.path / "assay.db")
    user.assay("compare", "--run", "env.ASSAY_FAKE_SCALE=1", "env.ASSAY_FAKE_SCALE=1.2", "--network", "toy", *FAKE,
               "--runs", 6, "--gate", "3%", code=3)  # fmt: skip
    build(user)
    return user


def test_there_is_a_page_for_everything_and_every_link_leads_somewhere(team):
    site = team.path / "site"
    assert_whole(site)
    with sqlite3.connect(team.path / "assay.db") as database:
        campaigns = {row[0] for row in database.execute("SELECT id FROM campaign")}
        platforms = {row[0] for row in database.execute("SELECT DISTINCT platform FROM record")}
        networks = {row[0] for row in database.execute("SELECT network || ' ' || mode FROM trial")}
    assert {page.stem for page in (site / "campaign").iterdir()} == campaigns, "an address is the id"
    assert {page.stem for page in (site / "machine").iterdir()} == platforms
    titles = [re.search("<title>(.*?)</title>", page.read_text())[1] for page in (site / "workload").iterdir()]
    assert all(any(f"{title} ".startswith(f"{network} ") for title in titles) for network in networks)
    for kind in KINDS:
        assert list((site / kind).glob("*.html")), kind
    # A slow-down of 20 %, in lock-step: the verdict is on its page, in the words of `assay compare`.
    pages = [page.read_text() for page in (site / "comparison").iterdir()]
    [compared] = [text for text in pages if "first: ASSAY_FAKE_SCALE=1, second: ASSAY_FAKE_SCALE=1.2" in text]
    assert "in lock-step" in compared
    assert float(re.search(r"The second takes ([\d.]+) % more time", compared)[1]) == pytest.approx(20, abs=2)


def test_numbers_are_those_of_the_store(team):
    """The median of every series of the sweep's newest round, by SQL and Python."""
    site = team.path / "site"
    with sqlite3.connect(team.path / "assay.db") as database:
        rows = database.execute(
            "SELECT batch, median_ns FROM result WHERE campaign_name = 'sweep' AND round = 1"
        ).fetchall()
    by_batch = {}
    for batch, median in rows:
        by_batch.setdefault(batch, []).append(median)
    manifest = [json.loads(line) for line in (site / "manifest.jsonl").read_text().splitlines()[1:]]
    for batch, medians in by_batch.items():
        [entry] = [one for one in manifest if one["title"] == f"toy train b{batch} on fake"]
        medians.sort()
        assert entry["standings"][0]["median_ns"] == (medians[2] + medians[3]) / 2
        assert entry["standings"][0]["points"] == 2


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_pages_in_a_browser(team, browser, width, dark):
    site = team.path / "site"
    browser.look(width, dark=dark)
    for page in one_of_each(site):
        browser.open(page)
        assert browser.complaints() == [], page
        assert all(url.startswith(f"file://{site}/") for url in browser.requests()), page
        scrolled, inner = browser.run("[document.documentElement.scrollWidth, window.innerWidth]")
        assert inner == width and scrolled <= inner, page
        background = browser.run("getComputedStyle(document.body).backgroundColor")
        assert background == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)"), page
        if AXE.exists() and (page.name == "index.html" or (width, dark) in ((1280, False), (400, True))):
            assert serious(browser) == {}, page


def found_by(browser, words):
    """What the search shows, once all its parts are loaded."""
    browser.run(f"(() => {{const box = document.getElementById('search'); box.value = {json.dumps(words)};"
                "box.dispatchEvent(new Event('input'));})()")  # fmt: skip
    shown = "document.getElementById('found-count').textContent"
    end = time.monotonic() + 30
    while not browser.run(f"{shown} !== '' && !{shown}.startsWith('0 ')") and time.monotonic() < end:
        browser.run("new Promise(done => requestAnimationFrame(() => done(1)))")
    return browser.run("[...document.querySelectorAll('#found a')].map(a => [a.textContent, a.getAttribute('href')])")


def test_the_search_finds_pages_by_their_words(team, browser):
    browser.look(1280)
    browser.open(team.path / "site" / "index.html")
    found = found_by(browser, "FAKE train b4")
    assert [title for title, _ in found] == ["toy train b4 on fake"]
    assert (team.path / "site" / found[0][1]).is_file()
    browser.open(team.path / "site" / "list" / "workloads-1.html")
    browser.open(f"{team.path}/site/index.html#q=tuned")
    assert browser.run("document.getElementById('search').value") == "tuned"
    assert any(path.startswith("tuning/") for _, path in found_by(browser, "tuned"))
    assert browser.complaints() == []


class Elements(html.parser.HTMLParser):
    """Elements that are not a page's own, handlers of events, and addresses outside the site."""

    def __init__(self):
        super().__init__()
        self.strange = []

    def handle_starttag(self, tag, attrs):
        if tag not in ELEMENTS:
            self.strange.append(tag)
        for name, value in attrs:
            outside = name in ("href", "src") and not ADDRESS.fullmatch(value)
            if name.startswith("on") or name == "style" or outside:
                self.strange.append((tag, name, value))


def plant_everywhere(store):
    """All 200 in names of campaigns, and a part of them in every other text."""
    payloads.plant(store, payloads.PAYLOADS)
    with sqlite3.connect(store) as database:
        for number, name in enumerate(payloads.PAYLOADS):
            database.execute(
                "INSERT INTO campaign(id, family, round, name, seed, lockstep, runs, measure, created_utc)"
                " SELECT ?, ?, 0, ?, 1, 0, 1, measure, created_utc FROM campaign LIMIT 1",
                (f"{number:032x}", f"f{number}", name),
            )


def test_no_payload_runs(team, browser, tmp_path):
    user = User(tmp_path)
    shutil.copy(team.path / "assay.db", tmp_path / "assay.db")
    plant_everywhere(tmp_path / "assay.db")
    build(user)
    site = tmp_path / "site"
    assert_whole(site)
    for page in pages_of(site):
        elements = Elements()
        elements.feed(page.read_text())
        assert elements.strange == [], page
    browser.look(1280)
    chosen = [page for page in pages_of(site) if page.parent.name != "campaign"]
    shown = ""
    for page in [*chosen, *list((site / "campaign").iterdir())[:20]]:
        browser.open(page)
        if page.name == "index.html":
            found_by(browser, "onerror")
        assert browser.run("document.documentElement.dataset.hit ?? null") is None, page
        assert browser.complaints() == [], page
        assert all(url.startswith(f"file://{site}/") for url in browser.requests()), page
        shown += browser.run("document.body.textContent")
    assert all(one in shown for one in payloads.PAYLOADS), "each is there, as text"
    assert len(payloads.PAYLOADS) == 200


def test_the_test_sees_text_that_is_not_escaped(team, tmp_path):
    program = "assay-planted-raw_text"
    if not (BUILD / program).exists():
        pytest.skip("planted bugs are not built here")
    shutil.copy(team.path / "assay.db", tmp_path / "assay.db")
    plant_everywhere(tmp_path / "assay.db")
    build(User(tmp_path), program=program)
    elements = Elements()
    elements.feed((tmp_path / "site" / "list" / "campaigns-1.html").read_text())
    assert elements.strange != []


def sweep_again(user, *more):
    user.assay("run", "toy", *FAKE, "--name", "sweep", "--mode", "train", "--batch", "1-8*2", "--runs", 6, "--layers",
               *more)  # fmt: skip


@pytest.fixture
def growing(team, tmp_path):
    """A copy that a test may add to, with its site."""
    for name in ("assay.db", "site"):
        source = team.path / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    return User(tmp_path)


def test_only_what_changed_is_written_and_addresses_stay(growing):
    site = growing.path / "site"
    before = files_of(site)
    assert build(growing)[1:] == (0, 0)
    assert files_of(site) == before
    sweep_again(growing, "--again")
    _, written, removed = build(growing)
    after = files_of(site)
    assert set(before) <= set(after) and removed == 0
    changed = {path for path in after if before.get(path) != after[path]}
    # Four series and their workload; a campaign and its comparison; machine, index, two lists; the search, and the
    # manifest, which is no page.
    assert len(changed) == written + 1 <= 14
    kept = {path for path in before if path.parts[0] == "history"} - changed
    assert len(kept) == len(list((site / "history").iterdir())) - 4, "series of other workloads are left alone"
    # The same as a site that is built from nothing.
    build(growing, folder="fresh")
    assert files_of(growing.path / "fresh") == after


def test_what_the_store_drops_is_removed(growing):
    before = {page.stem for page in (growing.path / "site" / "campaign").iterdir()}
    with sqlite3.connect(growing.path / "assay.db") as database:
        [gone] = database.execute("SELECT id FROM campaign WHERE name = 'primitives' LIMIT 1").fetchone()
    growing.assay("store", "drop", gone)
    assert build(growing)[2] > 0
    assert {page.stem for page in (growing.path / "site" / "campaign").iterdir()} == before - {gone}
    assert_whole(growing.path / "site")


def killed_at(user, call, number, program):
    """Ends the command by SIGKILL as it makes this call for the nth time; whether it came so far."""
    inject = f"inject={call}:signal=KILL:when={number}"
    argv = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject,
            BUILD / program, "report", "--site", "site"]  # fmt: skip
    done = subprocess.run(list(map(str, argv)), cwd=user.path, capture_output=True, check=False, timeout=60)
    return done.returncode != 0


def readable_after_kills(user, program):
    """Whether the site is whole after the command was killed at any of some moments of writing."""
    for call, numbers in (("rename", (1, 3, 6)), ("write,writev", (4, 8, 12))):
        for number in numbers:
            killed_at(user, call, number, program)
            try:
                assert_whole(user.path / "site", reached=True)
            except AssertionError:
                return False
    return True


@pytest.mark.skipif(shutil.which("strace") is None, reason="there is no strace")
def test_a_build_that_is_killed_leaves_a_site_that_reads(growing):
    sweep_again(growing, "--again")
    old = files_of(growing.path / "site")
    assert killed_at(growing, "rename", 1, "assay")
    assert {path: text for path, text in files_of(growing.path / "site").items() if path in old} == old
    assert readable_after_kills(growing, "assay")
    build(growing)
    build(growing, folder="fresh")
    assert files_of(growing.path / "site") == files_of(growing.path / "fresh")


def test_what_cannot_be_a_site_is_refused(growing):
    (growing.path / "mine").mkdir()
    (growing.path / "mine" / "notes.txt").write_text("mine")
    said = growing.assay("report", "--site", "mine", code=2).stderr
    assert "is not a site that this program wrote" in said
    assert "Leave out one of them" in growing.assay("report", "--site", "site", "-o", "r.html", code=2).stderr
    assert "Leave out --campaign" in growing.assay("report", "--site", "site", "--campaign", "sweep", code=2).stderr
    (growing.path / "site" / "manifest.jsonl").write_text('{"site_version": 99}\n')
    assert "newer Assay" in growing.assay("report", "--site", "site", code=1).stderr


def test_a_store_of_one_failed_run_has_a_site(tmp_path):
    user = User(tmp_path)
    user.assay("run", "toy", *FAKE, "--runs", 1, "--env", "ASSAY_FAKE_MISBEHAVE=negative_sample", code=4)
    build(user)
    assert_whole(tmp_path / "site")
    [page] = (tmp_path / "site" / "history").iterdir()
    assert "What failed" in page.read_text() and "1 of 1 runs" in page.read_text()
