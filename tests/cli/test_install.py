"""`assay worker install`: several releases of a framework side by side, whatever interrupts it.

The framework is a package of one line that tiny_worker.py makes, and pip's configuration file names its folder: so
nothing needs the network, and it is seen that this file counts while variables of pip's do not.
"""

import json
import re
import signal
import subprocess
import sys
import time
import zipfile

import jsonschema
import pytest
import referencing
from tiny_worker import LIMIT_SECONDS, ROOT, WORKER, User, make_source, make_wheel

QUICK = ["--runs", "1", "--seconds", "5ms", "--warmup", "0", "--retries", "0", "--quiet"]


def until(condition, what, seconds=300):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.002)


@pytest.fixture
def user(tmp_path):
    return User(tmp_path)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Somebody who has installed two releases, of which one is locked, while a second folder served builds of both that
    pip likes better; tests only look."""
    user = User(tmp_path_factory.mktemp("installed"))
    (user.path / "evil").mkdir()
    for release in ("1.0+evil", "1.1+evil"):
        make_wheel(user.path / "evil", release)
    user.serve(user.wheels, user.path / "evil")
    user.said, _ = user.assay("worker", "install", "tiny", "tiny==1.1")
    return user


def test_what_is_not_installed_is_listed_and_says_how_to_install_it(user):
    stdout, _ = user.assay("worker", "list")
    assert "assay worker install tiny" in stdout
    assert user.listed() == {"1.0": False}
    _, stderr = user.assay("run", "toy", "--worker", "tiny", expect=2)
    assert stderr == "assay: worker tiny is not installed: run `assay worker install tiny`.\n"
    _, stderr = user.assay("worker", "check", "tiny==1.1", expect=2)
    assert stderr == "assay: worker tiny==1.1 is not installed: run `assay worker install tiny==1.1`.\n"


def test_two_releases_are_listed_and_run_side_by_side(installed):
    assert installed.listed() == {"1.0": True, "1.1": True}
    installed.assay("run", "toy", "--worker", "tiny==1.0,tiny==1.1", *QUICK)
    stdout, _ = installed.assay("export", "--format", "json")
    exported = json.loads(stdout)
    releases = {row["trial_id"]: row["trial"]["worker"]["release"] for row in exported["trials"]}
    seen = {releases[record["trial"]]: record["ranks"][0]["versions"] for record in exported["records"]}
    # The program that ran is of the release planned, and pip's variables did not reach it.
    assert seen == {release: {"tiny_framework": release, "leaked": ""} for release in ("1.0", "1.1")}


def test_without_a_release_the_newest_installed_is_run(installed):
    stdout, _ = installed.assay("run", "toy", "--worker", "tiny", "--dry-run")
    assert "on tiny 1.1, default" in stdout


def test_an_installed_worker_keeps_the_protocol(installed):
    stdout, _ = installed.assay("worker", "check", "tiny==1.0")
    assert "FAILED" not in stdout and stdout.count("ok ") >= 6


def test_installing_again_is_quick_and_changes_nothing(installed):
    marker = installed.environments / "tiny-1.0" / "installed.json"
    before = marker.stat()
    stdout, stderr = installed.assay("worker", "install", "tiny", "--python", "/nowhere/python")
    assert "tiny 1.0 is already there: " in stdout
    assert stderr == ""
    assert marker.stat() == before


def test_what_was_not_locked_says_so(installed):
    assert [(line.split(": ")[0], line.endswith(" (not locked: hashes were not checked)"))
            for line in installed.said.splitlines()] == [("tiny 1.0 is installed", False),
                                                         ("tiny 1.1 is installed", True)]  # fmt: skip
    locked = {release: json.loads((installed.environments / f"tiny-{release}" / "installed.json").read_text())["locked"]
              for release in ("1.0", "1.1")}  # fmt: skip
    assert locked == {"1.0": True, "1.1": False}
    stdout, _ = installed.assay("worker", "install", "tiny==1.1")
    assert "tiny 1.1 is already there: " in stdout and "hashes were not checked" in stdout


def test_a_build_that_nobody_asked_for_is_never_taken_for_the_release(installed):
    """To pip 1.0+evil satisfies ==1.0, and is newer."""
    for release in ("1.0", "1.1"):
        listed = json.loads((installed.environments / f"tiny-{release}" / "installed.json").read_text())["packages"]
        assert [entry.replace("_", "-") for entry in listed if entry.startswith("tiny")] == [
            f"tiny-framework=={release}"
        ]


def test_variables_of_pip_change_nothing(installed):
    """PIP_TARGET would have put the packages there, and without the configuration file there are none."""
    assert not (installed.path / "elsewhere").exists()


def schema_of(name):
    return json.loads((ROOT / "docs/formats" / f"{name}.schema.json").read_text())


def test_what_is_written_and_printed_follows_the_schemas(installed):
    registry = referencing.Registry().with_contents((f"{name}.schema.json", schema_of(name))
                                                    for name in ("worker", "trial", "installed"))  # fmt: skip
    written = json.loads((installed.environments / "tiny-1.1" / "installed.json").read_text())
    jsonschema.Draft202012Validator(schema_of("installed")).validate(written)
    assert (written["name"], written["release"]) == ("tiny", "1.1")
    assert "tiny-framework==1.1" in [entry.replace("_", "-") for entry in written["packages"]]
    workers = json.loads(installed.assay("worker", "list", "--json")[0])
    jsonschema.Draft202012Validator(schema_of("worker_list"), registry=registry).validate(workers)
    [printed] = json.loads(installed.assay("worker", "install", "tiny==1.1", "--json")[0])
    assert printed == {**written, "folder": str(installed.environments / "tiny-1.1"), "new": False}


def test_a_release_that_is_not_there_shows_what_pip_says_and_leaves_nothing(user):
    _, stderr = user.assay("worker", "install", "tiny==9.9", expect=1)
    assert "assay: worker tiny 9.9: installing Tiny_Framework==9.9 and what it needs failed (code 1)." in stderr
    assert "No matching distribution found for tiny-framework===9.9" in stderr
    assert not (user.environments / "tiny-9.9").exists()


@pytest.mark.full  # an environment is made for it
def test_a_release_under_another_name_is_refused_and_the_right_one_shown(user):
    """To pip 1.0.0 and 1.0 are one release; here they would be two trials."""
    _, stderr = user.assay("worker", "install", "tiny==1.0.0", expect=1)
    assert "Check the release, spelled as the index spells it" in stderr
    assert "tiny-framework===1.0.0 (from versions: 1.0, 1.1, 1.10rc1)" in stderr
    assert not (user.environments / "tiny-1.0.0").exists()


PLANTED = (
    "assay-planted-trusting_install"  # gives pip all variables and the requirements as they are, as Assay once did
)


def alter(user):
    """The file of 1.0 is another than the one that was locked."""
    make_wheel(user.wheels, "1.0", files={"more.py": "import os\n"})


def test_an_altered_file_is_refused(user):
    alter(user)
    _, stderr = user.assay("worker", "install", "tiny", expect=1)
    assert "A file that was served is not the one that the worker's lock names: its hash differs." in stderr
    assert "tiny-framework===1.0 from " in stderr  # pip says which
    assert "--unlocked" not in stderr, "nobody is led around the check"
    assert not (user.environments / "tiny-1.0").exists()


def test_a_planted_bug_that_trusts_pip_takes_an_altered_file(user):
    alter(user)
    user.assay("worker", "install", "tiny", program=PLANTED, PIP_TARGET=None, PIP_CONFIG_FILE=None)
    assert user.listed() == {"1.0": True}, "so the test before would fail on it"


def serve_a_foreign_build(user):
    """1.1 needs another package, of which a second folder serves a build; its code would run when Python starts."""
    (user.path / "evil").mkdir()
    make_wheel(user.wheels, "1.1", requires=["assistant"])
    make_wheel(user.wheels, "2.0", name="assistant")
    make_wheel(user.path / "evil", "2.0+evil", name="assistant",
               files={"evil.pth": f"import pathlib; pathlib.Path({str(user.path / 'ran')!r}).touch()\n"})  # fmt: skip
    user.serve(user.wheels, user.path / "evil")


def test_a_foreign_build_of_what_is_needed_is_refused_before_its_code_runs(user):
    serve_a_foreign_build(user)
    _, stderr = user.assay("worker", "install", "tiny==1.1", expect=1)
    assert "pip chose assistant==2.0+evil, a local build that nobody asked for" in stderr
    assert not (user.path / "ran").exists()
    assert not (user.environments / "tiny-1.1").exists()


@pytest.mark.full  # an environment is made for it
def test_a_planted_bug_that_trusts_pip_runs_the_code_of_a_foreign_build(user):
    serve_a_foreign_build(user)
    user.assay("worker", "install", "tiny==1.1", program=PLANTED, PIP_TARGET=None, PIP_CONFIG_FILE=None)
    assert (user.path / "ran").exists(), "so the test before would fail on it"


def test_a_source_distribution_is_refused_before_its_code_runs(user):
    make_source(user.wheels, "1.2", user.path / "ran")
    _, stderr = user.assay("worker", "install", "tiny==1.2", expect=1)
    assert "takes wheels alone" in stderr and "No matching distribution found for tiny-framework===1.2" in stderr
    # Whoever relies on variables of pip's reads which did not count, but no value of theirs.
    assert "Assay does not pass on PIP_CONFIG_FILE, PIP_TARGET: use pip's configuration file instead" in stderr
    assert str(user.path / "elsewhere") not in stderr
    assert not (user.path / "ran").exists()
    assert not (user.environments / "tiny-1.2").exists()


@pytest.mark.full  # an environment is made for it
def test_a_planted_bug_that_trusts_pip_runs_the_code_of_a_source_distribution(user):
    make_source(user.wheels, "1.2", user.path / "ran")
    user.assay("worker", "install", "tiny==1.2", program=PLANTED, expect=1, PIP_TARGET=None, PIP_CONFIG_FILE=None)
    assert (user.path / "ran").exists(), "so the test before would fail on it"


def test_a_planted_bug_that_trusts_pip_passes_its_variables_on(user):
    user.assay("worker", "install", "tiny", program=PLANTED, expect=1, PIP_CONFIG_FILE=None)
    assert (user.path / "elsewhere").exists(), "so test_variables_of_pip_change_nothing would fail on it"


@pytest.mark.full  # environments are made for it
def test_a_build_that_the_lock_lists_is_its_release(user):
    make_wheel(user.wheels, "1.0+cpu")
    user.write_lock("1.0+cpu")
    user.assay("worker", "install", "tiny")
    assert user.listed() == {"1.0": True}
    written = json.loads((user.environments / "tiny-1.0" / "installed.json").read_text())
    assert written["locked"] is True
    assert "tiny-framework==1.0+cpu" in [entry.replace("_", "-") for entry in written["packages"]]
    # Where the index serves another build, the message says what to do, and that works.
    (user.wheels / "tiny_framework-1.0+cpu-py3-none-any.whl").unlink()
    _, stderr = user.assay("worker", "install", "tiny", "--again", expect=1)
    assert "If your index has other builds, or none for this Python" in stderr
    assert "`assay worker install tiny --unlocked`" in stderr
    stdout, _ = user.assay("worker", "install", "tiny", "--unlocked")
    assert "(not locked: hashes were not checked)" in stdout


@pytest.mark.full  # environments are made for it
def test_what_is_left_out_is_not_looked_for_and_a_second_name_is_found(user):
    make_wheel(user.wheels, "1.0", requires=["missing-helper"])  # which nobody serves
    user.write_lock()
    changes = {"left_out": ["missing-helper"], "also_named": "other=={release}+cpu"}
    (user.folder / "packages.json").write_text(json.dumps(changes))
    user.assay("worker", "install", "tiny")
    folder = user.environments / "tiny-1.0"
    look = "import importlib.metadata; print(importlib.metadata.version('other'))"
    found = subprocess.run([folder / "bin" / "python", "-c", look], capture_output=True, text=True, check=True)
    assert found.stdout == "1.0+cpu\n"
    packages = json.loads((folder / "installed.json").read_text())["packages"]
    assert [name.replace("_", "-") for name in packages] == ["tiny-framework==1.0"]
    (user.folder / "packages.json").unlink()  # so it is what made the difference
    _, stderr = user.assay("worker", "install", "tiny", "--again", expect=1)
    assert "missing-helper" in stderr


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({"left_out": ["--target"]}, "'--target' is not the name of a package"),
     ({"also_named": "../x==1"}, "is not NAME==RELEASE")])  # fmt: skip
def test_changes_of_packages_that_cannot_be_are_refused(user, changes, expected):
    (user.folder / "packages.json").write_text(json.dumps(changes))
    _, stderr = user.assay("worker", "install", "tiny", expect=2)
    assert expected in stderr


def test_a_lock_that_is_older_than_the_requirements_is_refused(user):
    with open(user.folder / "requirements.txt", "a") as file:
        file.write("assistant==2.0\n")
    _, stderr = user.assay("worker", "install", "tiny", expect=2)
    assert "requirements.lock has no assistant==2.0, which requirements.txt pins." in stderr
    assert "Renew it with scripts/lock-workers tiny." in stderr


@pytest.mark.parametrize(
    ("reference", "expected"),
    [("nosuch", "Those that can be installed: tiny"), ("fake", "'fake' needs no installing"),
     ("tiny==../x", "release: '../x' cannot be used"), ("tiny==", "release: '' cannot be used")])  # fmt: skip
def test_a_wrong_name_is_a_mistake_of_the_command_line(user, reference, expected):
    _, stderr = user.assay("worker", "install", reference, expect=2)
    assert expected in stderr
    assert not user.environments.exists() or not list(user.environments.iterdir())


def test_the_pin_and_the_release_must_be_the_same(user):
    user.write_worker(pin="1.1")
    _, stderr = user.assay("worker", "install", "tiny", expect=2)
    assert "requirements.txt pins Tiny_Framework==1.1, worker.json says release 1.0. Make them the same." in stderr


def test_a_python_that_is_not_there_is_named(user):
    _, stderr = user.assay("worker", "install", "tiny", "--python", "/nowhere/python", expect=1)
    assert "'/nowhere/python' cannot be started: No such file or directory." in stderr
    assert not (user.environments / "tiny-1.0").exists()


def test_a_folder_that_assay_did_not_make_is_left_alone(user):
    mine = user.environments / "tiny-1.0"
    mine.mkdir(parents=True)
    (mine / "thesis.txt").write_text("years of work")
    _, stderr = user.assay("worker", "install", "tiny", "--again", expect=1)
    assert "was not made by Assay; it was not changed" in stderr
    assert (mine / "thesis.txt").read_text() == "years of work"


# pyvenv.cfg is the first file of an environment, requirements.txt is written just before pip begins.
STAGES = ["pyvenv.cfg", pytest.param("requirements.txt", marks=pytest.mark.full)]


def killed_at(user, stage, **options):
    """Begins an installation and kills it there."""
    process = user.start("worker", "install", "tiny", **options)
    try:
        until((user.environments / "tiny-1.0" / stage).exists, stage)
    finally:
        process.kill()
        process.communicate()


def test_a_planted_bug_that_marks_it_too_early_is_seen(user):
    killed_at(user, "pyvenv.cfg", program="assay-planted-installed_too_early")
    assert user.listed() == {"1.0": True}, "so the next test would fail on it"


def calls_of(user, program="assay"):
    """What an installation asks the system for, in order: "sync" of the whole file system, "name" of installed.json,
    "folder" where the environment's names are made to last. Only those that ended well."""
    trace = user.path / "trace"
    watch = ["strace", "--decode-fds=path", "--trace=syncfs,fsync,rename,renameat,renameat2", "-o", trace]
    user.assay("worker", "install", "tiny", program=program, under=watch)
    folder = re.escape(str(user.environments / "tiny-1.0"))
    kinds = {"sync": rf"syncfs\(\d+<{folder}>\) += 0", "folder": rf"fsync\(\d+<{folder}>\) += 0",
             "name": rf'rename\w*\(.*"{folder}/installed.json".*\) += 0'}  # fmt: skip
    return [kind for line in trace.read_text().splitlines() for kind, form in kinds.items() if re.match(form, line)]


def test_it_is_on_the_disk_before_it_says_so(user):
    """A power cut keeps what was synchronised, and any part of the rest: so all else comes before the name, and the
    name itself before the command ends."""
    assert calls_of(user) == ["sync", "name", "folder"]


def test_a_planted_bug_that_names_it_before_it_is_on_the_disk_is_seen(user):
    assert calls_of(user, "assay-planted-named_before_on_disk") != ["sync", "name", "folder"]


@pytest.mark.parametrize("stage", STAGES)
def test_an_installation_that_was_killed_is_redone(user, stage):
    killed_at(user, stage)
    assert user.listed() == {"1.0": False}
    (user.environments / "tiny-1.0" / "left_behind").write_text("by the killed one")
    stdout, _ = user.assay("worker", "install", "tiny")
    assert "tiny 1.0 is installed" in stdout
    assert user.listed() == {"1.0": True}
    assert not (user.environments / "tiny-1.0" / "left_behind").exists()
    assert user.left() == []
    user.assay("run", "toy", "--worker", "tiny", *QUICK)


@pytest.mark.parametrize("stage", STAGES)
def test_ctrl_c_leaves_nothing(user, stage):
    process = user.start("worker", "install", "tiny")
    try:
        until((user.environments / "tiny-1.0" / stage).exists, stage)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert "assay: stopped; nothing is left of tiny" in stderr
    assert not (user.environments / "tiny-1.0").exists()
    assert user.left() == []


@pytest.mark.full  # an environment is made for it
def test_of_two_installations_at_once_one_does_it_and_the_other_finds_it_done(user):
    both = [user.start("worker", "install", "tiny") for _ in range(2)]
    try:
        said = [process.communicate(timeout=LIMIT_SECONDS) for process in both]
    finally:
        for process in both:
            process.kill()
            process.wait()
    assert [process.returncode for process in both] == [0, 0], said
    assert sorted("is installed" in stdout for stdout, _ in said) == [False, True], said
    assert sorted("is already there" in stdout for stdout, _ in said) == [False, True], said
    user.assay("run", "toy", "--worker", "tiny", *QUICK)


# A worker that is built: the package brings a CMake config, as frameworks with a C++ interface do. The program that
# comes out is a script of one line, since what it does is of no interest here.
BUILT = {**WORKER, "argv": ["{environment}/bin/tiny"], "environment": {**WORKER["environment"], "build": True}}
CONFIG = "set(TINY_RELEASE %s)\n"
LISTS = """
cmake_minimum_required(VERSION 3.25)
project(tiny LANGUAGES NONE)
find_package(tiny_framework REQUIRED CONFIG)
add_custom_target(program ALL COMMAND ${CMAKE_COMMAND} -E copy
                  "${CMAKE_CURRENT_BINARY_DIR}/tiny" "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/tiny")
file(CONFIGURE OUTPUT tiny CONTENT "#!/bin/sh\\necho @TINY_RELEASE@\\n" @ONLY)
file(CHMOD "${CMAKE_CURRENT_BINARY_DIR}/tiny" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
"""


def write_built_worker(user, lists=LISTS):
    for release in ("1.0", "1.1"):
        with zipfile.ZipFile(user.path / "wheels" / f"tiny_framework-{release}-py3-none-any.whl", "a") as wheel:
            wheel.writestr("tiny_framework/cmake/tiny_frameworkConfig.cmake", CONFIG % release)
    user.write_worker(**BUILT)
    user.write_lock()
    (user.folder / "CMakeLists.txt").write_text(lists)


def test_a_worker_that_is_built_is_built_against_its_release(user):
    write_built_worker(user)
    user.assay("worker", "install", "tiny", "tiny==1.1")
    for release in ("1.0", "1.1"):
        folder = user.environments / f"tiny-{release}"
        assert subprocess.check_output([folder / "bin" / "tiny"], text=True) == f"{release}\n"
        assert not (folder / "build").exists()
    assert user.listed() == {"1.0": True, "1.1": True}
    assert user.left() == []


BROKEN = {
    "configuring": (LISTS + 'message(FATAL_ERROR "no compiler on this day")\n', "no compiler on this day"),
    "building": (LISTS + "add_custom_target(broken ALL COMMAND no-such-compiler)\n", "no-such-compiler"),
}


FIRST, *OTHERS = BROKEN


@pytest.mark.parametrize("step", [FIRST, *(pytest.param(step, marks=pytest.mark.full) for step in OTHERS)])
def test_a_build_that_fails_shows_why_and_leaves_nothing(user, step):
    lists, said = BROKEN[step]
    write_built_worker(user, lists)
    _, stderr = user.assay("worker", "install", "tiny", expect=1)
    assert f"assay: worker tiny 1.0: {step} the worker's program failed (code 1)." in stderr
    assert said in stderr
    assert not (user.environments / "tiny-1.0").exists()
    assert user.listed() == {"1.0": False}
    assert user.left() == []


def test_a_build_without_the_program_is_named(user):
    write_built_worker(user)
    (user.folder / "worker.json").write_text(json.dumps({**BUILT, "argv": ["{environment}/bin/huge"]}))
    _, stderr = user.assay("worker", "install", "tiny", expect=1)
    assert "made no program" in stderr and "tiny-1.0/bin/huge" in stderr
    assert not (user.environments / "tiny-1.0").exists()


@pytest.mark.full  # an environment is made for it
def test_a_build_without_cmake_is_named(user):
    write_built_worker(user)
    nothing = str(user.path / "tmp")
    _, stderr = user.assay("worker", "install", "tiny", "--python", sys.executable, expect=1, PATH=nothing)
    assert "'cmake' cannot be started: No such file or directory." in stderr
    assert not (user.environments / "tiny-1.0").exists()


@pytest.mark.full  # an environment is made for it
def test_ctrl_c_while_it_is_built_leaves_nothing(user):
    """The build waits for a file that never comes, so that it is seen to be at work."""
    waits = 'add_custom_target(waits ALL COMMAND sh -c "touch ../begun && while :; do sleep 1; done")\n'
    write_built_worker(user, LISTS + waits)
    process = user.start("worker", "install", "tiny")
    try:
        until((user.environments / "tiny-1.0" / "begun").exists, "the build")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert not (user.environments / "tiny-1.0").exists()
    assert user.left() == []


@pytest.mark.full  # an environment is made for it
def test_again_makes_it_anew(user):
    user.assay("worker", "install", "tiny==1.10rc1")
    (user.environments / "tiny-1.10rc1" / "broken").write_text("")
    stdout, _ = user.assay("worker", "install", "tiny==1.10rc1", "--again")
    assert "tiny 1.10rc1 is installed" in stdout
    assert not (user.environments / "tiny-1.10rc1" / "broken").exists()


def test_where_environments_lie(user):
    """ASSAY_ENVIRONMENTS first, then the user's data folder, then the home."""

    def place(**variables):
        _, stderr = user.assay("worker", "install", "tiny", "--python", "/nowhere", expect=1, **variables)
        assert "/nowhere" in stderr

    place(ASSAY_ENVIRONMENTS="here")
    assert (user.path / "here" / ".tiny-1.0.lock").exists()
    place(ASSAY_ENVIRONMENTS="", XDG_DATA_HOME=str(user.path / "data"))
    assert (user.path / "data/assay/environments/.tiny-1.0.lock").exists()
    place(ASSAY_ENVIRONMENTS="", XDG_DATA_HOME="", HOME=str(user.path / "home"))
    assert (user.path / "home/.local/share/assay/environments/.tiny-1.0.lock").exists()
