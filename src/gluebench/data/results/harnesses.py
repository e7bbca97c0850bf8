"""Read results of lm-evaluation-harness, inspect_ai, HELM, SWE-bench, MTEB and Every Eval Ever."""

import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.data.errors import DataError
from gluebench.data.results.parts import (
    ItemScore,
    Settings,
    SystemScores,
    choose_metric,
    entry,
    fingerprint,
    missing_note,
    part_of,
    score_of,
)

LM_EVAL_NAME = re.compile(r"samples_(.+?)_\d{4}-\d\d-\d\dT[\d.:-]+$")
LM_EVAL_KEYS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
LM_EVAL_KEYS |= {"doc_hash", "prompt_hash", "target_hash"}
HELM_MODEL = re.compile(r"(?:^|[,:-])model=([^,]+)")
PREFERRED = ("acc", "exact_match", "quasi_exact_match")
"""The metrics that are read if there are several and none is named."""
AVERAGES = re.compile(r"(mean win rate|(macro-)?average|overall)\b", re.IGNORECASE)
"""Names of evaluations that summarize others."""
INSPECT_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
HEADERS = ("header.json", "_journal/start.json")
"""Member of a .eval file that has its header, or else how it began."""
SAMPLES = "samples/"
"""Folder of the samples in a .eval file."""


def lm_eval(path: Path, lines: Sequence[Mapping[str, Any]], settings: Settings) -> Iterator[SystemScores]:
    """The samples of one task, by document and filter; several filters make a cluster of each document."""
    system = path.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".json")
    task = ""
    written_by_harness = LM_EVAL_NAME.match(system)
    if written_by_harness:
        system = path.absolute().parent.name
        task = written_by_harness[1]
    metric = choose_metric(path, _lm_eval_metrics(lines[0]), settings.metric, PREFERRED)
    several = len({line.get("filter", "none") for line in lines}) > 1

    items: list[tuple[str, ItemScore | None]] = []
    for line in lines:
        document = str(entry(path, line, "doc_id"))
        filter_name = line.get("filter", "none")
        item = document
        cluster = ""
        if several:
            item = f"{document} {filter_name}"
            cluster = document
        text = line.get("doc_hash") or fingerprint(json.dumps(line.get("doc"), sort_keys=True))
        row = None
        score = _sample_score(line.get(metric))
        if score is not None:
            row = ItemScore(score, f"{text} {filter_name}", cluster, {"filter": filter_name})
        items.append((item, row))
    yield part_of(path, system, task, items, f"without a value of {metric}")


def _lm_eval_metrics(line: Mapping[str, Any]) -> list[str]:
    """The metrics that a sample lists; of an older version, its keys that have a score."""
    if line.get("metrics"):
        return list(line["metrics"])
    metrics = []
    for key, value in line.items():
        if key not in LM_EVAL_KEYS and _sample_score(value) is not None:
            metrics.append(key)
    return metrics


def _sample_score(value: Any) -> float | None:
    """A score; of [gold, predicted], which MCC and F1 log, whether the two are equal."""
    if isinstance(value, list) and len(value) == 2:
        return float(value[0] == value[1])
    return score_of(value)


def inspect_log(path: Path, log: Mapping[str, Any], settings: Settings) -> Iterator[SystemScores]:
    """An inspect_ai log; samples with an error are counted, and epochs of a sample make a cluster."""
    header = entry(path, log, "eval")
    samples = log.get("samples")
    if not samples:
        raise DataError(
            f"{path}: expected samples, of which the log has none (written with --no-log-samples?)"
        )
    values_of_samples = [_inspect_values(sample) for sample in samples]
    scorers: dict[str, Any] = {}
    for values in values_of_samples:
        scorers |= values
    scorer = choose_metric(path, list(scorers), settings.metric)
    several = len({sample.get("epoch", 1) for sample in samples}) > 1

    errors = []
    items: list[tuple[str, ItemScore | None]] = []
    for sample, values in zip(samples, values_of_samples, strict=True):
        name = str(entry(path, sample, "id"))
        item = name
        cluster = ""
        text = fingerprint(_inspect_text(sample.get("input")))
        if several:
            epoch = sample.get("epoch", 1)
            item = f"{name} epoch {epoch}"
            cluster = name
            text += f" {epoch}"
        if sample.get("error"):
            errors.append(item)
            continue
        score = _inspect_score(values.get(scorer))
        row = None if score is None else ItemScore(score, text, cluster)
        items.append((item, row))

    model = str(entry(path, header, "model"))
    task = str(entry(path, header, "task"))
    part = part_of(path, model, task, items, f"without {scorer}")
    notes = missing_note(path, errors, "with an error")
    notes += part.notes
    if log.get("status", "success") != "success":
        notes.append(f"{path.name}: the status of this log is {log['status']}; it may be incomplete")
    yield part._replace(notes=notes)


def _inspect_score(value: Any) -> float | None:
    """A score, which may be a letter grade."""
    if isinstance(value, str) and value in INSPECT_GRADES:
        return INSPECT_GRADES[value]
    return score_of(value)


def _inspect_values(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Scorer to value; a scorer with several values gives scorer/key."""
    values: dict[str, Any] = {}
    for scorer, score in (sample.get("scores") or {}).items():
        value = score["value"]
        if not isinstance(value, dict):
            values[scorer] = value
            continue
        for key, part in value.items():
            values[f"{scorer}/{key}"] = part
    return values


def _inspect_text(messages: Any) -> str:
    """The input as text, without the ids of messages, which are random."""
    if isinstance(messages, list):
        return json.dumps([[message.get("role"), message.get("content")] for message in messages])
    return str(messages)


def inspect_archive(path: Path) -> dict[str, Any]:
    """The log in a `.eval` file, as in a `.json` file. Raises DataError, OSError."""
    with suppress(ImportError):
        # It comes with inspect_ai: zipfile then reads ZSTD, as it does from Python 3.14.
        import_module("zipfile_zstd")
    log: dict[str, Any] | None = None
    samples = []
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            for header in HEADERS:
                if log is None and header in names:
                    log = dict(json.loads(archive.read(header)))
            for name in names:
                if name.startswith(SAMPLES):
                    samples.append(json.loads(archive.read(name)))
    except NotImplementedError:
        raise DataError(
            f"{path}: compressed with ZSTD, which Python reads from 3.14. Install a reader "
            "(pip install zipfile-zstd), or write the log as JSON (inspect log convert --to json)"
        ) from None
    except OSError:
        raise
    except Exception as error:  # each method of compression has errors of its own
        raise DataError(f"{path}: damaged; expected a .eval file of inspect_ai ({error})") from None
    if log is None:
        raise DataError(f"{path}: expected an inspect_ai log; the archive has no header.json")
    log["samples"] = samples
    return log


def helm(path: Path, instances: Sequence[Mapping[str, Any]], settings: Settings) -> Iterator[SystemScores]:
    """HELM's per_instance_stats.json; trials and perturbations of an instance make a cluster."""
    system, task = _helm_run(path)
    metrics: dict[str, Any] = {}
    names = set()
    for line in instances:
        metrics |= _helm_values(line)
        names.add(str(entry(path, line, "instance_id")))
    metric = choose_metric(path, list(metrics), settings.metric, PREFERRED)
    several = len(names) < len(instances)

    items: list[tuple[str, ItemScore | None]] = []
    for line in instances:
        name = str(line["instance_id"])
        perturbation = (line.get("perturbation") or {}).get("name", "none")
        item = name
        cluster = ""
        if several:
            item = f"{name} trial {line.get('train_trial_index', 0)} {perturbation}"
            cluster = name
        row = None
        values = _helm_values(line)
        if metric in values:
            score, split = values[metric]
            row = ItemScore(score, "", cluster, {"perturbation": perturbation, "split": split})
        items.append((item, row))
    yield part_of(path, system, task, items, f"without {metric}")


def _helm_run(path: Path) -> tuple[str, str]:
    """The model and the task by the name of a run's folder; of a file with another name, its own."""
    folder = ""
    if path.name.startswith("per_instance_stats.json"):
        folder = path.absolute().parent.name
    model = HELM_MODEL.search(folder)
    if model:
        # The folder is named as "mmlu:subject=anatomy,model=openai_gpt2": the rest says what the task is.
        task = HELM_MODEL.sub("", folder).strip(",:-")
        return model[1], task
    if folder:
        return folder, ""
    name_of_run = path.name.partition("_per_instance_stats")[0]
    return name_of_run, ""


def _helm_values(line: Mapping[str, Any]) -> dict[str, tuple[float, str]]:
    """Metric to its mean and split, without figures over several perturbations."""
    values = {}
    for stat in line.get("stats", []):
        about = stat["name"]
        if stat.get("count") and about.get("perturbation") == line.get("perturbation"):
            mean = stat["sum"] / stat["count"]
            values[about["name"]] = (mean, str(about.get("split", "")))
    return values


def swe_bench(path: Path, report: Mapping[str, Any], settings: Settings) -> Iterator[SystemScores]:
    """A summary of SWE-bench: the resolved issues, and all others if it says that it lists all."""
    solved = report.get("resolved", report.get("resolved_ids", []))
    if isinstance(solved, bool):
        yield from swe_bench_issues(path, {path.absolute().parent.name: report}, settings)
        return
    resolved = {str(name) for name in solved}
    listed: set[str] = set()
    for key, names in report.items():
        if key.endswith("_ids"):
            listed.update(str(name) for name in names)
    complete = bool(listed) and len(listed) == report.get("total_instances")
    issues = resolved | listed if complete else resolved
    part = _issues(path, {name: name in resolved for name in sorted(issues)})
    yield part._replace(solved_only=not complete)


def swe_bench_issues(path: Path, reports: Mapping[str, Any], settings: Settings) -> Iterator[SystemScores]:
    """SWE-bench's per_instance_details.json, or the report.json of one issue, in a folder of its name."""
    part = _issues(path, {str(name): bool(report["resolved"]) for name, report in reports.items()})
    if path.stem == "report":  # other reports beside it have the system's other issues
        part = part._replace(time="", solved_only=True)
    yield part


def issue(name: str, resolved: bool) -> ItemScore:
    """The row of an issue of SWE-bench."""
    return ItemScore(float(resolved), categories={"repository": name.rpartition("-")[0]})


def _issues(path: Path, resolved: Mapping[str, bool]) -> SystemScores:
    """Whether issues are resolved, by the system that the file or, if its name is general, a folder names."""
    folder = path.absolute().parent
    while folder.name in ("results", "logs") or folder.name in resolved:
        folder = folder.parent
    rows = {name: issue(name, right) for name, right in resolved.items()}
    general = path.stem in ("results", "report", "per_instance_details")
    return SystemScores(folder.name if general else path.stem, "", rows)


def mteb(path: Path, result: Mapping[str, Any], settings: Settings) -> Iterator[SystemScores]:
    """A task of MTEB as an item: the mean main score over subsets of the test split, or else of all splits.

    Those of other subsets are another item. A task is left out if a score is missing or none from -1 to 1,
    as a time is, and if the file is older than version 1.11, which has no main score.
    """
    metric = settings.metric or "main_score"
    task = str(result.get("task_name") or path.stem)
    scores: list[float | None] = []
    subsets_of_splits = []
    repeated = False
    for split, subsets in _mteb_splits(result, metric).items():
        scores += [score for _, score in subsets]
        names = {name for name, _ in subsets}
        subsets_of_splits.append((split, *sorted(names)))
        repeated = repeated or len(names) < len(subsets)
    known = [score for score in scores if score is not None and abs(score) <= 1]

    part = SystemScores(_mteb_model(path), "", {}, unit="tasks", time="")
    if known and len(known) == len(scores) and not repeated:
        text = fingerprint(f"{task} {result.get('dataset_revision')} {sorted(subsets_of_splits)}")
        yield part._replace(rows={task: ItemScore(sum(known) / len(known), text)})
    else:
        why = "with two scores of a subset" if repeated else f"without a {metric} from -1 to 1 of each subset"
        yield part._replace(notes=[f"{task}: left out of {part.system}, {why}"])


def _mteb_splits(result: Mapping[str, Any], metric: str) -> dict[str, list[tuple[str, float | None]]]:
    """Split to the subsets and their scores: the test split, or else all others."""
    splits = {}
    for split, subsets in result.get("scores", {}).items():
        splits[split] = [(str(subset.get("hf_subset")), score_of(subset.get(metric))) for subset in subsets]
    test = splits.pop("test", [])
    if any(score is not None for _, score in test):
        return {"test": test}
    return splits  # the labels of test are secret, so that its scores are NaN


def _mteb_model(path: Path) -> str:
    """The model of a file, which names a folder above it: owner__model, and perhaps a revision below."""
    revision, model = (folder.name for folder in path.absolute().parents[:2])
    if "__" in model or path.with_name("model_meta.json").is_file():
        return model
    return revision


def eee_instances(
    path: Path, lines: Sequence[Mapping[str, Any]], settings: Settings
) -> Iterator[SystemScores]:
    """Instance rows of Every Eval Ever, a task for each evaluation name; one result of each is read."""
    tasks: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for line in lines:
        task = str(entry(path, line, "evaluation_name"))
        metric = str(line.get("evaluation_result_id") or "score")
        tasks.setdefault(task, {}).setdefault(metric, []).append(line)
    for task, metrics in tasks.items():
        chosen = metrics[_accuracy(path, list(metrics), settings)]
        model = str(entry(path, chosen[0], "model_id"))
        yield part_of(path, model, task, _eee_items(path, chosen), "with an error or without a score")


def _accuracy(path: Path, metrics: Sequence[str], settings: Settings) -> str:
    """The metric to read, of several an accuracy."""
    return choose_metric(path, metrics, settings.metric, [name for name in metrics if "acc" in name])


def _eee_items(path: Path, lines: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, ItemScore | None]]:
    for line in lines:
        row = None
        if not line.get("error"):
            score = score_of(entry(path, line, "evaluation", "score"))
            if score is not None:
                row = ItemScore(score, _eee_text(line))
        yield str(entry(path, line, "sample_id")), row


def _eee_text(line: Mapping[str, Any]) -> str:
    """A hash of the item's text; empty if the line has neither."""
    if line.get("sample_hash"):
        return str(line["sample_hash"])
    text = (line.get("input") or {}).get("raw", "")
    return fingerprint(text) if text else ""


def eee_aggregate(path: Path, record: Mapping[str, Any], settings: Settings) -> Iterator[SystemScores]:
    """Aggregates of Every Eval Ever, an item for each evaluation on the most frequent scale.

    Averages of others and evaluations where lower is better (latencies), on another scale (counts) or
    outside their own scale (-1 for a missing score) are left out.
    """
    results: Sequence[Mapping[str, Any]] = record["evaluation_results"]
    scales = Counter(entry(path, result, "metric_config").get("max_score") for result in results)
    largest = scales.most_common(1)[0][0] if scales else None
    by_name: dict[str, dict[str, float]] = {}
    left_out: dict[str, list[str]] = {}
    for result in results:
        name = str(entry(path, result, "evaluation_name"))
        about = result["metric_config"]
        metric = str(about.get("metric_id") or about.get("metric_name") or "")
        score = score_of(entry(path, result, "score_details", "score"))
        if score is None:
            raise DataError(f"{path}: expected a number as score of {name}")
        if reason := _unlike(score, result, largest):
            left_out.setdefault(reason, []).append(f"{name} {metric}".rstrip())
        else:
            by_name.setdefault(name, {})[metric] = score
    rows = {}
    for name, scores in by_name.items():
        metric = _accuracy(path, list(scores), settings)
        rows[name] = ItemScore(scores[metric])
    notes = []
    for reason, names in left_out.items():
        notes += missing_note(path, names, reason)
    time = str(record.get("retrieved_timestamp", ""))
    yield SystemScores(str(entry(path, record, "model_info", "id")), "", rows, notes, unit="tasks", time=time)


def _unlike(score: float, result: Mapping[str, Any], largest: float | None) -> str:
    """Why a score cannot be averaged with others, of which most have this largest value; or nothing."""
    about = result["metric_config"]
    if result.get("evaluation_result_id") == "score" or AVERAGES.match(result["evaluation_name"]):
        return "as an average of others"
    if about.get("lower_is_better"):
        return "where lower is better"
    if about.get("max_score") != largest:
        return f"whose scale does not end at {largest}"
    low = score_of(about.get("min_score"))
    high = score_of(about.get("max_score"))
    if (low is not None and score < low) or (high is not None and score > high):
        return "with a score outside its scale"
    return ""


class Format(NamedTuple):
    """The function that reads a format, and what a file of it consists of."""

    reader: Callable[[Path, Any, Settings], Iterator[SystemScores]]
    content: str


OF_LISTS = {
    "doc_id": Format(lm_eval, "{doc_id, doc, metrics, METRIC} of lm-evaluation-harness in each line"),
    "evaluation_name": Format(
        eee_instances,
        "{evaluation_name, model_id, sample_id, evaluation: {score}} of Every Eval Ever in each line",
    ),
    "stats": Format(helm, "[{instance_id, stats: [{name: {name}, count, sum}]}] of HELM"),
}
"""The format of a list or of lines by a key of the first object."""
OF_OBJECTS = {
    "eval": Format(
        inspect_log, "{eval: {model, task}, samples: [{id, scores: {SCORER: {value}}}]} of inspect_ai"
    ),
    "resolved": Format(swe_bench, "{resolved: [ID, ...]} of SWE-bench"),
    "resolved_ids": Format(swe_bench, "{total_instances, resolved_ids: [ID, ...]} of SWE-bench"),
    "mteb_version": Format(mteb, "{task_name, scores: {SPLIT: [{hf_subset, main_score}]}} of MTEB"),
    "evaluation_results": Format(
        eee_aggregate,
        "{model_info: {id}, evaluation_results: [{evaluation_name, metric_config, score_details: {score}}]} "
        "of Every Eval Ever",
    ),
}
"""The format of an object by one of its keys."""
ISSUES = Format(swe_bench_issues, "{ID: {resolved}} of SWE-bench")
