"""Workers that learn digits with a mistake, which bench/digits must tell from one without: a copy of ours, in which
what all workers in Python share has a few lines more."""

import json
import shutil
import sqlite3

from parts import figure

WORKER = "pytorch"
NETWORK, UNTIL = "mlp", "accuracy>=90%"
# After an epoch or two 90 % are right at this rate; at ten times the rate weights grow without end.
TRAINING = ["--until", UNTIL, "--learning-rate", "0.05", "--epochs", "3", "--intra-op", "1"]
RUNS = 6  # none of them against all of the others: one of C(12, 6) = 924 ways to share the ranks
MISTAKES = {
    "rate": (
        '        self.learning_rate = prepare.workload["options"]["learning_rate"]\n',
        '        self.learning_rate *= 10 if os.environ["PLANTED"] == "rate" else 1\n',
    ),
    "labels": (
        "        self.trained, self.held_out = split(read())\n",
        '        if os.environ["PLANTED"] == "labels":\n'
        "            labels = self.trained.labels\n"
        "            self.trained = Part(self.trained.images, labels[[-1, *range(len(labels) - 1)]])\n",
    ),
}


def make(place):
    """A folder of workers with the mistakes in it, to be found before the right ones."""
    root = place.path / "planted"
    for name in ("common", WORKER):
        shutil.copytree(figure.BUILD / "workers" / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    path = root / "common" / "assay_digits.py"
    text = path.read_text()
    for right, wrong in MISTAKES.values():
        if text.count(right) != 1:
            raise SystemExit(f"{path.name} has no {right!r}: the mistake must be planted again")
        text = text.replace(right, right + wrong)
    path.write_text(text)
    return root


def compare(env, place):
    """For each mistake: the verdict on it, p, and how many of its runs got there."""
    store = place.path / "planted.db"
    env = env | {"ASSAY_WORKERS": str(make(place)), "ASSAY_STORE": str(store)}
    sides = [word for mistake in ("none", *MISTAKES) for word in ("--env", f"PLANTED={mistake}")]
    words = [*TRAINING, *sides, "--runs", RUNS, "--retries", "0", "--no-peak", "--quiet", "--name", "planted"]
    figure.run([figure.ASSAY, "run", NETWORK, "--worker", WORKER, *words], env, check=False, timeout=3600)
    with sqlite3.connect(store) as database:
        # What neighbours do to times does not change what is learned: all runs of a side are to count.
        database.execute("UPDATE record SET trusted = 1")
    exported = json.loads(figure.run([figure.ASSAY, "export", "planted", "--format", "json"], env).stdout)
    side = {one["trial"]["settings"]["env"]["PLANTED"]: "trial:" + one["trial_id"] for one in exported["trials"]}
    found = {}
    for mistake in MISTAKES:
        asked = ["compare", "--of", "accuracy", side["none"], side[mistake], "--json"]
        [one] = json.loads(figure.run([figure.ASSAY, *asked], env).stdout)["comparisons"]
        reached = "{} and {} of {}".format(*(one[s]["runs"] - one[s]["not_reached"] for s in ("a", "b")), RUNS)
        found[mistake] = one["verdict"], one["p"], reached
    return found
