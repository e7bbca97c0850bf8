"""Check what a manifest says, after its keys and types are checked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf, isfinite

from gluebench.benchmark.ids import NumberedIds
from gluebench.benchmark.lookup import did_you_mean, fold, table_beside
from gluebench.benchmark.metrics import BUILT_IN, FORMS, SCHEMES, UNSCALED, names_of, needs, takes
from gluebench.benchmark.reader import Finding, KeyPath, key_path, one_of
from gluebench.benchmark.records import ROLES, Benchmark, Task, TestFile

MOST_LABELS = 250

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_TAG_NAME = re.compile(r"[A-Z]+[0-9]*\Z")
_WINDOWS_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)", re.IGNORECASE)
_TEXTS = {code: text for code, (text,) in table_beside(__file__).items()}
_TAKEN_COLUMNS = ("index", "group", "overall", "coarse", "fine")


def _finding(code: str, path: KeyPath, **details: object) -> Finding:
    """A finding with the text of checks.tsv."""
    return Finding(path, _TEXTS[code].format(**details))


def check(benchmark: Benchmark, shape: list[Finding]) -> list[Finding]:
    """All findings on what a manifest says; `shape` has those on keys and types.

    A check is skipped if `shape` has a finding on a key that it needs.
    """
    findings: list[Finding] = []
    findings += name_finding(("benchmark", "name"), benchmark.name)
    findings += average_findings(benchmark)
    findings += _duplicates(_task_names(benchmark), "another task")
    findings += _duplicates(_file_names(benchmark), "another test file", same=str.casefold)
    if benchmark.tasks and not benchmark.averaged:
        findings.append(_finding("none-scored", ("tasks",)))
    unusable = {_unusable_key(finding.path) for finding in shape}
    for task in benchmark.tasks:
        findings += _task(task, benchmark.tasks, unusable)
    for data in benchmark.auxiliary:
        findings += _auxiliary(("auxiliary", data.name), data, benchmark, unusable=unusable)
    return findings


def check_part(
    part: Benchmark, parent: Benchmark, added: Sequence[Task], shape: list[Finding]
) -> list[Finding]:
    """All findings on what a manifest says that extends another, and adds these tasks.

    The parent's tasks have been checked, and none of their names can be used again, kept or not.
    """
    whole = parent._replace(tasks=parent.tasks + tuple(added))
    of_parent = f"here or of {parent.name}"
    findings = list(average_findings(part))
    findings += _duplicates(_task_names(whole), f"another task, {of_parent}")
    findings += _duplicates(_file_names(whole), f"another test file, {of_parent}", same=str.casefold)
    unusable = {_unusable_key(finding.path) for finding in shape}
    for task in added:
        findings += _task(task, whole.tasks, unusable)
    return findings


def _task(task: Task, tasks: Sequence[Task], unusable: set[tuple[str, str]]) -> Iterator[Finding]:
    """All findings on one of the tasks."""
    path = ("tasks", task.name)
    yield from task_name_finding(path, task.name)
    for rule, keys in _RULES:
        if unusable.isdisjoint((task.name, key) for key in keys):
            yield from rule(path, task)
    yield from _predict_with(path, task, tasks)


def name_finding(path: KeyPath, name: str) -> Iterator[Finding]:
    """A finding if a name is not a valid file name on every system; a missing name has another."""
    if name and not _FILE_NAME.match(name):
        yield _finding("file-name", path, name=name)
    elif _WINDOWS_DEVICE.match(name):
        yield _finding("device-name", path, name=name)
    elif name.endswith((".metadata", ".phenomena")):
        yield _finding("gold-name", path, name=name)


def task_name_finding(path: KeyPath, name: str) -> Iterator[Finding]:
    """A finding if the name of a task cannot be a heading, a folder and part of an address."""
    blank_or_hidden = not name.isprintable() or name != name.strip() or name.startswith(".")
    if blank_or_hidden or set(name) & set('/\\:*?"<>|'):
        yield _finding("task-name", path, name=name)


def average_findings(benchmark: Benchmark) -> Iterator[Finding]:
    """Findings on what is averaged, and on the scores of a benchmark's references, which are averages."""
    losses = []
    shares = []
    for task in benchmark.averaged:
        task_losses = [f"{task.name} {metric.name}" for metric in task.metrics if metric.loss]
        losses += task_losses
        if len(task_losses) < len(task.metrics):
            shares.append(task.name)
    if losses and shares:
        yield _finding("mixed-average", ("tasks",), losses=", ".join(losses), shares=", ".join(shares))
    for task in benchmark.losses:
        if not task.averaged and not all(metric.loss for metric in task.metrics):
            yield _finding("mixed-metrics", ("tasks", task.name, "metrics"))
    average_range = (-inf, 0.0) if losses else (-1.0, 1.0)
    yield from _scores(("benchmark",), benchmark, {"score": average_range})


def metric_entry_points() -> frozenset[str]:
    """Names of the metric functions that installed packages add."""
    from importlib.metadata import entry_points  # slow to import and rarely needed

    return frozenset(point.name for point in entry_points(group="gluebench.metrics"))


def _task_names(benchmark: Benchmark) -> Iterator[tuple[KeyPath, str, str]]:
    """Each name or alias of a task or of auxiliary data: its path, the name, and what owns it."""
    for table, tasks in (("tasks", benchmark.tasks), ("auxiliary", benchmark.auxiliary)):
        for task in tasks:
            yield (table, task.name), task.name, task.name
            for position, alias in enumerate(task.aliases):
                yield (table, task.name, "aliases", position), alias, task.name


def _file_names(benchmark: Benchmark) -> Iterator[tuple[KeyPath, str, str]]:
    """Each name or synonym of a test file: its path, the name, and what owns it."""
    for task in benchmark.tasks:
        for position, file in enumerate(task.files):
            path = ("tasks", task.name, "files", position)
            owner = f"{task.name}/{position}"
            yield key_path(path, "name"), file.name, owner
            for number, synonym in enumerate(file.synonyms):
                yield key_path(path, "synonyms", number), synonym, owner


def _duplicates(
    names: Iterable[tuple[KeyPath, str, str]], what: str, *, same: Callable[[str], str] = fold
) -> Iterator[Finding]:
    """Findings on names with two owners; names are equal if `same` maps them to one text."""
    aside = "letter case" if same is str.casefold else "letter case, spaces, hyphens and underscores"
    owners: dict[str, str] = {}
    for path, name, owner in names:
        if not name:  # another finding says that it is missing
            continue
        first_owner = owners.setdefault(same(name), owner)
        if first_owner != owner:
            yield _finding("duplicate-name", path, name=name, what=what, aside=aside)


def _unusable_key(path: KeyPath) -> tuple[str, str]:
    """The task and the key ("metrics", "metrics.function") that a finding leaves without a usable value."""
    names = [key for key in path[1:] if isinstance(key, str)]
    if not names:
        return "", ""
    task, *keys = names
    if len(keys) > 2:
        keys = [keys[0], keys[-1]]
    return task, ".".join(dict.fromkeys(keys))


def _form(path: KeyPath, task: Task) -> Iterator[Finding]:
    labels = task.labels or task.vocabulary
    if task.form not in FORMS:
        yield _finding("form", key_path(path, "form"), form=task.form, one_of=one_of(FORMS))
    elif labels and task.score_range:
        yield _finding("labels-and-range", key_path(path, "score_range"))
    elif task.form in ("labels", "numbers") and not labels and not task.score_range:
        yield _finding("no-labels", key_path(path, "labels"))
    elif task.form == "numbers" and not task.score_range:
        yield _finding("no-range", key_path(path, "score_range"))
    elif task.form in ("probabilities", "distributions", "relations") and not labels:
        yield _finding("no-vocabulary", key_path(path, "labels"), form=task.form)


def _labels(path: KeyPath, task: Task) -> Iterator[Finding]:
    path = key_path(path, "labels")
    if len(task.labels) == 1:
        yield _finding("one-label", path)
    if len(task.labels) > MOST_LABELS:
        yield _finding("many-labels", path, count=len(task.labels), most=MOST_LABELS)
    words: list[str] = []
    for label in task.labels:
        words.append(label.word)
        words += label.synonyms
    words += task.vocabulary
    for word in words:
        where = key_path(path, word)
        if word != word.strip() or not word.isprintable():
            yield _finding("blank-label", where)
        elif task.form == "sets" and task.separator in word:
            yield _finding("separator", where, separator=task.separator)
        elif task.form == "relations" and not _TAG_NAME.match(word):
            yield _finding("tag-name", where)


def _function_names(path: KeyPath, task: Task) -> Iterator[Finding]:
    """Findings on metrics that neither the package nor an entry point has."""
    for position, metric in enumerate(task.metrics):
        name = metric.function
        if name in BUILT_IN or name in metric_entry_points():
            continue
        where = key_path(path, "metrics", position, "function")
        hint = did_you_mean(name, BUILT_IN)
        yield _finding("function", where, function=name, hint=hint, known=", ".join(BUILT_IN))


def _function_forms(path: KeyPath, task: Task) -> Iterator[Finding]:
    """Findings on metrics of another form of answers than the task's."""
    if task.form not in FORMS or (task.form == "labels" and not task.labels):  # `_form` reports it
        return
    suited = names_of(task.form)
    for position, metric in enumerate(task.metrics):
        name = metric.function
        if name in BUILT_IN and name not in suited:
            yield _finding(
                "unsuited",
                key_path(path, "metrics", position, "function"),
                function=name,
                form=task.form,
                one_of=one_of(suited),
                compares=BUILT_IN[name].form,
            )


def _span_labels(path: KeyPath, task: Task) -> Iterator[Finding]:
    """A finding on labels of spans that have weights in their place."""
    if task.vocabulary and any(metric.function == "span_spearman" for metric in task.metrics):
        yield _finding("weighted-spans", key_path(path, "labels"))


def _schemes(path: KeyPath, task: Task) -> Iterator[Finding]:
    for metric in task.metrics:
        if needs(metric.function, "scheme") and not metric.scheme:
            where = key_path(path, "scheme")
            yield _finding("no-scheme", where, function=metric.function, one_of=one_of(SCHEMES))
            break


def _positives(path: KeyPath, task: Task) -> Iterator[Finding]:
    """Findings on the label, or the number, that metrics count as positive."""
    taking = " or ".join(f'"{name}"' for name in names_of(task.form) if takes(name, "positive"))
    words = task.words or task.vocabulary
    for position, metric in enumerate(task.metrics):
        where = key_path(path, "metrics", position, "positive")
        if metric.positive is None:
            if needs(metric.function, "positive") and task.form in FORMS:
                title = BUILT_IN[metric.function].title
                yield _finding("no-positive", where, title=title, one_of=one_of(task.words))
        elif metric.function in BUILT_IN and not takes(metric.function, "positive"):
            yield _finding("useless-positive", where, function=metric.function, taking=taking)
        elif task.form in ("numbers", "ranking"):
            if not _is_number(metric.positive):
                yield _finding("positive-number", where, positive=metric.positive)
        elif metric.positive not in words:
            yield _finding("positive", where, positive=metric.positive, one_of=one_of(words))


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _scales(path: KeyPath, task: Task) -> Iterator[Finding]:
    for position, metric in enumerate(task.metrics):
        if metric.scale is None:
            continue
        where = key_path(path, "metrics", position, "scale")
        if metric.function not in BUILT_IN or metric.function in UNSCALED:
            yield _finding("useless-scale", where, function=metric.function)
        elif metric.scale[0] >= metric.scale[1]:
            yield _finding("scale", where)


def _metric_names(path: KeyPath, task: Task) -> Iterator[Finding]:
    names = [metric.name for metric in task.metrics]
    for position, name in enumerate(names):
        where = key_path(path, "metrics", position, "name")
        yield from name_finding(where, name)
        if name in names[:position]:
            yield _finding("repeated-metric", where, name=name)


def _metric_files(path: KeyPath, task: Task) -> Iterator[Finding]:
    files = tuple(file.name for file in task.files)
    for position, metric in enumerate(task.metrics):
        if metric.file not in files:
            where = key_path(path, "metrics", position, "file")
            yield _finding("metric-file", where, file=metric.file, one_of=one_of(files))
    used = {metric.file for metric in task.metrics}
    for position, name in enumerate(files):
        if name not in used and used <= set(files):
            yield _finding("unused-file", key_path(path, "files", position, "name"), name=name)


def _files(path: KeyPath, task: Task) -> Iterator[Finding]:
    """All findings on the test files of a task."""
    predicted: set[str] = set()  # the splits that the files before have predictions for
    for position, file in enumerate(task.files):
        where = key_path(path, "files", position)
        yield from name_finding(key_path(where, "name"), file.name)
        for number, synonym in enumerate(file.synonyms):
            yield from name_finding(key_path(where, "synonyms", number), synonym)
        yield from _layout(where, file, task)
        yield from _gold(key_path(where, "gold"), file)
        for role in ROLES:
            if role not in file.splits:
                continue
            split = file.splits[role].name
            has_whole_file = not file.column and not file.columns
            if has_whole_file and split in predicted:
                yield _finding("predicted-twice", key_path(where, role), split=split)
            predicted.add(split)
        yield from _versions(key_path(where, "other_versions"), file)


def _layout(path: KeyPath, file: TestFile, task: Task) -> Iterator[Finding]:
    """Findings on where a test file of a submission has its answers."""
    ordered = any(split.ordered for split in file.splits.values())
    if file.parts and (task.form not in ("ranking", "spans") or not file.column or ordered):
        yield _finding("parts", key_path(path, "parts"), parts=file.parts)
    if file.columns and not _has_label_columns(file, task):
        yield _finding("columns", key_path(path, "columns"))
    if file.line:
        keys_after_first = list(file.line)[1:]
        if keys_after_first != [file.column] or not _is_json(file):
            yield _finding("line", key_path(path, "line"))
    if _names_folder(file.member):
        yield _finding("member", key_path(path, "member"), member=file.member)


def _is_json(file: TestFile) -> bool:
    return file.path.casefold().endswith((".json", ".jsonl"))


def _names_folder(name: str) -> bool:
    return "/" in name or "\\" in name


def _gold(path: KeyPath, file: TestFile) -> Iterator[Finding]:
    """Findings about the file of labels: its name, and columns that the predictions do not have."""
    if _names_folder(file.gold.file):
        yield _finding("member", key_path(path, "file"), member=file.gold.file)
    # `gold.columns` says how columns of the predictions are named in the file of labels.
    columns_of_predictions = [file.column or "label", file.id or "id"]
    if file.parts:
        columns_of_predictions.append(file.parts)
    columns_of_predictions += file.columns
    unknown = set(file.gold.columns) - set(columns_of_predictions)
    for name in sorted(unknown):
        expected = one_of(tuple(columns_of_predictions))
        yield _finding("gold-column", key_path(path, "columns", name), one_of=expected)


def _has_label_columns(file: TestFile, task: Task) -> bool:
    """Whether columns, one for each label, can hold the answers of a test file."""
    if task.form not in ("sets", "probabilities", "distributions"):
        return False
    if file.column or file.parts or _is_json(file):
        return False
    return len(set(file.columns)) == len(file.columns) == len(task.vocabulary)


def _versions(path: KeyPath, file: TestFile) -> Iterator[Finding]:
    for position, version in enumerate(file.other_versions):
        for role, size in version.sizes.items():
            if role in file.splits and size == file.size(role):
                yield _finding("same-size", key_path(path, position, role), size=size)


def _splits(path: KeyPath, task: Task) -> Iterator[Finding]:
    for name in task.splits:
        yield from name_finding(key_path(path, "splits", name), name)


def _ids(path: KeyPath, task: Task) -> Iterator[Finding]:
    for name, split in task.splits.items():
        where = key_path(path, "splits", name, "ids")
        ids = split.ids
        if ids and len(ids) != split.size:
            yield _finding("id-count", where, ids=len(ids), size=split.size)
        if isinstance(ids, NumberedIds):
            ids = ids[:1]  # they are distinct and alike, and may be too many to look at
        repeated = [one for one, count in Counter(ids).items() if count > 1]
        if repeated:
            yield _finding("repeated-id", where, id=repeated[0])
        for one in ids:
            if not one.isprintable() or one != one.strip():
                yield _finding("blank-id", where, id=one)
                break


def _diagnostic(path: KeyPath, task: Task) -> Iterator[Finding]:
    if task.scored:
        for key in ("phenomena", "metadata"):
            if getattr(task, key):
                yield _finding("not-diagnostic", key_path(path, key))
    elif len(task.metrics) != 1:
        yield _finding("diagnostic-metrics", key_path(path, "metrics"), count=len(task.metrics))
    for position, column in enumerate(task.metadata):
        if column in _TAKEN_COLUMNS or column in task.metadata[:position]:
            yield _finding("taken-column", key_path(path, "metadata", position), column=column)


def _phenomena(path: KeyPath, task: Task) -> Iterator[Finding]:
    names = []
    for fine in task.phenomena:
        where = key_path(path, "phenomena", fine.coarse, fine.name)
        owner = f"{fine.coarse}/{fine.name}"
        names.append((where, fine.name, owner))
        for alias in fine.aliases:
            names.append((where, alias, owner))
    yield from _duplicates(names, "another phenomenon")


def _references(path: KeyPath, task: Task) -> Iterator[Finding]:
    ranges: dict[str, tuple[float, float] | None] = {}
    for metric in task.metrics:
        ranges[metric.name] = None
        if metric.function in BUILT_IN and metric.scale is None:
            known = BUILT_IN[metric.function]
            ranges[metric.name] = (known.lowest, known.highest)
    return _scores(path, task, ranges)


def _scores(
    path: KeyPath, holder: Task | Benchmark, ranges: Mapping[str, tuple[float, float] | None]
) -> Iterator[Finding]:
    """Findings on references: unknown metrics, scores out of range; None in `ranges` means not known."""
    for position, reference in enumerate(holder.references):
        for metric, value in reference.scores.items():
            where = key_path(path, "references", position, "scores", metric)
            if metric not in ranges:
                yield _finding("reference-metric", where, one_of=one_of(tuple(ranges)))
                continue
            lowest, highest = ranges[metric] or (-inf, inf)
            if not lowest <= value <= highest:
                expected = f"a fraction from {lowest:g} to {highest:g}"
                if lowest == -inf:
                    expected = f"at most {highest:g}"
                yield _finding("reference-score", where, value=value, expected=expected)


def _predict_with(path: KeyPath, task: Task, tasks: Sequence[Task]) -> Iterator[Finding]:
    others = tuple(other.name for other in tasks if other is not task)
    if task.predict_with is not None and task.predict_with not in others:
        where = key_path(path, "predict_with")
        yield _finding("predict-with", where, name=task.predict_with, one_of=one_of(others))


def _auxiliary(
    path: KeyPath, data: Task, benchmark: Benchmark, *, unusable: set[tuple[str, str]]
) -> Iterator[Finding]:
    yield from name_finding(path, data.name)
    for rule, keys in _RULES:
        if rule in (_form, _labels, _splits) and unusable.isdisjoint((data.name, key) for key in keys):
            yield from rule(path, data)
    names = tuple(task.name for task in benchmark.tasks)
    if data.trains is not None and data.trains not in names:
        yield _finding("trains", key_path(path, "trains"), name=data.trains, one_of=one_of(names))


Rule = Callable[[KeyPath, Task], Iterator[Finding]]
_RULES: tuple[tuple[Rule, tuple[str, ...]], ...] = (
    (_form, ("labels", "score_range", "form")),
    (_labels, ("labels",)),
    (_ids, ("splits",)),
    (_function_names, ("metrics.function",)),
    (_function_forms, ("labels", "score_range", "form", "metrics.function")),
    (_span_labels, ()),
    (_schemes, ("labels", "form", "scheme", "metrics.function")),
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
