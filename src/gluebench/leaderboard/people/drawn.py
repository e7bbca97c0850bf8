"""What was drawn, from its JSON. Knows no Django: the grader's process reads it too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluebench.analysis.human.sheets import Draw


def draw_of(values: Mapping[str, Any]) -> Draw:
    """The draw whose `as_dict` gave these values."""
    return Draw(
        benchmark=values["benchmark"],
        task=values["task"],
        split=values["split"],
        seed=values["seed"],
        annotators=values["annotators"],
        pairs=tuple((first, second) for first, second in values["pairs"]),
        items=tuple(values["items"]),
    )
