"""The blocks of a page: commands, Python, and what is only shown, with the comment above each.

- `<!-- not run: REASON -->` before a block keeps its commands from being run. Their options are still
  checked, and so are the imports of Python.
- `<!-- not run (PATTERN): REASON -->` is for the commands of the block that a regular expression matches.
- `<!-- slow: REASON -->` leaves the block to the longer tests.
- `<!-- exits with 1 -->` expects that exit status of the block's last command.
- `<!-- run by tests/FILE.py -->`, anywhere on a page, names the test that follows the page.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MARK = re.compile(
    r"<!-- (?P<kind>not run|slow|exits with)(?: \((?P<word>[^)]+)\))?:? ?(?P<rest>.*?) -->", re.DOTALL
)
FOLLOWED = re.compile(r"<!-- run by (tests/\S+\.py) -->")
COMMANDS = ("gluebench", "pip", "make", "export", "python", ".venv/bin/python", "curl", "unzip", "accelerate")
"""What an indented block of commands may begin with."""
SHOWN = ("text", "tsv", "xml", "yaml", "nginx", "caddy", "diff")
"""Kinds of blocks that hold no code."""
SHELL = re.compile(r"[|<>;&`]|\$\(|^(?:for|if|while|mkdir|awk)\b", re.MULTILINE)


class Block(NamedTuple):
    """One block of a page."""

    page: Path
    line: int
    kind: str
    text: str
    not_run: str
    """Why it is not run, or nothing."""
    word: str
    """A pattern of the commands that `not_run` is about; nothing for all."""
    slow: bool
    status: int
    """Exit status of its last command."""

    @property
    def place(self) -> str:
        """Where the block is."""
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """The page's blocks in order. Raises ValueError for one whose kind nothing tells."""
    from markdown_it import MarkdownIt  # here, so that blocks can be run where it is not installed

    above = ""
    for token in MarkdownIt("commonmark").parse(page.read_text("utf-8")):
        if token.type == "html_block":
            above = token.content
        elif token.type in ("fence", "code_block") and token.map:
            marks = {match["kind"]: match for match in MARK.finditer(above)}
            not_run = marks.get("not run")
            kind = token.info.split()[0] if token.info else "sh" if _commands(token.content) else ""
            if not kind:
                raise ValueError(
                    f"{page.name}:{token.map[0] + 1}: name the kind of this block after its fence"
                )
            yield Block(
                page,
                token.map[0] + 1,
                kind,
                token.content,
                not_run["rest"] if not_run else "",
                (not_run["word"] or "") if not_run else "",
                "slow" in marks,
                int(marks["exits with"]["rest"]) if "exits with" in marks else 0,
            )
            above = ""
        elif token.type in ("paragraph_open", "heading_open", "table_open"):
            above = ""


def lines(text: str) -> list[str]:
    """The commands of a block, each on one line; of a script those of `gluebench` alone."""
    commands = re.sub(r" *\\\n *", " ", text).splitlines()
    if is_script(text):
        return [line for line in commands if line.startswith("gluebench ")]
    return [line for line in commands if words(line)]


def is_script(text: str) -> bool:
    """Whether a block needs a shell: it has a loop, a pipe or a redirection."""
    return SHELL.search(re.sub(r"#.*|'[^']*'|\"[^\"]*\"", "", text)) is not None


def words(line: str) -> list[str]:
    """A command's words, without its comment."""
    return shlex.split(line, comments=True)


def _commands(text: str) -> bool:
    return text.split(maxsplit=1)[0] in COMMANDS
