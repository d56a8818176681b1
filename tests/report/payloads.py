"""Text that does harm where it is taken for markup: 200 of it, and a way to plant it in every text of a store."""

import json
import re
import sqlite3
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HARM = "document.documentElement.dataset.hit=1"
BASES = [
    "<script>{}</script>",
    "<img src=x onerror={}>",
    "<svg onload={}>",
    "<svg><script>{}</script></svg>",
    "<body onload={}>",
    "<iframe srcdoc='<script>parent.{}</script>'></iframe>",
    "<details open ontoggle={}>",
    "<input autofocus onfocus={}>",
    "<video><source onerror={}>",
    "<a href=javascript:{}>x</a>",
    "<object data=javascript:{}>",
    "<style>*{{background:url(https://example.org/x)}}</style><img src=x onerror={}>",
    "<link rel=stylesheet href=https://example.org/x.css onerror={}>",
    "<math><mtext><img src=x onerror={}></mtext></math>",
    "<base href=https://example.org/><script>{}</script>",
    "<meta http-equiv=refresh content='0;url=javascript:{}'>",
    "<form><button formaction=javascript:{} autofocus onfocus={}>",
    "<set attributeName=onmouseover to={}>",
    "<foreignObject><img src=x onerror={}></foreignObject>",
    "<template><script>{}</script></template><script>{}</script>",
]
# What would have to be left first: an attribute, an element, a comment, a script, a string; or nothing.
WAYS_OUT = ["{}", '">{}', "'>{}", "</script>{}", "</title></style>{}", "-->{}<!--", "]]>{}", "\\u003c/script\\u003e{}",
            "</text></svg>{}", "${{1}}';{}//"]  # fmt: skip
PAYLOADS = [way.format(base.format(*[HARM] * 2)) for base in BASES for way in WAYS_OUT]

ID = re.compile(r"^[0-9a-f]{8,64}$")


def kept_words():
    """Names that the formats enumerate: with another one in its place a document would be refused, not shown."""
    words = set()

    def walk(node):
        if isinstance(node, dict):
            words.update(w for w in node.get("enum", []) if isinstance(w, str))
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    for path in (ROOT / "docs/formats").glob("*.schema.json"):
        walk(json.loads(path.read_text()))
    return words


class Planter:
    """Replaces text by payloads, in turn; the same text by the same payload within one store."""

    def __init__(self, payloads):
        self._payloads = payloads
        self._words = kept_words()
        self._given = {}
        self.fields = 0

    def text(self, text):
        if text in self._words or ID.match(text) or re.match(r"^\d{4}-\d\d-\d\d", text):
            return text
        self.fields += 1
        return self._given.setdefault(text, self._payloads[len(self._given) % len(self._payloads)])

    def value(self, node, names=()):
        """`names` are fields whose own keys are text, such as phases."""
        if isinstance(node, dict):
            return {key: self._member(key, value, names) for key, value in node.items()}
        if isinstance(node, list):
            return [self.value(item, names) for item in node]
        return self.text(node) if isinstance(node, str) else node

    def _member(self, key, value, names):
        if key in names and isinstance(value, dict):
            return {self.text(name): self.value(item, names) for name, item in value.items()}
        if key == "phase_medians_ns":
            return [{self.text(name): item for name, item in one.items()} for one in value]
        return self.value(value, names)


def plant(store, payloads):
    """Every text of the store that a page may show, and some more. Gives the number of texts replaced."""
    planter = Planter(payloads)
    with sqlite3.connect(store) as database:
        for key, name in database.execute("SELECT key, name FROM campaign").fetchall():
            database.execute("UPDATE campaign SET name = ? WHERE key = ?", (planter.text(name), key))
        # Roofs are known by their names; the convolution keeps its name too, so that it has a cost.
        for key, text in database.execute("SELECT key, json FROM trial").fetchall():
            trial = json.loads(text)
            network = trial["workload"]["network"]
            trial["workload"]["options"] = {"option": "value", **trial["workload"].get("options", {})}
            trial["settings"]["env"] = {"NAME": "text"}
            changed = planter.value(trial, names=("options", "env"))
            if network != "toy":
                changed["workload"]["network"] = network
                changed["workload"]["precision"] = "fp32"
                changed["workload"].pop("options")
            changed["settings"] = {**changed["settings"]}
            database.execute("UPDATE trial SET json = ? WHERE key = ?", (json.dumps(changed), key))
        for key, digest in database.execute("SELECT key, digest FROM record").fetchall():
            changed = json.loads(digest)
            changed["reasons"] = [{"code": "code", "message": "message", "passing": True}]
            text = json.dumps(planter.value(changed, names=("effective",)))
            # Some fail, and say why; some are disturbed.
            if key % 5 == 0:
                failed = (text, planter.text(f"message {key}"), key)
                database.execute("UPDATE record SET digest = ?, outcome = 'failed', message = ? WHERE key = ?", failed)
            else:
                database.execute("UPDATE record SET digest = ?, trusted = ? WHERE key = ?", (text, key % 3 != 0, key))
        for key, text in database.execute("SELECT key, json FROM record").fetchall():
            changed = planter.value(json.loads(text))
            database.execute("UPDATE record SET json = ? WHERE key = ?", (json.dumps(changed), key))
        for key, text in database.execute("SELECT id, json FROM platform").fetchall():
            changed = planter.value(json.loads(text))
            database.execute("UPDATE platform SET json = ? WHERE id = ?", (json.dumps(changed), key))
        for key, text in database.execute("SELECT key, json FROM artifact").fetchall():
            changed = planter.value(json.loads(text))
            database.execute("UPDATE artifact SET json = ? WHERE key = ?", (json.dumps(changed), key))
    return planter.fields
