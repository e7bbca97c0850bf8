"""The optimizer of a run and the course of its learning rate."""

import re
from collections import defaultdict
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR, ReduceLROnPlateau

from gluebench.systems.training.settings import Settings

BODY = "body."
"""How the names of a body's weights begin."""
_LAYER = re.compile(r"\.(\d+)\.")
"""The number of a layer in the name of one of its weights: encoder.layer.11.output.dense.weight."""


def make_optimizer(model: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """Adam with an L2 penalty as in the paper, or AdamW.

    AdamW decays no biases and no scales of normalization (Devlin et al. 2019), and has a lower rate for each
    layer below the heads, by the factor `layer_decay` (Clark et al. 2020, ELECTRA).
    """
    trained = {name: weights for name, weights in model.named_parameters() if weights.requires_grad}
    if settings.optimizer == "adam":
        return torch.optim.Adam(list(trained.values()), settings.learning_rate, weight_decay=settings.l2)
    top = 1 + max((_layer(name) for name in trained if name.startswith(BODY)), default=0)
    groups: dict[tuple[int, float], list[nn.Parameter]] = defaultdict(list)
    for name, weights in trained.items():
        depth = 0
        if settings.layer_decay != 1 and name.startswith(BODY):
            depth = top - _layer(name)
        decay = settings.weight_decay if weights.ndim > 1 else 0.0
        groups[depth, decay].append(weights)
    parts: list[dict[str, Any]] = []
    for (depth, decay), own in groups.items():
        rate = settings.learning_rate * settings.layer_decay**depth
        parts.append({"params": own, "weight_decay": decay, "lr": rate})
    fused = all(weights.device.type in ("cpu", "cuda") for weights in trained.values())
    return torch.optim.AdamW(parts, betas=(0.9, settings.beta2), fused=fused)


def _layer(name: str) -> int:
    """The layer of a weight of the body, counted from 1; 0 for embeddings, which have no number."""
    number = _LAYER.search(name)
    return 1 + int(number.group(1)) if number else 0


def make_schedule(
    optimizer: torch.optim.Optimizer, settings: Settings, *, updates: int
) -> ReduceLROnPlateau | LambdaLR:
    """The schedule of the learning rate, to be called at each check ("plateau") or update ("linear")."""
    if settings.schedule == "linear":
        factor = partial(linear_factor, updates=updates, warm_up=settings.warm_up)
        return LambdaLR(optimizer, factor)
    return decay_schedule(optimizer, settings)


def decay_schedule(optimizer: torch.optim.Optimizer, settings: Settings) -> ReduceLROnPlateau:
    """The learning rate, divided by 5 at a check without improvement (section 5).

    A score that only equals the best is not an improvement.
    """
    return ReduceLROnPlateau(
        optimizer,
        "max",
        factor=settings.decay,
        patience=settings.patience,
        threshold=0.0,
        threshold_mode="abs",
        eps=0.0,
    )


def linear_factor(update: int, *, updates: int, warm_up: float) -> float:
    """Return the factor of the learning rate at an update: a linear rise to 1, then a linear fall to 0.

    `warm_up` is the share of the updates over which it rises, or from 1 on their number.
    """
    rising = max(1, round(warm_up if warm_up >= 1 else warm_up * updates))
    return max(0.0, min((update + 1) / rising, (updates - update) / max(1, updates - rising), 1.0))
