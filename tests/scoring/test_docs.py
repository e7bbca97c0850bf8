"""What the manual says of scores is so."""

from __future__ import annotations

import re
from math import inf
from pathlib import Path

import pytest

from gluebench import scoring
from gluebench.benchmark.metrics import BUILT_IN, needs
from gluebench.scoring.intervals import FEWEST_UNITS, TOO_FEW, UNDEFINED
from gluebench.scoring.metrics import ENTRY_POINTS, METRICS
from gluebench.scoring.metrics.cells import FEWEST_CALIBRATED
from gluebench.scoring.metrics.sums import FEWEST_NUMBERS
from gluebench.scoring.withholding import FEWEST_OTHERS

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
MANUAL = (REFERENCE / "scoring.md").read_text()
METRICS_PAGE = (REFERENCE / "metrics.md").read_text()
WORDS = {5: "five", 8: "eight", 25: "25"}


PERFECT = {
    "labels": ([1, 0], [1, 0], 1),
    "numbers": ([1.0, 0.0], [1.0, 0.0], 1.0),
    "text": (["a b", "c"], ["a b", "c"], None),
    "sets": ([["x"], ["y"]], [["x"], ["y"]], None),
    "probabilities": (["x", "y"], [[1, 0], [0, 1]], "x"),
    "distributions": ([[1, 0]], [[1, 0]], None),
    "tokens": ([["B-X", "I-X"]], [["B-X", "I-X"]], None),
    "dependencies": ([["2:x", "0:y"]], [["2:x", "0:y"]], None),
    "spans": ([[(0, 3, "1")]], [[(0, 3, "1")]], None),
    "ranking": ([["a"]], [["a", "b"]], 1),
    "relations": ([["<A>a</A> b"]], [["<A>a</A> b"]], "A"),
}
"""Perfect answers of each form: gold, predictions and what `positive` can be."""


def test_the_table_of_metrics_is_the_metrics() -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", METRICS_PAGE, re.MULTILINE)
    assert dict(rows).keys() == METRICS.keys()
    assert len(rows) == len(METRICS)
    assert METRICS.keys() == BUILT_IN.keys()
    for name, limits in rows:
        lowest, highest = METRICS[name].bounds
        text = f"{lowest:g} to {highest:g}" if lowest > -inf else f"up to {highest:g}"
        assert limits == (text.replace("-", "−") if highest < inf else "unbounded"), name
        *columns, positive = PERFECT[BUILT_IN[name].form]
        needed = {"positive": positive, "groups": [0, 1]}
        options = {key: needed[key] for key in ("positive", "groups") if needs(name, key)}
        value = scoring.measure(name, *columns, **options)
        assert value == pytest.approx(highest) or (highest == inf and value > 0), (
            "the best answers have the highest value"
        )


def test_an_entry_point_is_named() -> None:
    assert f'[project.entry-points."{ENTRY_POINTS}"]' in MANUAL


def test_the_limits_are_those_of_the_code() -> None:
    section = " ".join(MANUAL.split("\n## Intervals\n")[1].split())
    assert f"fewer than {WORDS[FEWEST_UNITS]} examples" in section
    assert f"fewer than {WORDS[FEWEST_OTHERS]} with a gold label other than the most frequent" in section
    assert f"there are fewer than {WORDS[FEWEST_NUMBERS]};" in section
    assert f"for `neg_ece`: fewer than {FEWEST_CALIBRATED} examples" in section
    assert f'`"{TOO_FEW}"`' in section
    assert f'`"{UNDEFINED}"`' in section
