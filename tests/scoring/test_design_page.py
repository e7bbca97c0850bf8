"""The example of docs/explanation/metrics.md: a metric as one entry."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scoring.columns import codes, some_labels
from sklearn import metrics as sk  # noqa: TID251 the oracle

from gluebench.benchmark import Metric
from gluebench.scoring.inference import file_intervals
from gluebench.scoring.metrics import METRICS, point
from gluebench.scoring.paired import paired_tests
from gluebench.scoring.units import units_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "metrics.md"


@pytest.fixture
def macro_f1(monkeypatch):
    """The metric that the page's code makes."""
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    names: dict[str, object] = {}
    exec(code, names)
    monkeypatch.setitem(METRICS, "macro_f1", names["MACRO_F1"])
    return Metric("macro_f1", "macro_f1", "macro-F1", "F")


def test_one_entry_gives_value_interval_and_test(macro_f1) -> None:
    systems = some_labels(600, 0.8, 0.7, classes=3)
    gold, predicted = codes(systems[0])
    value = point(macro_f1, systems[0])
    assert value.value == pytest.approx(sk.f1_score(gold, predicted, average="macro"), abs=1e-12)
    bar = file_intervals([macro_f1], systems[0], [value])[0]
    rng, drawn = np.random.default_rng(0), []
    for _ in range(500):
        rows = rng.integers(0, 600, 600)
        drawn.append(sk.f1_score(gold[rows], predicted[rows], average="macro"))
    assert (bar.low, bar.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.008)
    test = paired_tests(units_of([macro_f1], systems), resamples=2000, rng=np.random.default_rng(1))[0]
    other = sk.f1_score(*codes(systems[1]), average="macro")
    assert test.difference == pytest.approx(value.value - other)
    assert test.p == pytest.approx(2 * stats.norm.sf(abs(test.difference) / test.error), abs=0.01)
