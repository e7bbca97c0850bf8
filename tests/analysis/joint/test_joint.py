"""Joint resampling of many systems against resampling rows, scipy, and the single-system machinery."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gluebench.analysis.joint.correlations import JointPearson, JointSpearman
from gluebench.analysis.joint.counted import counted_draws, normal_draws
from gluebench.analysis.joint.units import FREQUENT, drawn_parts, kinds_of
from gluebench.scoring.counts import accuracy_of, f1_of, r_k_of
from gluebench.scoring.draws import unit_weights
from gluebench.scoring.weighted import WeightedPearson, WeightedSpearman


def answered(rng, gold, systems, *, classes, right=0.8):
    wrong = rng.integers(0, classes, size=(systems, len(gold)))
    return np.where(rng.random((systems, len(gold))) < right, gold, wrong).astype(np.uint8)


def by_rows(metric, gold, answers, resamples, rng):
    drawn = [rng.integers(0, len(gold), len(gold)) for _ in range(resamples)]
    return np.array([[metric(gold[rows], each[rows]) for rows in drawn] for each in answers])


def f1_score(gold, one):
    return 2 * np.sum(gold & one) / (gold.sum() + one.sum())


def multiclass_correlation(gold, one):
    """R_K as its definition has it: the correlation of two indicator matrices (Gorodkin 2004, equation 2)."""
    x, y = (np.eye(3)[each] - np.eye(3)[each].mean(axis=0) for each in (gold, one))
    return np.sum(x * y) / np.sqrt(np.sum(x * x) * np.sum(y * y))


FORMULAS = {
    "accuracy": (lambda table: accuracy_of(table, 0), lambda gold, one: np.mean(gold == one), 3),
    "f1": (lambda table: f1_of(table, 1), f1_score, 2),
    "r_k": (lambda table: r_k_of(table, 0), multiclass_correlation, 3),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("draw", [counted_draws, normal_draws])
def test_the_draws_are_those_of_resampled_rows(name, draw):
    """Means, deviations and correlations between systems; some systems nearly alike, as on a board."""
    formula, metric, classes = FORMULAS[name]
    rng = np.random.default_rng(1)
    gold = rng.choice(classes, size=600, p=[0.6, 0.4] if classes == 2 else [0.5, 0.3, 0.2]).astype(np.uint8)
    answers = answered(rng, gold, 4, classes=classes)
    answers[1, 40:] = answers[0, 40:]
    options = {} if draw is normal_draws else {"groups": None}
    (found,) = draw([formula], gold, answers, classes=classes, resamples=4000, rng=rng, **options)
    expected = by_rows(metric, gold, answers, 1000, rng)
    assert found.shape == (4, 4000)
    assert found.mean(axis=1) == pytest.approx(expected.mean(axis=1), abs=0.004)
    assert found.std(axis=1) == pytest.approx(expected.std(axis=1), rel=0.08)
    assert np.corrcoef(found) == pytest.approx(np.corrcoef(expected), abs=0.1)


def test_groups_are_drawn_whole():
    """Each example three times over as a group: the spread is that of a third as many."""
    rng = np.random.default_rng(2)
    gold = rng.integers(0, 2, 200).astype(np.uint8)
    answers = answered(rng, gold, 3, classes=2)
    formula, metric, _ = FORMULAS["f1"]
    (found,) = counted_draws(
        [formula], np.repeat(gold, 3), np.repeat(answers, 3, axis=1), classes=2,
        groups=np.repeat(np.arange(200), 3), resamples=3000, rng=rng,
    )  # fmt: skip
    expected = by_rows(metric, gold, answers, 1000, rng)
    assert found.std(axis=1) == pytest.approx(expected.std(axis=1), rel=0.1)


def test_every_example_comes_up_once_on_average_and_all_as_often_as_there_are():
    rng = np.random.default_rng(3)
    gold = (rng.random(5000) < 0.3).astype(np.uint8)
    answers = answered(rng, gold, 14, classes=2, right=0.7)
    answers[:, :1500] = gold[:1500]
    columns = np.vstack([gold, answers])
    kinds = kinds_of(columns)
    for row, count in zip(kinds.frequent, kinds.counts, strict=True):
        same = (columns == columns[:, [row]]).all(axis=0)
        assert count == same.sum() >= FREQUENT
        assert not same[kinds.rest].any()
    assert kinds.size == 5000
    assert len(kinds.frequent) > 1
    assert len(kinds.rest) > 2048
    parts = list(drawn_parts(kinds, gold, resamples=400, rng=rng))
    assert all(len(set(gold[part.rows])) == 1 for part in parts)
    assert (sum(part.weights.sum(axis=1) for part in parts) == 5000).all()
    rows = np.concatenate([part.rows for part in parts])
    weights = np.concatenate([part.weights for part in parts], axis=1)
    times = dict(zip(kinds.frequent.tolist(), kinds.counts.tolist(), strict=True))
    expected = np.array([times.get(int(row), 1) for row in rows])
    z = (weights.mean(axis=0) - expected) / np.sqrt(expected / 400)
    assert np.abs(z).max() < 5.5
    assert z.std() == pytest.approx(1, abs=0.05)


def test_columns_that_a_hash_cannot_part_are_not_merged(monkeypatch):
    """With one factor for all systems, columns of one sum fall together; they must still be told apart."""
    real = np.random.default_rng

    class Same:
        def integers(self, *_, size, dtype):
            return np.full(size, 1, dtype)

    monkeypatch.setattr("gluebench.analysis.joint.units.np.random.default_rng", lambda *_: Same())
    columns = np.array([[0, 1] * 100, [1, 0] * 100], np.uint8)
    kinds = kinds_of(columns)
    monkeypatch.setattr("gluebench.analysis.joint.units.np.random.default_rng", real)
    assert kinds.size == 200
    for row, count in zip(kinds.frequent, kinds.counts, strict=True):
        assert count == (columns == columns[:, [row]]).all(axis=0).sum()


@pytest.mark.parametrize("ties", [False, True])
def test_correlations_are_those_of_each_system_alone_and_of_scipy(ties):
    rng = np.random.default_rng(5)
    gold = rng.random(60) * 5
    answers = gold + rng.normal(0, 1, (4, 60))
    if ties:
        gold, answers = gold.round(), answers.round()
    answers[2] = 3.3  # constant
    answers[3, ::2] = answers[3, 0]
    weights = unit_weights(60, resamples=30, rng=rng)
    across = weights.T.astype(np.float64)
    rho, r = JointSpearman(gold, answers)(across), JointPearson(gold, answers)(across)
    for at, each in enumerate(answers):
        assert rho[at] == pytest.approx(WeightedSpearman(gold, each)(weights), abs=1e-13)
        assert r[at] == pytest.approx(WeightedPearson(gold, each)(weights), abs=1e-12)
    rows = np.repeat(np.arange(60), weights[7])
    assert rho[0, 7] == pytest.approx(stats.spearmanr(gold[rows], answers[0, rows])[0], abs=1e-12)
    assert (rho[2] == 0).all()
    assert (r[2] == 0).all()
