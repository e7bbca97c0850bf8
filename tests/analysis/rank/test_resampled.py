"""The rules for arrays of resamples give what the pure functions give for each of them."""

from __future__ import annotations

import numpy as np
import pytest

from gluebench.analysis.rank.profile import MISSING, Profile, filled
from gluebench.analysis.rank.resampled import filled_draws, ranks, values
from gluebench.analysis.rank.rules import RULES, standing


def profile_of(scores, weights):
    systems, tasks = scores.shape
    rows = tuple(tuple(None if np.isnan(each) else float(each) for each in row) for row in scores)
    return Profile(tuple(map(str, range(systems))), tuple(map(str, range(tasks))), rows, weights)


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("weighted", [False, True])
def test_each_resample_as_a_profile(rule, missing, weighted):
    rng = np.random.default_rng(len(rule) + 10 * weighted)
    for _ in range(4):
        draws = rng.integers(0, 8, size=(5, 4, 6)).astype(float) / 8
        draws[rng.random((5, 4)) < 0.12] = np.nan
        weights = tuple(map(float, rng.integers(1, 4, 4))) if weighted else None
        whole = filled_draws(draws, missing)
        weigh = np.ones(4) if weights is None else np.array(weights)
        if missing == "shared":
            weigh = weigh[~np.isnan(draws[:, :, 0]).any(axis=0)]
        found = values(rule, whole, weigh) if whole.shape[1] else np.full((5, 6), np.nan)
        for at in range(6):
            expected = standing(filled(profile_of(draws[:, :, at], weights), missing), rule)
            have = ~np.isnan(found[:, at])
            assert [rank is not None for rank in expected.ranks] == have.tolist()
            known = [value for value in expected.values if value is not None]
            sign = -1 if expected.lower_is_better else 1
            assert sign * found[have, at] == pytest.approx(known)
            if not have.any():  # no task that all have
                continue
            assert ranks(found[have, at : at + 1])[:, 0].tolist() == [rank for rank in expected.ranks if rank]
