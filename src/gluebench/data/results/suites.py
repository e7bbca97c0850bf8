"""Read results of SWE-bench, MTEB and Every Eval Ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gluebench.data.errors import DataError
from gluebench.data.results.parts import (
    Part,
    Row,
    Settings,
    chosen,
    entry,
    fingerprint,
    first_few,
    missing_note,
    part_of,
    score_of,
)


def swe_bench(path: Path, report: Mapping[str, Any], settings: Settings) -> Iterator[Part]:
    """The resolved issues of SWE-bench; those not resolved follow from the list of all ids."""
    resolved = {str(name) for name in report.get("resolved", report.get("resolved_ids", []))}
    listed = {str(name) for key, names in report.items() if key.endswith("_ids") for name in names}
    everything = settings.ids
    if everything is None and listed and len(listed) == report.get("total_instances"):
        everything = frozenset(listed)
    if everything is None:
        raise DataError(
            f"{path}: names only the resolved issues; expected the list of all ids too "
            "(--ids FILE, one on each line; ids=...)"
        )
    if strange := sorted(resolved - everything):
        raise DataError(
            f"{path}: {len(strange)} resolved ids are not in the list of all: {first_few(strange)}"
        )
    folder = path.absolute().parent  # results.json lies in the system's folder, or in one named results there
    folder = folder.parent if folder.name == "results" else folder
    system = folder.name if path.stem == "results" else path.stem
    rows = {
        name: Row(float(name in resolved), categories={"repository": name.rpartition("-")[0]})
        for name in sorted(everything)
    }
    yield Part(system, "", rows)


def mteb(path: Path, result: Mapping[str, Any], settings: Settings) -> Iterator[Part]:
    """A task of MTEB as an item: the mean main score over its subsets, of the test split if there is one."""
    metric, task = settings.metric or "main_score", str(entry(path, result, "task_name"))
    splits = entry(path, result, "scores")
    split = "test" if "test" in splits else chosen(path, list(splits), None)
    scores = [score_of(subset.get(metric)) for subset in splits[split]]
    known = [score for score in scores if score is not None]
    if len(known) < len(scores) or not known:
        raise DataError(f"{path}: expected a number as {metric} of each subset of the split {split}")
    row = Row(sum(known) / len(known), fingerprint(f"{task} {result.get('dataset_revision')}"))
    system = path.absolute().parents[1 if _is_revision(path.absolute().parent.name) else 0].name
    yield Part(system, "", {task: row}, unit="tasks")


def _is_revision(folder: str) -> bool:
    """Whether a folder is named by the revision of a model, as MTEB does below the model's folder."""
    return folder in ("no_revision_available", "external") or (
        len(folder) == 40 and set(folder) <= set("0123456789abcdef")
    )


def eee_instances(path: Path, lines: Sequence[Mapping[str, Any]], settings: Settings) -> Iterator[Part]:
    """Instance rows of Every Eval Ever, a task for each evaluation name; one result of each is read."""
    tasks: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for line in lines:
        metric = str(line.get("evaluation_result_id") or "score")
        tasks.setdefault(str(entry(path, line, "evaluation_name")), {}).setdefault(metric, []).append(line)
    for task, metrics in tasks.items():
        metric = chosen(path, list(metrics), settings.metric, [name for name in metrics if "acc" in name])
        model, lines = str(entry(path, metrics[metric][0], "model_id")), metrics[metric]
        yield part_of(path, model, task, _eee_items(path, lines), "with an error or without a score")


def _eee_items(path: Path, lines: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Row | None]]:
    for line in lines:
        score = None if line.get("error") else score_of(entry(path, line, "evaluation", "score"))
        raw = (line.get("input") or {}).get("raw", "")
        text = line.get("sample_hash") or (fingerprint(raw) if raw else "")
        yield str(entry(path, line, "sample_id")), None if score is None else Row(score, text)


def eee_aggregate(path: Path, record: Mapping[str, Any], settings: Settings) -> Iterator[Part]:
    """Aggregates of Every Eval Ever, an item for each evaluation; where lower is better, it is left out."""
    by_name: dict[str, dict[str, float]] = {}
    lower = []
    for result in record["evaluation_results"]:
        name, about = str(entry(path, result, "evaluation_name")), entry(path, result, "metric_config")
        metric = str(about.get("metric_id") or about.get("metric_name") or "score")
        if about.get("lower_is_better"):
            lower.append(f"{name} {metric}")
        else:
            score = score_of(entry(path, result, "score_details", "score"))
            if score is None:
                raise DataError(f"{path}: expected a number as score of {name}")
            by_name.setdefault(name, {})[metric] = score
    rows = {
        name: Row(scores[chosen(path, list(scores), settings.metric, [m for m in scores if "acc" in m])])
        for name, scores in by_name.items()
    }
    notes = missing_note(path, lower, "where lower is better")
    yield Part(str(entry(path, record, "model_info", "id")), "", rows, notes, unit="tasks")
