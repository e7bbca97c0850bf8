"""Build records from the tables of a manifest: the keys, their types and their defaults.

A manifest describes a whole benchmark, or a part of another one (part.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluebench.benchmark.figures import heading
from gluebench.benchmark.ids import ORDER, ids_of
from gluebench.benchmark.lookup import file_name, table_beside
from gluebench.benchmark.metrics import ARTICLES, BUILT_IN, SCHEMES, guess_scheme, scheme_problem, takes
from gluebench.benchmark.reader import Section, finite, one_of
from gluebench.benchmark.records import (
    ROLES,
    RULES,
    Benchmark,
    Card,
    GoldFile,
    Label,
    Metric,
    Phenomenon,
    PrintedFigures,
    Reference,
    Role,
    Rule,
    Source,
    Split,
    Task,
    TestFile,
    Version,
    rule_named,
)

SYNTHETIC = "hasSyntheticData"
"""The only answer on responsible use that is true or false, not a text."""
KEYS: Mapping[str, tuple[str, ...]] = {
    **{table: tuple(keys.split()) for table, (keys,) in table_beside(__file__).items()},
    "printed": PrintedFigures._fields,
    "source": Source._fields,
    "card": Card._fields,
    "gold": GoldFile._fields,
}
"""The keys that each kind of table may have; docs/reference/manifest.md explains them."""


def benchmark_record(root: Section) -> Benchmark:
    """The benchmark of a manifest that does not extend another."""
    head = header(root)
    if "tasks" in head.values:
        head.reject("tasks", "is only for a benchmark that extends another; expected [tasks.NAME] tables")
    tasks = tuple(task_record(name, section) for name, section in root.named("tasks", KEYS["task"]))
    # Auxiliary data are for training: they have no metrics or test files, and are not averaged.
    unscored: Mapping[str, Any] = {"section": "", "metrics": (), "files": (), "scored": False}
    auxiliary = tuple(
        Task(**_data(name, data, _splits(data)), **unscored, trains=data.optional_text("trains"))
        for name, data in root.named("auxiliary", KEYS["auxiliary"])
    )
    if root.values.get("tasks", {}) == {}:
        root.reject("tasks", "is missing or empty; expected a table [tasks.NAME] for each task")
    name = head.text("name")
    texts = head.read(title=name, description="", url="", citation="", notes=())
    return Benchmark(
        name=name,
        tasks=tasks,
        references=references(head),
        auxiliary=auxiliary,
        card=card_record(head),
        rank_by=rule_of(head),
        **texts,
    )


def header(root: Section) -> Section:
    """The table [benchmark]."""
    if "benchmark" not in root.values:
        root.reject("benchmark", "is missing; expected a table [benchmark] with a name")
        return Section({"name": ""}, (), findings=[])
    return root.inner("benchmark", KEYS["benchmark"])


def rule_of(head: Section, default: Rule = "mean") -> Rule:
    """The rule by which the benchmark ranks."""
    name = head.text("rank_by", default)
    rule = rule_named(name)
    if rule is None:
        head.reject("rank_by", f'"{name}" is not a rule of ranking; {one_of(RULES)}')
    return rule or default


def card_record(head: Section) -> Card:
    """What the manifest says of its data: languages, people, uses."""
    card = head.inner("card", KEYS["card"])
    answers = card.inner("rai", KEYS["rai"])
    rai: dict[str, str | bool] = {}
    for key in answers.values:
        if key == SYNTHETIC:
            rai[key] = answers.flag(key, False)
        else:
            rai[key] = answers.text(key)
    facts = card.read(license="", version="", published="", creators=(), publisher="")
    return Card(**facts, rai=rai)


def references(section: Section) -> tuple[Reference, ...]:
    """The published scores under `references`."""
    published = []
    for entry in section.listed("references", KEYS["reference"]):
        if "scores" not in entry.values:
            entry.reject("scores", "is missing; expected a table of fractions: { accuracy = 0.651 }")
        published.append(Reference(entry.text("name"), entry.numbers_by_name("scores"), entry.text("source")))
    return tuple(published)


def task_record(name: str, section: Section) -> Task:
    """A task from its table."""
    splits = _splits(section)
    files = _files(name, section, splits=splits)
    data = _data(name, section, splits)
    return Task(
        **data,
        **section.read(section="", scored=True, predict_with=None, metadata=()),
        metrics=_metrics(section, files, data),
        files=files,
        private=section.optional_flag("private"),
        weight=_weight(section),
        phenomena=_phenomena(section),
        references=references(section),
    )


def _phenomena(section: Section) -> tuple[Phenomenon, ...]:
    """The fine-grained phenomena, whose tables are named by their coarse categories."""
    phenomena = []
    for coarse, category in section.named("phenomena"):
        for fine in category.values:
            phenomena.append(Phenomenon(fine, coarse, aliases=category.texts(fine)))
    return tuple(phenomena)


def _weight(section: Section) -> float:
    weight = finite(section.values.get("weight", 1.0))
    if weight is None or weight < 0:
        section.reject("weight", "expected 0, which leaves the task out of the average, or a positive number")
        return 1.0
    return weight


def _data(name: str, section: Section, splits: dict[str, Split]) -> dict[str, Any]:
    """The fields that tasks and auxiliary data share."""
    printed = section.inner("printed", KEYS["printed"])
    shares = printed.inner("categories")
    categories = {category: shares.numbers_by_name(category) for category in shares.values}
    score_range = _range(section, "score_range", ascending=True)
    form = section.text("form", "numbers" if score_range else "labels")
    labels = _labels(section)
    vocabulary: tuple[str, ...] = ()
    glosses: tuple[str, ...] = ()
    if form != "labels":
        # An answer is several labels, or numbers for them. `labels` are of tasks whose answer is one label.
        vocabulary = tuple(label.word for label in labels)
        glosses = tuple(label.gloss for label in labels)
        labels = ()
    return {
        **section.read(title=name, summary="", domain="", version="", recipe=None),
        "separator": _separator(section),
        **section.read(columns=(), aliases=(), notes=(), exclusive=True, in_pairs=False),
        "name": name,
        "form": form,
        "labels": labels,
        "vocabulary": vocabulary,
        "glosses": glosses,
        "score_range": score_range,
        "splits": splits,
        "source": _source(section, name),
        "printed": PrintedFigures(printed.texts_by_name("sizes"), categories),
    }


def _separator(section: Section) -> str:
    """The text between the labels of a set; a blank stands for any number of them."""
    if section.values.get("separator") == " ":  # which `Section.text` refuses as blank
        return " "
    return section.text("separator", "|")


def _splits(section: Section) -> dict[str, Split]:
    splits = {}
    for name, split in section.named("splits", KEYS["split"]):
        splits[name] = Split(
            name,
            split.text("file", f"{name}.tsv"),
            split.count("size"),
            **split.read(fingerprint="", text_fingerprint=""),
            ids=ids_of(split),
            ordered=split.values.get("ids") == ORDER,
        )
    return splits


def _glosses(section: Section) -> Mapping[str, str]:
    """Label word to its meaning; the word itself where the labels are only listed."""
    if not isinstance(section.values.get("labels"), list):
        return section.texts_by_name("labels")
    words = section.texts("labels")
    if len(set(words)) < len(words):
        section.reject("labels", "has a label twice; expected each once")
    return dict(zip(words, words, strict=True))


def _labels(section: Section) -> tuple[Label, ...]:
    glosses = _glosses(section)
    synonyms: dict[str, list[str]] = {word: [] for word in glosses}
    table = section.inner("label_synonyms")
    for synonym in table.values:
        word = table.text(synonym)
        if synonym in glosses:
            table.reject(synonym, "is itself a label; expected another word as its synonym")
        elif word in synonyms:
            synonyms[word].append(synonym)
        elif word:
            table.reject(synonym, f'stands for "{word}", which is not a label; {one_of(glosses)}')
    shares = _label_shares(section, glosses)
    labels = []
    for word, gloss in glosses.items():
        labels.append(Label(word, gloss, tuple(synonyms[word]), shares.get(word)))
    return tuple(labels)


def _label_shares(section: Section, glosses: Mapping[str, str]) -> dict[str, float]:
    """Label word to its share of the training split; empty where the manifest gives none."""
    shares = section.numbers_by_name("label_shares")
    unknown = [word for word in shares if word not in glosses]
    for word in unknown:
        section.inner("label_shares").reject(word, f"is not a label; {one_of(glosses)}")
    if shares and not unknown:
        rounding = 0.011  # printed shares are rounded
        if len(shares) < len(glosses) or abs(sum(shares.values()) - 1) > rounding:
            section.reject("label_shares", "expected a share for every label, 1 in all")
    return shares


def _range(section: Section, key: str, *, ascending: bool) -> tuple[float, float] | None:
    """Two different finite numbers."""
    if key not in section.values:
        return None
    value = section.values[key]
    if isinstance(value, list) and len(value) == 2:
        first = finite(value[0])
        second = finite(value[1])
        if first is not None and second is not None:
            if first < second or (first > second and not ascending):
                return first, second
    order = "what becomes 0, then what becomes 1: [4.0, 0.0]"
    if ascending:
        order = "the lower first: [0.0, 5.0]"
    section.reject(key, f"expected two finite numbers, {order}")
    return None


def _parents(section: Section, labels: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The labels, and ancestors of labels, that have a parent, and their parents."""
    parents = section.texts_by_name("parents")
    table = section.inner("parents")
    for word in parents:
        if labels and word not in labels and word not in parents.values():
            table.reject(word, f"is neither a label nor a parent; {one_of(labels)}")
        # Climb from the word to the root, unless the way goes round in a circle.
        path = [word]
        while path[-1] in parents and parents[path[-1]] not in path:
            path.append(parents[path[-1]])
        if path[-1] in parents:
            table.reject(word, f'"{parents[path[-1]]}" is its own ancestor; expected a tree')
            break
    return tuple(parents.items())


def _scheme(section: Section, data: Mapping[str, Any]) -> str:
    """The scheme of the tags, as declared, or else the only smallest one that the labels fit.

    Without labels it is IOB2, which the gold tags then have to fit (`Gold`).
    """
    if "scheme" not in section.values:
        if data["form"] != "tokens":
            return ""
        if not data["vocabulary"]:
            return "IOB2"
        return guess_scheme(data["vocabulary"]) or ""
    scheme = section.text("scheme")
    if data["form"] != "tokens" or scheme not in SCHEMES:
        section.reject("scheme", f'"{scheme}" is of no use here; with form = "tokens" {one_of(SCHEMES)}')
        return ""
    if problem := scheme_problem(data["vocabulary"], scheme):
        section.reject("labels", problem)
    return scheme


def _metrics(section: Section, files: tuple[TestFile, ...], data: Mapping[str, Any]) -> tuple[Metric, ...]:
    label_words = data["vocabulary"] or tuple(label.word for label in data["labels"])
    parents = _parents(section, label_words)
    language = section.text("language", "")
    if language and (data["form"] != "text" or language not in ARTICLES):
        section.reject("language", f'"{language}" is of no use here; with form = "text" {one_of(ARTICLES)}')
    facts_of_task = {
        "labels": data["vocabulary"],
        "parents": parents,
        "language": language,
        "score_range": data["score_range"],
        "scheme": _scheme(section, data),
        "scheme_assumed": "scheme" not in section.values and not data["vocabulary"],
    }
    metrics = tuple(
        _metric(entry, files, facts_of_task) for entry in section.listed("metrics", KEYS["metric"])
    )
    if not section.values.get("metrics", ()):
        section.reject("metrics", 'is missing; expected at least one: [{ name = "accuracy" }]')
    return metrics


def _metric(entry: Section, files: tuple[TestFile, ...], facts_of_task: Mapping[str, Any]) -> Metric:
    name = entry.text("name")
    default_file = ""
    if len(files) == 1:
        default_file = files[0].name
    elif "file" not in entry.values:
        known = one_of(tuple(file.name for file in files))
        entry.reject("file", f"is missing, and this task has several files; {known}")
    values = entry.read(function=name, title="", file=default_file, positive=None)
    metric = Metric(name, **values, **facts_of_task, scale=_range(entry, "scale", ascending=False))
    if not takes(metric.function, "scheme"):
        metric = metric._replace(scheme="")
    if not metric.loss:
        return metric._replace(title=metric.title or name)
    title = metric.title or BUILT_IN[metric.function].title
    return metric._replace(title=heading(title))


def _files(task: str, section: Section, *, splits: Mapping[str, Split]) -> tuple[TestFile, ...]:
    if "files" not in section.values:
        if not splits.keys() & set(ROLES):
            section.reject(
                "splits", "has neither test nor dev; expected one of them, or [[files]] naming others"
            )
        graded_splits = {role: splits[role] for role in ROLES if role in splits}
        return (TestFile(file_name(task), task, graded_splits),)
    entries = list(section.listed("files", KEYS["file"]))
    only_file = len(entries) == 1
    return tuple(_file(task, entry, splits=splits, only_file=only_file) for entry in entries)


def _file(task: str, entry: Section, *, splits: Mapping[str, Split], only_file: bool) -> TestFile:
    """A test file from its entry in `files`; the only one of a task may leave out its name and splits."""
    graded_splits = _graded_splits(entry, splits, only_file=only_file)
    gold = entry.inner("gold", KEYS["gold"])
    default_name = file_name(task) if only_file else None
    return TestFile(
        name=entry.text("name", default_name),
        task=task,
        splits=graded_splits,
        synonyms=entry.texts("synonyms"),
        # Keys named as the fields, with their defaults.
        **entry.read(member="", column="", id="", columns=(), gaps=False, parts=""),
        gold=GoldFile(**gold.read(file="", text=""), columns=gold.texts_by_name("columns")),
        line=entry.inner("line").values,
        other_versions=tuple(
            Version(version.text("name"), version.text("note"), _sizes(version))
            for version in entry.listed("other_versions", KEYS["version"])
        ),
    )


def _graded_splits(entry: Section, splits: Mapping[str, Split], *, only_file: bool) -> dict[Role, Split]:
    """The splits that a file has predictions for; the only file of a task has those named test and dev."""
    graded_splits: dict[Role, Split] = {}
    for role in ROLES:
        default = role if only_file and role in splits else ""
        name = entry.text(role, default)
        if name in splits:
            graded_splits[role] = splits[name]
        elif name:
            entry.reject(role, f'names the split "{name}", which this task lacks; {one_of(splits)}')
    if not graded_splits and not entry.values.keys() & set(ROLES):
        entry.reject("test", f"is missing, and so is dev; {one_of(splits)}")
    return graded_splits


def _sizes(version: Section) -> dict[Role, int]:
    sizes = {role: version.count(role) for role in ROLES if role in version.values}
    if not sizes:
        version.reject("test", "is missing, and so is dev; expected a size to recognize the version by")
    return sizes


def _source(section: Section, task: str) -> Source:
    if "source" not in section.values:
        return Source(corpus=section.text("title", task), license="not stated", citation="")
    source = section.inner("source", KEYS["source"])
    return Source(source.text("corpus"), **source.read(license="not stated", citation="", url=""))
