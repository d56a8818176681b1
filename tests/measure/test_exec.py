"""A program under `assay exec` has what was tuned, as the kernel sees it, and its end is passed on."""

import contextlib
import os
import pathlib
import pty
import signal
import sqlite3
import sys

import pytest

CPUS = sorted(os.sched_getaffinity(0))
TWO_CPUS = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
LIBRARIES = {"tcmalloc": "libtcmalloc", "jemalloc": "libjemalloc"}
# Says that it is loaded, and waits for somebody to write.
WAIT = ("sh", "-c", "> ready-{instance}; read line < nobody")


def span(part):
    """The first CPU of "2-3" and the one behind its last."""
    first, _, last = part.strip().partition("-")
    return int(first), int(last or first) + 1


class Seen:
    """A process as /proc shows it."""

    def __init__(self, pid):
        folder = pathlib.Path(f"/proc/{pid}")
        status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        spans = map(span, status["Cpus_allowed_list"].split(","))
        self.cpus = {cpu for first, end in spans for cpu in range(first, end)}
        self.env = dict(entry.split("=", 1) for entry in (folder / "environ").read_text().split("\0") if entry)
        self.maps = (folder / "maps").read_text()
        self.policies = {line.split()[1] for line in (folder / "numa_maps").read_text().splitlines()}
        self.ignored = int(status["SigIgn"], 16)


@pytest.fixture
def waiting(place):
    """Starts a program that waits, in some instances; gives it when all have been loaded."""

    def start(file, *words, instances=1, **options):
        if not (place.path / "nobody").exists():
            os.mkfifo(place.path / "nobody")
        for old in place.path.glob("ready-*"):
            old.unlink()
        process = place.start("exec", "--tuned", file, *words, "--", *WAIT, **options)
        place.until(lambda: len(list(place.path.glob("ready-*"))) == instances or not process.running(), "the program")
        assert process.running(), process.text()
        return process

    return start


def instances_of(process):
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(pid) for pid in children]


@pytest.mark.parametrize("allocator", LIBRARIES)
def test_one_instance_is_the_program_itself_with_all_that_was_tuned(waiting, tuning, allocator):
    file = tuning(
        intra_op=3, affinity="compact", memory_bind="local", allocator=allocator, spin=False, env={"MARK": "a b"}
    )
    process = waiting(file)
    seen = Seen(process.pid)
    assert seen.env["OMP_NUM_THREADS"] == seen.env["MKL_NUM_THREADS"] == "3"
    assert seen.env["OMP_WAIT_POLICY"] == "passive"
    assert seen.env["MARK"] == "a b" and seen.env["ASSAY_INSTANCE"] == "0"
    assert LIBRARIES[allocator] in seen.maps
    assert seen.policies == {"local"}
    assert seen.cpus == set(CPUS)
    assert "set memory_bind=local\n" in process.text()


def test_nothing_tuned_changes_nothing(waiting, tuning):
    seen = Seen(waiting(tuning()).pid)
    assert not {"OMP_NUM_THREADS", "LD_PRELOAD", "OMP_WAIT_POLICY", "PYTHONPATH"} & set(seen.env) - set(os.environ)
    assert seen.policies == {"default"}
    assert seen.ignored & (1 << (signal.SIGPIPE - 1)) == 0, "what assay ignores is not ignored in the program"


@TWO_CPUS
def test_instances_have_cpus_of_their_own(waiting, tuning):
    file = tuning(instances=2, intra_op=1, affinity="compact", memory_bind="interleave")
    process = waiting(file, "--quiet", instances=2)
    seen = [Seen(pid) for pid in instances_of(process)]
    assert seen[0].cpus and seen[1].cpus and not seen[0].cpus & seen[1].cpus
    assert sorted(one.env["ASSAY_INSTANCE"] for one in seen) == ["0", "1"]
    assert all(policy.startswith("interleave") for one in seen for policy in one.policies)
    assert process.text() == ""


@TWO_CPUS
def test_under_taskset_it_stays_within(waiting, tuning):
    process = waiting(tuning(cpus=1, affinity="spread"), before=("taskset", "-c", str(CPUS[1])))
    assert Seen(process.pid).cpus == {CPUS[1]}


@TWO_CPUS
def test_under_a_quota_it_does_not_pin_and_does_not_spin(waiting, tuning, group):
    file = tuning(cpus=1, instances=2, intra_op=1, affinity="compact", spin=True)
    process = waiting(file, instances=2, before=group(quota_cpus=1))
    for one in map(Seen, instances_of(process)):
        assert one.cpus == set(CPUS)
        assert one.env["OMP_WAIT_POLICY"] == "passive"
        assert one.env["OMP_NUM_THREADS"] == "1"
    assert "not pinned, because a quota of 1 CPUs" in process.text()
    assert "spin=false" in process.text()
    process.kill()  # else the group could not be removed


def test_a_quota_counts_as_cpus(place, tuning, group):
    """On a machine of two CPUs a quota of one makes a tuning for two one for another machine."""
    if len(CPUS) < 2:
        pytest.skip("needs two CPUs")
    ended = place.assay("exec", "--tuned", tuning(intra_op=2), "--", "true", before=group(quota_cpus=1), expect=2)
    assert f"for {len(CPUS)} usable CPUs" in ended.stderr and "here are 1" in ended.stderr


def test_another_number_of_cpus_is_refused_unless_it_may_be_scaled(place, tuning):
    file = tuning(cpus=4 * len(CPUS), intra_op=4 * len(CPUS))
    refused = place.assay("exec", "--tuned", file, "--", "touch", "started", expect=2)
    assert f"for {4 * len(CPUS)} usable CPUs" in refused.stderr and "--rescale" in refused.stderr
    assert not (place.path / "started").exists()
    scaled = place.assay("exec", "--rescale", "--tuned", file, "--", "sh", "-c", "echo $OMP_NUM_THREADS")
    assert scaled.stdout.strip() == str(len(CPUS))
    assert "not measured so" in scaled.stderr


def test_variables_of_the_user_are_replaced_and_named(place, tuning):
    words = ("--tuned", tuning(intra_op=1, allocator="jemalloc"), "--", "sh", "-c", "echo $OMP_NUM_THREADS $LD_PRELOAD")
    ended = place.assay("exec", *words, OMP_NUM_THREADS=9, LD_PRELOAD="libm.so.6")
    threads, libraries = ended.stdout.split()
    assert threads == "1" and "replaced your OMP_NUM_THREADS=9" in ended.stderr
    first, second = libraries.split(":")
    assert first.endswith("libjemalloc.so.2") and second == "libm.so.6", "what the user preloads stays"


def test_what_cannot_be_set_is_told_with_its_line_of_code(place, tuning):
    ended = place.assay("exec", "--tuned", tuning(inter_op=2, loaders=4), "--", "true")
    assert "not set: inter_op=2. Write in your program: torch.set_num_interop_threads(2)" in ended.stderr
    assert "loaders=4" in ended.stderr


def test_arguments_have_places_for_the_instance_and_the_threads(place, tuning):
    file = tuning("command", instances=2, intra_op=3)
    ended = place.assay("exec", "--tuned", file, "--", "echo", "{instance}-{threads}", "{other}")
    assert sorted(ended.stdout.splitlines()) == ["0-3 {other}", "1-3 {other}"]
    assert "warning" not in ended.stderr
    assert "{threads}" in place.assay("exec", "--tuned", file, "--", "true").stderr


@pytest.mark.parametrize("instances", [1, 2])
def test_the_exit_code_is_that_of_the_program(place, tuning, instances):
    file = tuning(instances=instances)
    assert place.assay("exec", "--tuned", file, "--", "sh", "-c", "exit 7", expect=None).code == 7
    assert place.assay("exec", "--tuned", file, "--", "true", expect=None).code == 0
    missing = place.assay("exec", "--tuned", file, "--", "/nowhere/program", expect=None)
    assert missing.code == 127 and "cannot start '/nowhere/program'" in missing.stderr
    assert place.assay("exec", "--tuned", file, "--", "/etc", expect=None).code == 126


@pytest.fixture
def nothing_ignored():
    """What is started in the background inherits ignored signals; one that is handled here is not ignored below."""
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("nothing_ignored")
@pytest.mark.parametrize("instances", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_it_ends_by_the_signal_that_ended_the_program(place, waiting, tuning, number, instances):
    process = waiting(tuning(instances=instances), instances=instances)
    process.signal(number)
    assert process.wait().code == -number  # the kernel's word for it: a shell would say 128 + number
    assert place.left() == []


def test_a_signal_reaches_every_instance_once(place, tuning):
    program = (
        "import os, signal, sys\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM])\n"
        "open(sys.argv[1] + '.ready', 'w').close()\n"
        "got = [signal.sigwait([signal.SIGUSR1, signal.SIGTERM])]\n"
        "open(sys.argv[1] + '.got', 'w').close()\n"
        "got.append(signal.sigwait([signal.SIGUSR1, signal.SIGTERM]))\n"
        "open(sys.argv[1] + '.signals', 'w').write(f'{int(got[0])} {int(got[1])}')\n"
    )
    words = (sys.executable, "-c", program, f"{place.path}/instance-{{instance}}")
    process = place.start("exec", "--tuned", tuning(instances=3), "--quiet", "--", *words)
    for number, sign in ((signal.SIGUSR1, "ready"), (signal.SIGTERM, "got")):
        place.until(lambda sign=sign: len(list(place.path.glob(f"*.{sign}"))) == 3, f"three files *.{sign}")
        process.signal(number)
    ended = process.wait()
    assert ended.code == 0, "all dealt with the signal and ended well"
    got = [file.read_text() for file in place.path.glob("*.signals")]
    assert got == [f"{int(signal.SIGUSR1)} {int(signal.SIGTERM)}"] * 3


def test_one_that_fails_ends_the_others(place, tuning):
    program = 'if [ {instance} = 1 ]; then exit 5; else exec sleep 1000; fi'  # fmt: skip
    ended = place.assay("exec", "--tuned", tuning(instances=3), "--", "sh", "-c", program, expect=None)
    assert ended.code == 5
    assert place.left() == []


@pytest.mark.full
def test_one_that_will_not_end_is_killed_after_10_seconds(place, tuning):
    os.mkfifo(place.path / "nobody")
    deaf = "trap '' TERM; > deaf; read line < nobody"
    program = "if [ {instance} = 0 ]; then " + deaf + "; fi; until [ -e deaf ]; do sleep 0.01; done; exit 5"
    words = ("--tuned", tuning(instances=2), "--", "sh", "-c", program)
    ended = place.assay("exec", *words, expect=5)
    assert 10 <= ended.seconds < 20
    assert place.left() == []


def test_one_that_ends_well_leaves_the_others_alone(place, tuning):
    program = "if [ {instance} = 0 ]; then exit 0; fi; until [ -e go ]; do sleep 0.01; done; echo done {instance}"
    process = place.start("exec", "--tuned", tuning(instances=2), "--quiet", "--", "sh", "-c", program)
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    place.until(lambda: len(children.read_text().split()) == 1 and place.name_of(process.pid) == "assay", "one left")
    place.write("go", "")
    ended = process.wait()
    assert ended.code == 0 and ended.stdout == "done 1\n"


def left_when_killed(place, process):
    """Instances that live although their supervisor was killed; they get time to end."""
    instances = instances_of(process)
    process.kill()
    with contextlib.suppress(AssertionError):
        place.until(lambda: not any(map(place.name_of, instances)), "all gone", seconds=2)
    return [pid for pid in instances if place.name_of(pid)]


def test_nothing_outlives_a_supervisor_that_is_killed(place, waiting, tuning):
    file = tuning(instances=2)
    assert left_when_killed(place, waiting(file, instances=2)) == []
    planted = waiting(file, instances=2, planted="orphaned_instances")
    assert len(left_when_killed(place, planted)) == 2, "the test is blind"


@pytest.mark.parametrize("call", ["set_mempolicy", "sched_setaffinity"])
def test_what_the_kernel_refuses_is_a_warning(place, tuning, call):
    refuse = ("strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:error=EPERM")
    words = ("exec", "--tuned", tuning(affinity="compact", memory_bind="local"), "--", "echo", "went on")
    ended = place.assay(*words, before=refuse)
    assert ended.stdout == "went on\n"
    assert "warning: the kernel refused" in ended.stderr and "Operation not permitted" in ended.stderr


def test_what_the_terminal_sends_comes_once(place, tuning):
    """Ctrl-C reaches the whole group by itself; passed on besides, it would come twice."""
    program = (
        "import signal, sys\n"
        "signals = [signal.SIGINT, signal.SIGTERM]\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, signals)\n"
        "for sign in ('ready', 'got', 'end'):\n"
        "    open(sys.argv[1] + '.' + sign, 'w').close()\n"
        "    last = sign != 'end' and signal.sigwait(signals)\n"
        "    open(sys.argv[1] + '.signals', 'a').write(f'{int(last)} ')\n"
    )
    words = ["exec", "--quiet", "--tuned", tuning(instances=2), "--", sys.executable, "-c", program]
    argv = [str(word) for word in (place.build / "assay", *words, f"{place.path}/instance-{{instance}}")]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(argv[0], argv, place.environment())
    place.until(lambda: len(list(place.path.glob("*.ready"))) == 2, "both ready")
    os.write(terminal, b"\x03")
    place.until(lambda: len(list(place.path.glob("*.got"))) == 2, "both got it")
    os.kill(pid, signal.SIGTERM)
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert status == 0
    got = [file.read_text().split()[:2] for file in place.path.glob("*.signals")]
    assert got == [[str(int(signal.SIGINT)), str(int(signal.SIGTERM))]] * 2


def test_a_name_is_the_newest_tuning_of_that_name(place, tuning):
    place.assay("run", "toy", "--worker", "fake", "--runs", "1", "--seconds", "10ms", "--quiet", "--store", place.store)
    with sqlite3.connect(place.store) as database:
        for number, name in enumerate(["mine", "mine", "other"]):
            content = tuning(name=name, env={"NUMBER": str(number)}).read_text()
            row = ("tuning", f"{number:032}", f"2026-01-0{number + 1}T00:00:00Z", content)
            database.execute("INSERT INTO artifact (kind, inputs_hash, created_utc, json) VALUES (?, ?, ?, ?)", row)
    words = ("exec", "--store", place.store, "--tuned")
    assert place.assay(*words, "mine", "--", "sh", "-c", "echo $NUMBER").stdout == "1\n"
    unknown = place.assay(*words, "yours", "--", "true", expect=2).stderr
    assert "'yours'" in unknown and "There is other, mine" in unknown


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not a tuning"),
        ("[]", "an object"),
        ("{}", "version"),
        ('{"version": 2, "version": 1}', "is not a tuning"),
        (" " * (1 << 20) + "{}", "is not a tuning"),
    ],
)
def test_a_file_that_is_no_tuning_says_so(place, text, says):
    ended = place.assay("exec", "--tuned", place.write("bad.json", text), "--", "true", expect=1)
    assert says in ended.stderr and "bad.json" in ended.stderr


def test_files_that_cannot_be_read_and_commands_without_a_program(place, tuning):
    assert "/nowhere/t.json" in place.assay("exec", "--tuned", "/nowhere/t.json", "--", "true", expect=1).stderr
    assert "cannot read" in place.assay("exec", "--tuned", f"{place.path}/", "--", "true", expect=1).stderr
    assert "after --" in place.assay("exec", "--tuned", tuning(), expect=2).stderr
    assert "--tuned" in place.assay("exec", "--", "true", expect=2).stderr
