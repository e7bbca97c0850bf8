"""Predictions of a model for many examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from gluebench.data import Example
from gluebench.systems.neural.body import moved
from gluebench.systems.neural.heads import MultiTaskModel
from gluebench.systems.training.engine import Engine

Outputs = Callable[[str, Any], Tensor]


def texts(examples: Sequence[Example]) -> list[tuple[str, ...]]:
    """The input texts of each example, as a body prepares them."""
    return [tuple(example.inputs.values()) for example in examples]


def predict(
    model: MultiTaskModel, task: str, examples: Sequence[Example], *, batch_size: int = 128
) -> list[str | float]:
    """One prediction for each example, in order; the model must be in evaluation mode."""
    device = next(model.parameters()).device
    prepared = model.body.prepare(texts(examples))
    batches = in_order_of_length(model, prepared, batch_size)
    answers = _answers(
        model, task, prepared, batches, outputs=lambda name, batch: model(name, moved(batch, device))
    )
    return [answers[position] for position in range(len(prepared))]


def predict_together(
    model: MultiTaskModel, task: str, prepared: Sequence[Any], *, batch_size: int, engine: Engine
) -> list[str | float]:
    """The same for prepared items, each process answering its share of the batches."""
    batches = in_order_of_length(model, prepared, batch_size)[engine.rank :: engine.world]
    parts = engine.gathered(_answers(model, task, prepared, batches, outputs=engine.outputs))
    answers = {position: value for part in parts for position, value in part.items()}
    return [answers[position] for position in range(len(prepared))]


def in_order_of_length(model: MultiTaskModel, prepared: Sequence[Any], size: int) -> list[list[int]]:
    """Positions of each batch, like lengths together."""
    lengths = [model.body.lengths(item) for item in prepared]
    order = sorted(range(len(prepared)), key=lengths.__getitem__)
    return [order[start : start + size] for start in range(0, len(order), size)]


def _answers(
    model: MultiTaskModel,
    task: str,
    prepared: Sequence[Any],
    batches: Sequence[Sequence[int]],
    *,
    outputs: Outputs,
) -> dict[int, str | float]:
    by_position: dict[int, str | float] = {}
    with torch.inference_mode():
        for positions in batches:
            batch = model.body.collate([prepared[position] for position in positions])
            answers = model.decode(task, outputs(task, batch).float())
            by_position.update(zip(positions, answers, strict=True))
    return by_position
