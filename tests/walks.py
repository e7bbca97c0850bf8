"""The walks of ARCHITECTURE.md, and what a piece of work calls, to be compared."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

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


def calls(work: Callable[[], Any]) -> list[Step]:
    """The functions of the package that the work calls, in the order of their first calls."""
    first: dict[Step, None] = {}

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            first.setdefault((code.co_filename.removeprefix(PACKAGE), code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(before)
    return list(first)


def expect_walk(title: str, work: Callable[[], Any]) -> None:
    """Compare a walk with what the work calls: the same functions, in the same order."""
    steps = walks()[title]
    in_order = calls(work)
    missing = [step for step in steps if step not in in_order]
    assert not missing, f"not called: {missing}"
    called = [step for step in in_order if step in steps]
    assert called == steps, f"called in the order {called}"
