"""Build records from the tables of a manifest: the keys, their types and their defaults.

A manifest describes a whole benchmark, or says which tasks it keeps of the benchmark that it `extends`, and
which it adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluebench.benchmark.checks import check_part, name_finding
from gluebench.benchmark.figures import heading
from gluebench.benchmark.ids import ORDER, ids_of
from gluebench.benchmark.lookup import UnknownNameError, file_name, find, table_beside
from gluebench.benchmark.metrics import ARTICLES, BUILT_IN, SCHEMES, guess_scheme, scheme_problem, takes
from gluebench.benchmark.reader import Finding, Section, finite, key_path, one_of
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
    tasks = tuple(_task(name, section) for name, section in root.named("tasks", KEYS["task"]))
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
        card=_card(head),
        rank_by=_rule(head),
        **texts,
    )


def header(root: Section) -> Section:
    """The table [benchmark]."""
    if "benchmark" not in root.values:
        root.reject("benchmark", "is missing; expected a table [benchmark] with a name")
        return Section({"name": ""}, (), findings=[])
    return root.inner("benchmark", KEYS["benchmark"])


def _rule(head: Section, default: Rule = "mean") -> Rule:
    name = head.text("rank_by", default)
    rule = rule_named(name)
    if rule is None:
        head.reject("rank_by", f'"{name}" is not a rule of ranking; {one_of(RULES)}')
    return rule or default


def _card(head: Section) -> Card:
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


def _task(name: str, section: Section) -> Task:
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
    if form != "labels":  # an example is answered with several labels, or with numbers for them
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
    graded_splits = _graded_splits(entry, splits, only_file=only_file)
    gold = entry.inner("gold", KEYS["gold"])
    default_name = file_name(task) if only_file else None
    return TestFile(
        name=entry.text("name", default_name),
        task=task,
        splits=graded_splits,
        synonyms=entry.texts("synonyms"),
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


_MOST_NAMED = 4
"""Largest number of tasks that the default title of a part names; a larger part gets their number."""


def part_record(root: Section, parent: Benchmark | None) -> Benchmark | None:
    """The benchmark of a parent's tasks, all or those listed, and of tasks of its own.

    None if the parent could not be read. URL and citation default to the parent's. Its references are not
    inherited, since they average other tasks.
    """
    head = header(root)
    name = head.text("name")
    root.findings += name_finding(key_path(head.path, "name"), name)
    added = tuple(_task(own, section) for own, section in root.named("tasks", KEYS["task"]))
    published = references(head)
    names = head.texts("tasks")
    if not names and not added:
        head.reject(
            "tasks",
            'is missing; expected the tasks to keep, by name or alias: ["SST-2", "AX"], '
            "or a table [tasks.NAME] for each task to add",
        )
    if parent is None:
        return None
    if name == parent.name:
        head.reject("name", f'"{name}" is what it extends; expected a name of its own')
    names = names or tuple(task.name for task in parent.tasks)
    tasks = _tasks_of_part(head, names, parent, added)
    if not any(task.averaged for task in tasks):  # a second average, beside that of the parent
        tasks = tuple(_with_weight(task) for task in tasks)
    title, description = _title_and_description(parent, tasks, added)
    present = {task.name for task in tasks}
    ignored: list[TestFile] = []
    for task in parent.tasks:
        if task.name not in present:
            ignored += task.files
    ignored += parent.ignored
    part = Benchmark(
        **head.read(title=title, description=description, url=parent.url, citation=parent.citation),
        name=name,
        tasks=tasks,
        notes=head.texts("notes"),  # the parent's notes may be about tasks that are left out
        references=published,
        ignored=tuple(ignored),
        extends=(parent.name, *parent.extends),
        card=_card(head),
        rank_by=_rule(head, parent.rank_by),
        auxiliary=tuple(extra for extra in parent.auxiliary if extra.trains in present),
    )
    root.findings += check_part(part, parent, added, list(root.findings))
    return part


def _with_weight(task: Task) -> Task:
    """A task whose weight is 1, or a diagnostic set as it is."""
    if not task.scored:
        return task
    return task._replace(weight=1.0)


def _title_and_description(
    parent: Benchmark, tasks: tuple[Task, ...], added: tuple[Task, ...]
) -> tuple[str, str]:
    """The title and the description of a benchmark that says nothing of itself."""
    scored = [task.name for task in tasks if task.scored]
    kept = [task for task in tasks if task not in added]
    own = ", ".join(task.name for task in added)
    if len(kept) == len(parent.tasks):
        title = parent.title
        if added:
            title += f" and {own}"
    elif len(tasks) <= _MOST_NAMED:
        title = f"{parent.title}: {', '.join(task.name for task in tasks)}"
    else:
        title = f"{parent.title}: {sum(task.scored for task in kept)} of {len(parent.scored)} tasks"
        if added:
            title += f", and {own}"
    what = f"A part of {parent.title}"
    if added:
        what = f"Tasks of {parent.title} with {own}"
    description = f"{what}, ranked by the mean over {', '.join(scored)}"
    others = ", ".join(task.name for task in tasks if not task.scored)
    if others:
        description += f"; {others} is reported beside it"
    return title, f"{description}."


def _tasks_of_part(
    head: Section, names: tuple[str, ...], parent: Benchmark, added: tuple[Task, ...]
) -> tuple[Task, ...]:
    """The tasks of the names, in their order, and then the added ones that the names leave out."""
    tasks: list[Task] = []
    for position, name in enumerate(names):
        path = key_path(head.path, "tasks", position)
        try:
            task = find(name, parent.tasks + added, what=f"task of {parent.name}")
        except UnknownNameError as error:
            head.findings.append(Finding(path, str(error)))
            continue
        if task in tasks:
            head.findings.append(Finding(path, f'"{name}" is {task.name} again; expected each task once'))
        else:
            tasks.append(task)
    tasks += [task for task in added if task not in tasks]
    if tasks and not any(task.scored for task in tasks):
        head.reject("tasks", "none of them is scored; expected one that is, beside the diagnostic set")
    return tuple(tasks)
