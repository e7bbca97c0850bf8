"""SentEval's classifier: logistic regression or one hidden layer, the L2 penalty chosen on the dev split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from gluebench.systems.probe.features import Features
from gluebench.systems.probe.settings import ProbeSettings
from gluebench.systems.probe.stopping import rounds_through
from gluebench.systems.probe.training import Run, Schedule, SideBySide, outputs, seeded, train


class Probe(NamedTuple):
    """A trained network and how it came about."""

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
        return sum(each.numel() for each in self.model.parameters())


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
    wanted = torch.tensor(dev_codes)

    def loss(found: Tensor, targets: Tensor) -> Tensor:
        each = found.flatten(0, 1), targets.repeat_interleave(found.shape[1])
        whole = functional.cross_entropy(*each, reduction="sum")
        return whole / len(found) if settings.loss == "mean" else whole

    def score(found: Tensor) -> list[float]:
        return (found.argmax(dim=2) == wanted[:, None]).double().mean(dim=0).tolist()

    schedule = Schedule(
        settings.optim,
        settings.batch_size,
        settings.epoch_size,
        rounds_through(settings.max_epoch, settings.epoch_size),
        settings.tenacity,
        settings.seed,
    )
    with seeded(settings.seed):
        model = SideBySide(
            train_features.width,
            classes,
            nhid=settings.nhid,
            dropout=settings.dropout,
            runs=len(settings.penalties),
        ).to(train_features.device)
        runs = train(
            model,
            settings.penalties,
            train_features,
            torch.tensor(codes),
            dev=dev_features,
            loss=loss,
            score=score,
            schedule=schedule,
        )
        return kept(runs, classes=classes, nhid=settings.nhid)


def kept(runs: Sequence[Run], *, classes: int, nhid: int = 0) -> Probe:
    """The best run as a network of its own."""
    chosen = max(range(len(runs)), key=lambda run: runs[run].score)
    state = runs[chosen].state
    model = SideBySide(len(state["weight"]), classes, nhid=nhid).to(state["weight"].device)
    model.load_state_dict(state)
    return Probe(model, tuple(run._replace(state={}) for run in runs), chosen)
