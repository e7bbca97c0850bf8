"""Check what a manifest says, after its keys and types are checked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf, isfinite

from gluebench.benchmark.lookup import closest, fold
from gluebench.benchmark.metrics import BUILT_IN, FORMS, UNSCALED, names_of, takes_positive
from gluebench.benchmark.reader import Finding, KeyPath, one_of
from gluebench.benchmark.records import ROLES, Benchmark, Task, TestFile

MOST_LABELS = 250

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_WINDOWS_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)", re.IGNORECASE)
_TAKEN_COLUMNS = ("index", "group", "overall", "coarse", "fine")


def check(benchmark: Benchmark, shape: list[Finding]) -> list[Finding]:
    """All findings on what a manifest says; `shape` has those on keys and types.

    A check is skipped if `shape` has a finding on a key that it needs.
    """
    findings = [
        *name_finding(("benchmark", "name"), benchmark.name),
        *average_findings(benchmark),
        *_duplicates(_task_names(benchmark), "another task"),
        *_duplicates(_file_names(benchmark), "another test file", same=str.casefold),
    ]
    if benchmark.tasks and not benchmark.averaged:
        expected = "expected one without scored = false and weight = 0, which orders a board"
        findings.append(Finding(("tasks",), f"none counts in the score; {expected}"))
    unusable = {_unusable_key(finding.path) for finding in shape}
    for task in benchmark.tasks:
        path = ("tasks", task.name)
        findings += task_name_finding(path, task.name)
        for rule, keys in _RULES:
            if unusable.isdisjoint((task.name, key) for key in keys):
                findings += rule(path, task)
        findings += _predict_with(path, task, benchmark)
    for data in benchmark.auxiliary:
        findings += _auxiliary(("auxiliary", data.name), data, benchmark, unusable=unusable)
    return findings


def name_finding(path: KeyPath, name: str) -> Iterator[Finding]:
    """A finding if a name is not a valid file name on every system; a missing name has another."""
    if name and not _FILE_NAME.match(name):
        allowed = 'letters, digits, ".", "_" and "-" only, a letter or digit first'
        yield Finding(path, f'"{name}" is not a name for a file; expected {allowed}')
    elif _WINDOWS_DEVICE.match(name):
        yield Finding(path, f'"{name}" is the name of a device on Windows; expected one that a file may have')
    elif name.endswith((".metadata", ".phenomena")):
        yield Finding(path, f'"{name}" is what a gold folder calls its other files; expected another ending')


def task_name_finding(path: KeyPath, name: str) -> Iterator[Finding]:
    """A finding if the name of a task cannot be a heading, a folder and part of an address."""
    if not name.isprintable() or name != name.strip() or name[:1] == "." or set(name) & set('/\\:*?"<>|'):
        expected = 'a word or phrase without / \\ : * ? " < > | and without "." at its start'
        yield Finding(path, f'"{name}" is not a name for a task; expected {expected}')


def average_findings(benchmark: Benchmark) -> Iterator[Finding]:
    """Findings on what is averaged, and on the scores of a benchmark's references, which are averages."""
    losses = [
        f"{task.name} {metric.name}" for task in benchmark.averaged for metric in task.metrics if metric.loss
    ]
    shares = [task.name for task in benchmark.averaged if not all(metric.loss for metric in task.metrics)]
    if losses and shares:
        yield Finding(
            ("tasks",),
            f"average losses ({', '.join(losses)}) with scores from 0 to 1 ({', '.join(shares)}). Give each "
            'loss a scale, what becomes 0 and what becomes 1: "scale = [-4.0, 0.0]"; or leave its task '
            "out of the average: weight = 0",
        )
    for task in benchmark.losses:
        if not task.averaged and not all(metric.loss for metric in task.metrics):
            expected = "expected one kind, since the score of a task is their mean: make two tasks"
            yield Finding(("tasks", task.name, "metrics"), f"are losses and others; {expected}")
    yield from _scores(("benchmark",), benchmark, {"score": (-inf, 0.0) if losses else (-1.0, 1.0)})


def metric_entry_points() -> frozenset[str]:
    """Names of the metric functions that installed packages add."""
    from importlib.metadata import entry_points  # slow to import and rarely needed

    return frozenset(point.name for point in entry_points(group="gluebench.metrics"))


def _task_names(benchmark: Benchmark) -> Iterator[tuple[KeyPath, str, str]]:
    for table, tasks in (("tasks", benchmark.tasks), ("auxiliary", benchmark.auxiliary)):
        for task in tasks:
            yield (table, task.name), task.name, task.name
            for position, alias in enumerate(task.aliases):
                yield (table, task.name, "aliases", position), alias, task.name


def _file_names(benchmark: Benchmark) -> Iterator[tuple[KeyPath, str, str]]:
    for task in benchmark.tasks:
        for position, file in enumerate(task.files):
            path = ("tasks", task.name, "files", position)
            owner = f"{task.name}/{position}"
            yield (*path, "name"), file.name, owner
            for number, synonym in enumerate(file.synonyms):
                yield (*path, "synonyms", number), synonym, owner


def _duplicates(
    names: Iterable[tuple[KeyPath, str, str]], what: str, *, same: Callable[[str], str] = fold
) -> Iterator[Finding]:
    """Findings on names with two owners; names are equal if `same` maps them to one text."""
    owners: dict[str, str] = {}
    for path, name, owner in names:
        if name and owners.setdefault(same(name), owner) != owner:
            aside = "letter case" if same is str.casefold else "letter case, spaces, hyphens and underscores"
            yield Finding(path, f'"{name}" already names {what}; expected names that differ, {aside} aside')


def _unusable_key(path: KeyPath) -> tuple[str, str]:
    """The task and the key ("metrics", "metrics.function") that a finding leaves without a usable value."""
    task, *keys = [key for key in path[1:] if isinstance(key, str)] or [""]
    return task, ".".join(dict.fromkeys((*keys[:1], *keys[-1:])))


def _form(path: KeyPath, task: Task) -> Iterator[Finding]:
    labels = task.labels or task.vocabulary
    if task.form not in FORMS:
        yield Finding((*path, "form"), f'"{task.form}" is not a form; {one_of(FORMS)}')
    elif labels and task.score_range:
        yield Finding((*path, "score_range"), "stands beside labels; expected one of the two, not both")
    elif task.form in ("labels", "numbers") and not labels and not task.score_range:
        yield Finding(
            (*path, "labels"), "is missing; expected labels (classification) or score_range (regression)"
        )
    elif task.form == "numbers" and not task.score_range:
        yield Finding((*path, "score_range"), 'is missing; expected it with form = "numbers"')
    elif task.form in ("probabilities", "distributions") and not labels:
        yield Finding((*path, "labels"), f'is missing; expected the labels of form = "{task.form}"')


def _labels(path: KeyPath, task: Task) -> Iterator[Finding]:
    path = (*path, "labels")
    if len(task.labels) == 1:
        yield Finding(path, "has one label; expected at least two")
    if len(task.labels) > MOST_LABELS:
        yield Finding(path, f"has {len(task.labels)} labels; expected at most {MOST_LABELS}")
    words = [word for label in task.labels for word in (label.word, *label.synonyms)]
    for word in (*words, *task.vocabulary):
        if word != word.strip() or not word.isprintable():
            yield Finding((*path, word), "expected a word with no blank at its ends, tab or line break")
        elif task.form == "sets" and task.separator in word:
            expected = 'expected labels without the separator of sets; give another: separator = "/"'
            yield Finding((*path, word), f'has "{task.separator}"; {expected}')


def _known_functions(path: KeyPath, task: Task) -> Iterator[Finding]:
    for position, metric in enumerate(task.metrics):
        if metric.function in BUILT_IN or metric.function in metric_entry_points():
            continue
        close = closest(metric.function, BUILT_IN)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        yield Finding(
            (*path, "metrics", position, "function"),
            f'"{metric.function}" is not a metric function.{hint} Built in: {", ".join(BUILT_IN)};'
            ' installed packages add others by the entry-point group "gluebench.metrics"',
        )


def _suited_functions(path: KeyPath, task: Task) -> Iterator[Finding]:
    if task.form not in FORMS or (task.form == "labels" and not task.labels):  # `_form` reports it
        return
    for position, metric in enumerate(task.metrics):
        if metric.function in BUILT_IN and metric.function not in names_of(task.form):
            where = (*path, "metrics", position, "function")
            clash = f"compares {BUILT_IN[metric.function].form}, and this task has {task.form}"
            yield Finding(where, f'"{metric.function}" {clash}; {one_of(names_of(task.form))}')


def _weighted_spans(path: KeyPath, task: Task) -> Iterator[Finding]:
    if task.vocabulary and any(metric.function == "span_spearman" for metric in task.metrics):
        yield Finding((*path, "labels"), "stand beside span_spearman; expected none, as spans have weights")


def _positives(path: KeyPath, task: Task) -> Iterator[Finding]:
    taking = " or ".join(f'"{name}"' for name in names_of(task.form) if takes_positive(name))
    for position, metric in enumerate(task.metrics):
        where = (*path, "metrics", position, "positive")
        if metric.positive is None:
            if takes_positive(metric.function) and task.form in FORMS:
                label = f"the class that {BUILT_IN[metric.function].title} is computed for"
                yield Finding(where, f"is missing; {one_of(task.words)}: {label}")
        elif metric.function in BUILT_IN and not takes_positive(metric.function):
            yield Finding(where, f'is of no use to "{metric.function}"; expected it with {taking} only')
        elif task.form in ("numbers", "ranking"):
            if not _is_number(metric.positive):
                yield Finding(where, f'"{metric.positive}" is not a number; expected one, as "3.0"')
        elif metric.positive not in (words := task.words or task.vocabulary):
            yield Finding(where, f'"{metric.positive}" is not a label of this task; {one_of(words)}')


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _scales(path: KeyPath, task: Task) -> Iterator[Finding]:
    for position, metric in enumerate(task.metrics):
        if metric.scale is None:
            continue
        where = (*path, "metrics", position, "scale")
        if metric.function not in BUILT_IN or metric.function in UNSCALED:
            yield Finding(
                where, f"is not for {metric.function}; expected it with a loss, or a share of examples"
            )
        elif metric.scale[0] >= metric.scale[1]:
            yield Finding(where, "expected the worse value first, as higher is better: [-4.0, 0.0]")


def _metric_names(path: KeyPath, task: Task) -> Iterator[Finding]:
    names = [metric.name for metric in task.metrics]
    for position, name in enumerate(names):
        where = (*path, "metrics", position, "name")
        yield from name_finding(where, name)
        if name in names[:position]:
            yield Finding(where, f'"{name}" names two metrics of this task; expected each name once')


def _metric_files(path: KeyPath, task: Task) -> Iterator[Finding]:
    files = tuple(file.name for file in task.files)
    for position, metric in enumerate(task.metrics):
        if metric.file not in files:
            yield Finding(
                (*path, "metrics", position, "file"),
                f'"{metric.file}" is not a file of this task; {one_of(files)}',
            )
    used = {metric.file for metric in task.metrics}
    for position, name in enumerate(files):
        if name not in used and used <= set(files):
            yield Finding(
                (*path, "files", position, "name"), f'"{name}" has no metric; expected one computed on it'
            )


def _files(path: KeyPath, task: Task) -> Iterator[Finding]:
    seen: set[str] = set()
    for position, file in enumerate(task.files):
        where = (*path, "files", position)
        for number, name in enumerate((file.name, *file.synonyms)):
            yield from name_finding((*where, "synonyms", number - 1) if number else (*where, "name"), name)
        if file.parts and (task.form not in ("ranking", "spans") or not file.column):
            expected = 'expected it beside column, with form = "ranking" or "spans"'
            yield Finding((*where, "parts"), f'"{file.parts}" is of no use here; {expected}')
        for role in (role for role in ROLES if role in file.splits):
            if not file.column and file.splits[role].name in seen:
                yield Finding((*where, role), f'"{file.splits[role].name}" is predicted twice; expected once')
            seen.add(file.splits[role].name)
        yield from _versions((*where, "other_versions"), file)


def _versions(path: KeyPath, file: TestFile) -> Iterator[Finding]:
    same = "the size of this version; expected another"
    for position, version in enumerate(file.other_versions):
        for role, size in version.sizes.items():
            if role in file.splits and size == file.size(role):
                yield Finding((*path, position, role), f"is {size}, {same}")


def _splits(path: KeyPath, task: Task) -> Iterator[Finding]:
    for name in task.splits:
        yield from name_finding((*path, "splits", name), name)


def _ids(path: KeyPath, task: Task) -> Iterator[Finding]:
    for name, split in task.splits.items():
        where = (*path, "splits", name, "ids")
        if split.ids and len(split.ids) != split.size:
            yield Finding(where, f"has {len(split.ids)} ids for {split.size} examples; expected one for each")
        if len(set(split.ids)) < len(split.ids):
            twice = next(one for one, count in Counter(split.ids).items() if count > 1)
            yield Finding(where, f'has "{twice}" twice; expected each id once')
        strange = next((one for one in split.ids if not one.isprintable() or one != one.strip()), None)
        if strange is not None:
            yield Finding(
                where, f"has {strange!r}; expected ids with no blank at their ends, tab or line break"
            )


def _diagnostic(path: KeyPath, task: Task) -> Iterator[Finding]:
    if task.scored:
        for key in ("phenomena", "metadata"):
            if getattr(task, key):
                yield Finding((*path, key), "is only for a diagnostic set; expected scored = false beside it")
    elif len(task.metrics) != 1:
        yield Finding(
            (*path, "metrics"),
            f"are {len(task.metrics)}; expected one, as scored = false makes it a diagnostic set",
        )
    for position, column in enumerate(task.metadata):
        if column in _TAKEN_COLUMNS or column in task.metadata[:position]:
            yield Finding((*path, "metadata", position), f'"{column}" is taken; expected another column')


def _phenomena(path: KeyPath, task: Task) -> Iterator[Finding]:
    names = (
        ((*path, "phenomena", fine.coarse, fine.name), name, f"{fine.coarse}/{fine.name}")
        for fine in task.phenomena
        for name in (fine.name, *fine.aliases)
    )
    yield from _duplicates(names, "another phenomenon")


def _references(path: KeyPath, task: Task) -> Iterator[Finding]:
    ranges = {}
    for metric in task.metrics:
        known = BUILT_IN.get(metric.function) if metric.scale is None else None
        ranges[metric.name] = (known.lowest, known.highest) if known else None
    return _scores(path, task, ranges)


def _scores(
    path: KeyPath, holder: Task | Benchmark, ranges: Mapping[str, tuple[float, float] | None]
) -> Iterator[Finding]:
    """Findings on references: unknown metrics, scores out of range; None in `ranges` means not known."""
    for position, reference in enumerate(holder.references):
        for metric, value in reference.scores.items():
            where = (*path, "references", position, "scores", metric)
            low, high = ranges.get(metric) or (-inf, inf)
            if metric not in ranges:
                yield Finding(where, f"is not a metric here; {one_of(tuple(ranges))}")
            elif not low <= value <= high:
                expected = f"a fraction from {low:g} to {high:g}" if low > -inf else f"at most {high:g}"
                yield Finding(where, f"is {value:g}; expected {expected}")


def _predict_with(path: KeyPath, task: Task, benchmark: Benchmark) -> Iterator[Finding]:
    others = tuple(other.name for other in benchmark.tasks if other is not task)
    if task.predict_with is not None and task.predict_with not in others:
        yield Finding((*path, "predict_with"), f'"{task.predict_with}" is not another task; {one_of(others)}')


def _auxiliary(
    path: KeyPath, data: Task, benchmark: Benchmark, *, unusable: set[tuple[str, str]]
) -> Iterator[Finding]:
    yield from name_finding(path, data.name)
    for rule, keys in _RULES:
        if rule in (_form, _labels, _splits) and unusable.isdisjoint((data.name, key) for key in keys):
            yield from rule(path, data)
    names = tuple(task.name for task in benchmark.tasks)
    if data.trains is not None and data.trains not in names:
        yield Finding((*path, "trains"), f'"{data.trains}" is not a task; {one_of(names)}')


Rule = Callable[[KeyPath, Task], Iterator[Finding]]
_RULES: tuple[tuple[Rule, tuple[str, ...]], ...] = (
    (_form, ("labels", "score_range", "form")),
    (_labels, ("labels",)),
    (_ids, ("splits",)),
    (_known_functions, ("metrics.function",)),
    (_suited_functions, ("labels", "score_range", "form", "metrics.function")),
    (_weighted_spans, ()),
    (_positives, ("labels", "form", "metrics.function", "metrics.positive")),
    (_metric_names, ("metrics",)),
    (_scales, ("metrics.function", "metrics.scale")),
    (_metric_files, ("metrics", "metrics.file", "files", "files.name")),
    (_files, ()),
    (_splits, ()),
    (_diagnostic, ("metrics", "scored")),
    (_phenomena, ()),
    (_references, ("metrics", "metrics.name", "metrics.function")),
)
"""The checks of a task, and the keys that must be right before each check makes sense."""
