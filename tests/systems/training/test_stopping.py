"""Learning rate and end of a run: PyTorch's scheduler as oracle, the original's table, cases by hand."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gluebench.systems.training.optimizers import decay_schedule
from gluebench.systems.training.progress import (
    no_improvement,
    reason_to_stop,
    single_dip,
)
from gluebench.systems.training.settings import Settings

SCORES = st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5]), max_size=30)


def rates(scores: list[float], settings: Settings) -> list[float]:
    """The learning rate after each check."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=settings.learning_rate)
    schedule = decay_schedule(optimizer, settings)
    after = []
    for score in scores:
        schedule.step(score)
        after.append(optimizer.param_groups[0]["lr"])
    return after


@given(SCORES, st.integers(0, 2))
def test_the_rate_is_divided_by_five_after_more_checks_without_a_better_score_than_tolerated(
    scores: list[float], patience: int
) -> None:
    expected, rate, best, waited = [], 1e-3, -1.0, 0
    for score in scores:
        waited = 0 if score > best else waited + 1
        best = max(best, score)
        if waited > patience:
            rate, waited = rate * 0.2, 0
        expected.append(rate)
    assert rates(scores, Settings(learning_rate=1e-3, patience=patience)) == expected


def test_a_score_that_equals_the_best_is_no_improvement() -> None:
    settings = Settings(learning_rate=1.0)
    assert rates([0.5, 0.5, 0.6, 0.55], settings) == pytest.approx([1.0, 0.2, 0.2, 0.04])


def run(scores: list[float], settings: Settings) -> tuple[int, str | None]:
    """The check that ends the run, and why."""
    for check, rate in enumerate(rates(scores, settings), 1):
        reason = reason_to_stop(scores[:check], rate, settings)
        if reason:
            return check, reason
    return len(scores), None


def with_dips(checks: int, *dips: int) -> list[float]:
    """Scores that rise at every check but these, counted from 1."""
    return [0.0 if check in dips else 0.5 + check / 1000 for check in range(1, checks + 1)]


@pytest.mark.parametrize(
    ("rate", "minimum", "allowed"),
    [(1e-4, 1e-6, 3), (1e-3, 1e-5, 3), (1e-4, 1e-5, 2)],
    ids=["final code", "B.2", "section 5"],
)
@pytest.mark.parametrize("dips", [(2, 3, 4), (2, 9, 20), (5, 6, 30)])
def test_the_rate_ends_a_run_at_its_third_check_without_improvement_in_total(
    rate: float, minimum: float, allowed: int, dips: tuple[int, ...]
) -> None:
    settings = Settings(learning_rate=rate, minimum_learning_rate=minimum, stop_rule="none")
    ended, reason = run(with_dips(40, *dips), settings)
    assert ended == dips[allowed - 1]
    assert reason == f"learning rate below {minimum:g}"


@pytest.mark.parametrize("dip", [6, 7, 8, 20])
def test_the_originals_rule_ends_a_run_at_one_dip_from_the_seventh_check_on(dip: int) -> None:
    settings = Settings(stop_rule="original")
    ended, reason = run(with_dips(30, dip), settings)
    assert (ended, reason is None) == ((30, True) if dip < 7 else (dip, False))


def test_the_originals_rule_lets_a_decline_pass_that_stays_above_older_scores() -> None:
    declining = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.55, 0.54]
    assert not single_dip(declining)
    assert not no_improvement(declining)


def test_the_textbook_rule_counts_checks_since_the_best() -> None:
    patient = Settings(patience=100, stop_rule="textbook")
    assert run([0.1, 0.5, 0.4, 0.4, 0.5, 0.4, 0.3, 0.9], patient) == (7, "5 checks without improvement")
    assert run([0.5, 0.4, 0.4, 0.4, 0.4, 0.6, 0.4, 0.4, 0.4], patient) == (9, None)


@given(SCORES)
def test_the_rules_by_their_words(scores: list[float]) -> None:
    improved = [check for check in range(len(scores)) if all(scores[check] > each for each in scores[:check])]
    assert no_improvement(scores) == (bool(scores) and len(scores) - 1 - improved[-1] >= 5)
    dipped = len(scores) > 6 and all(scores[-1] <= scores[-1 - back] for back in range(1, 6))
    assert single_dip(scores) == dipped


def test_a_run_has_fifty_checks_at_most() -> None:
    assert run(with_dips(60), Settings()) == (50, "50 checks")
