"""Results in the formats of other sites.

Every Eval Ever 0.3.0: an aggregate record, and a record for each answer. The Hugging Face Hub: the
model-index of a model card, and eval results as YAML.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from hashlib import sha256
from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from gluebench.benchmark import Benchmark
from gluebench.benchmark.atomic import write_json, write_text
from gluebench.benchmark.figures import DOWN, interval
from gluebench.scoring.gold import Gold
from gluebench.scoring.grade import pairs_of
from gluebench.scoring.metrics import function_of
from gluebench.scoring.report import Place, Report, Score, places
from gluebench.submission.submission import Submission
from gluebench.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

SCHEMA_VERSION = "0.3.0"
MODEL_ID = r"\w[\w.+-]*/\w[\w.+-]*"
"""Pattern of a model's identifier, developer/model; each part names a folder."""
METHOD = "closed form; the parts of an average are independent"


class Evaluated(NamedTuple):
    """What a report does not say of an evaluation."""

    model: str
    """The model's identifier, "developer/model"."""
    organization: str
    """Who evaluated it."""
    relationship: str
    """Of the organization to the model: first_party, third_party, collaborative or other."""
    name: str = ""
    """The model's name, by default from its identifier."""
    source: str = ""
    """Name of the leaderboard or platform."""
    url: str = ""
    """Its page of these results."""
    deployment: str = "unknown"
    availability: str = "unknown"


def aggregate(report: Report, benchmark: Benchmark, about: Evaluated, *, at: float) -> dict[str, Any]:
    """The aggregate record: every score with its interval; `at` is when, in seconds since 1970.

    Raises ValueError for an identifier that is not "developer/model".
    """
    if not re.fullmatch(MODEL_ID, about.model):
        raise ValueError(f'the model is "{about.model}"; expected developer/model')
    developer, _, model = about.model.partition("/")
    source = {
        "source_name": about.source,
        "source_type": "evaluation_run",
        "source_organization_name": about.organization,
        "evaluator_relationship": about.relationship,
        "additional_details": {"url": about.url} if about.url else None,
    }
    results = []
    for place in places(benchmark):
        score = place.score(report)
        if score is not None and score.value is not None:
            results.append(_result(place, score, benchmark))
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{benchmark.name}/{about.model}/{int(at)}",
        "retrieved_timestamp": str(int(at)),
        "source_metadata": {key: value for key, value in source.items() if value},
        "eval_library": {
            "name": report.provenance["package"],
            "version": report.provenance["version"],
            "additional_details": {
                "benchmark": json.dumps(report.provenance["benchmark"]),
                "labels": report.provenance["labels"] or "",
                "split": report.split,
            },
        },
        "model_info": {
            "name": about.name or model,
            "id": about.model,
            "developer": developer,
            "additional_details": {
                "deployment_type": about.deployment,
                "model_availability": about.availability,
            },
        },
        "evaluation_results": results,
    }


def _result(place: Place, score: Score, benchmark: Benchmark) -> dict[str, Any]:
    name = benchmark.title
    source: dict[str, Any] = {"source_type": "other"}
    if place.task is not None:
        name = place.task.name
        if place.task.source.url:
            source = {"source_type": "url", "url": [place.task.source.url]}
    return {
        "evaluation_result_id": place.name,
        "evaluation_name": name,
        "source_data": {"dataset_name": name, **source},
        "metric_config": _metric_config(place, benchmark),
        "score_details": {"score": score.value, "uncertainty": _uncertainty(place, score)},
    }


def _metric_config(place: Place, benchmark: Benchmark) -> dict[str, Any]:
    lowest, highest = _bounds(place, benchmark)
    identifier = "mean"
    title = "Unweighted mean"
    parameters = {}
    metric = place.metric
    if metric is not None:
        identifier = metric.function
        title = metric.title.removesuffix(DOWN)
        if metric.loss:
            title = f"−{title}"
        if metric.positive:
            parameters["positive_label"] = metric.positive
    return {
        "metric_id": identifier,
        "metric_name": title,
        "metric_parameters": parameters,
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": lowest if isfinite(lowest) else "-Infinity",
        "max_score": highest if isfinite(highest) else "Infinity",
    }


def _bounds(place: Place, benchmark: Benchmark) -> tuple[float, float]:
    """The lowest and highest possible score; infinite if one of its metrics has no such bound."""
    tasks = benchmark.averaged
    if place.task is not None:
        tasks = (place.task,)
    lowest = []
    highest = []
    for task in tasks:
        metrics = task.metrics
        if place.metric is not None:
            metrics = (place.metric,)
        bounds = [function_of(metric).bounds for metric in metrics]
        lowest.append(fmean(low for low, _ in bounds))
        highest.append(fmean(high for _, high in bounds))
    return fmean(lowest), fmean(highest)


def _uncertainty(place: Place, score: Score) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if place.task is not None:
        values["num_samples"] = score.n
    if score.low is not None and score.high is not None:
        values["confidence_interval"] = {
            "lower": score.low,
            "upper": score.high,
            "confidence_level": 0.95,
            "method": METHOD,
        }
    return values


def instances(
    record: Mapping[str, Any], submission: Submission, gold: Gold, *, public: bool = False
) -> Iterator[dict[str, Any]]:
    """A row for each metric and example with a label word, of tasks whose labels the manifest calls public.

    `public`: those of the other tasks are public too, as in prepared data. Texts are left out, because many
    may not be passed on, and tasks of numbers, because no answer to them is right or wrong.
    """
    pairs = pairs_of(submission, gold)
    for place in places(gold.benchmark):
        task = place.task
        metric = place.metric
        if task is None or metric is None or metric.file not in pairs or not task.labels:
            continue
        if not (public or task.labels_public):
            continue
        gold_column = pairs[metric.file].gold
        predicted_words = pairs[metric.file].predicted.words()
        rows = zip(gold_column.row_indices, gold_column.words(), predicted_words, strict=True)
        for index, label, predicted in rows:
            yield {
                "schema_version": SCHEMA_VERSION,
                "evaluation_id": record["evaluation_id"],
                "model_id": record["model_info"]["id"],
                "evaluation_name": task.name,
                "evaluation_result_id": place.name,
                "sample_id": str(index),
                "interaction_type": "single_turn",
                "input": {"raw": "", "reference": [label], "choices": list(task.words)},
                "output": {"raw": [predicted]},
                "answer_attribution": [],
                "evaluation": {"score": float(label == predicted), "is_correct": label == predicted},
            }


def write_records(folder: Path, record: dict[str, Any], rows: Iterable[dict[str, Any]]) -> Path:
    """Write the records where the format wants them, `data/<benchmark>/<developer>/<model>/<uuid>.json`.

    The rows, if any, go beside it as `<uuid>_samples.jsonl`. Returns the path of the aggregate record.
    """
    collection = record["evaluation_id"].partition("/")[0]
    developer, _, model = record["model_info"]["id"].partition("/")
    home = Path("data", collection, developer, model)
    (folder / home).mkdir(parents=True, exist_ok=True)
    name = str(uuid.uuid4())
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    if lines:
        samples = home / f"{name}_samples.jsonl"
        text = "".join(lines)
        write_text(folder / samples, text)
        record = record | {
            "detailed_evaluation_results": {
                "format": "jsonl",
                "file_path": samples.as_posix(),
                "hash_algorithm": "sha256",
                "checksum": sha256(text.encode()).hexdigest(),
                "total_rows": len(lines),
            }
        }
    path = folder / home / f"{name}.json"
    write_json(path, record)
    return path


# ---------------------------------------------------------------- the Hugging Face Hub


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
    new = list(eval_results(report, benchmark, dataset=dataset))
    names = {result.unique_identifier for result in new}
    old = [result for result in data.eval_results or [] if result.unique_identifier not in names]
    data.eval_results = old + new
    data.model_name = data.model_name or model.rpartition("/")[2]
    return str(card)


def _notes(report: Report, score: Score) -> str:
    """What an eval result says beside its value: the interval, the split and the version of gluebench."""
    notes = f"{report.split} split; gluebench {__version__}"
    ends = interval(score.low, score.high, score.loss)
    if not ends:
        return notes
    return f"95 % interval{ends}; {notes}"


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

    entries = []
    for name, task in report.tasks.items():
        score = task.score
        if score is None or score.value is None:
            continue
        value = round(score.value, 4) if score.loss else round(score.value * 100, 2)
        entry = EvalResultEntry(
            dataset_id=dataset,
            task_id=tasks.get(name, name),
            value=value,
            date=day.isoformat(),
            source_url=source or None,
            notes=_notes(report, score),
        )
        entries.append(entry)
    return str(yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False))
