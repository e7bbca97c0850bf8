"""SentEval's classifier, L2 penalty chosen on the dev split, and its regression (Tai et al. 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from gluebench.scoring.metrics import pearson
from gluebench.systems.probe.settings import ProbeSettings, RelatednessSettings
from gluebench.systems.probe.training import (
    Features,
    Loss,
    Run,
    Schedule,
    Score,
    SideBySide,
    outputs,
    rounds_below,
    rounds_through,
    seeded,
    train,
)


class Probe(NamedTuple):
    """A trained network and the runs that it was chosen from."""

    model: SideBySide
    """With one run."""
    runs: tuple[Run, ...]
    """One for each penalty, without their states."""
    chosen: int
    """Place of the run that is kept: the best on dev, the first of those that tie."""

    def outputs(self, features: Features) -> Tensor:
        """Outputs (examples, classes)."""
        return outputs(self.model, features)[:, 0]

    def parameters(self) -> int:
        """Number of weights."""
        return sum(tensor.numel() for tensor in self.model.parameters())


def fit_classifier(
    train_features: Features,
    codes: Sequence[int],
    dev_features: Features,
    dev_codes: Sequence[int],
    *,
    classes: int,
    settings: ProbeSettings,
) -> Probe:
    """Train with each penalty and keep the best on dev; on one machine, equal seeds give equal results."""
    dev_targets = torch.tensor(dev_codes)

    def loss(logits: Tensor, targets: Tensor) -> Tensor:
        flat = logits.flatten(0, 1), targets.repeat_interleave(logits.shape[1])
        whole = functional.cross_entropy(*flat, reduction="sum")
        return whole / len(logits) if settings.loss == "mean" else whole

    def score(logits: Tensor) -> list[float]:
        return (logits.argmax(dim=2) == dev_targets[:, None]).double().mean(dim=0).tolist()

    schedule = Schedule(
        settings.optim,
        settings.batch_size,
        settings.epoch_size,
        rounds_through(settings.max_epoch, settings.epoch_size),
        settings.tenacity,
        settings.seed,
    )
    return _fitted(
        train_features,
        torch.tensor(codes),
        dev_features,
        classes=classes,
        penalties=settings.penalties,
        loss=loss,
        score=score,
        schedule=schedule,
        nhid=settings.nhid,
        dropout=settings.dropout,
    )


def _fitted(
    examples: Features,
    targets: Tensor,
    dev: Features,
    *,
    classes: int,
    penalties: Sequence[float],
    loss: Loss,
    score: Score,
    schedule: Schedule,
    nhid: int = 0,
    dropout: float = 0.0,
) -> Probe:
    """Train with each penalty from one seed; the best run on dev as a network of its own."""
    with seeded(schedule.seed):
        model = SideBySide(examples.width, classes, nhid=nhid, dropout=dropout, runs=len(penalties))
        runs = train(
            model.to(examples.device),
            penalties,
            examples,
            targets,
            dev=dev,
            loss=loss,
            score=score,
            schedule=schedule,
        )
        chosen = max(range(len(runs)), key=lambda run: runs[run].score)
        state = runs[chosen].state
        best = SideBySide(len(state["weight"]), classes, nhid=nhid).to(state["weight"].device)
        best.load_state_dict(state)
        return Probe(best, tuple(run._replace(state={}) for run in runs), chosen)


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

    def loss(logits: Tensor, targets: Tensor) -> Tensor:
        return ((logits[:, 0].softmax(dim=1) - targets) ** 2).mean()

    def score(logits: Tensor) -> list[float]:
        return [pearson(dev_scores, expected(logits[:, 0], scale).tolist())]

    schedule = Schedule(
        "adam",
        settings.batch_size,
        settings.epoch_size,
        rounds_below(settings.max_epoch, settings.epoch_size),
        settings.tenacity,
        seed,
    )
    return _fitted(
        train_features,
        torch.from_numpy(two_hot(scores, scale)),
        dev_features,
        classes=len(scale),
        penalties=(0.0,),
        loss=loss,
        score=score,
        schedule=schedule,
    )
