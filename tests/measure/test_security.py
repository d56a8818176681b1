"""Text stays text: nothing in a spec becomes a command, SQL or a path, and no secret reaches a worker or a record."""

import csv
import io
import itertools
import json
import random
import re
import shutil
import string
import sys

import pytest

SEED = 20261115
ARGUMENTS, OPTIONS, VARIABLES, SPEC_FIELDS, FLAGS, QUERIES = 4000, 2000, 2000, 1000, 900, 100
BRIEF = ["--quiet", "--runs", "1", "--retries", "0", "--warmup", "0", "--seconds", "1ms", "--max-samples", "1"]
TABLES = {"campaign", "trial", "campaign_trial", "run", "record", "platform", "artifact", "content"}

# {c} is the canary: a file that only an injected command could make.
TEMPLATES = [
    "; touch {c}", "&& touch {c}", "| touch {c}", "|| touch {c} #", "& touch {c} &", "$(touch {c})",
    "`touch {c}`", "${{IFS}}touch${{IFS}}{c}", "> {c}", "< /etc/passwd > {c}", "\ntouch {c}\n",
    "'; touch {c}; '", '"; touch {c}; "', "\\'; touch {c} #", "$({{touch,{c}}})", "x=(){{ :;}}; touch {c}",
    "() {{ :; }}; touch {c}", "!touch {c}", "~root", "*", "'; DROP TABLE run; --", "\"; DROP TABLE record; --",
    "' OR '1'='1", "1); DELETE FROM trial; --", "' UNION SELECT 1", "x'); ATTACH DATABASE '{c}' AS y; --",
    "%' ESCAPE '\\", "Robert'); DROP TABLE campaign;--", "?1", ":name", "@x", "$1", "../../../../etc/passwd",
    "../{c}", "/dev/null", "/proc/self/environ", "file:{c}?mode=rwc", "C:\\Windows", ".", "..", "%n%n%n%n",
    "%s%s%s%s", "%x%x", "{{}}", "{{0}}", "{{{{}}}}", "{{batch}}", "{{option:x}}", "%(name)s", "${{HOME}}", "-",
    "--", "-rf", "--help", "--store={c}", "-o{c}", "--dry-run", "@/etc/passwd", "=", "A=B", ",", ",,", "1-9*1",
    "0x10", "null", "~", "true", "no", "NaN", ".inf", "1e999", "9" * 40, "-1", "''", '""', "", " ", "\t", "\n",
    "# x", "- x", "a: b", "&a x", "*a", "!!python/object/apply:os.system ['touch {c}']", "!tag x", "[", "]",
    "[" * 200, "|\n  x", "%YAML 1.2", "\u202eabc", "\u2066x\u2069", "\u200b", "\ufeff", "\u2028", "\u00a0", "é",
    "e\u0301", "漢字", "🙂", "\U0010ffff", "ﷺ", "\x1b[31mred", "\x1b]0;title\x07", "\r", "\x08\x08", "\x7f",
    "\x85", "\x9b31m", "\x00", "a\x00b", "\x01",
]  # fmt: skip
BAD_BYTES = [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"a\x80b", b"\xfe\xfe\xff\xff"]


def hostile_strings(count, seed, canary):
    """Bytes that somebody might hope are more than text; every template occurs, the rest is joined at random."""
    rng = random.Random(seed)
    known = [template.format(c=canary).encode() for template in TEMPLATES] + BAD_BYTES

    def invented():
        kind = rng.randrange(10)
        if kind == 0:
            return rng.randbytes(rng.randrange(1, 40))
        if kind == 1:
            return rng.choice(known)[:40] * rng.randrange(1, 40)
        if kind == 2:
            return "".join(rng.choices(string.punctuation + " ", k=rng.randrange(1, 60))).encode()
        if kind == 3:
            return "".join(chr(rng.randrange(0xA0, 0xD7FF)) for _ in range(rng.randrange(1, 30))).encode()
        word = "".join(rng.choices(string.ascii_letters + string.digits, k=rng.randrange(0, 8))).encode()
        return rng.choice([word + rng.choice(known), rng.choice(known) + word, rng.choice(known) + rng.choice(known)])

    found = list(known)
    while len(found) < count:
        found.append(invented())
    rng.shuffle(found)
    return found[:count]


def is_plain(text, also=""):
    """What Assay takes as text: UTF-8 without control characters."""
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        return False
    return all(char in also or not (ord(char) < 32 or 127 <= ord(char) < 160) for char in decoded)


def plain_strings(count, seed, canary, also=""):
    found, number = [], seed
    while len(found) < count:
        found += [text.decode() for text in hostile_strings(count, number, canary) if is_plain(text, also)]
        number += 1
    return found[:count]


def chunks(items, size):
    return [items[at : at + size] for at in range(0, len(items), size)]


def yaml_text(text):
    """A double-quoted scalar: JSON's escapes are YAML's too."""
    return json.dumps(text, ensure_ascii=False)


def strace(log):
    assert shutil.which("strace"), "this test needs strace"
    return ["strace", "-f", "-q", "--seccomp-bpf", "-e", "trace=execve,execveat", "-e", "signal=none", "-o", str(log)]


def programs(log):
    """Every program that was started, or that somebody tried to start, with how often."""
    counted = {}
    for line in log.read_text("utf-8", "replace").splitlines():
        if "resumed>" in line or "+++ exited" in line or "+++ killed" in line:
            continue
        call = re.match(r'\d+ +(execve)\("((?:[^"\\]|\\.)*)"', line)
        assert call, f"strace says what this test does not understand: {line[:300]}"
        counted[call[2]] = counted.get(call[2], 0) + 1
    return counted


def assert_store_is_intact(place):
    assert place.rows("PRAGMA integrity_check") == [("ok",)]
    assert place.rows("PRAGMA foreign_key_check") == []
    assert {name for (name,) in place.rows("SELECT name FROM sqlite_master WHERE type = 'table'")} >= TABLES


# --- Free text, put to work: arguments, options and variables of real runs --------------------------------------------

# Writes what reached it to the file named first: its other arguments and its environment, as the kernel gave them.
TELL = """
import json, sys
environ = open('/proc/self/environ', 'rb').read().decode('utf-8', 'surrogateescape').split('\\0')
with open(sys.argv[1], 'a') as file:
    file.write(json.dumps([sys.argv[2:], [line for line in environ if line]]) + '\\n')
"""


def tell(file):
    return [sys.executable, "-I", "-S", "-c", TELL.replace("{", "{{"), str(file)]


def told(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def free_text_campaign(place):
    """Trials of the command worker that hold hostile strings, and per trial what the program must be told."""
    canary, report = place.path / "canary", place.path / "told"
    trials, expected = [], []
    command = "[%s]"
    for group in chunks(plain_strings(ARGUMENTS, SEED, canary, "\t\n"), 200):
        argv = [*tell(report), *(text.replace("{", "{{") for text in group)]
        trials.append({"command": command % ", ".join(map(yaml_text, argv))})
        expected.append((group, {}))
    for group in chunks(plain_strings(OPTIONS, SEED + 1000, canary), 200):
        names = [f"x{i}" for i in range(len(group))]
        argv = [*tell(report), *(f"{{option:{name}}}" for name in names)]
        options = ", ".join(f"{name}: {yaml_text(text)}" for name, text in zip(names, group, strict=True))
        trials.append({"command": command % ", ".join(map(yaml_text, argv)), "options": f"{{{options}}}"})
        expected.append((group, {}))
    for group in chunks(plain_strings(VARIABLES, SEED + 2000, canary, "\t\n"), 200):
        values = {f"X{i}": text for i, text in enumerate(group)}
        env = ", ".join(f"{name}: {yaml_text(text)}" for name, text in values.items())
        command_text = command % ", ".join(map(yaml_text, tell(report)))
        trials.append({"command": command_text, "settings": f"{{env: {{{env}}}}}"})
        expected.append(([], values))
    return trials, expected, report, canary


def test_free_text_reaches_the_program_unchanged_and_starts_nothing_else(place):
    trials, expected, report, canary = free_text_campaign(place)
    log = place.path / "strace.log"
    started = {}
    for number, group in enumerate(chunks(trials, 8)):
        text = 'name: "\'; DROP TABLE run; -- $(touch canary)"\ntrials:\n'
        for trial in group:
            text += "  - " + "\n    ".join(f"{key}: {value}" for key, value in trial.items()) + "\n"
        file = place.write(f"free-{number}.yaml", text)
        ended = place.assay("run", file, *BRIEF, before=strace(log))
        assert "\x1b" not in ended.stdout + ended.stderr
        for program, count in programs(log).items():
            started[program] = started.get(program, 0) + count
    folder = place.build
    runs = len(trials)
    assert started == {
        str(folder / "assay"): len(chunks(trials, 8)),
        str(folder / "libexec" / "assay-rank"): runs,
        str(folder / "workers" / "command" / "assay-worker-command"): runs,
        sys.executable: runs,
    }

    def key(arguments, variables):
        return json.dumps([arguments, sorted(variables.items())])

    reached = [(arguments, dict(line.split("=", 1) for line in environ if re.match(r"X\d+=", line)))
               for arguments, environ in told(report)]  # fmt: skip
    assert sorted(key(*one) for one in reached) == sorted(key(*one) for one in expected)
    assert not canary.exists()
    assert sorted(file.name for file in place.path.glob("canary*")) == []
    assert_store_is_intact(place)
    stored = [json.loads(text) for (text,) in place.rows("SELECT json FROM trial")]
    assert len(stored) == runs
    values = {text for trial in stored for text in trial["workload"].get("options", {}).values()}
    values |= {text for trial in stored for text in trial.get("settings", {}).get("env", {}).values()}
    values |= {text.replace("{{", "{") for trial in stored for text in trial["workload"]["command"]}
    sent = set(itertools.chain.from_iterable([*group, *variables.values()] for group, variables in expected))
    assert sent <= values, "a string came back from the store as another"


def long_text_campaign(place, argument="x", option="x", variable="x", name="long"):
    report = place.path / "told"
    command = ", ".join(map(yaml_text, [*tell(report), argument, "{option:x}"]))
    return place.write(
        "long.yaml",
        f"name: {yaml_text(name)}\ntrials:\n  - {{command: [{command}], options: {{x: {yaml_text(option)}}}, "
        f"settings: {{env: {{X: {yaml_text(variable)}}}}}}}\n",
    )


def test_long_text_reaches_the_program_whole(place):
    file = long_text_campaign(place, argument="a" * 100_000, option="o" * 100_000, variable="v" * 4096, name="n" * 200)
    place.assay("run", file, *BRIEF)
    [(arguments, environ)] = told(place.path / "told")
    assert arguments == ["a" * 100_000, "o" * 100_000]
    assert "X=" + "v" * 4096 in environ


def test_text_that_is_too_long_is_refused_with_a_short_message(place):
    for field, text in (("variable", "v" * 4097), ("name", "n" * 201), ("argument", "a" * 1_100_000)):
        ended = place.assay("run", long_text_campaign(place, **{field: text}), *BRIEF, expect=2)
        assert 0 < len(ended.stderr) < 1000
    assert not place.store.exists()


def test_an_argument_that_the_kernel_does_not_take_is_a_typed_outcome(place):
    place.assay("run", long_text_campaign(place, argument="a" * 200_000), *BRIEF, expect=4)
    [record] = place.records()
    assert record["outcome"]["kind"] in ("failed", "refused", "not_started")
    assert len(record["outcome"]["message"]) < 10_000


# --- Every field of a spec, one string at a time ----------------------------------------------------------------------

# Runs many commands one after the other, so that one strace sees them all. Bytes travel as Latin-1.
DRIVER = """
import json, subprocess, sys
for argv in json.load(open(sys.argv[1])):
    done = subprocess.run([text.encode('latin-1') for text in argv], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60)
    print(json.dumps([done.returncode, done.stdout.decode('latin-1'), done.stderr.decode('latin-1')]))
"""

TOY = b"  - {network: toy, worker: fake%s}\n"
FREE = b"  - {command: [/bin/true]%s}\n"
SETTINGS = ["affinity", "memory_bind", "allocator", "compile", "layout", "spin", "intra_op", "bucket_bytes"]
# What stands above the trials, and the trial; %s is the string.
FIELDS = {
    "name": (b"name: %s\n", TOY % b""),
    "seed": (b"seed: %s\n", TOY % b""),
    "key": (b"%s: 1\n", TOY % b""),
    "seconds": (b"measure: {seconds: %s}\n", TOY % b""),
    "worker": (b"", b"  - {network: toy, worker: %s}\n"),
    "mode": (b"", TOY % b", mode: %s"),
    "batch": (b"", TOY % b", batch: %s"),
    "option": (b"", TOY % b", options: {x: %s}"),
    "option name": (b"", TOY % b", options: {%s: 1}"),
    "variable": (b"", TOY % b", settings: {env: {X: %s}}"),
    "variable name": (b"", TOY % b", settings: {env: {%s: x}}"),
    **{setting: (b"", TOY % b", settings: {%s: %%s}" % setting.encode()) for setting in SETTINGS},
    "network": (b"", FREE % b", network: %s"),
    "precision": (b"", FREE % b", precision: %s"),
    "data": (b"", FREE % b", data: %s"),
    "device": (b"", FREE % b", placement: {device: %s}"),
    "ranks": (b"", FREE % b", placement: {ranks: %s}"),
    "program": (b"", b"  - {command: [%s]}\n"),
    "argument": (b"", b"  - {command: [/bin/true, %s]}\n"),
}


def spec_with(field, text):
    """A campaign file as bytes, with the string as a quoted scalar at the field."""
    escaped = text.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n").replace(b"\t", b"\\t")
    return b"trials:\n".join(FIELDS[field]).replace(b"%s", b'"' + escaped + b'"', 1)


def run_all(place, commands):
    """Runs the commands under one strace; their exit codes and output, and the programs that were started."""
    log = place.path / "strace.log"
    argv = [[part if isinstance(part, bytes) else str(part).encode() for part in command] for command in commands]
    file = place.write("commands.json", json.dumps([[part.decode("latin-1") for part in command] for command in argv]))
    done = place.run([*strace(log), sys.executable, "-I", "-S", "-c", DRIVER, file], seconds=180)
    assert done.code == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == len(commands)
    return [(code, out.encode("latin-1"), err.encode("latin-1")) for code, out, err in results], programs(log)


def assert_refused_or_planned(command, result):
    code, out, err = result
    assert code in (0, 2), f"{command}: exit code {code}: {err[:500]}"
    if code == 2:
        assert err.strip(), f"{command}: refused without a message"
    assert b"internal error" not in err, command
    for stream in (out, err):
        assert is_plain(stream, "\n"), f"{command}: the output holds what a terminal may obey: {stream[:500]}"


def test_every_field_of_a_campaign_file_is_text(place):
    canary = place.path / "canary"
    strings = hostile_strings(SPEC_FIELDS, SEED + 3000, canary)
    commands = []
    for number, (field, text) in enumerate(zip(itertools.cycle(FIELDS), strings, strict=False)):
        file = place.write(f"spec-{number}.yaml", spec_with(field, text))
        commands.append([place.build / "assay", "run", file, "--dry-run"])
    results, started = run_all(place, commands)
    for (field, text), result in zip(zip(itertools.cycle(FIELDS), strings, strict=False), results, strict=True):
        assert_refused_or_planned((field, text), result)
        if not is_plain(text, "\t\n"):
            assert result[0] == 2, f"{field} took {text}"
    codes = {result[0] for result in results}
    assert codes == {0, 2}, "either all were refused or all were taken; then this test tests nothing"
    assert started == {sys.executable: 1, str(place.build / "assay"): len(commands)}
    assert not canary.exists()


FLAG_FIELDS = [b"--worker", b"--mode", b"--batch", b"--precision", b"--data", b"--device", b"--ranks", b"--instances",
               b"--intra-op", b"--affinity", b"--memory-bind", b"--allocator", b"--spin", b"--compile", b"--layout",
               b"--bucket-bytes", b"--option", b"--env", b"--name", b"--seed", b"--runs", b"--seconds", b"--limit",
               b"--memory-limit", b"--max-samples"]  # fmt: skip


def flags_with(flag, text):
    if flag in (b"--option", b"--env"):
        return [flag + b"=x=" + text]
    if flag in (b"--precision", b"--data", b"--device", b"--name"):
        return [flag + b"=" + text, b"--", b"/bin/true", text]
    return [b"toy", b"--worker=fake", flag + b"=" + text] if flag != b"--worker" else [b"toy", flag + b"=" + text]


def test_every_flag_is_text(place):
    canary = place.path / "canary"
    strings = [text for text in hostile_strings(FLAGS, SEED + 4000, canary) if b"\0" not in text]
    commands = [[place.build / "assay", "run", "--dry-run", *flags_with(flag, text)]
                for flag, text in zip(itertools.cycle(FLAG_FIELDS), strings, strict=False)]  # fmt: skip
    results, started = run_all(place, commands)
    for command, result in zip(commands, results, strict=True):
        assert_refused_or_planned(command, result)
    assert {result[0] for result in results} == {0, 2}
    assert started == {sys.executable: 1, str(place.build / "assay"): len(commands)}
    assert not canary.exists()


def test_names_to_look_up_are_text_for_the_store(place):
    canary = place.path / "canary"
    place.assay("run", "toy", "--worker", "fake", *BRIEF)
    strings = [text for text in hostile_strings(QUERIES, SEED + 5000, canary) if text and b"\0" not in text]
    commands = []
    for text in strings:
        commands += [["show", b"--trial=" + text], ["export", b"--trial=" + text]]
        if not text.startswith(b"-"):
            commands += [["show", text], ["export", "--format=csv", text]]
    results, _ = run_all(place, [[place.build / "assay", *command] for command in commands])
    for command, result in zip(commands, results, strict=True):
        assert_refused_or_planned(command, result)
        assert result[1] == b"", f"{command} found something"
        assert result[0] == 2 or command[0] == "export", f"{command} found something"
    assert_store_is_intact(place)
    assert not canary.exists()


@pytest.mark.parametrize("command", [["show"], ["export"], ["export", "--format", "csv"], ["worker", "list"]])
def test_what_stands_behind_two_dashes_is_refused_before_anything_is_done(place, command):
    place.assay("run", "toy", "--worker", "fake", *BRIEF)
    ended = place.assay(*command, "--", "; touch canary", expect=2)
    assert ended.stdout == "", "it printed before it refused"
    assert ended.stderr


def test_a_broken_flag_does_not_reach_the_terminal_raw(place):
    for text in ("--\x1b[31mred", "--x\x07", "\x1b]0;title\x07"):
        ended = place.assay("show", text, "more", expect=2)
        assert "\x1b" not in ended.stderr and "\x07" not in ended.stderr, f"{text!r} was printed as it is"


# --- The environment --------------------------------------------------------------------------------------------------

ALLOWED = {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"}


def planted_variables():
    rng = random.Random(SEED)
    names = ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "HF_TOKEN", "GITHUB_TOKEN", "PGPASSWORD", "SSH_AUTH_SOCK",
             "DATABASE_URL", "OMP_NUM_THREADS", "LC_ALL_", "PATH2", "LANGUAGE_X"]  # fmt: skip
    while len(names) < 200:
        names.append("".join(rng.choices(string.ascii_letters + "_", k=rng.randrange(3, 20))) + f"_{len(names)}")
    return {name: "planted-" + rng.randbytes(12).hex() for name in names}


def run_with_planted_variables(place, planted=None):
    """What the worker was given, and everything that Assay wrote or printed."""
    report = place.path / "told"
    variables = planted_variables()
    flags = ["--env", "GIVEN=by the settings", *BRIEF]
    text = place.assay("run", "environment", *flags, "--", *tell(report), planted=planted, **variables)
    formats = ["jsonl", "json", "csv"]
    exports = [place.assay("export", "--format", form, planted=planted, **variables) for form in formats]
    shown = place.assay("show", "--json", planted=planted, **variables)
    [(_, environ)] = told(report)
    written = [(file.name, file.read_bytes()) for file in place.path.glob("assay.db*")]
    written += [(file.name, file.read_bytes()) for file in place.temporary.rglob("*") if file.is_file()]
    written += [("output", (one.stdout + one.stderr).encode()) for one in (text, shown, *exports)]
    return dict(line.split("=", 1) for line in environ), written, variables


def assert_no_variable_leaks(given, written, variables):
    assert set(given) <= ALLOWED | {"GIVEN", "ASSAY_RUN"}, "a variable outside the list reached the worker"
    for name, content in written:
        leaked = [variable for variable, value in variables.items() if value.encode() in content]
        assert leaked == [], f"{name} holds the value of {leaked[0]}"


def test_no_variable_outside_the_list_reaches_a_worker_or_a_record(place):
    given, written, variables = run_with_planted_variables(place)
    assert_no_variable_leaks(given, written, variables)
    assert given["GIVEN"] == "by the settings"
    assert {"PATH", "TMPDIR", "ASSAY_RUN"} <= set(given)
    assert len(variables) == 200


def test_the_check_of_the_environment_sees_a_leak(place):
    leaked = run_with_planted_variables(place, planted="leaked_environment")
    with pytest.raises(AssertionError, match="reached the worker"):
        assert_no_variable_leaks(*leaked)


SECRETS = ["AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "db_password", "MY_PASSWD", "HF_TOKEN", "GITHUB_TOKEN_2", "TOKEN",
           "SOME_API_KEY", "SSH_PRIVATE_KEY", "GOOGLE_CREDENTIALS", "client_secret", "AWS_ACCESS_KEY_ID"]  # fmt: skip


@pytest.mark.parametrize("name", SECRETS)
def test_a_variable_that_looks_like_a_secret_is_refused_and_its_value_not_shown(place, name):
    by_flag = place.assay("run", "toy", "--worker", "fake", "--env", f"{name}=hunter2", *BRIEF, expect=2)
    text = f"trials:\n  - {{network: toy, worker: fake, settings: {{env: {{{name}: hunter2}}}}}}\n"
    by_file = place.assay("run", place.write("secret.yaml", text), *BRIEF, expect=2)
    for ended in (by_flag, by_file):
        assert name in ended.stderr and "secret" in ended.stderr
        assert "hunter2" not in ended.stderr + ended.stdout
    assert not place.store.exists(), "the refused campaign left a store"


def test_a_variable_that_only_sounds_like_a_secret_is_taken(place):
    place.assay("run", "toy", "--worker", "fake", "--env", "TOKENIZERS_PARALLELISM=false", *BRIEF)


@pytest.mark.parametrize("name", ["ASSAY_RUN", "ASSAY_STORE", "1X", "A B", "A=B=C", "A\nB", "é", ""])
def test_a_variable_that_is_no_name_or_belongs_to_assay_is_refused(place, name):
    given = {"A=B=C": "=x"}.get(name, f"{name}=x")
    place.assay("run", "toy", "--worker", "fake", "--env", given, *BRIEF, expect=2)


def is_number(text):
    try:
        return float(text) is not None
    except ValueError:
        return False


REFUSING = """
import sys
sys.path.append({common!r})
import assay_worker

class Refusing(assay_worker.Framework):
    def prepare(self, prepare):
        raise assay_worker.Refused({message!r})

sys.exit(assay_worker.serve(Refusing))
"""


@pytest.mark.parametrize("message", ['=HYPERLINK("http://x","y")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1"])
def test_what_a_worker_says_is_not_a_formula_in_csv(place, message):
    """Without the mark in front, the cell is the message itself, and a spreadsheet carries it out."""
    folder = place.path / "workers" / "refusing"
    folder.mkdir(parents=True)
    program = REFUSING.format(common=str(place.root / "workers" / "common"), message=message)
    folder.joinpath("worker.py").write_text(program)
    about = {"name": "refusing", "release": "1.0", "protocol": 1, "argv": ["python3", "{folder}/worker.py"],
             "networks": ["toy"], "details": ["step"], "settings": []}  # fmt: skip
    folder.joinpath("worker.json").write_text(json.dumps(about))
    # `run` alone would say the refusal and store nothing.
    place.assay("run", "toy", "--worker", "refusing", *BRIEF, "--plan-only", ASSAY_WORKERS=folder.parent)
    place.assay("agent", "--store", place.store, expect=None, ASSAY_WORKERS=folder.parent)
    [record] = place.records()
    assert record["outcome"]["message"] == message
    exported = place.assay("export", "--store", place.store, "--format", "csv").stdout
    [row] = csv.DictReader(io.StringIO(exported, newline=""))
    assert row["message"] == "'" + message
    assert not [cell for cell in row.values() if cell.startswith(("=", "+", "-", "@", "\t")) and not is_number(cell)]


CONNECTIONS = ["host=h password=hunter2", "host=h dbname=d user=me password='hunter2'", "password=hunter2",
               "sslpassword=hunter2 host=h"]  # fmt: skip


@pytest.mark.parametrize("location", CONNECTIONS)
def test_a_password_in_a_connection_string_is_refused_and_not_shown(place, location):
    """Such a string was taken for the path of a file, and every message about that file repeated it."""
    for command in (["run", "toy", "--worker", "fake", *BRIEF], ["show"], ["export"], ["doctor"]):
        by_flag = place.assay(*command, "--store", location, expect=2)
        joined = place.assay(*command, f"--store={location}", expect=2)
        by_variable = place.assay(*command, expect=None, ASSAY_STORE=location)
        for ended in (by_flag, joined, by_variable):
            assert "hunter2" not in ended.stderr + ended.stdout
        assert "can be read by every user" in by_flag.stderr and "can be read by every user" in joined.stderr
    assert [file.name for file in place.path.iterdir() if "hunter2" in file.name] == []


def test_a_connection_string_without_password_is_told_to_be_a_url(place):
    ended = place.assay("show", "--store", "host=h dbname=d", expect=2)
    assert "Write a URL: postgresql://" in ended.stderr and "dbname" not in ended.stderr
