"""The walks of ARCHITECTURE.md are what the commands do: each names functions in the order of their calls."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from click.testing import CliRunner

from gluebench.cli import main

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = str(ROOT / "src" / "gluebench") + "/"
STEP = re.compile(r"^ *(\S+\.py) ([\w.]+)(?:  .*)?$")
Step = tuple[str, str]


def walks() -> Mapping[str, list[Step]]:
    """The steps of each walk, by its heading."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    by_title = {}
    for title, block in re.findall(r"^### (.+?)\n.*?^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        lines = [STEP.match(line) for line in block.splitlines()]
        by_title[title] = [(match[1], match[2]) for match in lines if match]
        assert all(lines), f"a line of {title} is no step"
    return by_title


def calls(words: Sequence[str]) -> Iterator[Step]:
    """The functions of the package that a command calls, in the order of their first calls."""
    first: dict[Step, None] = {}

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            first.setdefault((code.co_filename.removeprefix(PACKAGE), code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        outcome = CliRunner().invoke(main, words)
    finally:
        sys.setprofile(before)
    assert outcome.exit_code == 0, outcome.output
    return iter(first)


@pytest.fixture(scope="module")
def submissions(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("walks")
    paths = [str(folder / f"{name}.zip") for name in ("majority", "overlap")]
    for path in paths:
        words = ["run", f"system:{Path(path).stem}", "--benchmark", "sample", "--no-dev", "--out", path]
        assert CliRunner().invoke(main, [*words, "--data", str(sample_folder)]).exit_code == 0
    return paths


@pytest.mark.parametrize(
    ("title", "command"),
    [("Grade a submission", ["grade"]), ("Rank many submissions", ["rank"])],
)
def test_a_walk_is_what_the_command_does(
    title: str, command: list[str], submissions: list[str], sample_folder: Path
) -> None:
    steps = walks()[title]
    files = submissions if command[0] == "rank" else submissions[:1]
    gold = ["--benchmark", "sample", "--gold", str(sample_folder / "gold")]
    in_order = list(calls([*command, *files, *gold]))
    missing = [step for step in steps if step not in in_order]
    assert not missing
    assert [step for step in in_order if step in steps] == steps
