"""SentEval's relatedness: scores learnt as shares of the whole scores on either side (Tai et al. 2015)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gluebench.scoring.metrics import pearson
from gluebench.systems.probe.classifier import Probe, kept
from gluebench.systems.probe.features import Features
from gluebench.systems.probe.settings import RelatednessSettings
from gluebench.systems.probe.stopping import rounds_below
from gluebench.systems.probe.training import Schedule, SideBySide, seeded, train

MOST_LEVELS = 11
OTHERWISE = 6
"""Levels of a scale that is not of whole numbers, or is longer than MOST_LEVELS."""


def levels(scale: tuple[float, float]) -> NDArray[np.float64]:
    """The scores that are given shares: the whole numbers of a short scale, else six in equal steps."""
    low, high = scale
    whole = low == int(low) and high == int(high) and 2 <= high - low < MOST_LEVELS
    return np.linspace(low, high, int(high - low) + 1 if whole else OTHERWISE)


def two_hot(scores: Sequence[float], scale: NDArray[np.float64]) -> NDArray[np.float32]:
    """Targets (scores, levels): the nearer a level, the greater its share; beyond one step, none.

    A score on the scale has shares that sum to 1 and average to it. One below the scale keeps only what the
    lowest level has of it: on levels 1 to 5, 0.4 is (0.4, 0, 0, 0, 0), as in the original.
    """
    places = (np.asarray(scores, dtype=np.float64) - scale[0]) / (scale[1] - scale[0])
    distances: NDArray[np.float64] = np.abs(places[:, None] - np.arange(len(scale)))
    return np.maximum(0.0, 1.0 - distances).astype(np.float32)


def expected(outputs: Tensor, scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score that outputs (..., levels) stand for: the mean of the levels under their softmax."""
    shares = outputs.double().softmax(dim=-1).numpy()
    return np.asarray(shares @ scale)


def fit_regression(
    train_features: Features,
    scores: Sequence[float],
    dev_features: Features,
    dev_scores: Sequence[float],
    *,
    scale: NDArray[np.float64],
    settings: RelatednessSettings,
    seed: int,
) -> Probe:
    """Train by Adam without a penalty; Pearson's correlation on the dev split says when to stop."""

    def loss(found: Tensor, targets: Tensor) -> Tensor:
        return ((found[:, 0].softmax(dim=1) - targets) ** 2).mean()

    def score(found: Tensor) -> list[float]:
        return [pearson(dev_scores, expected(found[:, 0], scale).tolist())]

    schedule = Schedule(
        "adam",
        settings.batch_size,
        settings.epoch_size,
        rounds_below(settings.max_epoch, settings.epoch_size),
        settings.tenacity,
        seed,
    )
    with seeded(seed):
        model = SideBySide(train_features.width, len(scale)).to(train_features.device)
        runs = train(
            model,
            (0.0,),
            train_features,
            torch.from_numpy(two_hot(scores, scale)),
            dev=dev_features,
            loss=loss,
            score=score,
            schedule=schedule,
        )
        return kept(runs, classes=len(scale))
