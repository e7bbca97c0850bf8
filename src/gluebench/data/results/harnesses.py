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
    Part,
    Row,
    Settings,
    chosen,
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
HEADERS, SAMPLES = ("header.json", "_journal/start.json"), "samples/"
"""Members of a .eval file: its header, or else how it began, and the folder of samples."""


def lm_eval(path: Path, lines: Sequence[Mapping[str, Any]], settings: Settings) -> Iterator[Part]:
    """The samples of one task, by document and filter; several filters make a cluster of each document."""
    stem = path.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".json")
    name = LM_EVAL_NAME.match(stem)
    system, task = (path.absolute().parent.name, name[1]) if name else (stem, "")
    offered = lines[0].get("metrics") or [
        key for key, value in lines[0].items() if key not in LM_EVAL_KEYS and _sample_score(value) is not None
    ]
    metric = chosen(path, offered, settings.metric, PREFERRED)
    several = len({line.get("filter", "none") for line in lines}) > 1

    def items() -> Iterator[tuple[str, Row | None]]:
        for line in lines:
            document, filtered = str(entry(path, line, "doc_id")), line.get("filter", "none")
            score = _sample_score(line.get(metric))
            text = line.get("doc_hash") or fingerprint(json.dumps(line.get("doc"), sort_keys=True))
            row = Row(score or 0.0, f"{text} {filtered}", document if several else "", {"filter": filtered})
            yield f"{document} {filtered}" if several else document, None if score is None else row

    yield part_of(path, system, task, items(), f"without a value of {metric}")


def _sample_score(value: Any) -> float | None:
    """A score; of [gold, predicted], which MCC and F1 log, whether the two are equal."""
    if isinstance(value, list) and len(value) == 2:
        return float(value[0] == value[1])
    return score_of(value)


def inspect_log(path: Path, log: Mapping[str, Any], settings: Settings) -> Iterator[Part]:
    """An inspect_ai log; samples with an error are counted, and epochs of a sample make a cluster."""
    header, samples = entry(path, log, "eval"), log.get("samples")
    if not samples:
        raise DataError(
            f"{path}: expected samples, of which the log has none (written with --no-log-samples?)"
        )
    values = [_inspect_values(sample) for sample in samples]
    offered = list(dict.fromkeys(name for of_sample in values for name in of_sample))
    scorer = chosen(path, offered, settings.metric)
    several = len({sample.get("epoch", 1) for sample in samples}) > 1
    errors = []

    def items() -> Iterator[tuple[str, Row | None]]:
        for sample, of_sample in zip(samples, values, strict=True):
            name, epoch = str(entry(path, sample, "id")), sample.get("epoch", 1)
            item = f"{name} epoch {epoch}" if several else name
            value = of_sample.get(scorer)
            score = INSPECT_GRADES.get(value) if isinstance(value, str) else None
            score = score_of(value) if score is None else score
            if sample.get("error"):
                errors.append(item)
                continue
            text = fingerprint(_inspect_text(sample.get("input"))) + f" {epoch}" * several
            yield item, None if score is None else Row(score, text, name if several else "")

    model, task = (str(entry(path, header, key)) for key in ("model", "task"))
    part = part_of(path, model, task, items(), f"without {scorer}")
    notes = [*missing_note(path, errors, "with an error"), *part.notes]
    if log.get("status", "success") != "success":
        notes.append(f"{path.name}: the status of this log is {log['status']}; it may be incomplete")
    yield part._replace(notes=notes)


def _inspect_values(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Scorer to value; a scorer with several values gives scorer/key."""
    values: dict[str, Any] = {}
    for scorer, score in (sample.get("scores") or {}).items():
        value = score["value"]
        nested = value if isinstance(value, dict) else {None: value}
        values |= {scorer if key is None else f"{scorer}/{key}": part for key, part in nested.items()}
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
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name in HEADERS or name.startswith(SAMPLES)]
            members = {name: json.loads(archive.read(name)) for name in names}
    except NotImplementedError:
        raise DataError(
            f"{path}: compressed with ZSTD, which Python reads from 3.14. Install a reader "
            "(pip install zipfile-zstd), or write the log as JSON (inspect log convert --to json)"
        ) from None
    except OSError:
        raise
    except Exception as error:  # each method of compression has errors of its own
        raise DataError(f"{path}: damaged; expected a .eval file of inspect_ai ({error})") from None
    head: dict[str, Any] | None = next((members[name] for name in HEADERS if name in members), None)
    if head is None:
        raise DataError(f"{path}: expected an inspect_ai log; the archive has no header.json")
    return {**head, "samples": [sample for name, sample in members.items() if name.startswith(SAMPLES)]}


def helm(path: Path, instances: Sequence[Mapping[str, Any]], settings: Settings) -> Iterator[Part]:
    """HELM's per_instance_stats.json; trials and perturbations of an instance make a cluster."""
    folder = path.absolute().parent.name if path.name.startswith("per_instance_stats.json") else ""
    model = HELM_MODEL.search(folder)
    system = model[1] if model else folder or path.name.partition("_per_instance_stats")[0]
    task = HELM_MODEL.sub("", folder).strip(",:-") if model else ""
    offered = dict.fromkeys(name for line in instances for name in _helm_values(line))
    metric = chosen(path, list(offered), settings.metric, PREFERRED)
    several = len({str(entry(path, line, "instance_id")) for line in instances}) < len(instances)

    def items() -> Iterator[tuple[str, Row | None]]:
        for line in instances:
            name, trial = str(line["instance_id"]), line.get("train_trial_index", 0)
            changed = (line.get("perturbation") or {}).get("name", "none")
            score, split = _helm_values(line).get(metric, (None, ""))
            row = Row(score or 0.0, "", name if several else "", {"perturbation": changed, "split": split})
            yield f"{name} trial {trial} {changed}" if several else name, None if score is None else row

    yield part_of(path, system, task, items(), f"without {metric}")


def _helm_values(line: Mapping[str, Any]) -> dict[str, tuple[float, str]]:
    """Metric to its mean and split, without figures over several perturbations."""
    return {
        stat["name"]["name"]: (stat["sum"] / stat["count"], str(stat["name"].get("split", "")))
        for stat in line.get("stats", [])
        if stat.get("count") and stat["name"].get("perturbation") == line.get("perturbation")
    }


def swe_bench(path: Path, report: Mapping[str, Any], settings: Settings) -> Iterator[Part]:
    """A summary of SWE-bench: the resolved issues, and all others if it says that it lists all."""
    solved = report.get("resolved", report.get("resolved_ids", []))
    if isinstance(solved, bool):
        yield from swe_bench_issues(path, {path.absolute().parent.name: report}, settings)
        return
    resolved = {str(name) for name in solved}
    listed = {str(name) for key, names in report.items() if key.endswith("_ids") for name in names}
    complete = bool(listed) and len(listed) == report.get("total_instances")
    issues = sorted(resolved | listed if complete else resolved)
    yield _issues(path, {name: name in resolved for name in issues})._replace(solved_only=not complete)


def swe_bench_issues(path: Path, reports: Mapping[str, Any], settings: Settings) -> Iterator[Part]:
    """SWE-bench's per_instance_details.json, or the report.json of one issue, in a folder of its name."""
    part = _issues(path, {str(name): bool(report["resolved"]) for name, report in reports.items()})
    one_of_many = path.stem == "report"
    yield part._replace(time="" if one_of_many else None, solved_only=one_of_many)


def issue(name: str, resolved: bool) -> Row:
    """The row of an issue of SWE-bench."""
    return Row(float(resolved), categories={"repository": name.rpartition("-")[0]})


def _issues(path: Path, resolved: Mapping[str, bool]) -> Part:
    """Whether issues are resolved, by the system that the file or, if its name is general, a folder names."""
    folder = path.absolute().parent
    while folder.name in ("results", "logs") or folder.name in resolved:
        folder = folder.parent
    rows = {name: issue(name, right) for name, right in resolved.items()}
    general = path.stem in ("results", "report", "per_instance_details")
    return Part(folder.name if general else path.stem, "", rows)


def mteb(path: Path, result: Mapping[str, Any], settings: Settings) -> Iterator[Part]:
    """A task of MTEB as an item: the mean main score over subsets of the test split, or else of all splits.

    Those of other subsets are another item. A task is left out if a score is missing or none from -1 to 1,
    as a time is, and if the file is older than version 1.11, which has no main score.
    """
    metric, task = settings.metric or "main_score", str(result.get("task_name") or path.stem)
    splits = {
        split: [(str(subset.get("hf_subset")), score_of(subset.get(metric))) for subset in subsets]
        for split, subsets in result.get("scores", {}).items()
    }
    if any(score is not None for _, score in splits.get("test", [])):
        splits = {"test": splits["test"]}
    else:
        splits.pop("test", None)  # whose labels are secret, so that its scores are NaN
    scores = [score for subsets in splits.values() for _, score in subsets]
    known = [score for score in scores if score is not None and abs(score) <= 1]
    repeated = any(len(dict(subsets)) < len(subsets) for subsets in splits.values())
    revision, model = (folder.name for folder in path.absolute().parents[:2])
    below = "__" in model or path.with_name("model_meta.json").is_file()  # models are owner__model
    part = Part(model if below else revision, "", {}, unit="tasks", time="")
    if known and len(known) == len(scores) and not repeated:
        text = fingerprint(
            f"{task} {result.get('dataset_revision')} "
            f"{sorted((split, *sorted(dict(subsets))) for split, subsets in splits.items())}"
        )
        yield part._replace(rows={task: Row(sum(known) / len(known), text)})
    else:
        why = "with two scores of a subset" if repeated else f"without a {metric} from -1 to 1 of each subset"
        yield part._replace(notes=[f"{task}: left out of {part.system}, {why}"])


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
        name, about = str(entry(path, result, "evaluation_name")), result["metric_config"]
        metric = str(about.get("metric_id") or about.get("metric_name") or "")
        score = score_of(entry(path, result, "score_details", "score"))
        if score is None:
            raise DataError(f"{path}: expected a number as score of {name}")
        if reason := _unlike(score, result, largest):
            left_out.setdefault(reason, []).append(f"{name} {metric}".rstrip())
        else:
            by_name.setdefault(name, {})[metric] = score
    rows = {
        name: Row(scores[chosen(path, list(scores), settings.metric, [m for m in scores if "acc" in m])])
        for name, scores in by_name.items()
    }
    notes = [note for reason, names in left_out.items() for note in missing_note(path, names, reason)]
    time = str(record.get("retrieved_timestamp", ""))
    yield Part(str(entry(path, record, "model_info", "id")), "", rows, notes, unit="tasks", time=time)


def _unlike(score: float, result: Mapping[str, Any], largest: float | None) -> str:
    """Why a score cannot be averaged with others, of which most have this largest value; or nothing."""
    about = result["metric_config"]
    if result.get("evaluation_result_id") == "score" or AVERAGES.match(result["evaluation_name"]):
        return "as an average of others"
    if about.get("lower_is_better"):
        return "where lower is better"
    if about.get("max_score") != largest:
        return f"whose scale does not end at {largest}"
    low, high = (score_of(about.get(end)) for end in ("min_score", "max_score"))
    outside = (low is not None and score < low) or (high is not None and score > high)
    return "with a score outside its scale" if outside else ""


class Format(NamedTuple):
    """The function that reads a format, and what a file of it consists of."""

    reader: Callable[[Path, Any, Settings], Iterator[Part]]
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
