"""Intervals and equivalence from counts of different answers, by exact enumeration of the trinomial law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln

from gluebench.scoring.changes import Changes
from gluebench.scoring.inference import mcnemar

MOST = 80
"""Larger counts of either system have a probability of less than 1e-8 in the worlds of these tests."""


def law(n, a, b):
    """The probability of each pair of counts, shape (counts, counts); `a` and `b` are probabilities."""
    counts = np.arange(min(n, MOST) + 1)
    x, y = np.meshgrid(counts, counts, indexing="ij")
    rest = np.maximum(n - x - y, 0)
    ways = gammaln(n + 1) - gammaln(x + 1) - gammaln(y + 1) - gammaln(rest + 1)
    chances = np.exp(ways + x * np.log(a) + y * np.log(b) + rest * np.log1p(-a - b))
    return np.where(x + y <= n, chances, 0.0)


def agreeing(n):
    """The interval of each pair of counts, made to agree with McNemar's mid-p as `PairedTest` does."""
    size = min(n, MOST) + 1
    low, high = np.zeros((size, size)), np.zeros((size, size))
    for a in range(size):
        for b in range(size):
            low[a, b], high[a, b] = Changes(a, b, n, 1 / n).interval() if a + b <= n else (-1.0, 1.0)
            p = mcnemar(a, b)
            if p > 0.05:
                low[a, b], high[a, b] = min(low[a, b], 0), max(high[a, b], 0)
            elif a > b:
                low[a, b] = max(low[a, b], 1e-9)
            else:
                high[a, b] = min(high[a, b], -1e-9)
    return low, high


EXPECTED = (0.001, *np.arange(0.2, 4, 0.2), *np.arange(4, 14, 0.5), 17.0, 20.0, 25.0)
"""Expected numbers of examples that only A, or only B, has right."""


def lowest_coverage(n, expected):
    low, high = agreeing(n)
    lowest = 1.0
    for a in expected:
        for b in expected:
            if b <= a and a + b < n:
                difference = (a - b) / n
                inside = (low <= difference + 1e-12) & (high >= difference - 1e-12)
                lowest = min(lowest, law(n, a / n, b / n)[inside].sum())
    return lowest


@pytest.mark.parametrize(("n", "least"), [(30, 0.939), (60, 0.94), (100, 0.945), (146, 0.945), (200, 0.945)])
def test_the_interval_of_two_accuracies_covers_at_any_number_of_differences(n: int, least: float) -> None:
    assert lowest_coverage(n, EXPECTED) >= least


def largest_size(n, margin, expected):
    """The largest probability to claim equivalence if the true difference is the margin."""
    size = min(n, MOST) + 1
    claimed = np.zeros((size, size), bool)
    for a in range(size):
        for b in range(size):
            if a + b <= n:
                above, below = Changes(a, b, n, 1 / n), Changes(b, a, n, 1 / n)
                claimed[a, b] = max(above.beyond_p(margin), below.beyond_p(margin)) <= 0.05
    shares = [(margin + of_b / n, of_b / n) for of_b in expected if margin + 2 * of_b / n < 1]
    return max(law(n, *share)[claimed].sum() for share in shares)


@pytest.mark.parametrize("n", [30, 60, 100, 149, 200])
def test_two_systems_a_margin_apart_are_called_the_same_in_one_of_twenty_test_sets(n: int) -> None:
    sizes = []
    for margin in np.linspace(0.01, min(0.2, 25 / n), 24):
        sizes.append(largest_size(n, float(margin), (1e-9, 0.1, 0.3, 1.0, 3.0, 8.0, 20.0)))
    assert 0.02 < max(sizes) <= 0.05


def test_identical_answers_are_the_same_from_as_many_rows_as_it_takes() -> None:
    """Without a difference the chance of no change at all is (1 - margin)^n, which must be below 5 %."""
    enough = next(n for n in range(2, 1000) if Changes(0, 0, n, 1 / n).beyond_p(0.02) <= 0.05)
    assert next(n for n in range(2, 1000) if 0.98**n <= 0.05) == 149
    assert 149 <= enough <= 185


def exact(value):
    return pytest.approx(value, abs=1e-9)


def test_without_its_constants_it_is_tangos_test_and_bonett_and_prices_interval(monkeypatch) -> None:
    """Against their formulas, the most likely share found by search."""
    monkeypatch.setattr("gluebench.scoring.changes.ADDED", 1.0)
    monkeypatch.setattr("gluebench.scoring.changes.CONTINUITY", 0.0)
    a, b, n = 12, 2, 50
    low, high = Changes(a, b, n, 1 / n).interval()
    p, q = (a + 1) / (n + 2), (b + 1) / (n + 2)
    half = stats.norm.ppf(0.975) * np.sqrt((p + q - (p - q) ** 2) / (n + 2))
    assert (low, high) == exact((p - q - half, p - q + half))
    limit = 0.35
    shares = np.linspace(1e-9, (1 - limit) / 2 - 1e-9, 200_001)
    log_likelihood = (
        a * np.log(shares + limit) + b * np.log(shares) + (n - a - b) * np.log1p(-2 * shares - limit)
    )
    best = shares[log_likelihood.argmax()]
    z = (n * limit - (a - b)) / np.sqrt(n * (2 * best + limit * (1 - limit)))
    assert Changes(a, b, n, 1 / n).beyond_p(limit) == pytest.approx(stats.norm.sf(z), rel=1e-4)


COUNTS = st.integers(0, 40)


@given(COUNTS, COUNTS, st.integers(100, 3000), st.floats(0.005, 0.2))
def test_fewer_differences_never_weaken_a_claim_of_equivalence(a, b, n, margin) -> None:
    """Undo a difference that favors the leading system, or one of each: p must not rise."""

    def p(x, y):
        return max(Changes(x, y, n, 1 / n).beyond_p(margin), Changes(y, x, n, 1 / n).beyond_p(margin))

    assert p(0, 0) <= p(a, b) + 1e-12
    if a > b:
        assert p(a - 1, b) <= p(a, b) + 1e-12
    if a and b:
        assert p(a - 1, b - 1) <= p(a, b) + 1e-12


@given(COUNTS, COUNTS, st.integers(100, 3000))
def test_the_interval_holds_the_difference_and_turns_with_the_systems(a, b, n) -> None:
    changes = Changes(a, b, n, 1 / n)
    low, high = changes.interval()
    assert low <= (a - b) / n <= high
    assert high - low > 0
    assert tuple(changes.swapped().interval()) == exact((-high, -low))
