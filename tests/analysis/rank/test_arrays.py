"""The rules and what becomes of missing scores, in arrays, against plain loops over one board."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gluebench.analysis.rank.arrays import consensus
from gluebench.analysis.rank.rules import LOWER, MISSING, RULES, Profile, fill_missing, rank_by_rule


def plainly_filled(rows, missing):
    """The rows after a rule for missing scores, and which tasks are left."""
    tasks = list(range(len(rows[0])))
    if missing == "shared":
        tasks = [at for at in tasks if all(row[at] is not None for row in rows)]
    if missing == "unranked":
        rows = [[None] * len(row) if None in row else row for row in rows]
    if missing == "lowest":
        lowest = [min((row[at] for row in rows if row[at] is not None), default=None) for at in tasks]
        rows = [
            [low if score is None else score for score, low in zip(row, lowest, strict=True)]
            if any(score is not None for score in row)
            else row
            for row in rows
        ]
    return [[row[at] for at in tasks] for row in rows], tasks


def mean(row, weights):
    both = [(score, weight) for score, weight in zip(row, weights, strict=True) if score is not None]
    total = sum(weight for _, weight in both)
    return sum(score * weight for score, weight in both) / total if total else None


def median(row, weights):
    repeated = [
        score
        for score, weight in zip(row, weights, strict=True)
        for _ in range(int(weight))
        if score is not None
    ]
    return float(np.median(repeated)) if repeated else None


def borda(rows, weights):
    columns = []
    for column in zip(*rows, strict=True):
        known = [score for score in column if score is not None]
        middle = (len(column) + 1) / 2
        stretch = (len(column) - 1) / (len(known) - 1) if len(known) > 1 else 0.0
        places = [
            sum(other > score for other in known) + (sum(other == score for other in known) - 1) / 2
            for score in known
        ]
        spread = iter([1 + place * stretch if len(known) > 1 else middle for place in places])
        columns.append([None if score is None else next(spread) for score in column])
    mean_ranks = [mean(row, weights) for row in zip(*columns, strict=True)]
    return [None if each is None else -each for each in mean_ranks]


def kemeny(rows, weights):
    known = [at for at, row in enumerate(rows) if any(score is not None for score in row)]
    support = [
        [
            sum(
                weight
                for mine, yours, weight in zip(rows[one], rows[other], weights, strict=True)
                if None not in (mine, yours) and mine > yours
            )
            for other in known
        ]
        for one in known
    ]
    places = dict(zip(known, consensus(support).first, strict=True)) if known else {}
    return [-places[at] if at in places else None for at in range(len(rows))]


SCALES = (0.5, 0.25, 0.125, 2.0)


def rank_score(rows, weights, scales):
    distances = []
    for column, scale in zip(zip(*rows, strict=True), scales, strict=True):
        best = max((score for score in column if score is not None), default=None)
        distances.append([None if score is None else -1 - (best - score) / scale for score in column])
    return [mean(row, weights) for row in zip(*distances, strict=True)]


def plainly(rule, rows, weights, scales):
    if not rows[0]:
        return [None] * len(rows)
    if rule == "rank-score":
        return rank_score(rows, weights, scales)
    whole = {"borda": borda, "kemeny": kemeny}
    if rule in whole:
        return whole[rule](rows, weights)
    return [{"mean": mean, "median": median}[rule](row, weights) for row in rows]


@pytest.mark.parametrize("rule", RULES)
def test_each_board_as_plain_loops_have_it(rule):
    for missing in MISSING:
        for weighted in (False, True):
            boards_are_as_plain_loops_have_them(rule, missing, weighted=weighted)


def boards_are_as_plain_loops_have_them(rule, missing, *, weighted):
    rng = np.random.default_rng(len(rule) + 10 * weighted)
    for _ in range(24):
        scores = rng.integers(0, 8, size=(5, 4)).astype(float) / 8
        scores[rng.random((5, 4)) < 0.12] = np.nan
        weights = rng.integers(0, 4, 4) + np.array([1.0, 0.0, 0.0, 0.0]) if weighted else np.ones(4)
        rows = [[None if np.isnan(score) else score for score in row] for row in scores.tolist()]
        expected_rows, tasks = plainly_filled(rows, missing)
        expected = plainly(rule, expected_rows, weights[tasks], np.array(SCALES)[tasks])
        have = [value is not None for value in expected]
        known = [value for value in expected if value is not None]
        names = tuple(map(str, range(5))), tuple(map(str, range(4)))
        profile = Profile(*names, tuple(map(tuple, rows)), tuple(weights), SCALES)
        found = rank_by_rule(fill_missing(profile, missing), rule)
        sign = -1 if rule in LOWER else 1
        assert [rank is not None for rank in found.ranks] == have
        assert [sign * value for value in found.values if value is not None] == pytest.approx(known)
        ranks = [rank for rank in found.ranks if rank is not None]
        assert ranks == stats.rankdata(-np.round(known, 12), method="min").tolist()
