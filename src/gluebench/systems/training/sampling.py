"""Sampling of tasks and examples for each update, and scaling of losses.

With N the training examples of a task, or at most `Settings.size_limit` of them, it is drawn in proportion to

- `examples`: N (section 5 of the paper); `batches`: the batches of one pass (the paper's code);
- `temperature`: N to the power of 1 / T (T5: Raffel et al. 2020, section 3.5.2; jiant);
- `square-root`: the root of N, and `annealed`: N to the power of 1 - 0.8 (e - 1) / (E - 1) in period e of E
  (Stickland and Murray 2019, whose periods are epochs of a fixed number of updates; their code
  raises the last epoch's weights to the new power, so that they become uniform sooner). A period here is that
  between two checks, so E is `max_checks`;
- `uniform`: 1.
"""

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence

from gluebench.systems.training.settings import Settings

POOL = 50
"""Batches that are drawn at random together and then sorted by length; of small data a quarter of them, as in
transformers' `group_by_length`, or each pass would have the same batches. That sampler trains the batches of
a pool from the longest to the shortest, so that the length of a text says when it is learned; here they are
shuffled."""


def plan(
    lengths: Sequence[tuple[int, ...]], *, size: int, rng: random.Random, bucketed: bool = True
) -> list[list[int]]:
    """Positions of each batch: shuffled, or (bucketed) like lengths together and the batches shuffled.

    Every batch has `size` positions but one, which has what is left over.
    """
    order = list(range(len(lengths)))
    rng.shuffle(order)
    if not bucketed:
        return _cut(order, size)
    together = max(1, min(len(order) // (4 * size), POOL))
    planned = []
    for pool in _cut(order, together * size):
        planned += _alike(pool, lengths, size=size)
    rng.shuffle(planned)
    return planned


def _alike(pool: list[int], lengths: Sequence[tuple[int, ...]], *, size: int) -> list[list[int]]:
    """Batches of one pool, by the first text's length in strips, and within each by the second's."""
    by_first = sorted(pool, key=lambda position: lengths[position])
    strips = max(1, round((len(pool) / size) ** 0.5)) if len(lengths[pool[0]]) > 1 else 1
    width = size * -(-len(pool) // (size * strips))
    sorted_strips = [
        sorted(strip, key=lambda position: lengths[position][::-1]) for strip in _cut(by_first, width)
    ]
    batches = []
    for strip in sorted_strips:
        batches += _cut(strip, size)
    return batches


def _cut(positions: list[int], size: int) -> list[list[int]]:
    return [positions[start : start + size] for start in range(0, len(positions), size)]


def batch_count(examples: int, batch_size: int) -> int:
    """Batches of one pass, the last one as large as what is left."""
    return -(-examples // batch_size)


ANNEALING = 0.8
"""How much the exponent of annealed sampling falls during a run."""


def sampling_weights(examples: Mapping[str, int], settings: Settings, period: int = 0) -> Mapping[str, float]:
    """Task to its weight in the draws, from its training examples; `period` counts the checks so far."""
    limit = settings.size_limit
    counted = {name: count if limit is None else min(count, limit) for name, count in examples.items()}
    if settings.sampling == "batches":
        return {name: batch_count(count, settings.batch_size) for name, count in counted.items()}
    if settings.sampling == "examples":
        return counted
    if settings.sampling == "annealed":
        periods = max(1, settings.max_checks - 1)
        exponent = 1 - ANNEALING * min(period, periods) / periods
    else:
        exponent = {"square-root": 0.5, "temperature": 1 / settings.temperature, "uniform": 0.0}[
            settings.sampling
        ]
    return {name: count**exponent for name, count in counted.items()}


def loss_scales(examples: Mapping[str, int], settings: Settings) -> dict[str, float]:
    """Task to the factor of its loss: the largest task's batches (or examples) over its own."""
    if settings.scaling == "none":
        return dict.fromkeys(examples, 1.0)
    size = 1 if settings.scaling == "examples" else settings.batch_size
    counts = {name: batch_count(count, size) for name, count in examples.items()}
    return {name: max(counts.values()) / count for name, count in counts.items()}


def run_draws(examples: Mapping[str, int], settings: Settings, *, period: int) -> Iterator[str]:
    """The tasks of a run's updates, without end; `period` is the number of updates between two checks."""
    if settings.sampling != "annealed":
        weights = [sampling_weights(examples, settings)]
        return task_draws(weights, seed=settings.seed, at_once=settings.drawn_at_once)
    weights = [sampling_weights(examples, settings, check) for check in range(settings.max_checks)]
    return task_draws(weights, seed=settings.seed, at_once=period)


def task_draws(weights: Sequence[Mapping[str, float]], *, seed: int, at_once: int = 10_000) -> Iterator[str]:
    """Tasks in proportion to their weights, with replacement, without end.

    The first `at_once` are drawn by the first weights, and so on; the last weights serve for all that follow.
    """
    rng = random.Random(f"{seed}/tasks")
    for block in itertools.count():
        own = weights[min(block, len(weights) - 1)]
        yield from rng.choices(tuple(own), tuple(own.values()), k=at_once)


def batch_draws(
    name: str, lengths: Sequence[tuple[int, ...]], *, size: int, seed: int, bucketed: bool
) -> Iterator[list[int]]:
    """Batches of one task, as positions: every example once in each pass, in a new order each time."""
    rng = random.Random(f"{seed}/batches/{name}")
    while True:
        yield from plan(lengths, size=size, rng=rng, bucketed=bucketed)
