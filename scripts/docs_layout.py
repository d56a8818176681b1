"""A hook of mkdocs. Pages are written as GitHub reads them: a list or a table may follow a line of text at once, and
what lies in a list is indented by two. mkdocs wants a blank line there, and four."""

import re

_ITEM = re.compile(r"^( *)([-*]|\d+\.) ")
_TABLE = re.compile(r"^( *)\|")


def laid_out(text):
    lines, in_fence, in_list, in_paragraph, last = [], False, False, False, ""
    for written in text.split("\n"):
        line = written
        if line.lstrip().startswith("```"):
            in_fence = not in_fence
        found = None if in_fence else _ITEM.match(line) or _TABLE.match(line)
        if not in_fence and line and not line.startswith(" ") and not _ITEM.match(line) and not last:
            in_list = False  # a paragraph of its own; without a blank line before it, a line goes on with the item
        if found:
            nested = in_list and 2 <= len(found[1]) <= 3
            kind = _ITEM if _ITEM.match(line) else _TABLE
            goes_on = kind is _ITEM and in_list and not nested and not in_paragraph
            if last and not kind.match(last) and not goes_on:
                lines.append("")
            line = "    " + line.lstrip() if nested else line
            in_list = in_list or kind is _ITEM
            in_paragraph = False
        elif in_list and not in_fence and not last and re.match(r" {2,3}\S", line):
            line = "    " + line.lstrip()  # a paragraph of the item
            in_paragraph = True
        lines.append(line)
        last = line
    return "\n".join(lines)


def on_page_markdown(markdown, **_):
    return laid_out(markdown)
