"""The fenced blocks of a Markdown page, and what comments before them say to the test. CONTRIBUTING.md has rules."""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

COMMANDS = "sh"
# What is no command: output, and files of each kind.
SHOWN = {"text", "yaml", "python", "json", "xml", "sql"}

_FENCE = re.compile(r"^```(\S*)\s*$")
_INDENTED = re.compile(r"^( {4}|\t)\S")
_LIST = re.compile(r"^\s*([-*+]|\d+\.)\s")
_COMMENT = re.compile(r"<!--\s*test:((?:(?!-->).)*)-->\s*\Z", re.DOTALL)
# A command that is shown as output would never be run.
_HIDDEN = re.compile(r"^\s*(\$ |(\S*/)?assay [a-z]+(\s|$))")


@dataclasses.dataclass
class Block:
    page: str
    line: int  # of the fence, from 1
    language: str
    text: str
    needs: list[str] = dataclasses.field(default_factory=list)
    full: bool = False
    exit_codes: tuple[int, ...] = (0,)
    quota: float | None = None
    file: str | None = None
    setup: str = ""
    untried: str | None = None
    elsewhere: str | None = None

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    @property
    def is_run(self):
        return self.language == COMMANDS and self.untried is None and self.elsewhere is None


class Wrong(Exception):
    """A page breaks the rules; the message says where and how."""


def pages():
    """README and every page below docs/ that people write, as paths from the root; not docs/reference."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = [path for path in found if path.parent.name != "reference"]
    return [str(path.relative_to(ROOT)) for path in found]


def apply_mark(block, mark):
    """One line of a comment: a word, and what belongs to it."""
    word, _, rest = mark.partition(" ")
    rest = rest.strip()
    if word == "needs" and rest:
        block.needs += rest.split()
    elif mark == "full":
        block.full = True
    elif word == "exit" and rest and all(code.isdigit() for code in rest.split()):
        block.exit_codes = tuple(int(code) for code in rest.split())
    elif word == "quota" and rest:
        block.quota = float(rest)
    elif word == "file" and rest and "/" not in rest:
        block.file = rest
    elif word == "untried" and rest:
        block.untried = rest
    elif word == "elsewhere" and rest:
        block.elsewhere = rest
    elif word == "setup" and rest:
        block.setup += rest + "\n"
    else:
        raise Wrong(f"{block.place}: there is no mark {mark!r}. CONTRIBUTING.md has the list.")


def check_block(block):
    if block.language == COMMANDS:
        if block.file:
            raise Wrong(f"{block.place}: `file` is for blocks that are no commands.")
        return
    if block.language not in SHOWN:
        kinds = ", ".join(sorted(SHOWN))
        raise Wrong(f"{block.place}: language {block.language!r}. Commands are `{COMMANDS}`, the rest is: {kinds}.")
    if block.full or block.needs or block.setup or block.untried or block.elsewhere or block.quota:
        raise Wrong(f"{block.place}: only blocks of commands have such a mark.")
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        if block.language == "text" and _HIDDEN.match(line):
            raise Wrong(f"{block.page}:{number}: a command inside of output is not run. Give it a block of its own.")


def visible(text):
    """What readers see, in one line."""
    return " ".join(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).split())


def blocks_of(page, text=None):
    """All blocks of a page in order; Wrong where one breaks the rules."""
    if text is None:
        text = (ROOT / page).read_text(encoding="utf-8")
    lines = text.split("\n")
    blocks, number, in_list = [], 0, False
    while number < len(lines):
        line = lines[number]
        fence = _FENCE.match(line.strip())
        if fence is None:
            in_list = bool(_LIST.match(line)) or (in_list and (line.startswith(" ") or not line))
            if _INDENTED.match(line) and not in_list and (number == 0 or not lines[number - 1].strip()):
                raise Wrong(f"{page}:{number + 1}: an indented block. Fence it with ``` and a language.")
            number += 1
            continue
        end = number + 1
        while end < len(lines) and lines[end].strip() != "```":
            end += 1
        if end == len(lines):
            raise Wrong(f"{page}:{number + 1}: the block has no end.")
        block = Block(page, number + 1, fence[1], "\n".join(lines[number + 1 : end]) + "\n")
        comment = _COMMENT.search("\n".join(lines[:number]).rstrip())
        for mark in comment[1].strip().splitlines() if comment else []:
            apply_mark(block, mark.strip())
        check_block(block)
        if block.untried and " ".join(block.untried.split()) not in visible(text):
            raise Wrong(f"{block.place}: readers do not see why it is untried. Write on the page: {block.untried}")
        blocks.append(block)
        number = end + 1
    return blocks
