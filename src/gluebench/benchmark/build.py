"""From the tables of a manifest to records: names, types and defaults of every key."""

from __future__ import annotations

from collections.abc import Mapping

from gluebench.benchmark.reader import Finding, Section, finite
from gluebench.benchmark.records import (
    Benchmark,
    Label,
    Metric,
    Phenomenon,
    Reference,
    Role,
    Source,
    Split,
    Task,
    TestFile,
    Version,
)

ROLES: tuple[Role, ...] = ("test", "dev")

KEYS: dict[str, tuple[str, ...]] = {
    "manifest": ("benchmark", "tasks"),
    "benchmark": (
        "name",
        "title",
        "description",
        "url",
        "citation",
        "notes",
        "references",
        "extends",
        "tasks",
    ),
    "task": (
        "title",
        "summary",
        "section",
        "domain",
        "aliases",
        "columns",
        "private",
        "scored",
        "predict_with",
        "labels",
        "label_synonyms",
        "score_range",
        "metrics",
        "splits",
        "files",
        "source",
        "phenomena",
        "metadata",
        "references",
        "notes",
    ),
    "metric": ("name", "title", "function", "file", "positive"),
    "split": ("file", "size"),
    "file": ("name", "test", "dev", "synonyms", "other_versions"),
    "version": ("name", "note", "test", "dev"),
    "source": ("corpus", "licence", "citation", "url"),
    "reference": ("name", "source", "scores"),
}
"""The keys each kind of table may have (docs/manifest.md explains them)."""


def benchmark_record(values: Mapping[str, object], findings: list[Finding]) -> Benchmark:
    """The benchmark of a whole manifest that extends no other."""
    root = Section(values, (), findings=findings, keys=KEYS["manifest"])
    head = header(root)
    if "tasks" in head.values:
        head.reject("tasks", "is only for a benchmark that extends another; expected [tasks.NAME] tables")
    tasks = tuple(_task(name, section) for name, section in root.named("tasks", KEYS["task"]))
    if not tasks:
        root.missing("has no task; expected a [tasks.NAME] table for each")
    name = head.text("name")
    return Benchmark(
        name=name,
        title=head.text("title", name),
        description=head.text("description", ""),
        tasks=tasks,
        url=head.text("url", ""),
        citation=head.text("citation", ""),
        notes=head.texts("notes"),
        references=references(head),
    )


def header(root: Section) -> Section:
    """The table [benchmark], empty when it is missing."""
    head = root.section("benchmark", KEYS["benchmark"])
    if head is None:
        root.missing("lacks the table [benchmark]")
        head = Section({"name": "?"}, (), findings=[], keys=KEYS["benchmark"])
    return head


def references(section: Section) -> tuple[Reference, ...]:
    """The published scores under `references`."""
    found = []
    for each in section.listed("references", KEYS["reference"]):
        scores = each.numbers_by_name("scores")
        if "scores" not in each.values:
            each.missing("lacks the key 'scores' (a table of metric name to fraction)")
        found.append(Reference(name=each.text("name"), scores=scores, source=each.text("source")))
    return tuple(found)


def _task(name: str, section: Section) -> Task:
    splits = _splits(section)
    files = _files(name, section, splits=splits)
    return Task(
        name=name,
        title=section.text("title", name),
        summary=section.text("summary", ""),
        section=section.text("section", ""),
        domain=section.text("domain", ""),
        columns=section.texts("columns"),
        labels=_labels(section),
        score_range=_score_range(section),
        metrics=_metrics(section, files),
        splits=splits,
        files=files,
        source=_source(section, name),
        aliases=section.texts("aliases"),
        scored=section.flag("scored", True),
        predict_with=section.optional_text("predict_with"),
        private=section.flag("private", False),
        phenomena=_phenomena(section),
        metadata=section.texts("metadata"),
        references=references(section),
        notes=section.texts("notes"),
    )


def _labels(section: Section) -> tuple[Label, ...]:
    glosses = section.texts_by_name("labels")
    synonyms: dict[str, list[str]] = {word: [] for word in glosses}
    for synonym, word in section.texts_by_name("label_synonyms").items():
        path = (*section.path, "label_synonyms", synonym)
        if synonym in glosses:
            section.findings.append(Finding(path, "is itself a label; a synonym must be another word"))
        elif word not in synonyms:
            labels = ", ".join(repr(label) for label in glosses) or "none"
            section.findings.append(
                Finding(path, f"stands for {word!r}; expected one of the labels: {labels}")
            )
        else:
            synonyms[word].append(synonym)
    return tuple(Label(word, gloss, tuple(synonyms[word])) for word, gloss in glosses.items())


def _score_range(section: Section) -> tuple[float, float] | None:
    if "score_range" not in section.values:
        return None
    value = section.values["score_range"]
    ends = [finite(each) for each in value] if isinstance(value, list) else []
    if len(ends) == 2 and ends[0] is not None and ends[1] is not None and ends[0] < ends[1]:
        return ends[0], ends[1]
    section.reject("score_range", "expected two finite numbers, the lower first: [0.0, 5.0]")
    return None


def _metrics(section: Section, files: tuple[TestFile, ...]) -> tuple[Metric, ...]:
    only = files[0].name if len(files) == 1 else ""
    metrics = []
    for each in section.listed("metrics", KEYS["metric"]):
        name = each.text("name")
        if len(files) > 1 and "file" not in each.values:
            names = ", ".join(file.name for file in files)
            each.missing(
                f"lacks the key 'file', needed where a task has several files; expected one of {names}"
            )
        metrics.append(
            Metric(
                name=name,
                function=each.text("function", name),
                title=each.text("title", name),
                file=each.text("file", only),
                positive=each.optional_text("positive"),
            )
        )
    if not metrics:
        section.missing('has no metric; expected metrics = [ {name = "accuracy"} ] or the like')
    return tuple(metrics)


def _splits(section: Section) -> dict[str, Split]:
    return {
        name: Split(name=name, file=each.text("file", f"{name}.tsv"), size=each.count("size"))
        for name, each in section.named("splits", KEYS["split"])
    }


def _files(task: str, section: Section, *, splits: Mapping[str, Split]) -> tuple[TestFile, ...]:
    entries = list(section.listed("files", KEYS["file"]))
    if "files" not in section.values:
        entries = [Section({}, section.path, findings=section.findings, keys=())]
    alone = len(entries) == 1
    return tuple(_file(task, entry, splits=splits, alone=alone) for entry in entries)


def _file(task: str, entry: Section, *, splits: Mapping[str, Split], alone: bool) -> TestFile:
    chosen: dict[Role, Split] = {}
    for role in ROLES:
        name = entry.text(role, role if alone and role in splits else "")
        if name in splits:
            chosen[role] = splits[name]
        elif name:
            known = ", ".join(splits) or "none"
            entry.reject(role, f"names the split {name!r}; expected one of this task's splits: {known}")
    if not chosen and not entry.values.keys() & set(ROLES):
        entry.missing(
            'does not say which split is predicted; expected splits named test or dev, or test = "SPLIT"'
        )
    return TestFile(
        name=entry.text("name", task if alone else None),
        task=task,
        splits=chosen,
        synonyms=entry.texts("synonyms"),
        other_versions=tuple(_version(each) for each in entry.listed("other_versions", KEYS["version"])),
    )


def _version(section: Section) -> Version:
    sizes: dict[Role, int] = {role: section.count(role) for role in ROLES if role in section.values}
    if not sizes:
        section.missing("lacks the key 'test' or 'dev' (the size it is recognised by)")
    return Version(name=section.text("name"), note=section.text("note"), sizes=sizes)


def _source(section: Section, task: str) -> Source:
    source = section.section("source", KEYS["source"])
    if source is None:
        return Source(corpus=section.text("title", task), licence="not stated", citation="")
    return Source(
        corpus=source.text("corpus"),
        licence=source.text("licence", "not stated"),
        citation=source.text("citation", ""),
        url=source.text("url", ""),
    )


def _phenomena(section: Section) -> tuple[Phenomenon, ...]:
    table = section.table("phenomena")
    inside = Section(table, (*section.path, "phenomena"), findings=section.findings, keys=tuple(table))
    return tuple(
        Phenomenon(name=name, coarse=coarse, aliases=fine.texts(name))
        for coarse in table
        for fine in [
            Section(
                inside.table(coarse),
                (*inside.path, coarse),
                findings=section.findings,
                keys=tuple(inside.table(coarse)),
            )
        ]
        for name in fine.values
    )
