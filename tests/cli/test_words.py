"""Every word of help, and 60 messages, as transcripts: a change of words is seen where it is reviewed.

`ASSAY_WRITE_WORDS=1 pytest tests/cli/test_words.py` writes them again. Read the difference before it goes in: the rules
of plain English are in CONTRIBUTING.md."""

import os
import pathlib
import re
import shlex

import pytest

WORDS = pathlib.Path(__file__).with_name("words")
# What assay is called with; files are those of the fixture `place`.
MISTAKES = """
nonsense
rum toy
run
run nonsense --worker fake
run restnet50
run toy --workers fake
run toy --worker nobody
run toy --worker fake==9.9
run toy --worker fake --batch 0
run toy --worker fake --batch 1-64
run toy --worker fake --batch x
run toy --worker fake --batch 4-2+1
run toy --worker fake --mode trian
run toy --worker fake --precision fp7
run toy --worker fake --affinity everywhere
run toy --worker fake --option banana
run toy --worker fake --env 1X=2
run toy --worker fake --seconds long
run toy --worker fake --memory-limit "16 apples"
run toy --worker fake --runs 0
run toy --worker fake --lockstep
run toy --worker fake --meter ./nowhere
run toy --worker fake --platform zz
run toy --worker fake --stop 0%
run toy --worker fake --store "host=h password=secret"
run missing.yaml
run bad.yaml
run twice.yaml
agent --store missing.db
list --store missing.db
show --store missing.db
show --store text.db
show --network nonsense
compare a b --store missing.db
compare --run fake fake --network toy
compare --run 2026-11-15 fake --network toy
compare a --gate lots
history --store missing.db --since yesterday
history --store missing.db --least 0.01%
scale
tune toy --worker fake --goal speed
tune toy --worker fake --goal throughput@p42<1ms
tune toy --worker fake --budget soon
exec --tuned bad.json -- true
exec --tuned missing.json
fit missing.csv
fit table.csv
fit table.csv --time ms --family magic
fit table.csv --time ms --at batch=-1
predict
predict resnet50
predict resnet50 --cluster missing.yaml
predict resnet50 --cluster cluster.yaml
predict resnet50 --cluster good.yaml --straggler 1=0.5
predict --calibrate table.csv
import bad.json --batch 1
export --store missing.db
report --store missing.db -o r.html
store info --store missing.db
store backup text.db --store missing.db
store allow agent me --store missing.db
worker check nobody
worker install nobody
worker equal fake fake --network toy
""".strip().splitlines()
FILES = {
    "bad.yaml": "trials:\n  - network: [\n",
    "twice.yaml": "name: a\nname: b\n",
    "text.db": "this is not a store\n",
    "bad.json": "{\n",
    "table.csv": "batch,ms\n1,2\n2,zero\n",
    "cluster.yaml": "nodes: 2\nacross: {latency: 5, bandwidth: 1 GB/s}\n",
    "good.yaml": "nodes: 2\nacross: {latency: 5 us, bandwidth: 1 GB/s}\ndevice: {peak: 1 TFLOP/s, efficiency: 50%}\n",
}


def hold(name, text):
    """Holds text to the transcript of that name, or writes it."""
    path = WORDS / name
    if os.environ.get("ASSAY_WRITE_WORDS"):
        path.write_text(text)
    assert text == path.read_text(), f"{path} differs; ASSAY_WRITE_WORDS=1 writes it again"


def commands(assay, path=()):
    """Words of every command below this one, in the order of help."""
    text = assay(*path, "--help").stdout
    yield path, text
    for name in re.findall(r"^  ([a-z]+) ", text.partition("\nSubcommands:\n")[2].partition("\n\n")[0], re.MULTILINE):
        yield from commands(assay, (*path, name))


@pytest.fixture
def place(assay, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_help(assay):
    hold("help.txt", "".join(f"$ {' '.join(('assay', *path, '--help'))}\n{text}\n" for path, text in commands(assay)))


def test_every_flag_begins_with_a_verb(assay):
    """Of what people can read: a capital letter, and none of the words that begin a noun."""
    nouns = r"(A|An|The|Of|What|Which|Where|How|Number|Name of|File|Folder|Seconds|Only|Every|Also|No)\b"
    for path, text in commands(assay):
        for flag, said in re.findall(r"^  (\S*--\S+)[^\n]*?(?: {2,}|\n {30,})(\S[^\n]*)$", text, re.MULTILINE):
            assert re.match(r"[A-Z][a-z]+", said) and not re.match(nouns, said), f"{path} {flag}: {said}"


def test_messages(assay, place):
    """Each says what is wrong, names what was given, and ends with a usage error or another one, never with a crash."""
    assert len(MISTAKES) >= 60
    said = []
    for line in MISTAKES:
        words = shlex.split(line)
        done = assay(*words, code=None)
        assert done.returncode in (1, 2) and done.stderr.startswith("assay: "), line
        text = done.stderr.replace(str(place), "FOLDER")
        assert not re.search(r"(?<!here) is (no|none)\b|\banew\b|\bbehind\b|\btold\b|\blies\b", text), text
        said.append(f"$ assay {line}\n{text}exit {done.returncode}\n\n")
    hold("messages.txt", "".join(said))
