"""Text of a store is text on the page: of 200 payloads in every text field none runs, none asks for anything."""

import shutil

import payloads
import pytest
from reporting import BUILD, FORM

pytestmark = pytest.mark.skipif(not FORM.exists(), reason="the page was not built: node or npm is missing")
PAGES = 8


def hit(browser):
    return browser.run("document.documentElement.dataset.hit ?? null")


def point_everywhere(browser):
    """Over marks of every picture, so that what a pointer shows is built too."""
    spots = browser.run(
        "[...document.querySelectorAll('figure .live svg')].flatMap(svg => [...svg.querySelectorAll('path')]"
        ".filter(p => p.getAttribute('fill') && p.getAttribute('fill') !== 'none').slice(-3).map(p => {"
        "p.scrollIntoView({block: 'center'}); const b = p.getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + b.height / 2, window.scrollY]}))"
    )
    for x, y, scrolled in spots:
        browser.run(f"window.scrollTo(0, {scrolled})")
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)


@pytest.mark.parametrize("part", range(PAGES))
def test_no_payload_runs(user, store, browser, part):
    some = payloads.PAYLOADS[part::PAGES]
    assert len(payloads.PAYLOADS) == 200 and payloads.plant(store, some) > 400
    page = user.report()
    browser.look(1280)
    browser.open(page)
    point_everywhere(browser)
    assert hit(browser) is None
    assert browser.complaints() == []
    assert browser.requests() == [f"file://{page}"]
    # They are there, as text, and nothing but what the page itself has was made of them.
    shown = browser.run("document.body.textContent")
    assert sum(one in shown for one in some) > len(some) // 2
    assert browser.run("document.querySelectorAll('script').length") == 2
    made = "img, iframe, object, link, base, form, input, video, a"
    assert browser.run(f"document.querySelectorAll('{made}').length") == 0


def test_the_test_sees_text_that_is_not_escaped(user, store, browser):
    """A program that writes text of the store as it is: the policy still keeps scripts from running, and complains."""
    program = "assay-planted-raw_text"
    if not (BUILD / program).exists():
        pytest.skip("planted bugs are not built here")
    payloads.plant(store, payloads.PAYLOADS[::PAGES])
    browser.look(1280)
    browser.open(user.report(program=program))
    assert browser.complaints() != []
    assert hit(browser) is None


def test_the_policy_is_what_keeps_a_script_out(user, store, browser, tmp_path):
    """The same page with a script put in by hand: with its policy it does not run, without one it does."""
    page = user.report()
    injected = page.read_text().replace("<header>", f"<script>{payloads.HARM}</script><header>", 1)
    page.write_text(injected)
    browser.look(1280)
    browser.open(page)
    assert hit(browser) is None and browser.complaints() != []
    bare = tmp_path / "bare.html"
    shutil.copy(page, bare)
    bare.write_text(injected.replace("Content-Security-Policy", "X-Nothing", 1))
    browser.open(bare)
    assert hit(browser) == "1"
