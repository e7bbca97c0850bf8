"""Small samples of what `bench/calibration.py` measures in full, and what its worlds take for truth."""

from __future__ import annotations

import calibration
import forms
import numpy as np
import pytest
from calibration import ALARMS, COVERAGE, FINE, Goal, Options, Tally, bars_of, simulate
from real import needs_real
from worlds import WHOLE, Systems, even, real, recalls, two_tables

WORLDS = 300
NOISE = 4 * (0.05 * 0.95 / WORLDS) ** 0.5
"""Four standard errors of a share of .05 or .95."""
SOME = Options(WORLDS, 199, 3)


@pytest.mark.parametrize(
    "world",
    [
        two_tables("MRPC", recalls(0.7, 0.9), recalls(0.5, 0.95), 2000),
        Systems("AX", 2000, (0.8, 0.6)),
        Systems("WNLI", 600, (0.7, 0.6)),
        Systems("CoLA", 2000, (0.8, 0.7), runs=2),
        forms.of_numbers(2000, ["neg_rmse"], heavy=False),
        forms.of_labels((0.5, 0.3, 0.2), 400, ["group_exact_match"], each=5),
    ],
    ids=["table", "labels", "groups", "runs", "numbers", "grouped"],
)
def test_the_scores_of_worlds_are_their_truth_on_average(world) -> None:
    rng = np.random.default_rng(1)
    found = []
    for _ in range(40):
        systems = world.draw(rng)[WHOLE]
        found.append([[each.value for each in bars_of(world.metrics, pairs)] for pairs in systems])
    error = np.std(found, axis=0).T / 40**0.5
    assert (np.abs(np.mean(found, axis=0).T - world.truth()[WHOLE]) < 5 * error + 1e-3).all()


def test_exchanged_systems_have_equal_scores_and_answer_alike_as_often() -> None:
    world = two_tables("MRPC", recalls(0.7, 0.9), recalls(0.5, 0.95), 1000)
    a, b = world.exchanged(0.5).truth()[WHOLE].T
    assert a == pytest.approx(b)
    assert world.exchanged(1.0).truth()[WHOLE].T[0] == pytest.approx(world.truth()[WHOLE].T[1])
    of_both = np.trace(world.joint, axis1=1, axis2=2)
    assert np.trace(world.exchanged(0.3).joint, axis1=1, axis2=2) == pytest.approx(of_both)


def test_what_misses_its_goal_is_marked() -> None:
    def marks(goal: Goal, **counts: int) -> str:
        return " ".join(mark for *_, mark in Tally(worlds=1000, **counts).cells(goal) if mark)

    assert marks(Goal(significant=ALARMS), significant=50, given=1000, held=950) == ""
    assert marks(Goal(significant=ALARMS), significant=65, given=1000, held=925) == "* *"
    assert marks(Goal(significant=ALARMS), significant=90, given=1000, held=880) == "** **"
    assert marks(Goal(FINE), given=40, held=1) == "", "counts as withheld"
    assert marks(Goal(COVERAGE), given=1000, held=950, apart=1) == "**"
    assert marks(Goal(None, power=True), significant=500, announced=540) == "*"


@pytest.mark.slow
@pytest.mark.parametrize(
    "world",
    [Systems("CoLA", 277, (0.8,)), Systems("AX", 146, (0.75,)), Systems("WNLI", 45, (0.75,)),
     Systems("MRPC", 277, (0.85,))],
    ids=["CoLA", "AX", "WNLI", "MRPC"],
)  # fmt: skip
def test_intervals_hold_the_truth_about_as_often_as_they_say(world) -> None:
    for tally in simulate(world, SOME, 1).values():
        assert tally.given == WORLDS
        assert 0.93 - NOISE < tally.held / WORLDS < 0.97 + NOISE


@pytest.mark.slow
@pytest.mark.parametrize(
    "world",
    [calibration.trade_off(277), calibration.leaning(150), Systems("WNLI", 45, (0.65, 0.65)),
     two_tables("MRPC", even(0.85, 2), even(0.85, 2), 408)],
    ids=["CoLA", "AX", "WNLI", "MRPC"],
)  # fmt: skip
def test_false_alarms_are_as_rare_as_they_say_and_the_interval_agrees(world) -> None:
    for tally in simulate(world, SOME, 2).values():
        assert tally.significant / WORLDS < 0.06 + NOISE
        assert tally.apart == 0
        assert 0.93 - NOISE < tally.held / tally.given <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("make", [forms.of_sets, forms.of_tokens, forms.of_spans, forms.of_rankings])
def test_intervals_and_tests_of_other_forms_keep_their_promise(make) -> None:
    """At 200 examples, all metrics of the form."""
    world = make(200)
    for tally in simulate(world.of_one(), SOME, 5).values():
        assert 0.93 - NOISE < tally.held / tally.given < 0.97 + NOISE
    for tally in simulate(world.alike(), SOME, 6).values():
        assert tally.significant / WORLDS < 0.06 + NOISE
        assert tally.apart == 0


@pytest.mark.slow
def test_power_is_what_was_announced() -> None:
    world = two_tables("CoLA", recalls(0.6, 0.94), recalls(0.4, 0.9), 1063)
    (tally,) = simulate(world, SOME, 4).values()
    assert tally.announced / WORLDS == pytest.approx(
        tally.significant / WORLDS, abs=0.03 + 4 * 0.5 / WORLDS**0.5
    )


@pytest.mark.slow
@needs_real
def test_fine_categories_of_real_answers() -> None:
    """Pooled over the categories, of which hardly any is given in all worlds."""
    worlds = SOME._replace(worlds=60)
    for answers in (real("AX", ("bert4keras",)), real("AX", ("bert4keras",)).one_sided(0)):
        tallies = simulate(answers, worlds, 5)
        fine = [tally for name, tally in tallies.items() if name.startswith("fine")]
        given, held = sum(tally.given for tally in fine), sum(tally.held for tally in fine)
        assert given > 0.4 * 60 * 33
        assert held / given > 0.92
