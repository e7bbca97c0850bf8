"""Attacks on a regression task's labels by uploads alone, for `test_digits.py`.

An answer far out of range decides a correlation: it is then that answer's label in standard deviations, over
the root of n. Several answers, each ten thousand times the next, write several labels into one number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

Floats = NDArray[np.float64]
Upload = Callable[[Floats], tuple[float, ...]]
"""Answers to the Pearson and Spearman correlations that the site shows; 0 where it shows none."""

SCALES = 1e4 ** np.arange(0.0, -3, -1)
"""Of the answers of one upload: twelve digits have room for three labels."""
SINGLE = 30
"""Uploads of one answer each, of which the lowest and highest label are taken to be 0 and 5."""
PLAUSIBLE = np.unique([whole / of for of in range(1, 10) for whole in range(5 * of + 1)])
"""Labels that up to nine annotators may agree on."""


class Gain(NamedTuple):
    """What came of an attack."""

    uploads: int
    exact: int
    """Labels known to within a hundredth."""
    points: float
    """The task score, mean of both correlations, of the best answers the attacker can now give."""


def gain(gold: Floats, guessed: Floats, uploads: int) -> Gain:
    """The gain of answers with NaN where nothing was read, which is filled with the mean."""
    known = ~np.isnan(guessed)
    answers = np.where(known, guessed, np.nanmean(guessed) if known.any() else 0.0)
    exact = int(np.sum(np.abs(guessed[known] - gold[known]) < 0.01))
    if np.ptp(answers) == 0:
        return Gain(uploads, exact, 0.0)
    both = np.corrcoef(gold, answers)[0, 1], spearmanr(gold, answers).statistic
    return Gain(uploads, exact, float(50 * sum(both)))


def by_digits(gold: Floats, upload: Upload, *, uploads: int, rng: np.random.Generator) -> Gain:
    """Three labels in the digits of each upload, until none is left or the uploads are used up."""
    order, guessed = rng.permutation(len(gold)), np.full(len(gold), np.nan)
    scores = np.array([_scored(upload, order[[at]], len(gold)) for at in range(SINGLE)])
    spread = np.ptp(scores)
    if spread == 0:
        return gain(gold, guessed, SINGLE)
    guessed[order[:SINGLE]] = _snapped((scores - scores.min()) / spread * 5)
    used, at = SINGLE, SINGLE
    while used < uploads and at < len(gold):
        rows = order[at : at + len(SCALES)]
        rest = _scored(upload, rows, len(gold))
        for row, scale in zip(rows, SCALES, strict=False):
            guessed[row] = _snapped((rest / scale - scores.min()) / spread * 5)
            rest -= scale * (guessed[row] / 5 * spread + scores.min())
        used, at = used + 1, at + len(rows)
    return gain(gold, guessed, used)


def one_by_one(gold: Floats, upload: Upload, *, uploads: int, rng: np.random.Generator) -> Gain:
    """A label from each upload, as near as both correlations tell it."""
    guessed = np.full(len(gold), np.nan)
    for row in rng.permutation(len(gold))[:uploads]:
        answers = np.zeros(len(gold))
        answers[row] = 1e6
        guessed[row] = sum(upload(answers))
    return gain(gold, guessed, min(uploads, len(gold)))


def without_digits(gold: Floats, upload: Upload, *, uploads: int, rng: np.random.Generator) -> Gain:
    """Random answers, and a vote of those above chance against those below (Blum and Hardt 2015)."""
    votes = np.zeros(len(gold))
    for _ in range(uploads):
        answers = rng.uniform(0, 5, len(gold))
        votes += np.sign(sum(upload(answers))) * (answers - 2.5)
    return gain(gold, votes, uploads)


def weighed(gold: Floats, upload: Upload, *, uploads: int, rng: np.random.Generator) -> Gain:
    """Random answers, and the least squares of what the site shows of them."""
    sent = rng.choice([-1.0, 1.0], (uploads, len(gold)))
    shown = np.array([sum(upload(answers)) for answers in sent])
    sent -= sent.mean(axis=1, keepdims=True)
    return gain(
        gold, sent.T @ np.linalg.solve(sent @ sent.T + len(gold) / 3 * np.eye(uploads), shown), uploads
    )


ATTACKS = {"three in the digits": by_digits, "one by one": one_by_one, "least squares": weighed}


def _scored(upload: Upload, rows: NDArray[np.intp], n: int) -> float:
    """The sum of the answers' scales times their labels in standard deviations, up to a factor."""
    answers = np.zeros(n)
    answers[rows] = 1e9 * SCALES[: len(rows)]
    return upload(answers)[0] * float(np.linalg.norm(answers - answers.mean())) / 1e9


def _snapped(labels: Floats | float) -> Floats:
    """To the nearest mean of whole numbers by a few annotators, unless none is near."""
    labels = np.asarray(labels)
    nearest = PLAUSIBLE[np.abs(PLAUSIBLE - labels[..., np.newaxis]).argmin(axis=-1)]
    return np.where(np.abs(nearest - labels) < 1e-3, nearest, labels)
