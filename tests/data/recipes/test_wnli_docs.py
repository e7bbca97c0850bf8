"""The worked example of docs/wnli.md, as a reader would follow it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from gluebench.benchmark import load_benchmark
from gluebench.data.recipes import recipe

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "wnli.md").read_text(encoding="utf-8")
EXAMPLE = PAGE[PAGE.index("## In another language") :]


def block(kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", EXAMPLE, re.DOTALL)
    assert found
    return found.group(1)


def test_the_worked_example_gives_the_table_below_it(tmp_path: Path) -> None:
    (tmp_path / "bezug.jsonl").write_text(block("json"), encoding="utf-8")
    (tmp_path / "bezug.toml").write_text(block("toml"), encoding="utf-8")
    words = shlex.split(command())
    given = dict(zip(words[4::2], words[5::2], strict=True))
    wnli = recipe("wnli")
    options = {option.name: option.default for option in wnli.options}
    known = {option.name: option.type for option in wnli.options}
    for name, value in given.items():
        if name not in ("--benchmark", "--from"):
            options[name.removeprefix("--")] = known[name.removeprefix("--")](value)
    task = load_benchmark(tmp_path / "bezug.toml").task("WNLI")
    made = wnli.build(tmp_path, task, options)
    rows = [
        [split, *values]
        for split, columns in made.splits.items()
        for values in zip(columns["text"], columns["aussage"], columns["label"], strict=True)
    ]
    for split, columns in made.splits.items():
        assert len(columns["label"]) == task.splits[split].size
    assert rows == table()


def command() -> str:
    found = re.search(r"```\n(gluebench .*?)```", EXAMPLE, re.DOTALL)
    assert found
    return found.group(1).replace("\\\n", " ")


def table() -> list[list[str]]:
    lines = [line for line in EXAMPLE.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
