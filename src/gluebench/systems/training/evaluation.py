"""Predictions for many examples, and the scores of every task on its whole dev split as on the board."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.scoring.metrics import task_score
from gluebench.systems.devices import arithmetic
from gluebench.systems.neural.model import MultiTaskModel
from gluebench.systems.protocols import Advance
from gluebench.systems.targets import metric_value, metrics_of
from gluebench.systems.training.data import TaskData
from gluebench.systems.training.engine import Engine
from gluebench.systems.training.settings import Settings

Item = TypeVar("Item")


def input_texts(examples: Sequence[Example]) -> list[tuple[str, ...]]:
    """The input texts of each example, as a body prepares them."""
    return [tuple(example.inputs.values()) for example in examples]


def cut_message(task: Task, cut: int, of: int, longest: int, advice: str) -> str:
    """Say how many of a task's training examples lost tokens, and what to do about it."""
    what = "pairs" if len(task.columns) == 2 else "texts"
    percent = 100 * cut / of
    share = f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"
    return (
        f"{share} % of the training {what} of {task.name} ({cut:,} of {of:,}) "
        f"are cut at {longest} tokens; {advice}"
    )


def predict(
    model: MultiTaskModel,
    task: str,
    examples: Sequence[Example],
    *,
    batch_size: int = 128,
    precision: str = "fp32",
) -> list[str | float]:
    """One prediction for each example, in order; the model must be in evaluation mode."""
    engine = Engine(next(model.parameters()).device, precision=precision)
    engine.model = model
    prepared = model.body.prepare(input_texts(examples))
    with arithmetic(precision):
        return predict_together(model, task, prepared, batch_size=batch_size, engine=engine)


def predict_together(
    model: MultiTaskModel, task: str, prepared: Sequence[Any], *, batch_size: int, engine: Engine
) -> list[str | float]:
    """The same for prepared items; each process answers its share of every batch."""

    def compute(items: Sequence[Any]) -> Tensor:
        return engine.outputs(task, model.body.collate(items))

    if not prepared:
        return []
    lengths = [model.body.lengths(item) for item in prepared]
    outputs = compute_together(prepared, lengths, compute, batch_size=batch_size, engine=engine)
    return model.head(task).decode(outputs)


def compute_together(
    items: Sequence[Item],
    lengths: Sequence[Any],
    compute: Callable[[Sequence[Item]], Tensor],
    *,
    batch_size: int,
    engine: Engine,
    advance: Advance | None = None,
) -> Tensor:
    """The outputs of a model for items, in their order: (items, ...), float32, on the CPU.

    Items of similar length are batched together. Each of several processes computes a share of every batch,
    and all return the whole.
    """
    order = sorted(range(len(items)), key=lengths.__getitem__)
    own_positions: list[int] = []
    own_outputs: list[Tensor] = []
    with torch.inference_mode():
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            # of each batch a share, as in training: a row's carried state is then that of one process
            share = batch[engine.rank :: engine.world]
            if share:
                outputs = compute([items[position] for position in share])
                own_outputs.append(outputs.float().cpu())
                own_positions += share
            if advance is not None:
                advance(start + len(batch), len(order))
    all_positions: list[int] = []
    all_outputs: list[Tensor] = []
    for positions, of_process in engine.gather((own_positions, own_outputs)):
        all_positions += positions
        all_outputs += of_process
    return torch.cat(all_outputs)[torch.tensor(all_positions).argsort()]


class TaskScore(NamedTuple):
    """The score and the metrics of one task at one check, as fractions; NaN without dev examples."""

    score: float
    metrics: Mapping[str, float]
    constant: bool = False
    """Whether all predictions are the same."""


def score(
    data: TaskData, predictions: Mapping[str, Sequence[str | float]], validation: str = "manifest"
) -> TaskScore:
    """The task's score from the predictions of each dev split, by `Settings.validation`.

    Data without metrics have accuracy, or Pearson.
    """
    task = data.task
    if not data.dev:
        return TaskScore(math.nan, {})
    if validation == "pooled" or not task.metrics:
        metrics = _score_pooled(data, predictions)
    else:
        metrics = {}
        for metric in task.metrics:
            split = task.file(metric.file).splits["dev"].name
            metrics[metric.name] = metric_value(task, metric, data.dev[split], predictions[split])
    answers = set(chain.from_iterable(predictions.values()))
    return TaskScore(task_score(list(metrics.values())), metrics, constant=len(answers) == 1)


def macro(scores: Mapping[str, TaskScore], data: Mapping[str, TaskData], settings: Settings) -> float:
    """The mean of the task scores, auxiliary tasks only if they count, or stand alone."""
    counted = [own for name, own in scores.items() if settings.count_auxiliary or not data[name].auxiliary]
    values = [own.score for own in counted or scores.values()]
    return sum(values) / len(values)


def _score_pooled(data: TaskData, predictions: Mapping[str, Sequence[str | float]]) -> dict[str, float]:
    """The metrics of all dev splits as one; of a task of scores the first metric alone."""
    task = data.task
    rows: list[Example] = []
    predicted: list[str | float] = []
    for split, values in predictions.items():
        rows += data.dev[split]
        predicted += values
    chosen = metrics_of(task) if task.labels else metrics_of(task)[:1]
    return {metric.function: metric_value(task, metric, rows, predicted) for metric in chosen}
