"""The module `assay` on the real program with the fake worker, whose times follow from a published law."""

import dataclasses
import html.parser
import os
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree

import pytest

import assay
from assay import _display, _program


@pytest.fixture
def measured(place, short):
    """batch 1 takes 200,000 + 100,000 ns, batch 4 takes 200,000 + 4 * 100,000 ns (workers/fake/README.md)."""
    store = assay.open("assay.db")
    store.run("toy", worker="fake", batch=[1, 4], runs=6, option={"noise": 0}, name="first", **short)
    return store


def test_results_are_those_of_the_law(measured):
    results = measured.results()
    assert [(one.workload, one.worker, one.median_ns, one.runs, one.ok) for one in results] == [
        ("toy infer b1", "fake 1.0.0", 300_000, 6, 6),
        ("toy infer b4", "fake 1.0.0", 600_000, 6, 6),
    ]
    assert results[1].median_interval_ns == assay.Interval(600_000, 600_000)  # without noise all processes agree
    assert results[1].samples_per_second == pytest.approx(4 / 600e-6)
    assert results[1].median_seconds == pytest.approx(600e-6)
    assert results.failed_runs == 0
    assert [one.name for one in measured.campaigns()] == ["first"]
    assert measured.campaigns()[0].done == 12
    assert measured.results("first") == results


def test_runs_have_every_sample(measured):
    trial = measured.results()[0].trial_id
    runs = measured.runs(trial=trial[:12])
    assert [run.index for run in runs] == list(range(6))
    for run in runs:
        assert run.outcome == "ok" and run.trial_id == trial
        (samples,) = run.samples_ns
        assert set(samples) == {300_000}
        # 10 ms of warm-up and 50 ms of steps of 0.3 ms
        assert len(samples) >= (10 + 50) / 0.3 and run.steady_from >= 10 / 0.3
    assert len(measured.runs("first")) == 12


def test_frames_have_a_row_for_each(measured):
    pytest.importorskip("pandas")
    frame = measured.results().frame()
    assert list(frame["batch"]) == [1, 4] and list(frame["median_ns"]) == [300_000, 600_000]
    runs = measured.runs("first")
    samples = runs.frame()
    assert len(samples) == sum(len(one) for run in runs for one in run.samples_ns)
    assert set(samples["ns"]) == {300_000, 600_000}


def test_without_pandas_a_frame_says_so(measured, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(assay.AssayError, match="pandas is not installed"):
        measured.results().frame()


def test_a_comparison_finds_a_planted_slow_down(place, short):
    """Without noise 5 % is exactly 5 %; and the same side by side is not slower."""
    sides = ("env.ASSAY_FAKE_SCALE=1", "env.ASSAY_FAKE_SCALE=1.05")
    asked = {"run": True, "network": "toy", "worker": "fake", "runs": 10, "option": {"noise": 0.001}, **short}
    found = assay.compare(*sides, gate="3%", **asked)
    assert found.passed is False and found.failed == 1 and found[0].verdict == "slower"
    assert found[0].ratio == pytest.approx(1.05, abs=0.005) and found[0].pairs == 10
    assert found[0].ratio_interval.low < 1.05 < found[0].ratio_interval.high
    back = assay.compare(sides[1], sides[0], gate="3%", **asked)
    assert back.passed is True and back[0].verdict == "faster"
    assert assay.compare(*sides, **{**asked, "run": False, "option": None, "runs": None}).passed is None  # no gate
    assert found.frame()["verdict"][0] == "slower"


def test_a_prediction_is_that_of_the_program(place, request):
    cluster = request.config.rootpath / "examples/clusters/v100_100gbe.yaml"
    found = assay.predict("resnet50", cluster=cluster, devices="1,8,64", batch=32)
    assert [point.devices for point in found.points] == [1, 8, 64]
    assert found.points[0].efficiency == pytest.approx(1)
    for point in found.points:
        assert point.low_seconds <= point.seconds <= point.high_seconds
        assert point.samples_per_second == pytest.approx(32 * point.devices / point.seconds)
    assert list(found.frame()["devices"]) == [1, 8, 64]


@pytest.mark.parametrize(
    ("call", "message", "code"),
    [
        (lambda: assay.run("tyo", worker="fake"), "Did you mean 'toy'?", 2),
        (lambda: assay.run("toy", worker="fake", nonsense=1), "'--nonsense' is not a flag", 2),
        (lambda: assay.open("none.db").results(), "there is no store", 2),
        (lambda: assay.predict("resnet50", cluster="none.yaml"), "none.yaml", None),
        (lambda: assay.run("--store=elsewhere.db", worker="fake"), "begins with '-'", 2),
        (lambda: assay.compare("-h", "b"), "begins with '-'", 2),
        (lambda: assay.open(""), "is empty", 2),
    ],
)
def test_errors_are_the_programs_own(place, call, message, code):
    with pytest.raises(assay.AssayError) as caught:
        call()
    assert message in str(caught.value)
    assert code is None or caught.value.exit_code == code
    assert not str(caught.value).startswith("assay: ")


def test_failed_runs_are_counted(place, short):
    found = assay.run("toy", worker="fake", runs=2, option={"misbehave": "exit_3"}, **short)
    assert found.failed_runs == 2 and found[0].ok == 0 and found[0].median_ns is None
    assert found.picture().svg == ""
    assert "0 of 2" in found._repr_html_()


def test_a_program_is_measured(place):
    found = assay.run(command=["true", "; touch injected"], runs=2, seconds="20ms", warmup="0ms", name="true")
    assert found[0].ok == 2 and found[0].worker.startswith("command")
    assert not (place / "injected").exists()


def test_flags_become_words():
    words = _program.words_of(
        {"batch": [1, 2], "option": {"a": 1, "b": True}, "no_peak": True, "phases": False, "gate": None, "x": False}
    )
    assert words == ["--batch=1,2", "--option=a=1", "--option=b=true", "--no-peak", "--no-phases"]


def test_progress_is_told_line_by_line(place, short):
    lines = []
    assay.run("toy", worker="fake", runs=2, progress=lines.append, **short)
    assert any(line.startswith("[2/2]") for line in lines)


def test_the_program_is_found(place, monkeypatch, tmp_path):
    own = tmp_path / "bin" / "assay"
    own.parent.mkdir()
    own.write_text("#!/bin/sh\necho assay from here\n")
    own.chmod(0o755)
    monkeypatch.delenv("ASSAY_PROGRAM")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(own.parent))
    assert assay.program() == own and assay.version() == "assay from here"
    monkeypatch.setattr(sysconfig, "get_path", lambda name: "/nowhere")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    monkeypatch.setenv("PATH", str(own.parent))
    assert assay.program() == own
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(assay.AssayError, match="neither beside this Python nor on PATH"):
        assay.program()
    monkeypatch.setenv("ASSAY_PROGRAM", "/nowhere/assay")
    with pytest.raises(assay.AssayError, match="ASSAY_PROGRAM is '/nowhere/assay'"):
        assay.program()


def test_an_interrupt_ends_the_program(place, tmp_path):
    """The program notes its signal and ends; the interrupt is raised on."""
    script = tmp_path / "waits"
    # A handler of its own: a shell cannot trap a signal that whoever started the tests has it ignore.
    script.write_text(
        f"""#!{sys.executable}
import pathlib, signal, sys

def note(*_):
    pathlib.Path("{tmp_path}/said").write_text("stopped\\n")
    sys.exit(130)

signal.signal(signal.SIGINT, note)
print("started", file=sys.stderr, flush=True)
while True:
    signal.pause()
"""
    )
    script.chmod(0o755)
    os.environ["ASSAY_PROGRAM"] = str(script)

    def interrupt(line):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _program.call([], progress=interrupt)
    assert (tmp_path / "said").read_text() == "stopped\n"


class Elements(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)


HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def test_hostile_names_stay_text():
    row = _display.Row(HOSTILE, 1, 2, 3)
    shown = _display.table([HOSTILE], [[HOSTILE]], "l") + _display.paragraph(HOSTILE)
    picture = _display.row_picture([row], HOSTILE, lambda x: HOSTILE).svg
    parser = Elements()
    parser.feed(shown + picture)
    known = {"table", "thead", "tbody", "tr", "th", "td", "p", "svg", "path", "circle", "title", "text"}
    assert set(parser.tags) <= known
    xml.etree.ElementTree.fromstring(picture)


def test_pictures_are_well_formed(measured):
    for shown in (measured.results(), measured.runs("first")):
        svg = shown.picture().svg
        root = xml.etree.ElementTree.fromstring(svg)
        width, height = (float(part) for part in root.attrib["viewBox"].split()[2:])
        circles = [one for one in root.iter() if one.tag.endswith("circle")]
        assert circles
        for one in circles:
            assert 0 <= float(one.attrib["cx"]) <= width and 0 <= float(one.attrib["cy"]) <= height
        assert svg in shown._repr_html_()


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (0.0, 1.0), (1e-9, 1e3), (2.0, 2.1), (5e-7, 6e-6)])
def test_axes_have_ticks_inside(low, high):
    scale = _display._Scale(low, high, 0, 100)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 14
    assert all(-1e-6 <= scale.place(tick) <= 100 + 1e-6 for tick in ticks)
    assert 0 <= scale.place(low) <= scale.place(high) <= 100


def test_values_are_read_only(measured):
    with pytest.raises(dataclasses.FrozenInstanceError):
        measured.results()[0].median_ns = 1


def test_all_names_are_there():
    assert all(hasattr(assay, name) for name in assay.__all__)


def test_types_are_strict(request):
    """mypy's own judgement, on the module as users import it."""
    root = request.config.rootpath
    argv = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "--exclude", "/workers/", "assay"]
    done = subprocess.run(argv, cwd=root / "python", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
