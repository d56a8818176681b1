"""The command worker: arguments as they are, times of the program, nothing left behind."""

import os
import sys
import time

import pytest

SHOW = [sys.executable, "-c", "import sys; open('out', 'w').write('\\n'.join(sys.argv[1:]))"]


def run(start, tmp_path, command, options=None, **prepare):
    worker = start("command", cwd=tmp_path)
    answer = worker.prepare(network="mine", command=command, options=options, **prepare)
    return worker, answer


def test_placeholders_reach_the_program(start, tmp_path):
    arguments = [
        "--b={batch}",
        "{mode}",
        "{precision}",
        "{seed}-{rank}-{instance}",
        "{threads}",
        "{option:depth}",
        "{{x}",
    ]
    worker, answer = run(
        start, tmp_path, SHOW + arguments, {"depth": 50}, mode="train", settings={"intra_op": 3}, seed=9, instance=2
    )
    assert answer["effective"] == {"intra_op": 3}
    worker.measure(max_samples=1)
    assert (tmp_path / "out").read_text().split("\n") == ["--b=8", "train", "fp32", "9-0-2", "3", "50", "{x}"]


def test_no_shell_sees_the_arguments(start, tmp_path):
    hostile = "$(touch x); echo `touch x` > x | x & $HOME *"
    worker, _ = run(start, tmp_path, SHOW + [hostile, "{option:text}"], {"text": "$(touch x)"})
    worker.measure(max_samples=1)
    assert (tmp_path / "out").read_text().split("\n") == [hostile, "$(touch x)"]
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "command, options, word",
    [
        (["true", "{banana}"], {}, "banana"),
        (["true", "{batch"], {}, "{batch"),
        (["true", "{threads}"], {}, "threads"),
        (["no-such-program-here"], {}, "no-such-program-here"),
        (None, {}, "command"),
        (["true"], {"number": "("}, "number"),
        (["true"], {"number": "(a)", "unit": "days"}, "days"),
        (["true"], {"unit": "s"}, "number"),
    ],
)
def test_what_cannot_run_is_refused_by_name(start, tmp_path, command, options, word):
    _, answer = run(start, tmp_path, command, options)
    assert answer["kind"] == "refused" and word in answer["message"]


def test_wall_time_is_the_sample(start, tmp_path):
    worker, _ = run(start, tmp_path, ["sleep", "0.05"])
    ns = worker.measure(max_samples=3, seconds=10)["ns"]
    assert len(ns) == 3 and all(50_000_000 <= x < 1_000_000_000 for x in ns)


def test_a_number_in_the_output_is_the_sample(start, tmp_path):
    command = ["printf", "noise\nstep took %s ms\nbye\n", "12.5"]
    worker, _ = run(start, tmp_path, command, {"number": "took ([0-9.]+)", "unit": "ms"})
    assert worker.measure(max_samples=2)["ns"] == [12_500_000] * 2


def test_the_limit_counts_real_time_where_the_number_is_small(start, tmp_path):
    worker, _ = run(start, tmp_path, ["sh", "-c", "sleep 0.05; echo 1"], {"number": "([0-9]+)", "unit": "ns"})
    assert len(worker.measure(seconds=0.12, max_samples=1000)["ns"]) in (1, 2, 3)


def test_output_without_the_number_is_a_failure_that_shows_it(start, tmp_path):
    worker, _ = run(start, tmp_path, ["echo", "hello"], {"number": "t=([0-9]+)"})
    answer = worker.measure()
    assert answer["kind"] == "failed" and "hello" in answer["message"]


def test_long_output_is_searched_at_its_end(start, tmp_path):
    code = "print('t=1'); print('x' * 3000000); print('t=7')"
    worker, _ = run(start, tmp_path, [sys.executable, "-c", code], {"number": "t=([0-9]+)", "unit": "ns"})
    assert worker.measure(max_samples=1)["ns"] == [7]


def test_a_bad_end_is_a_failure_with_code_and_output(start, tmp_path):
    worker, _ = run(start, tmp_path, ["sh", "-c", "echo oh dear; exit 7"], {"number": "([0-9]+)"})
    answer = worker.measure()
    assert answer["kind"] == "failed" and "exit code 7" in answer["message"] and "oh dear" in answer["message"]
    worker, _ = run(start, tmp_path, ["sh", "-c", "kill -9 $$"])
    assert "signal 9" in worker.measure()["message"]


def test_output_that_is_no_text_does_not_break_the_protocol(start, tmp_path):
    code = r"import sys; sys.stdout.buffer.write(b'\xff\x00\xfe\n{{}\n' * 1000); sys.exit(1)"
    worker, _ = run(start, tmp_path, [sys.executable, "-c", code], {"number": "([0-9]+)"})
    assert worker.measure()["kind"] == "failed"


def test_the_program_cannot_touch_the_protocol(start, tmp_path):
    code = (
        "import os\nfor fd in range(3, 64):\n  try: os.write(fd, b'x\\n'); open('leak', 'w')\n"
        "  except OSError: pass\nprint('x'); input()"
    )
    worker, _ = run(start, tmp_path, ["sh", "-c", '"$0" -c "$1" || true', sys.executable, code])
    assert len(worker.measure(max_samples=2)["ns"]) == 2
    assert not (tmp_path / "leak").exists()
    assert worker.close() == 0


@pytest.mark.parametrize("options", [{}, {"number": "([0-9]+)"}])
def test_what_the_program_leaves_running_ends_with_it(start, tmp_path, options):
    mark = "987.%d" % os.getpid()
    worker, _ = run(start, tmp_path, ["sh", "-c", "sleep %s & setsid sleep %s & echo 5" % (mark, mark)], options)
    begin = time.monotonic()
    assert len(worker.measure(max_samples=2)["ns"]) == 2
    assert time.monotonic() - begin < 10
    assert not processes_with(mark)


def test_sigterm_ends_the_program_too(start, tmp_path):
    mark = "986.%d" % os.getpid()
    worker, _ = run(start, tmp_path, ["sleep", mark])
    worker.send({"type": "measure", "detail": "step", "seconds": 1, "max_samples": 1})
    deadline = time.monotonic() + 10
    while not processes_with(mark) and time.monotonic() < deadline:
        time.sleep(0.01)
    worker.process.terminate()
    worker.process.wait(10)
    deadline = time.monotonic() + 10
    while processes_with(mark) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not processes_with(mark)


def processes_with(argument):
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and argument.encode() in open("/proc/%s/cmdline" % entry, "rb").read().split(b"\0"):
                found.append(int(entry))
        except OSError:
            pass
    return found
