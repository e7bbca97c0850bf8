"""Numbers rounded to what a test set can tell, against standard errors by hand."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import lgamma, log, sqrt

import numpy as np
import pytest

from gluebench.benchmark import Metric
from gluebench.scoring import Score, grade, read_gold
from gluebench.scoring.feedback import (
    P_LEVELS,
    rounded_p,
    rounded_report,
    rounded_score,
    rounded_value,
    rounding_width,
)
from gluebench.scoring.inference import file_intervals
from gluebench.scoring.metrics import METRICS, CountMetric, function_of, point
from gluebench.scoring.pairs import Pairs
from gluebench.submission import Column
from gluebench.systems import SYSTEMS, run


@pytest.mark.parametrize("n", [40, 146, 1379, 9796])
@pytest.mark.parametrize("lowest", [0.0, -1.0])
def test_a_step_is_two_standard_errors_of_a_proportion_of_that_size(n: int, lowest: float) -> None:
    values = np.linspace(lowest, 1, 5001)
    shown = np.array([rounded_value(value, n, lowest) for value in values])
    assert np.all(np.diff(shown) >= 0), "no order is turned"
    middle = np.unique(shown)[1:-1]
    share = (middle - lowest) / (1 - lowest)
    errors = (1 - lowest) * np.sqrt(share * (1 - share) / n)
    steps = (np.unique(shown)[2:] - np.unique(shown)[:-2]) / 2
    inside = (share > 0.05) & (share < 0.95)
    assert steps[inside] == pytest.approx(2 * errors[inside], rel=0.15)
    assert shown[0] == lowest
    assert shown[-1] == 1.0
    assert (lowest + 1) / 2 in shown, "chance is shown as chance"


def test_an_interval_covers_the_one_that_was_computed() -> None:
    rng = np.random.default_rng(0)
    for _ in range(500):
        n, lowest = int(rng.integers(30, 3000)), float(rng.choice([0.0, -1.0]))
        low, value, high = sorted(rng.uniform(lowest, 1, 3))
        shown = rounded_score(Score(value, low, high, n), lowest)
        assert shown.low <= low + 5e-5
        assert shown.high >= high - 5e-5
        assert shown.value == rounded_value(value, n, lowest)


def test_what_is_withheld_stays_so_and_a_metric_from_elsewhere_has_even_steps() -> None:
    nothing = Score(None, None, None, 5, "too few")
    assert rounded_score(nothing, 0.0) == nothing
    assert rounded_score(Score(0.75, None, None, 4), 0.0).low is None
    assert rounded_value(123.4, 100, float("-inf"), float("inf")) == pytest.approx(123.4, abs=1 / sqrt(100))
    assert rounded_value(123.4, 100, float("-inf"), float("inf")) * sqrt(100) / 2 == pytest.approx(617)


def test_p_values_are_rounded_up_and_tell_no_order_that_is_not_shown() -> None:
    assert [rounded_p(p, 0.1, 0.2) for p in (1e-9, 0.001, 0.002, 0.05, 0.051, 1.0)] == [
        0.001, 0.001, 0.01, 0.05, 1.0, 1.0
    ]  # fmt: skip
    assert rounded_p(1e-9, 0.1, 0.0) == rounded_p(1e-9, 0.1, -0.2) == P_LEVELS[-1]


def test_an_average_keeps_its_interval_where_a_part_has_constant_predictions(sample, sample_folder) -> None:
    """The majority class: CoLA and STS-B are 0 by constant answers, and so is F1 on QQP."""
    gold = read_gold(sample_folder / "gold", sample)
    report = grade(run(SYSTEMS["majority"].make(), sample, sample_folder), gold)
    public = rounded_report(report, sample)
    assert public.score == report.score, "its labels are public"
    assert public.tasks["QQP"].score == report.tasks["QQP"].score
    hidden = sample._replace(tasks=tuple(task._replace(private=True) for task in sample.tasks))
    shown = rounded_report(report, hidden)
    assert report.tasks["QQP"].metrics["f1"].withheld == "constant predictions"
    assert shown.tasks["QQP"].score.low < 0.25 < shown.tasks["QQP"].score.high
    assert shown.tasks["CoLA"].score.low is None
    assert shown.score.low <= report.score.low < report.score.high <= shown.score.high


def bits(values: list[object]) -> float:
    """The entropy of equally likely outcomes."""
    shares = np.array(list(Counter(values).values())) / len(values)
    return float(-(shares * np.log2(shares)).sum())


COUNTED = [name for name, metric in METRICS.items() if isinstance(metric, CountMetric)]


@pytest.mark.parametrize("name", COUNTED)
def test_an_upload_tells_about_one_label_at_most_whatever_the_metric(name: str) -> None:
    """Coins are weighed: each of five uploads calls other rows of eight positive, among 400 known rows.

    All 256 labelings of the eight rows are tried, so what the five scores tell of them is their entropy.
    """
    metric = Metric(name, name, "", "", "yes", ("no", "yes"))
    bounds = function_of(metric).bounds
    rng = np.random.default_rng(0)
    uploads = np.zeros((5, 400), np.uint8)
    for upload in uploads:
        upload[rng.choice(8, 4, replace=False)] = 1
    exact, shown = [], []
    for unknown in product((0, 1), repeat=8):
        labels = np.zeros(400, np.uint8)
        labels[:8], labels[8:14] = unknown, 1
        scores = []
        for upload in uploads:
            columns = [Column(("no", "yes"), codes.tobytes()) for codes in (labels, upload)]
            pairs = Pairs(*columns)
            value = point(metric, pairs)
            (bar,) = file_intervals([metric], pairs, [value])
            scores.append(Score.of(value.value, bar, 400))
        exact.append(tuple(round(score.value, 12) for score in scores))
        shown.append(tuple(rounded_score(score, *bounds).value for score in scores))
        assert all(rounded_score(score, *bounds).widening is None for score in scores)
    assert bits(exact) / 5 > 1.3, "with all digits"
    assert bits(shown) / 5 < 1.05


def test_recalls_of_classes_would_tell_sixteen_times_as_much_as_a_rounded_accuracy() -> None:
    """Random answers to the 9,796 rows of MNLI-m: the figures of docs/explanation/feedback.md.

    Of the third of the rows that are answered by a label, the right ones are binomial; the three numbers are
    independent, since no row is in two of them.
    """
    answered = 9796 // 3
    logs = np.array(
        [lgamma(answered + 1) - lgamma(k + 1) - lgamma(answered - k + 1) for k in range(answered)]
    )
    logs += np.arange(answered) * log(1 / 3) + np.arange(answered, 0, -1) * log(2 / 3)
    shares = np.exp(logs[logs > -50])
    of_classes = -3 * float((shares * np.log2(shares)).sum())
    rights = np.random.default_rng(0).binomial(9796, 1 / 3, 5000)
    of_accuracy = bits([rounded_value(right / 9796, 9796, 0.0) for right in rights])
    assert of_classes == pytest.approx(20.4, abs=0.05)
    assert of_accuracy == pytest.approx(1.25, abs=0.02)
    assert 730 * of_classes == pytest.approx(14_900, abs=50)


def test_a_precision_has_steps_of_the_size_of_its_own_error() -> None:
    """Of 1,000 rows 25 are called positive, 15 of them rightly: sqrt(.6 x .4 / 25) is .098."""
    metric = Metric("precision", "precision", "", "", "yes", ("no", "yes"))
    labels, answers = np.zeros((2, 1000), np.uint8)
    answers[:25], labels[:15], labels[500:700] = 1, 1, 1
    pairs = Pairs(*(Column(("no", "yes"), codes.tobytes()) for codes in (labels, answers)))
    value = point(metric, pairs)
    (bar,) = file_intervals([metric], pairs, [value])
    score = Score.of(value.value, bar, 1000)
    assert score.value == 0.6
    width = rounding_width(score.value, 1000, 0.0, widening=score.widening)
    assert 2 * 0.098 <= width <= 4 * 0.098
    shown = rounded_score(score, 0.0)
    assert shown.low <= score.low < score.high <= shown.high
    assert "widening" not in shown.as_dict()
