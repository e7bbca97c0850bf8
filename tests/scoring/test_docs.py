"""What the manual says of scores is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gluebench import scoring
from gluebench.benchmark.metrics import BUILT_IN
from gluebench.scoring.intervals import FEWEST_UNITS, TOO_FEW, UNDEFINED
from gluebench.scoring.metrics import ENTRY_POINTS, METRICS
from gluebench.scoring.units.labels import FEWEST_OTHERS
from gluebench.scoring.units.numbers import FEWEST_NUMBERS

MANUAL = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "scoring.md").read_text()
WORDS = {5: "five", 8: "eight", 25: "25"}


def test_the_table_of_metrics_is_the_metrics() -> None:
    section = MANUAL.split("\n## Metrics\n")[1].split("\n## ")[0]
    named = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    assert named == METRICS.keys()
    lowest = {name: metric.lowest for name, metric in METRICS.items()}
    assert lowest == {name: metric.lowest for name, metric in BUILT_IN.items()}, "what a manifest may name"
    positive = {name: 1 if metric.positive else None for name, metric in BUILT_IN.items()}
    columns = [1, 0], [1, 0]
    assert all(scoring.measure(name, *columns, positive=positive[name]) == pytest.approx(1) for name in named)
    assert f'[project.entry-points."{ENTRY_POINTS}"]' in section


def test_the_limits_are_those_of_the_code() -> None:
    section = " ".join(MANUAL.split("\n## Intervals\n")[1].split())
    assert f"fewer than {WORDS[FEWEST_UNITS]} examples" in section
    assert f"fewer than {WORDS[FEWEST_OTHERS]} with a gold label other than the most frequent" in section
    assert f"there are fewer than {WORDS[FEWEST_NUMBERS]};" in section
    assert f'`"{TOO_FEW}"`' in section
    assert f'`"{UNDEFINED}"`' in section
