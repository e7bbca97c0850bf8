"""Findings on label distributions, and on the power of a test set."""

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from gluebench.analysis.compare.words import p_words
from gluebench.analysis.lint.findings import Finding, LintSplit, Severity, finding, percent
from gluebench.analysis.lint.groups import design_effect, text_groups
from gluebench.benchmark import Task
from gluebench.benchmark.figures import counted
from gluebench.scoring.inference import ALPHA, POWER

LEVEL = 0.01
"""A shift is significant below this p-value."""
LARGE = 0.02
"""Difference of shares from which there is a warning: two points."""
PARTS = 5
"""Number of equal parts of a range of scores, whose shares are compared."""
FEWEST_EXPECTED = 5.0
"""Below this expected count, draws replace the chi-squared distribution (Cochran 1954)."""
DRAWS = 10_000


def label_findings(task: Task, splits: Sequence[LintSplit]) -> Iterator[Finding]:
    """Missing labels, and prior shift from the training split to each other labeled split."""
    labeled = [split for split in splits if split.labeled]
    train = next((split for split in labeled if split.role is None), None)
    for split in labeled:
        present = {example.label for example in split.examples}
        severity: Severity = "warning" if split.role is None else "note"
        for word in task.words:
            if word not in present:
                yield finding("missing label", split.name, 0, severity=severity, label=word)
    for split in labeled:
        if train is not None and split.role is not None:
            yield _prior_shift(task, train, split)


def _prior_shift(task: Task, train: LintSplit, split: LintSplit) -> Finding:
    """The finding on the shares of labels in two splits."""
    names, codes = _codes(task, train)
    _, other_codes = _codes(task, split)
    counts = [codes.count(code) for code in range(len(names))]
    others = [other_codes.count(code) for code in range(len(names))]
    effect = _effect([(train, codes), (split, other_codes)], len(names))
    tested = shift(counts, others, effect=effect)
    shares = []
    for name, one, other in zip(names, counts, others, strict=True):
        shares.append(f"{name} {percent(one / sum(counts))} and {percent(other / sum(others))}")
    listed = ", ".join(shares[:4])
    if len(shares) > 4:
        listed += ", ..."
    verdict = "do not differ beyond chance"
    severity: Severity = "note"
    advice = ""
    if tested.p < LEVEL:
        verdict = "differ beyond chance"
        if tested.largest >= LARGE:
            severity = "warning"
            advice = "Draw the splits anew from one pool, or say in the notes that they differ."
    text = f"the shares {verdict}: {listed} (chi-squared {tested.statistic:.2f}, {p_words(tested.p)})"
    where = f"{train.name}, {split.name}"
    return Finding(severity, "prior shift", where, tested.largest, text, advice)


def _codes(task: Task, split: LintSplit) -> tuple[Sequence[str], list[int]]:
    """The names of the labels or, for scores, of the parts of their range, and the code of each row."""
    labels = [example.label for example in split.examples]
    if task.words:
        code_of = {word: code for code, word in enumerate(task.words)}
        return task.words, [code_of[str(label)] for label in labels]
    low, high = task.score_range or (0.0, 1.0)
    step = (high - low) / PARTS
    codes = [min(PARTS - 1, max(0, int((float(label or 0) - low) / step))) for label in labels]
    names = [f"{low + at * step:g} to {low + (at + 1) * step:g}" for at in range(PARTS)]
    return names, codes


def _effect(samples: Sequence[tuple[LintSplit, list[int]]], labels: int) -> float:
    """The design effect of two samples whose rows are in groups; each counts by the other's size."""
    every_code = []
    for _, codes in samples:
        every_code += codes
    pooled = [every_code.count(code) / len(every_code) for code in range(labels)]
    effect = 0.0
    for split, codes in samples:
        own = design_effect(codes, text_groups(split.exact), pooled=pooled)
        effect += (1 - len(codes) / len(every_code)) * own
    return effect


class Shift(NamedTuple):
    """The comparison of two columns of label counts."""

    statistic: float
    """Pearson's chi-squared of the two-row table."""
    p: float
    largest: float
    """The largest difference of a label's shares, as a fraction."""


def shift(one: Sequence[int], other: Sequence[int], *, effect: float = 1.0) -> Shift:
    """Test that two samples of labels have the same shares; counts are in the same order of labels.

    Pearson's chi-squared test of homogeneity, with the statistic divided by the design `effect` of rows in
    groups (Rao and Scott 1981). If an expected count is below 5, the statistic is compared with those of
    10,000 tables drawn with the same margins (seed 0). Raises ValueError for an empty sample.
    """
    table = np.array([one, other], dtype=np.int64)
    table = table[:, table.sum(axis=0) > 0]
    totals = table.sum(axis=1)
    if not totals.all():
        raise ValueError("a sample without labels has no shares to compare")
    labels = table.sum(axis=0)
    expected = np.outer(totals, labels) / totals.sum()
    statistic = float(((table - expected) ** 2 / expected).sum()) / effect
    shares = table / totals[:, None]
    largest = float(abs(shares[0] - shares[1]).max())
    if table.shape[1] == 1:
        return Shift(0.0, 1.0, 0.0)
    if expected.min() >= FEWEST_EXPECTED:
        return Shift(statistic, chi_squared_tail(statistic, table.shape[1] - 1), largest)
    rng = np.random.default_rng(0)
    drawn = rng.multivariate_hypergeometric(labels, int(totals[0]), size=DRAWS, method="marginals")
    # with fixed margins, the second row's deviations are the first's with opposite signs
    deviation = (drawn - expected[0]) ** 2
    statistics = (deviation / expected[0]).sum(axis=1) + (deviation / expected[1]).sum(axis=1)
    extreme = int((statistics >= statistic * (1 - 1e-9)).sum())
    return Shift(statistic, (1 + extreme) / (1 + DRAWS), largest)


def chi_squared_tail(value: float, df: int) -> float:
    """P(X >= value) for chi-squared with `df` degrees of freedom, by adding two at a time (DLMF 8.8.6)."""
    if df < 1:
        raise ValueError(f"degrees of freedom must be positive, not {df}")
    if value <= 0:
        return 1.0
    half = value / 2
    if df % 2:
        tail = math.erfc(math.sqrt(half))  # of one degree of freedom
        start = 0.5
    else:
        tail = math.exp(-half)  # of two
        start = 1.0
    more = 0.0
    for step in range((df - 1) // 2):
        a = start + step
        more += math.exp(a * math.log(half) - half - math.lgamma(a + 1))
    return min(1.0, tail + more)


DISAGREEMENTS = (0.05, 0.1, 0.2)
"""Assumed shares of examples on which exactly one of two systems is right."""
LEVEL_POINT = NormalDist().inv_cdf(1 - ALPHA / 2)
POWER_POINT = NormalDist().inv_cdf(POWER)
"""Normal quantiles of the significance level and of the power."""
POINT = 0.01
COARSE = 0.05
"""Detectable difference above which a test set gets a warning: five points."""


def examples_needed(difference: float, disagreement: float) -> int:
    """Number of test examples to detect a difference in accuracy. All arguments are fractions.

    Raises ValueError unless 0 < difference <= disagreement <= 1, since a difference cannot exceed the
    disagreement.
    """
    if not 0 < difference <= disagreement <= 1:
        raise ValueError(f"expected 0 < difference <= disagreement <= 1, not {difference} and {disagreement}")
    spread = LEVEL_POINT * math.sqrt(disagreement) + POWER_POINT * math.sqrt(disagreement - difference**2)
    return math.ceil((spread / difference) ** 2)


def smallest_difference(examples: int, disagreement: float) -> float | None:
    """The smallest difference in accuracy, as a fraction, that a number of examples can detect.

    None if even a system that is right on all disagreements could not be shown to be better.
    """
    if disagreement == 0:
        return None
    a = LEVEL_POINT * math.sqrt(disagreement)
    b = POWER_POINT * POWER_POINT
    root = a * a * examples - (examples + b) * (a * a - b * disagreement)
    difference = (a * math.sqrt(examples) + math.sqrt(max(0.0, root))) / (examples + b)
    return difference if difference <= disagreement else None


def power_finding(task: Task, split: LintSplit) -> Finding:
    """The differences in accuracy that the test split can detect."""
    count = len(split.examples)
    rows = counted(count, "row")
    if not task.words:
        text = f"{rows}; only labels have a figure, as others depend on how scores vary"
        return Finding("note", "test size", split.name, count, text)
    shares = []
    points = []
    needed = []
    for disagreement in DISAGREEMENTS:
        shares.append(f"{100 * disagreement:g}")
        smallest = smallest_difference(count, disagreement)
        points.append("none" if smallest is None else f"{100 * smallest:.1f}")
        needed.append(f"{examples_needed(POINT, disagreement):,}")
    text = (
        f"{rows} can show {' / '.join(points)} points of accuracy "
        f"where two systems disagree on {' / '.join(shares)} % of them; "
        f"one point needs {' / '.join(needed)} rows (80 % power, 5 % level)"
    )
    usual = smallest_difference(count, DISAGREEMENTS[1])
    if usual is not None and usual <= COARSE:
        return Finding("note", "test size", split.name, count, text)
    advice = "Add test rows, or publish no ranking finer than this."
    return Finding("warning", "test size", split.name, count, text, advice)
