"""Results in the formats of the Hugging Face Hub: a model card's model-index, and eval results as YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from gluebench.benchmark import Benchmark
from gluebench.benchmark.figures import interval
from gluebench.scoring.report import Report, Score, places
from gluebench.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import EvalResult


def eval_results(report: Report, benchmark: Benchmark, *, dataset: str = "") -> Iterator[EvalResult]:
    """An entry of model-index for each metric; `dataset` is a repository of the hub, else the benchmark."""
    from huggingface_hub import EvalResult

    for place in places(benchmark):
        score = place.score(report)
        if place.task is None or place.metric is None or score is None or score.value is None:
            continue
        yield EvalResult(
            task_type="text-classification",
            dataset_type=dataset or benchmark.name,
            dataset_name=benchmark.title,
            dataset_config=place.task.name,
            dataset_split=report.split,
            metric_type=place.metric.name,
            metric_name=place.metric.title,
            metric_value=score.value,
            metric_args={"interval_95": [score.low, score.high], "n": score.n},
        )


def model_card(text: str, report: Report, benchmark: Benchmark, *, model: str, dataset: str = "") -> str:
    """The model card with the scores in its model-index; other results in it stay. `text` may be empty.

    Raises ValueError if the card's metadata cannot be read.
    """
    import yaml
    from huggingface_hub import ModelCard, ModelCardData

    try:
        card = ModelCard(text or f"---\n{ModelCardData().to_yaml()}\n---\n")
    except yaml.YAMLError as error:
        raise ValueError(f"the metadata of this model card is not YAML: {error}") from None
    data: Any = card.data
    new = [*eval_results(report, benchmark, dataset=dataset)]
    names = {result.unique_identifier for result in new}
    old = [result for result in data.eval_results or [] if result.unique_identifier not in names]
    data.eval_results = old + new
    data.model_name = data.model_name or model.rpartition("/")[2]
    return str(card)


def _notes(report: Report, score: Score) -> str:
    ends = interval(score.low, score.high, score.loss)
    return "; ".join(
        [f"95 % interval{ends}"] * bool(ends) + [f"{report.split} split", f"gluebench {__version__}"]
    )


def eval_results_yaml(
    report: Report,
    *,
    dataset: str,
    tasks: Mapping[str, str],
    day: date,
    source: str = "",
) -> str:
    """A file for `.eval_results/` of a model's repository: the scores of tasks, times 100, or negated losses.

    `dataset` is the benchmark's repository on the hub, `tasks` a task's name to its identifier there, if
    that differs; `source` the address of the evaluation. The interval is in the notes.
    """
    import yaml
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    entries = [
        EvalResultEntry(
            dataset_id=dataset,
            task_id=tasks.get(name, name),
            value=round(task.score.value * (1 if task.score.loss else 100), 4 if task.score.loss else 2),
            date=day.isoformat(),
            source_url=source or None,
            notes=_notes(report, task.score),
        )
        for name, task in report.tasks.items()
        if task.score is not None and task.score.value is not None
    ]
    return str(yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False))
