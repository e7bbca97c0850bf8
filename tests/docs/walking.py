"""Follow a page of the manual to the letter, so that a test can say whether it works.

- A block of code is a file if the paragraph above it names one in backticks and ends in a colon.
- A `diff` block edits that file: the lines it shows are replaced, and must occur once. `@@` parts edits.
- After "Add to the end of" a block is appended, after blank lines.
- A `sh` block is run; `<!-- not run: REASON -->` above it leaves it out, and with `not run (PATTERN)` the
  commands that match. Every line of the `text` block after it must be among what it printed; decimals may
  differ a little.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from click.testing import CliRunner
from fresh import CONSTRAINTS
from outside import environment

from gluebench.cli import main

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("src", "tests", "docs", "pyproject.toml", "README.md", "CHANGELOG.md", "ARCHITECTURE.md")
BLOCK = re.compile(
    r"(?P<above>(?:^[^\n]+\n)*)\n*^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
FILE = re.compile(r"`([\w./-]+\.\w+)`")
BLANK = {".py": "\n\n", ".toml": "\n"}
"""What parts a block from what it is appended to."""
RUN = ("", "sh", "text")
END = "dd to the end of"
NUMBER = re.compile(r"\d+(?:\.\d+)?")
NOT_RUN = re.compile(r"<!-- not run(?: \(([^)]+)\))?: ")
SIMPLE = re.compile(r"(?:gluebench (?!leaderboard|submit)[^|<>;&`$*\\\n]+\n)+")
"""Commands that need no shell, and no process of their own."""
PIP = """
import sys, tomllib
from pathlib import Path
site, home = Path(sys.argv[1]), Path(sys.argv[3])
project = tomllib.loads((home / "pyproject.toml").read_text())["project"]
info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
info.mkdir(parents=True)
metadata = f"Metadata-Version: 2.1\\nName: {project['name']}\\nVersion: {project['version']}\\n"
(info / "METADATA").write_text(metadata)
groups = project["entry-points"].items()
lines = [f"[{group}]\\n" + "".join(f"{a} = {b}\\n" for a, b in points.items()) for group, points in groups]
(info / "entry_points.txt").write_text("".join(lines))
for module in home.glob("*.py"):
    (site / module.name).write_bytes(module.read_bytes())
"""
"""What `pip install FOLDER` comes to for modules beside a pyproject.toml, without a package index."""


class Block(NamedTuple):
    """A block of a page."""

    kind: str
    text: str
    file: str
    """The file that the line above it names, or nothing."""
    appends: bool
    """Whether it goes to the end of that file."""
    skipped: str | None = None
    """Pattern of the commands that are not run; None if all are."""


def blocks(page: Path) -> list[Block]:
    """The page's blocks in order."""
    found = []
    for match in BLOCK.finditer(page.read_text("utf-8")):
        above = " ".join(match["above"].split())
        files = FILE.findall(above) if above.endswith(":") and match["kind"] not in RUN else []
        not_run = NOT_RUN.search(above)
        skipped = (not_run[1] or "") if not_run else None
        found.append(Block(match["kind"], match["text"], files[-1] if files else "", END in above, skipped))
    return found


class Walk:
    """A walk through a page, which a test may interrupt."""

    def __init__(
        self, page: Path, home: Path, source: Path = ROOT / "src", programs: Path | None = None
    ) -> None:
        """`home` is the folder to work in; `source` has the gluebench to use.

        `programs` is the bin folder of an environment to use instead, with what is installed there.
        """
        installed = os.pathsep.join([str(home.parent / "installed"), str(source)])
        path = os.pathsep.join([str(programs or _programs(home)), os.environ["PATH"]])
        self.variables = {"PATH": path, "PYTHONPATH": installed, "GLUEBENCH_DATA": str(home / ".data")}
        if programs is not None:
            self.variables |= {"PYTHONPATH": "", "PIP_CONSTRAINT": str(CONSTRAINTS)}
        self.replacing: dict[str, str] = {}
        """Texts of the page to others, such as the address of a site."""
        self.printed: list[str] = []
        self._page, self._home = page, home
        self._is_own = source == ROOT / "src" and programs is None
        self._blocks = blocks(page)

    def until(self, command: str) -> None:
        """Do what comes before the first block with that command."""
        while command not in self._blocks[0].text:
            self._do(self._blocks.pop(0))

    def rest(self) -> None:
        """Do all that is left."""
        while self._blocks:
            self._do(self._blocks.pop(0))

    def _do(self, block: Block) -> None:
        text = block.text
        for old, new in self.replacing.items():
            text = text.replace(old, new)
        if block.file:
            edit(self._home / block.file, block)
        elif block.kind == "sh":
            if block.skipped is not None:
                kept = [line for line in text.splitlines() if not re.search(block.skipped, line)]
                text = "".join(f"{line}\n" for line in kept)
            run = _run_here if self._is_own and SIMPLE.fullmatch(text) else _run
            self.printed.append(run(text, self._home, self.variables))
        elif block.kind == "text":
            missing = _missing(text, self.printed[-1])
            assert not missing, f"{self._page.name} shows {missing[0]!r}; printed was:\n{self.printed[-1]}"


def follow(page: Path, home: Path, source: Path = ROOT / "src") -> str:
    """Do all that the page says in the folder `home`; what its commands printed. Fails where one fails."""
    walk = Walk(page, home, source)
    walk.rest()
    return "".join(walk.printed)


def copy_of_the_repository(to: Path) -> Path:
    """What a page for contributors changes."""
    to.mkdir()
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, to / name)
    return to


def files_of(page: Path) -> list[str]:
    """The files that the page writes or edits, each once."""
    return list(dict.fromkeys(block.file for block in blocks(page) if block.file))


def _programs(home: Path) -> Path:
    """A folder with `gluebench`, `python` and `pip` of this environment."""
    folder = home.parent / "bin"
    folder.mkdir(exist_ok=True)
    lines = {
        "gluebench": f'exec "{sys.executable}" -m gluebench "$@"',
        "python": f'exec "{sys.executable}" "$@"',
        "pip": f'exec "{sys.executable}" "{folder}/install.py" "{home.parent}/installed" "$@"',
    }
    (folder / "install.py").write_text(PIP)
    for name, line in lines.items():
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)
    return folder


def edit(file: Path, block: Block) -> None:
    """Write a block's file, or make its edits.

    Fails if a file to write exists, or if lines to replace are not there exactly once.
    """
    if block.kind != "diff":
        assert block.appends or not file.exists(), f"{block.file} exists: writing it would delete what it has"
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_text("utf-8") + BLANK[file.suffix] if block.appends else ""
        file.write_text(before + block.text, "utf-8")
        return
    text = file.read_text("utf-8")
    for part in block.text.split("@@\n"):
        lines = part.splitlines()
        old = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
        new = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
        assert text.count(old) == 1, f"{file.name} has these lines {text.count(old)} times:\n{old}"
        text = text.replace(old, new)
    file.write_text(text, "utf-8")


def _run(commands: str, home: Path, variables: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=home,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}"
    return done.stdout


def _run_here(commands: str, home: Path, variables: dict[str, str]) -> str:
    """Run them in this process, each with the modules that the folder has now."""
    printed = ""
    settings = {name: value for name, value in variables.items() if name.startswith("GLUEBENCH_")}
    for line in commands.splitlines():
        with (
            chdir(home),
            mock.patch.dict(os.environ, settings),
            mock.patch("sys.path", [str(home), *sys.path]),
        ):
            done = CliRunner().invoke(main, shlex.split(line)[1:], prog_name="gluebench")
        printed += done.output
        assert done.exit_code == 0, f"{line}\n{printed}\n{done.exception}"
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(f"{home}/"):
                del sys.modules[name]
    return printed


def _missing(shown: str, printed: str) -> list[str]:
    """The shown lines that were not printed; a line of dots stands for any others."""
    lines = [line for line in printed.splitlines() if line.strip()]
    return [
        line
        for line in shown.splitlines()
        if line.strip() not in ("", "...") and not any(_is_same(line, other) for other in lines)
    ]


def _is_same(shown: str, printed: str) -> bool:
    """Whether two lines have the same words, and nearly the same numbers; a difference in spaces is none."""
    one, other = shown.split(), printed.split()
    if shown.endswith("..."):  # the rest of the line differs each time
        return " ".join(other).startswith(" ".join(one).removesuffix("..."))
    if [NUMBER.sub("#", word) for word in one] != [NUMBER.sub("#", word) for word in other]:
        return False
    numbers: Sequence[tuple[str, str]] = list(
        zip(NUMBER.findall(" ".join(one)), NUMBER.findall(" ".join(other)), strict=True)
    )
    return all(abs(float(a) - float(b)) <= (0.7 if "." in a else 0) for a, b in numbers)
