"""Joint resamples of many systems: multinomial weights, and metrics as scikit-learn and scipy have them."""

from __future__ import annotations

from importlib import metadata
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from scoring.columns import (
    ACCURACY,
    F1,
    MCC,
    PEARSON,
    R_K,
    SPEARMAN,
    codes,
    labels,
    numbers,
    some_labels,
    some_numbers,
)
from sklearn import metrics as sk  # noqa: TID251

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.numbers import pearson_of
from gluebench.scoring.metrics.weighted import JointPearson, JointSpearman
from gluebench.scoring.units import drawn, units_of
from gluebench.scoring.units.drawn import PoissonTable, uniform_weights

RNG = np.random.default_rng
ORACLES = {
    "accuracy": sk.accuracy_score,
    "f1": lambda gold, predicted: sk.f1_score(gold, predicted, pos_label=1),
    "matthews_correlation": sk.matthews_corrcoef,
    "r_k": sk.matthews_corrcoef,
    "pearson": lambda gold, predicted: stats.pearsonr(gold, predicted)[0],
    "spearman": lambda gold, predicted: stats.spearmanr(gold, predicted)[0],
}


def poisson_of_bytes(table: PoissonTable) -> np.ndarray:
    """The chances of all counts as the table makes them: a byte's count, unless it is replaced."""
    first = np.bincount(np.searchsorted(table.edges, np.arange(256), side="right"), minlength=40) / 256
    rest = np.diff(table.rest, prepend=0, append=1) if len(table.rest) else np.zeros(40)
    keep = np.exp(-table.replaced)
    return keep * first + (1 - keep) * rest


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9, 0.94587, 0.97, 0.999])
def test_counts_have_poissons_chances(rate):
    """By the table itself, exactly; and 400,000 counts by a chi-square test."""
    table = PoissonTable(rate)
    assert poisson_of_bytes(table) == pytest.approx(stats.poisson.pmf(np.arange(40), rate), abs=1e-15)
    counts = np.bincount(table.draw(400_000, RNG(0)), minlength=7)[:7]
    expected = 400_000 * stats.poisson.pmf(np.arange(7), rate)
    expected[-1] = counts.sum() - expected[:-1].sum()
    large = expected > 5
    assert (
        stats.chisquare(counts[large], expected[large] * counts[large].sum() / expected[large].sum()).pvalue
        > 0.001
    )


@pytest.mark.parametrize(("size", "total"), [(1, 3), (3, 4), (4, 2), (9, 9), (40, 31), (40, 60), (700, 700)])
def test_weights_are_multinomial(size, total):
    """Totals, means and covariances; for few cells the chance of every outcome."""
    weights = np.concatenate(
        [block.copy() for block in uniform_weights(size, np.full(20_000, total), RNG(size))]
    )
    assert (weights.sum(axis=1) == total).all()
    assert (weights >= 0).all()
    assert (weights == weights.astype(int)).all()
    share, n = 1 / size, len(weights)
    deviation = np.sqrt(max(total * share * (1 - share), 1e-12) / n)
    assert np.abs(weights.mean(axis=0) - total * share).max() < 5 * deviation
    if 1 < size < 50:
        covariance = np.cov(weights.T)
        expected = total * (np.eye(size) * share - share**2)
        assert np.abs(covariance - expected).max() < 6 * max(total * share, 1) / np.sqrt(n)
    if size in (3, 4):
        outcomes, counts = np.unique(weights, axis=0, return_counts=True)
        chances = stats.multinomial.pmf(outcomes, total, [share] * size)
        assert chances.sum() == pytest.approx(1)
        assert stats.chisquare(counts, chances * n).pvalue > 0.001


def test_weights_are_multinomial_for_totals_below_what_poisson_gives():
    """Totals of two thirds of the size: nearly every row has draws to lose, and stays multinomial."""
    weights = np.concatenate([block.copy() for block in uniform_weights(100, np.full(8000, 66), RNG(1))])
    assert (weights.sum(axis=1) == 66).all()
    counts = np.bincount(weights.astype(int).ravel(), minlength=8)
    expected = weights.size * stats.binom.pmf(np.arange(len(counts)), 66, 0.01)
    assert np.abs(counts - expected)[:6].max() < 5 * np.sqrt(weights.size * 0.25)
    assert np.corrcoef(weights[:, 0], weights[:, 1])[0, 1] == pytest.approx(-1 / 99, abs=0.04)


def test_all_examples_come_up_as_often_as_there_are_and_each_once_on_average():
    """Frequent kinds, parts of both gold labels, and the rest, against the counts of every kind."""
    rng = RNG(3)
    gold = (rng.random(9000) < 0.3).astype(np.uint8)
    answers = np.where(rng.random((14, 9000)) < 0.7, gold, 1 - gold)
    answers[:, :2500] = gold[:2500]
    columns = np.ascontiguousarray(np.vstack([gold, answers]).T.astype(np.uint8))
    kinds = drawn._kinds(columns)
    for row, count in zip(kinds.frequent, kinds.counts, strict=True):
        same = (columns == columns[row]).all(axis=1)
        assert count == same.sum() >= drawn.FREQUENT
        assert not same[kinds.rest].any()
    assert kinds.counts.sum() + len(kinds.rest) == 9000
    assert len(kinds.frequent) > 1
    assert len(kinds.rest) > drawn.PART
    rows, weights, whole = [], [], 0
    for part in drawn._parts(kinds, gold, resamples=400, rng=rng):
        assert len(set(gold[part.rows])) == 1
        rows.append(part.rows)
        weights.append(np.concatenate([block.copy() for block in part.weights]))
        assert (weights[-1].sum(axis=1) == part.totals).all()
        whole = whole + part.totals
    assert (whole == 9000).all()
    times = dict(zip(kinds.frequent.tolist(), kinds.counts.tolist(), strict=True))
    expected = np.array([times.get(int(row), 1) for row in np.concatenate(rows)])
    z = (np.concatenate(weights, axis=1).mean(axis=0) - expected) / np.sqrt(expected / 400)
    assert np.abs(z).max() < 5.5
    assert z.std() == pytest.approx(1, abs=0.05)


def test_columns_of_one_hash_are_not_merged(monkeypatch):
    """With factors of 1, the words (0, 1) and (1, 0) have one key; they stay of two kinds."""

    class Same:
        def integers(self, *_, size, dtype):
            return np.full(size, 1, dtype)

    columns = np.zeros((200, 9), np.uint8)
    columns[::2, 0] = columns[1::2, 8] = 1
    monkeypatch.setattr("gluebench.scoring.units.drawn.np.random.default_rng", lambda *_: Same())
    kinds = drawn._kinds(columns)
    assert kinds.counts.sum() + len(kinds.rest) == 200
    assert kinds.counts.tolist() == [100]
    assert len(set(columns[kinds.rest, 0])) == 1


def recorded(monkeypatch, metrics, systems, *, resamples=30):
    """The draws, and the weights of all examples that they rest on."""
    weights = np.zeros((resamples, len(systems[0])))
    parts = drawn._parts, drawn._grouped_parts

    def recording(make):
        def parts_of(*arguments, **options):
            for part in make(*arguments, **options):
                blocks = [block.copy() for block in part.weights]
                weights[:, part.rows] += np.concatenate(blocks)
                yield part._replace(weights=iter(blocks))

        return parts_of

    monkeypatch.setattr(drawn, "_parts", recording(parts[0]))
    monkeypatch.setattr(drawn, "_grouped_parts", recording(parts[1]))
    return units_of(metrics, systems).bootstrap(resamples, RNG(5)), weights.astype(int)


@pytest.mark.parametrize("groups", [None, np.arange(90) // 3])
@pytest.mark.parametrize("packed", [1 << 12, 1])
@pytest.mark.parametrize("metrics", [[ACCURACY], [ACCURACY, F1], [MCC], [R_K]])
def test_label_metrics_of_each_resample_are_scikit_learns(monkeypatch, metrics, packed, groups):
    """From the weights that were drawn, rows repeated as often; two columns in one number, and one in one."""
    classes = 3 if R_K in metrics else 2
    systems = some_labels(90, 0.7, 0.8, 0.75, 0.9, classes=classes, groups=groups)
    monkeypatch.setattr(drawn, "PACKED", packed)
    monkeypatch.setattr(drawn, "FREQUENT", 91)  # each example stands for itself
    values, weights = recorded(monkeypatch, metrics, systems, resamples=8)
    assert (weights.sum(axis=1) == 90).all()
    for at, metric in enumerate(metrics):
        for system, pairs in enumerate(systems):
            for resample in range(8):
                gold, predicted = (np.repeat(column, weights[resample]) for column in codes(pairs))
                expected = ORACLES[metric.function](gold, predicted)
                assert values[at, system, resample] == pytest.approx(expected, abs=1e-12)


def by_numpy(metric, gold, predicted):
    """The metrics in a line of numpy; R_K is the correlation of indicators (Gorodkin 2004, equation 2)."""
    if metric is ACCURACY:
        return np.mean(gold == predicted)
    if metric is F1:
        return 2 * np.sum(gold & predicted) / (gold.sum() + predicted.sum())
    if metric is SPEARMAN:
        gold, predicted = stats.rankdata(gold), stats.rankdata(predicted)
    if metric is R_K:
        gold, predicted = np.eye(3)[gold], np.eye(3)[predicted]
    x, y = gold - gold.mean(axis=0), predicted - predicted.mean(axis=0)
    return np.sum(x * y) / np.sqrt(np.sum(x * x) * np.sum(y * y))


@pytest.mark.parametrize("metrics", [[ACCURACY, F1], [R_K], [PEARSON, SPEARMAN]])
@pytest.mark.parametrize("groups", [None, np.arange(400) // 4])
def test_the_draws_have_the_spread_of_resampled_rows(metrics, groups):
    """Means, deviations and correlations between systems against drawing rows, or groups, in a loop."""
    if PEARSON in metrics:
        systems = some_numbers(400, 1.0, 1.2, 1.4, groups=groups)
    else:
        systems = some_labels(400, 0.7, 0.75, 0.8, classes=3 if R_K in metrics else 2, groups=groups)
    values = units_of(metrics, systems).bootstrap(3000, RNG(0))
    rng, members = RNG(1), np.arange(400).reshape(-1, 1 if groups is None else 4)
    for at, metric in enumerate(metrics):
        loop = []
        for _ in range(700):
            rows = members[rng.integers(0, len(members), len(members))].ravel()
            loop.append([by_numpy(metric, *(column[rows] for column in codes(pairs))) for pairs in systems])
        expected = np.array(loop).T
        assert values[at].mean(axis=1) == pytest.approx(expected.mean(axis=1), abs=0.006)
        assert values[at].std(axis=1) == pytest.approx(expected.std(axis=1), rel=0.1)
        assert np.corrcoef(values[at]) == pytest.approx(np.corrcoef(expected), abs=0.12)


@pytest.mark.parametrize("ties", ["none", "some", "many"])
def test_correlations_of_each_resample_are_scipys(ties):
    rng = RNG(5)
    gold = rng.random(60) * 5
    answers = gold + rng.normal(0, 1, (5, 60))
    if ties != "none":
        gold, answers = gold.round(ties == "some"), answers.round(ties == "some")
    answers[2] = 3.3  # constant
    answers[3, ::2] = answers[3, 0]
    weights = rng.multinomial(60, [1 / 60] * 60, size=25).T.astype(float)
    columns = [gold.tolist(), [row.tolist() for row in answers]]
    for joint, oracle in ((JointSpearman, "spearman"), (JointPearson, "pearson")):
        values = joint(*columns)(weights)
        assert (values[2] == 0).all()
        for at in (0, 1, 3, 4):
            for resample in range(25):
                rows = np.repeat(np.arange(60), weights[:, resample].astype(int))
                expected = ORACLES[oracle](gold[rows], answers[at, rows])
                assert values[at, resample] == pytest.approx(expected, abs=1e-12)


def test_ranks_of_many_examples_are_summed_in_wider_integers(monkeypatch):
    systems = some_numbers(300, 1.0, 2.0, decimals=1)
    arguments = systems[0].gold.numbers, [pairs.predicted.numbers for pairs in systems]
    weights = RNG(0).multinomial(300, [1 / 300] * 300, size=20).T.astype(float)
    narrow = JointSpearman(*arguments)(weights)
    monkeypatch.setattr("gluebench.scoring.metrics.weighted.WRAPS", 0)
    assert (JointSpearman(*arguments)(weights) == narrow).all()


def test_the_largest_sum_of_ranks_fits_the_narrow_integers():
    """Answers in the order of gold at the limit: the correlation is 1 although sums pass 2**31 on the way."""
    values = np.arange(1860.0)
    weights = RNG(0).multinomial(1860, [1 / 1860] * 1860, size=8).T.astype(float)
    rho = JointSpearman(values.tolist(), [values.tolist(), values[::-1].tolist()])(weights)
    assert rho == pytest.approx(np.array([[1.0] * 8, [-1.0] * 8]), abs=1e-15)


def test_a_resample_agrees_with_the_point_far_from_zero():
    """Scores of a billion and a little: centered before they are multiplied."""
    rng = RNG(2)
    gold, answers = 1e9 + rng.random(50), 1e9 + rng.random(50)
    values = JointPearson(gold.tolist(), [answers.tolist()])(np.ones((50, 1)))
    assert values[0, 0] == pytest.approx(pearson_of(gold.tolist(), answers.tolist()), abs=1e-14)


@pytest.mark.parametrize("metric", [ACCURACY, F1, R_K, SPEARMAN, Metric("loud", "loud", "loud", "F")])
def test_neither_order_nor_a_twin_changes_a_number(monkeypatch, metric):
    if metric.name == "loud":
        entry = SimpleNamespace(load=lambda: lambda gold, predicted: float(np.mean(gold == predicted)))
        offered = type("Offered", (dict,), {"names": property(list)})(loud=entry)
        monkeypatch.setattr(
            metadata, "entry_points", lambda group: {"gluebench.metrics": offered}.get(group, ())
        )
    if metric is SPEARMAN:
        systems = some_numbers(80, 1.0, 2.0, 3.0)
    else:
        systems = some_labels(80, 0.7, 0.8, 0.9, classes=3 if metric is R_K else 2)
    a, b, c = systems
    one = units_of([metric], [a, b, c]).bootstrap(60, RNG(0))
    other = units_of([metric], [c, a, b, a]).bootstrap(60, RNG(0))
    assert (other[:, [1, 2, 0]] == one).all()
    assert (other[:, 3] == one[:, 0]).all()
    assert not (units_of([metric], [a, b, c]).bootstrap(60, RNG(1)) == one).all()


def test_one_part_and_many_make_the_same_distribution(monkeypatch):
    """Accuracies of systems that share most answers, with parts of 50 examples and with one part."""
    rng = RNG(4)
    gold = rng.integers(0, 2, 1500)
    shared = np.where(rng.random(1500) < 0.8, gold, 1 - gold)
    answers = [np.where(rng.random(1500) < 0.9, shared, 1 - shared) for _ in range(12)]
    systems = labels(gold, *answers)
    whole = units_of([MCC], systems).bootstrap(4000, RNG(0))[0]
    monkeypatch.setattr(drawn, "PART", 50)
    cut = units_of([MCC], systems).bootstrap(4000, RNG(1))[0]
    assert cut.mean(axis=1) == pytest.approx(whole.mean(axis=1), abs=0.002)
    assert cut.std(axis=1) == pytest.approx(whole.std(axis=1), rel=0.06)
    assert np.corrcoef(cut) == pytest.approx(np.corrcoef(whole), abs=0.06)


def test_numbers_may_be_all_the_same():
    systems = numbers([1.0] * 30, list(range(30)), [2.0] * 30)
    assert (units_of([PEARSON, SPEARMAN], systems).bootstrap(10, RNG(0)) == 0).all()
