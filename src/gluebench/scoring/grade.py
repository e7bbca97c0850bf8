"""Grade a submission against gold: its scores, their averages and the warnings, as a report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from gluebench.benchmark import Benchmark, Metric, Task, TestFile
from gluebench.benchmark.lookup import ByName
from gluebench.scoring.gold import SUFFIX, Gold, GoldError, read_gold
from gluebench.scoring.intervals import NO_INTERVAL, OptionalInterval, optional_mean_interval
from gluebench.scoring.metrics import MetricValue, function_of, point, point_on, task_score
from gluebench.scoring.metrics.counts import ClassScore, label_scores
from gluebench.scoring.pairs import Pairs, join_by_index, share_cells
from gluebench.scoring.report import (
    DiagnosticReport,
    Report,
    Score,
    TaskReport,
    by_class,
    parts_of,
    provenance,
)
from gluebench.scoring.table import ScoredTable, TableGold
from gluebench.scoring.tags import OVERALL, Category, problem
from gluebench.submission.check import check
from gluebench.submission.forms import SIZES
from gluebench.submission.problems import SHOWN_PER_FILE, Problem
from gluebench.submission.submission import Column, Submission, missing_files
from gluebench.submission.values import SubmissionError, submission_of

Path = str | os.PathLike[str]
Run = Submission | Mapping[str, Any] | Path
"""One run of a system: a submission, its path (a zip, folder or file), or a mapping of task or test file to
predictions (arrays, lists, tensors, Series, DataFrames). With a scored table, the name of a system in it."""
SystemT = TypeVar("SystemT")
MOST_CLASSES = 1000
"""Maximum number of classes of a test file for scores of each."""
Labels = Gold | ScoredTable | Mapping[str, Any] | Path
"""Loaded gold, a gold folder, a mapping of task or test file to labels in any of these forms, or a scored
table."""


def grade(
    submission: Run, gold: Labels, *, intervals: bool = True, benchmark: Benchmark | Path = "glue"
) -> Report:
    """Every score of a submission, each with its 95 % interval unless `intervals` is False.

    `submission` may be a path, or a mapping of task or test-file name to predictions, and `gold` a folder
    or a mapping to labels; `benchmark` names the benchmark where neither does. Raises SubmissionError,
    GoldError, or ValueError if the two differ in benchmark or split.
    """
    labels = gold_of(gold, benchmark, submission)
    submission = submission_from(submission, labels)
    require_gradable(submission, labels)
    return graded(submission, labels, pairs_of(submission, labels), intervals=intervals)


def graded(submission: Submission, labels: Gold, pairs: Mapping[str, Pairs], *, intervals: bool) -> Report:
    """The report on a submission that is gradable, from its pairs. Raises GoldError."""
    unlabeled = [name for name in submission.predictions if name not in labels.columns]
    if unlabeled and not labels.partial:
        problems = [problem("no-gold, file", f"{name}{SUFFIX}") for name in unlabeled]
        raise GoldError(problems, folder=labels.folder)
    warnings = list(labels.warnings)
    warnings += _coverage_warnings(submission, labels, pairs)
    tasks = {}
    for task in labels.benchmark.scored:
        points = _points(task, pairs)
        tasks[task.name] = _task_report(task, pairs, points, intervals=intervals)
        for metric, measured in points.items():
            if measured.undefined:
                warnings.append(_undefined_warning(task.name, metric, measured.undefined))
    task_scores = {name: report.score for name, report in tasks.items()}
    score = macro_average(task_scores, intervals=intervals, weights=labels.benchmark.weights)
    diagnostics = {}
    for task in labels.benchmark.diagnostics:
        scores = diagnostic_report(task, pairs, labels, intervals=intervals)
        diagnostics[task.name] = scores.report
        warnings += scores.warnings
    return Report(
        benchmark=labels.benchmark.name,
        split=labels.role,
        complete=score is not None,
        missing=missing_files(labels.benchmark, labels.role, submission.predictions),
        score=score,
        tasks=ByName(tasks, what="task"),
        diagnostics=diagnostics,
        classes=class_scores(labels.benchmark, pairs),
        warnings=tuple(warnings),
        provenance=provenance(labels),
    )


def class_scores(benchmark: Benchmark, pairs: Mapping[str, Pairs]) -> Mapping[str, Mapping[str, ClassScore]]:
    """Test-file name to the scores of each class: of the labels, or of what the first metric counts by class.

    Files of other forms, of more than MOST_CLASSES classes and of a single one without a name are left out.
    """
    files = {}
    for task in benchmark.tasks:
        for name, metrics in task.metrics_by_file().items():
            if name not in pairs:
                continue
            scores = _class_scores(pairs[name], metrics)
            has_names = any(name_of_class != "" for name_of_class in scores)
            if has_names and len(scores) <= MOST_CLASSES:
                files[name] = scores
    return by_class(files)


def _class_scores(pairs: Pairs, metrics: Iterable[Metric]) -> Mapping[str, ClassScore]:
    if pairs.predicted.labels:
        return label_scores(pairs.gold.labels, pairs.table)
    for metric in metrics:
        class_scores_of_metric = function_of(metric).class_scores
        if class_scores_of_metric is not None:
            return class_scores_of_metric(pairs, metric)
    return {}


def submission_from(run: Run, gold: Gold) -> Submission:
    """The submission of one run."""
    if isinstance(run, Submission):
        return run
    if isinstance(gold, TableGold) and isinstance(run, str):
        return gold.system(run)
    if isinstance(run, str | os.PathLike):
        return check(run, gold.benchmark, role=gold.role)
    return submission_of(run, gold.benchmark, role=gold.role)


def submissions_from(system: Run | Sequence[Run], gold: Gold) -> list[Submission]:
    """The submission of each run; a system that is given as one submission has one run."""
    return [submission_from(run, gold) for run in _runs(system)]


def _runs(system: Run | Sequence[Run]) -> Sequence[Run]:
    """The runs of a system, which may be given as its only one."""
    if isinstance(system, Submission | Mapping | str | os.PathLike):
        return [system]
    return system


def systems_by_name(systems: Mapping[str, SystemT] | Sequence[str]) -> Mapping[str, SystemT | str]:
    """Systems by name; a sequence names systems of a scored table."""
    if isinstance(systems, Mapping):
        return systems
    return {name: name for name in systems}


def gold_of(gold: Labels, benchmark: Benchmark | Path, *systems: Run | Sequence[Run]) -> Gold:
    """The gold; a folder is read for the benchmark and split of the first submission, if there is one.

    Raises GoldError, ManifestError and UnknownNameError.
    """
    if isinstance(gold, Gold):
        return gold
    if isinstance(gold, ScoredTable):
        return gold.gold
    for system in systems:
        for run in _runs(system):
            if isinstance(run, Submission):
                return read_gold(gold, run.benchmark, role=run.role)
    return read_gold(gold, benchmark)


def require_gradable(submission: Submission, gold: Gold) -> None:
    """Raise ValueError for gold of another benchmark or split, SubmissionError for an invalid submission."""
    if (submission.benchmark.name, submission.role) != (gold.benchmark.name, gold.role):
        raise ValueError(
            f"the submission is for {submission.benchmark.name} ({submission.role}) and the gold labels for "
            f"{gold.benchmark.name} ({gold.role}); expected both of one benchmark and split"
        )
    submission = with_tag_counts(submission, gold)
    if submission.verdict == "invalid":
        raise SubmissionError(submission.errors, source=submission.source, unshown=submission.unshown)


def with_tag_counts(submission: Submission, gold: Gold) -> Submission:
    """The submission, invalid and without the file if a row has more or fewer tags, or words, than gold."""
    problems = list(submission.problems)
    unshown = dict(submission.unshown)
    predictions = {}
    for name, predicted in submission.predictions.items():
        file = gold.benchmark.file(name)
        wrong: list[Problem] = []
        if gold.benchmark.task(file.task).form in SIZES and name in gold.columns:
            wrong = _wrong_tag_counts(file, predicted, gold)
        problems += wrong[:SHOWN_PER_FILE]
        if len(wrong) > SHOWN_PER_FILE:
            unshown[file.path] = {"tag-count": len(wrong) - SHOWN_PER_FILE}
        if not wrong:
            predictions[name] = predicted
    if len(predictions) == len(submission.predictions):
        return submission
    return replace(
        submission, verdict="invalid", problems=tuple(problems), predictions=predictions, unshown=unshown
    )


def _wrong_tag_counts(file: TestFile, predicted: Column, gold: Gold) -> list[Problem]:
    """The rows of predictions with more or fewer tags, or words, than the gold has there."""
    labels = gold.columns[file.name]
    ids = file.splits[gold.role].ids
    form = gold.benchmark.task(file.task).form
    size_of = SIZES[form]
    what = "words" if form == "relations" else "tags"
    answers = predicted.cells
    problems = []
    for index, cell in zip(labels.row_indices, labels.cells, strict=True):
        predicted_size = size_of(answers[index])
        size = size_of(cell)
        if predicted_size is None or size is None or predicted_size == size:
            continue
        value = f"{predicted_size:,} {what}, not {size:,}"
        row_id = ids[index] if ids else ""
        problems.append(problem(f"tag-count, {what}", file.path, index=index, value=value, id=row_id))
    return problems


def pairs_of(submission: Submission, gold: Gold) -> dict[str, Pairs]:
    """Test-file name to its gold and predictions, for the files that have both."""
    pairs = {}
    for name, predicted in submission.predictions.items():
        if name not in gold.columns:
            continue
        labels = gold.columns[name]
        file = gold.benchmark.file(name)
        size = len(labels) if file.gaps else file.size(gold.role)
        groups = None
        if name in gold.metadata:
            groups = gold.metadata[name].groups
        pairs[name] = join_by_index(labels, predicted, groups=groups, size=size)
    return pairs


def answers_of(submissions: Sequence[Submission], gold: Gold) -> list[dict[str, Pairs]]:
    """The pairs of each submission, which share what metrics compute of equal cells."""
    answers = [pairs_of(submission, gold) for submission in submissions]
    for name in gold.columns:
        systems = [pairs[name] for pairs in answers if name in pairs]
        if systems:
            share_cells(systems)
    return answers


def macro_average(
    scores: Mapping[str, Score | None], *, intervals: bool, weights: Mapping[str, float] = {}
) -> Score | None:
    """The mean of the task scores (section 3.4), with the manifest's weights; None while one is missing.

    A task of weight 0 does not count.
    """
    scores = {name: score for name, score in scores.items() if weights.get(name, 1.0)}
    parts = parts_of(scores, weights)
    if not parts or len(parts) < len(scores):
        return None
    known = [score for score in scores.values() if score is not None]
    covered = None
    if any(score.covered is not None for score in known):
        shares = [1.0 if score.covered is None else score.covered for score in known]
        covered = sum(shares) / len(shares)
    value = sum(part.weight * part.value for part in parts) / sum(part.weight for part in parts)
    loss = any(score.loss for score in known)
    interval = optional_mean_interval(parts) if intervals else NO_INTERVAL
    return Score.of(value, interval, len(parts), covered, loss=loss)


def _points(task: Task, pairs: Mapping[str, Pairs]) -> dict[str, MetricValue]:
    """The value of each metric whose test file has gold and predictions."""
    points = {}
    for metric in task.metrics:
        if metric.file in pairs:
            points[metric.name] = point(metric, pairs[metric.file])
    return points


def _task_report(
    task: Task, pairs: Mapping[str, Pairs], points: Mapping[str, MetricValue], *, intervals: bool
) -> TaskReport:
    metric_intervals = dict.fromkeys(points, NO_INTERVAL)
    task_interval = NO_INTERVAL
    if intervals and points:
        from gluebench.scoring.inference import task_intervals  # imports numpy

        metric_intervals, task_interval = task_intervals(task, pairs, points)
    metrics = ByName[Score]({}, what=f"metric of {task.name}")
    for metric in task.metrics:
        if metric.name in points:
            value = points[metric.name].value
            interval = metric_intervals[metric.name]
            metrics[metric.name] = _score(value, interval, [pairs[metric.file]], metric.loss)
    if len(points) < len(task.metrics):
        return TaskReport(None, metrics)
    value = task_score([measured.value for measured in points.values()])
    files = [pairs[name] for name in task.metrics_by_file()]
    return TaskReport(_score(value, task_interval, files, task.loss), metrics)


def _score(value: float, interval: OptionalInterval, files: Sequence[Pairs], loss: bool) -> Score:
    """A score on all examples of some test files."""
    n = sum(len(pairs) for pairs in files)
    covered = None
    if any(pairs.covered is not None for pairs in files):
        examples_of_splits = sum(len(pairs) / (pairs.covered or 1.0) for pairs in files)
        covered = n / examples_of_splits
    return Score.of(value, interval, n, covered, loss=loss)


class DiagnosticScores(NamedTuple):
    """The part of a report on a diagnostic set, with its warnings."""

    report: DiagnosticReport | None
    """None when it was not answered, or has no gold."""
    warnings: tuple[str, ...] = ()


def diagnostic_report(
    task: Task, pairs: Mapping[str, Pairs], gold: Gold, *, intervals: bool
) -> DiagnosticScores:
    """The scores of a diagnostic set by its first metric: overall, by phenomenon and by metadata column."""
    metric = task.metrics[0]
    if metric.file not in pairs:
        return DiagnosticScores(None, _absent(task, metric.file, gold))
    whole = pairs[metric.file]
    categories = gold.categories[metric.file]
    points = []
    kinds = [OVERALL, "coarse", "fine"]
    kinds += task.metadata
    scores: dict[str, dict[str, Score]] = {kind: {} for kind in kinds}
    for category in categories:
        measured = point_on(metric, whole, category.positions)
        interval = NO_INTERVAL
        if intervals:
            from gluebench.scoring.inference import file_intervals  # imports numpy

            part = whole if category.kind == OVERALL else whole.subset(category.positions)
            [interval] = file_intervals([metric], part, [measured])
        points.append(measured)
        n = len(category.positions)
        score = Score.of(measured.value, interval, n, whole.covered, loss=metric.loss)
        scores[category.kind][category.name] = score
    [overall] = scores[OVERALL].values()
    metadata = {column: scores[column] for column in task.metadata if scores[column]}
    report = DiagnosticReport(overall, scores["coarse"], scores["fine"], metadata)
    return DiagnosticScores(report, _category_warnings(task, categories, points))


def _absent(task: Task, file: str, gold: Gold) -> tuple[str, ...]:
    if gold.role not in task.file(file).splits:
        return ()
    if file not in gold.columns:
        return (f"{task.name}: there are no gold labels for it; no score depends on it",)
    return (f"{task.name}: {file}.tsv was not submitted; its analysis is left out, no score depends on it",)


def _category_warnings(
    task: Task, categories: Sequence[Category], points: Sequence[MetricValue]
) -> tuple[str, ...]:
    """One warning where the metric is not defined: of the whole set, or of all its categories."""
    metric = task.metrics[0].name
    if points[0].undefined:
        return (_undefined_warning(task.name, metric, points[0].undefined),)
    names = []
    for category, measured in zip(categories, points, strict=True):
        if measured.undefined:
            names.append(category.name)
    if not names:
        return ()
    why = "all gold labels or all predictions are the same"
    return (f"{_undefined_warning(task.name, metric, why)}: {', '.join(names)}",)


def _undefined_warning(task: str, metric: str, why: str) -> str:
    return f"{task}: {metric} is not defined where {why}, and counts as 0"


def _coverage_warnings(submission: Submission, gold: Gold, pairs: Mapping[str, Pairs]) -> Iterator[str]:
    unlabeled = [f"{name}{SUFFIX}" for name in submission.predictions if name not in pairs]
    if unlabeled:
        yield f"there are no gold labels for {', '.join(unlabeled)}: submitted, but not scored"
    for name in pairs:
        if pairs[name].covered is not None and not gold.rows:
            size = gold.benchmark.file(name).size(gold.role)
            yield f"{name}: there are gold labels for {len(pairs[name]):,} of {size:,} examples only"
