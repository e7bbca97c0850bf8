"""Grade a submission against gold: its scores, their averages and the warnings, as a report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from gluebench.benchmark import Benchmark, Metric, Task, TestFile
from gluebench.benchmark.lookup import ByName
from gluebench.scoring.gold import SUFFIX, Gold, GoldError, read_gold
from gluebench.scoring.intervals import NO_BAR, Bar, mean_bar
from gluebench.scoring.metrics import Point, function_of, point, task_score
from gluebench.scoring.metrics.counts import ClassScore, label_scores
from gluebench.scoring.pairs import Pairs, matched, share_cells
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
Named = TypeVar("Named")
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
    scored = labels.benchmark.scored
    points = {task.name: _points(task, pairs) for task in scored}
    tasks = {task.name: _task_report(task, pairs, points[task.name], intervals=intervals) for task in scored}
    score = macro_average(
        {name: task.score for name, task in tasks.items()},
        intervals=intervals,
        weights=labels.benchmark.weights,
    )
    diagnostics = {
        task.name: diagnostic_report(task, pairs, labels, intervals=intervals)
        for task in labels.benchmark.diagnostics
    }
    return Report(
        benchmark=labels.benchmark.name,
        split=labels.role,
        complete=score is not None,
        missing=missing_files(labels.benchmark, labels.role, submission.predictions),
        score=score,
        tasks=ByName(tasks, what="task"),
        diagnostics={name: report for name, (report, _) in diagnostics.items()},
        classes=class_scores(labels.benchmark, pairs),
        warnings=(
            *labels.warnings,
            *_coverage_warnings(submission, labels, pairs),
            *(
                _undefined(task, metric, measured.undefined)
                for task, metrics in points.items()
                for metric, measured in metrics.items()
                if measured.undefined
            ),
            *(warning for _, warnings in diagnostics.values() for warning in warnings),
        ),
        provenance=provenance(labels),
    )


def class_scores(benchmark: Benchmark, pairs: Mapping[str, Pairs]) -> Mapping[str, Mapping[str, ClassScore]]:
    """Test-file name to the scores of each class: of the labels, or of what the first metric counts by class.

    Files of other forms, of more than MOST_CLASSES classes and of a single one without a name are left out.
    """
    files = {}
    for task in benchmark.tasks:
        for name, metrics in task.metrics_by_file().items():
            scores = _class_scores(pairs[name], metrics) if name in pairs else {}
            if len(scores) <= MOST_CLASSES and {*scores} - {""}:
                files[name] = scores
    return by_class(files)


def _class_scores(pairs: Pairs, metrics: Iterable[Metric]) -> Mapping[str, ClassScore]:
    if pairs.predicted.labels:
        return label_scores(pairs.gold.labels, pairs.table)
    scorers = ((metric, function_of(metric).class_scores) for metric in metrics)
    return next((scorer(pairs, metric) for metric, scorer in scorers if scorer), {})


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
    return [system] if isinstance(system, Submission | Mapping | str | os.PathLike) else system


def named(systems: Mapping[str, Named] | Sequence[str]) -> Mapping[str, Named | str]:
    """Systems by name; a sequence names systems of a scored table."""
    return systems if isinstance(systems, Mapping) else {name: name for name in systems}


def gold_of(gold: Labels, benchmark: Benchmark | Path, *systems: Run | Sequence[Run]) -> Gold:
    """The gold; a folder is read for the benchmark and split of the first submission, if there is one.

    Raises GoldError, ManifestError and UnknownNameError.
    """
    if isinstance(gold, Gold):
        return gold
    if isinstance(gold, ScoredTable):
        return gold.gold
    for run in chain.from_iterable(map(_runs, systems)):
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
    problems, unshown, predictions = list(submission.problems), {**submission.unshown}, {}
    for name, predicted in submission.predictions.items():
        file = gold.benchmark.file(name)
        counted = gold.benchmark.task(file.task).form in SIZES and name in gold.columns
        wrong = _wrong_tag_counts(file, predicted, gold) if counted else []
        problems += wrong[:SHOWN_PER_FILE]
        if wrong[SHOWN_PER_FILE:]:
            unshown[file.path] = {"tag-count": len(wrong) - SHOWN_PER_FILE}
        if not wrong:
            predictions[name] = predicted
    if len(predictions) == len(submission.predictions):
        return submission
    return replace(
        submission, verdict="invalid", problems=tuple(problems), predictions=predictions, unshown=unshown
    )


def _wrong_tag_counts(file: TestFile, predicted: Column, gold: Gold) -> list[Problem]:
    labels, ids = gold.columns[file.name], file.splits[gold.role].ids
    form = gold.benchmark.task(file.task).form
    size_of, what = SIZES[form], "words" if form == "relations" else "tags"
    tagged, answers = zip(labels.row_indices, labels.cells, strict=True), predicted.cells
    sizes = ((index, size_of(answers[index]), size_of(cell)) for index, cell in tagged)
    return [
        problem(
            f"tag-count, {what}",
            file.path,
            index=index,
            value=f"{count:,} {what}, not {size:,}",
            id=ids[index] if ids else "",
        )
        for index, count, size in sizes
        if count != size and count is not None and size is not None
    ]


def pairs_of(submission: Submission, gold: Gold) -> dict[str, Pairs]:
    """Test-file name to its gold and predictions, for the files that have both."""
    pairs = {}
    for name, predicted in submission.predictions.items():
        if name in gold.columns:
            about = gold.metadata.get(name)
            file = gold.benchmark.file(name)
            size = len(gold.columns[name]) if file.gaps else file.size(gold.role)
            groups = None if about is None else about.groups
            pairs[name] = matched(gold.columns[name], predicted, groups=groups, size=size)
    return pairs


def answers_of(submissions: Sequence[Submission], gold: Gold) -> list[dict[str, Pairs]]:
    """The pairs of each submission, which share what metrics compute of equal cells."""
    answers = [pairs_of(submission, gold) for submission in submissions]
    for name in gold.columns:
        if systems := [pairs[name] for pairs in answers if name in pairs]:
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
    shares = [score.covered for score in scores.values() if score is not None]
    covered = None
    if any(share is not None for share in shares):
        covered = sum(1.0 if share is None else share for share in shares) / len(shares)
    value = sum(part.weight * part.value for part in parts) / sum(part.weight for part in parts)
    loss = any(score.loss for score in scores.values() if score is not None)
    return Score.of(value, mean_bar(parts) if intervals else NO_BAR, len(parts), covered, loss=loss)


def _points(task: Task, pairs: Mapping[str, Pairs]) -> dict[str, Point]:
    """The value of each metric whose test file has gold and predictions."""
    return {metric.name: point(metric, pairs[metric.file]) for metric in task.metrics if metric.file in pairs}


def _task_report(
    task: Task, pairs: Mapping[str, Pairs], points: Mapping[str, Point], *, intervals: bool
) -> TaskReport:
    bars, bar = dict.fromkeys(points, NO_BAR), NO_BAR
    if intervals and points:
        from gluebench.scoring.inference import task_bars  # imports numpy

        bars, bar = task_bars(task, pairs, points)
    metrics = ByName[Score]({}, what=f"metric of {task.name}")
    for metric in task.metrics:
        if metric.name in points:
            value = points[metric.name].value
            metrics[metric.name] = _score(value, bars[metric.name], [pairs[metric.file]], metric.loss)
    if len(points) < len(task.metrics):
        return TaskReport(None, metrics)
    value = task_score([measured.value for measured in points.values()])
    files = [pairs[name] for name in task.metrics_by_file()]
    return TaskReport(_score(value, bar, files, task.loss), metrics)


def _score(value: float, bar: Bar, files: Sequence[Pairs], loss: bool) -> Score:
    """A score on all examples of some test files."""
    n, covered = sum(map(len, files)), None
    if any(pairs.covered is not None for pairs in files):
        covered = n / sum(len(pairs) / (pairs.covered or 1.0) for pairs in files)
    return Score.of(value, bar, n, covered, loss=loss)


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
    whole, categories = pairs[metric.file], gold.categories[metric.file]
    points = []
    scores: dict[str, dict[str, Score]] = {kind: {} for kind in (OVERALL, "coarse", "fine", *task.metadata)}
    for category in categories:
        part = whole if category.kind == OVERALL else whole.subset(category.positions)
        measured, bar = point(metric, part), NO_BAR
        if intervals:
            from gluebench.scoring.inference import file_bars  # imports numpy

            [bar] = file_bars([metric], part, [measured])
        points.append(measured)
        score = Score.of(measured.value, bar, len(part), whole.covered, loss=metric.loss)
        scores[category.kind][category.name] = score
    [overall] = scores[OVERALL].values()
    metadata = {column: scores[column] for column in task.metadata if scores[column]}
    report = DiagnosticReport(overall, scores["coarse"], scores["fine"], metadata)
    return DiagnosticScores(report, _undefined_categories(task, categories, points))


def _absent(task: Task, file: str, gold: Gold) -> tuple[str, ...]:
    if gold.role not in task.file(file).splits:
        return ()
    if file not in gold.columns:
        return (f"{task.name}: there are no gold labels for it; no score depends on it",)
    return (f"{task.name}: {file}.tsv was not submitted; its analysis is left out, no score depends on it",)


def _undefined_categories(
    task: Task, categories: Sequence[Category], points: Sequence[Point]
) -> tuple[str, ...]:
    """One warning for the whole set, or one for all its categories."""
    metric = task.metrics[0].name
    if points[0].undefined:
        return (_undefined(task.name, metric, points[0].undefined),)
    names = [
        category.name for category, measured in zip(categories, points, strict=True) if measured.undefined
    ]
    why = "all gold labels or all predictions are the same"
    return (f"{_undefined(task.name, metric, why)}: {', '.join(names)}",) if names else ()


def _undefined(task: str, metric: str, why: str) -> str:
    return f"{task}: {metric} is not defined where {why}, and counts as 0"


def _coverage_warnings(submission: Submission, gold: Gold, pairs: Mapping[str, Pairs]) -> Iterator[str]:
    unlabeled = [f"{name}{SUFFIX}" for name in submission.predictions if name not in pairs]
    if unlabeled:
        yield f"there are no gold labels for {', '.join(unlabeled)}: submitted, but not scored"
    for name in pairs:
        if pairs[name].covered is not None and not gold.rows:
            size = gold.benchmark.file(name).size(gold.role)
            yield f"{name}: there are gold labels for {len(pairs[name]):,} of {size:,} examples only"
