"""A benchmark as rows of text: the paper's Table 1, and the details of one task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gluebench.benchmark.figures import percent
from gluebench.benchmark.records import Benchmark, Metric, Reference, Split, Task, TestFile

HEADER = ("Corpus", "Train", "Test", "Task", "Metrics", "Domain")
PRIVATE = "*"
"""Mark of a test set with private labels (bold type in the paper)."""
_PRIVACY = {True: "private", False: "public", None: ""}


def table_one(benchmark: Benchmark) -> dict[str, list[list[str]]]:
    """Table 1 of the paper, under HEADER: the rows of the tasks by section, "" for those without one."""
    sections: dict[str, list[list[str]]] = {}
    for task in benchmark.tasks:
        sections.setdefault(task.section, []).append(_row(task))
    return sections


def table_notes(benchmark: Benchmark) -> list[str]:
    """Notes for Table 1: its marks, the tasks that are not averaged, the benchmark's notes."""
    notes = []
    if any(task.private for task in benchmark.tasks):
        notes.append(f"{PRIVATE} The test labels are private.")
    for task in benchmark.diagnostics:
        model = f", answered by the model for {task.predict_with}" if task.predict_with else ""
        notes.append(f"{task.name} is reported, not averaged{model}.")
    return notes + list(benchmark.notes)


def details(benchmark: Benchmark, task: Task) -> list[list[str]]:
    """The manifest's entries on a task, as rows of name and value; empty values have no row."""
    rows = [
        ["Task", f"{task.name}: {task.title}"],
        ["Benchmark", benchmark.title],
        ["Asks for", task.summary],
        ["Also called", ", ".join(task.aliases)],
        ["Domain", task.domain],
        ["Input", ", ".join(task.columns)],
        *_label_rows(task),
        ["Metrics", "; ".join(_metric(metric, task) for metric in task.metrics)],
        ["Counts in the average", _counts(task)],
        ["Predicted with", f"the model for {task.predict_with}" if task.predict_with else ""],
        ["Test labels", _PRIVACY[task.private]],
        *(["Split", f"{name}: {split.file}, {split.size:,} examples"] for name, split in task.splits.items()),
        *(row for file in task.files for row in _file_rows(file)),
        *_phenomenon_rows(task),
        ["Broken down by", ", ".join(task.metadata)],
        *(["Reference", _reference(reference, task)] for reference in task.references),
        ["Corpus", task.source.corpus],
        ["License", task.source.license],
        ["Citation", task.source.citation],
        ["Address", task.source.url],
        *(["Note", note] for note in task.notes),
    ]
    return [row for row in rows if row[1]]


def short_size(size: int) -> str:
    """A size as the paper prints it: exact below a thousand, 8.6k, 67k."""
    if size < 1000:
        return str(size)
    thousands = size / 1000
    return f"{thousands:.0f}k" if thousands >= 9.95 else f"{thousands:.1f}".removesuffix(".0") + "k"


def _row(task: Task) -> list[str]:
    test = _size(file.splits["test"] for file in task.files if "test" in file.splits)
    return [
        task.name,
        _size(split for split in task.splits.values() if split.name == "train"),
        test + PRIVATE if task.private and test else test,
        task.summary,
        "/".join(metric.title for metric in task.metrics),
        task.domain,
    ]


def _size(splits: Iterable[Split]) -> str:
    total = sum(split.size for split in splits)
    return short_size(total) if total else ""


def _label_rows(task: Task) -> Iterator[list[str]]:
    if task.form not in ("labels", "numbers"):
        yield ["Answers", task.form]
    for label in task.labels:
        also = f" (also read: {', '.join(label.synonyms)})" if label.synonyms else ""
        meaning = f" = {label.gloss}" if label.gloss != label.word else ""
        yield ["Label", f"{label.word}{meaning}{also}"]
    yield ["Labels", ", ".join(task.vocabulary)]
    if task.score_range:
        yield ["Scores", "a number from {:g} to {:g}".format(*task.score_range)]


def _counts(task: Task) -> str:
    if not task.scored:
        return "no: reported beside it"
    if not task.weight:
        return "no"
    return "yes" if task.weight == 1 else f"yes, with the weight {task.weight:g}"


def _metric(metric: Metric, task: Task) -> str:
    of = f" of {metric.positive}" if metric.positive is not None else ""
    on = f" on {metric.file}" if len(task.files) > 1 else ""
    return f"{metric.name} ({metric.title}){of}{on}"


def _file_rows(file: TestFile) -> Iterator[list[str]]:
    predicted = " or ".join(split.name for split in file.splits.values())
    also = f"; also read: {', '.join(f'{name}.tsv' for name in file.synonyms)}" if file.synonyms else ""
    column = f", column {file.column}" if file.column else ""
    yield ["Submission file", f"{file.path}{column}, predictions for {predicted}{also}"]
    for version in file.other_versions:
        sizes = ", ".join(f"{role} {size:,}" for role, size in version.sizes.items())
        yield ["Other version", f"{version.name} ({sizes}): {version.note}"]


def _phenomenon_rows(task: Task) -> Iterator[list[str]]:
    for coarse in task.coarse():
        fine = ", ".join(phenomenon.name for phenomenon in task.phenomena if phenomenon.coarse == coarse)
        yield ["Phenomena", f"{coarse}: {fine}"]


def _reference(reference: Reference, task: Task) -> str:
    titles = {metric.name: metric.title for metric in task.metrics}
    losses = {metric.name for metric in task.metrics if metric.loss}
    scores = ", ".join(
        f"{titles[name]} {percent(score, name in losses)}" for name, score in reference.scores.items()
    )
    return f"{reference.name}: {scores} ({reference.source})"
