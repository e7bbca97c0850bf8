"""Tests that respect groups: McNemar's by sign flips, Student's t over sums, and design effects."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from gluebench.analysis.audit.run import verdict
from gluebench.analysis.lint.groups import (
    clustered_t_p,
    design_effect,
    sign_flip_p,
    sums_of,
    text_groups,
)
from gluebench.analysis.lint.labels import shift
from gluebench.analysis.lint.shortcuts import lead_over
from gluebench.scoring.inference import mcnemar
from gluebench.scoring.intervals import accuracy_interval


def test_rows_of_one_premise_and_pairs_in_both_directions_are_one_group() -> None:
    premises = [
        ("rain", "wet"),
        ("rain", "dry"),
        ("snow", "wet"),
        ("rain", "cold"),
        ("sun", "a"),
        ("fog", "b"),
    ]
    assert text_groups(premises) == [0, 0, 1, 0, 2, 3]
    assert text_groups([("rate it", text) for text in "abc"]) == [0, 1, 2], "an instruction is no group"
    directions = [("a", "b"), ("b", "a"), ("c", "d"), ("d", "c"), ("e", "b")]
    assert text_groups(directions) == [0, 0, 1, 1, 2], "a second text in common is no group"
    assert text_groups([("once",), ("twice",), ("once",)]) == [0, 1, 0]


def test_flips_of_single_gains_are_mcnemars_test() -> None:
    for won, lost in product(range(0, 30, 3), range(0, 30, 4)):
        assert sign_flip_p([1] * won + [-1] * lost + [0] * 5) == pytest.approx(mcnemar(won, lost), rel=1e-9)
    assert sign_flip_p([1] * 3000 + [-1] * 2700) == pytest.approx(mcnemar(3000, 2700), rel=1e-6)


@pytest.mark.parametrize("sums", [[3, -1, 2], [2, 2, 2], [5, -1, -1, -2, 1], [4, 4, -4, 1]])
def test_flips_are_all_combinations_of_signs(sums: list[int]) -> None:
    totals = [abs(np.dot(signs, sums)) for signs in product((1, -1), repeat=len(sums))]
    observed = abs(sum(sums))
    expected = np.mean([total > observed for total in totals]) + np.mean([t == observed for t in totals]) / 2
    assert sign_flip_p(sums) == pytest.approx(min(1.0, expected) if observed else 1.0)


SIZES = np.random.default_rng(9).integers(1, 6, 150)
GROUPS = np.repeat(np.arange(150), SIZES).tolist()


def clustered(rng, share, groups=GROUPS):
    """Rows that are right with that chance, where rows of a group are alike in half of the cases."""
    common = rng.random(max(groups) + 1) < share
    own = rng.random(len(groups)) < share
    return np.where(rng.random(len(groups)) < 0.5, common[groups], own)


def test_a_system_as_good_as_the_majority_is_seldom_above_it() -> None:
    """Its chance to be right is the true share of the majority, whatever the label: 2.5 % one-sided.

    Wilson's interval against the observed share gave 8 % on independent rows.
    """
    rng = np.random.default_rng(0)
    alarms = {"independent": 0, "groups": 0}
    worlds = 1500
    for _ in range(worlds):
        for name, groups in (("independent", list(range(450))), ("groups", GROUPS)):
            gold = np.where(clustered(rng, 0.6, groups), "yes", "no").tolist()
            hits = clustered(rng, 0.6, groups).tolist()
            usual = max(("yes", "no"), key=gold.count)
            lead = lead_over(usual, hits, gold, groups)
            alarms[name] += (
                verdict(accuracy_interval(hits, groups), chance=0.5, lead=lead) == "above majority"
            )
    assert 0.012 <= alarms["independent"] / worlds <= 0.035
    assert 0.010 <= alarms["groups"] / worlds <= 0.035


def test_a_system_that_is_better_than_the_majority_is_above_it() -> None:
    rng = np.random.default_rng(1)
    gold = np.where(rng.random(450) < 0.6, "yes", "no").tolist()
    hits = (rng.random(450) < 0.75).tolist()
    lead = lead_over("yes", hits, gold, list(range(450)))
    assert verdict(accuracy_interval(hits, None), chance=0.5, lead=lead) == "above majority"


def test_groups_of_copies_are_no_evidence() -> None:
    """Each row four times over: the p-value is that of the rows, not of the copies."""
    gains = [1] * 14 + [-1] * 6
    copies = [gain for gain in gains for _ in range(4)]
    groups = [at // 4 for at in range(80)]
    assert sign_flip_p(sums_of(copies, groups)) == pytest.approx(mcnemar(14, 6))
    assert mcnemar(56, 24) < 0.001
    rng = np.random.default_rng(2)
    products = rng.normal(size=30)
    once = clustered_t_p(products.tolist(), list(range(30)))
    assert clustered_t_p(np.repeat(products, 3).tolist(), [at // 3 for at in range(90)]) == pytest.approx(
        once
    )


def test_equal_shares_of_labels_in_groups_seldom_differ_beyond_chance() -> None:
    """Two samples of one population whose premises have labels in common; 1 % is the level."""
    rng = np.random.default_rng(3)
    worlds, plain, by_group = 2000, 0, 0
    for _ in range(worlds):
        one, other = (clustered(rng, 0.5).astype(int).tolist() for _ in range(2))
        share = (sum(one) + sum(other)) / len(one + other)
        effect = np.mean([design_effect(each, GROUPS, pooled=[1 - share, share]) for each in (one, other)])
        counts = [[each.count(code) for code in (0, 1)] for each in (one, other)]
        plain += shift(*counts).p < 0.01
        by_group += shift(*counts, effect=float(effect)).p < 0.01
    assert plain / worlds > 0.02
    assert 0.004 <= by_group / worlds <= 0.018


def test_independent_rows_have_no_design_effect_and_copies_one_of_their_number() -> None:
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 3, 600).tolist()
    pooled = [labels.count(code) / 600 for code in range(3)]
    assert design_effect(labels, list(range(600)), pooled=pooled) == pytest.approx(1.0, abs=0.01)
    copies = np.repeat(labels, 4).tolist()
    groups = np.repeat(np.arange(600), 4).tolist()
    assert design_effect(copies, groups, pooled=pooled) == pytest.approx(4.0, rel=0.01)
