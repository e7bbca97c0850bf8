"""What a task counts for: its chance of an update, and the weight of its loss."""

from __future__ import annotations

from collections.abc import Mapping

from gluebench.systems.training.sampling import batch_count
from gluebench.systems.training.settings import Settings


def sampling_weights(examples: Mapping[str, int], settings: Settings) -> dict[str, float]:
    """Task to its weight in the draws, from its number of training examples."""
    return _counted(examples, settings.sampling, settings.batch_size)


def loss_scales(examples: Mapping[str, int], settings: Settings) -> dict[str, float]:
    """Task to the factor of its loss: the largest task's batches (or examples) over its own."""
    if settings.scaling == "none":
        return dict.fromkeys(examples, 1.0)
    counts = _counted(examples, settings.scaling, settings.batch_size)
    return {name: max(counts.values()) / count for name, count in counts.items()}


def _counted(examples: Mapping[str, int], kind: str, batch_size: int) -> dict[str, float]:
    if kind == "examples":
        return {name: float(count) for name, count in examples.items()}
    return {name: float(batch_count(count, batch_size)) for name, count in examples.items()}
