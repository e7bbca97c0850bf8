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
from gluebench.benchmark.reader import Finding, Section, finite, one_of
from gluebench.benchmark.records import (
    ROLES,
    RULES,
    Benchmark,
    Card,
    GoldFile,
    Label,
    Metric,
    Phenomenon,
    Printed,
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
    "printed": Printed._fields,
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
    rai = {key: answers.flag(key, False) if key == SYNTHETIC else answers.text(key) for key in answers.values}
    return Card(**card.read(license="", version="", published="", creators=(), publisher=""), rai=rai)


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
        phenomena=tuple(
            Phenomenon(fine, coarse, category.texts(fine))
            for coarse, category in section.named("phenomena")
            for fine in category.values
        ),
        references=references(section),
    )


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
    return {
        **section.read(title=name, summary="", domain="", version="", recipe=None),
        "separator": _separator(section),
        **section.read(columns=(), aliases=(), notes=(), exclusive=True, in_pairs=False),
        "name": name,
        "form": form,
        "labels": labels if form == "labels" else (),
        "vocabulary": () if form == "labels" else tuple(label.word for label in labels),
        "glosses": () if form == "labels" else tuple(label.gloss for label in labels),
        "score_range": score_range,
        "splits": splits,
        "source": _source(section, name),
        "printed": Printed(printed.texts_by_name("sizes"), categories),
    }


def _separator(section: Section) -> str:
    """The text between the labels of a set; a blank stands for any number of them."""
    blank = section.values.get("separator") == " "
    return " " if blank else section.text("separator", "|")


def _splits(section: Section) -> dict[str, Split]:
    return {
        name: Split(
            name,
            split.text("file", f"{name}.tsv"),
            split.count("size"),
            **split.read(fingerprint="", text_fingerprint=""),
            ids=ids_of(split),
            ordered=split.values.get("ids") == ORDER,
        )
        for name, split in section.named("splits", KEYS["split"])
    }


def _glosses(section: Section) -> Mapping[str, str]:
    """Label word to its meaning; the word itself where the labels are only listed."""
    if not isinstance(section.values.get("labels"), list):
        return section.texts_by_name("labels")
    words = section.texts("labels")
    if len({*words}) < len(words):
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
    shares = section.numbers_by_name("label_shares")
    unknown = shares.keys() - glosses.keys()
    for word in unknown:
        section.inner("label_shares").reject(word, f"is not a label; {one_of(glosses)}")
    if shares and not unknown and (len(shares) < len(glosses) or abs(sum(shares.values()) - 1) > 0.011):
        section.reject("label_shares", "expected a share for every label, 1 in all")
    return tuple(
        Label(word, gloss, tuple(synonyms[word]), shares.get(word)) for word, gloss in glosses.items()
    )


def _range(section: Section, key: str, *, ascending: bool) -> tuple[float, float] | None:
    """Two different finite numbers."""
    if key not in section.values:
        return None
    value = section.values[key]
    low, high = map(finite, value) if isinstance(value, list) and len(value) == 2 else (None, None)
    if low is not None and high is not None and (low < high if ascending else low != high):
        return low, high
    order = "the lower first: [0.0, 5.0]" if ascending else "what becomes 0, then what becomes 1: [4.0, 0.0]"
    section.reject(key, f"expected two finite numbers, {order}")
    return None


def _parents(section: Section, labels: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The labels, and ancestors of labels, that have a parent, and their parents."""
    parents = section.texts_by_name("parents")
    table = section.inner("parents")
    for word in parents:
        if labels and word not in labels and word not in parents.values():
            table.reject(word, f"is neither a label nor a parent; {one_of(labels)}")
        above = [word]
        while (parent := parents.get(above[-1], word)) not in above:
            above.append(parent)
        if above[-1] in parents:
            table.reject(word, f'"{parents[above[-1]]}" is its own ancestor; expected a tree')
            break
    return tuple(parents.items())


def _scheme(section: Section, data: Mapping[str, Any]) -> str:
    """The scheme of the tags, as declared, or else the only smallest one that the labels fit.

    Without labels it is IOB2, which the gold tags then have to fit (`Gold`).
    """
    if "scheme" not in section.values:
        if data["form"] != "tokens":
            return ""
        return (guess_scheme(data["vocabulary"]) or "") if data["vocabulary"] else "IOB2"
    scheme = section.text("scheme")
    if data["form"] != "tokens" or scheme not in SCHEMES:
        section.reject("scheme", f'"{scheme}" is of no use here; with form = "tokens" {one_of(SCHEMES)}')
        return ""
    if problem := scheme_problem(data["vocabulary"], scheme):
        section.reject("labels", problem)
    return scheme


def _metrics(section: Section, files: tuple[TestFile, ...], data: Mapping[str, Any]) -> tuple[Metric, ...]:
    vocabulary = data["vocabulary"]
    parents = _parents(section, vocabulary or tuple(label.word for label in data["labels"]))
    language = section.text("language", "")
    if language and (data["form"] != "text" or language not in ARTICLES):
        section.reject("language", f'"{language}" is of no use here; with form = "text" {one_of(ARTICLES)}')
    scheme = _scheme(section, data)
    only_file = files[0].name if len(files) == 1 else None
    metrics = []
    for entry in section.listed("metrics", KEYS["metric"]):
        name = entry.text("name")
        if only_file is None and "file" not in entry.values:
            known = one_of(tuple(file.name for file in files))
            entry.reject("file", f"is missing, and this task has several files; {known}")
        values = entry.read(function=name, title="", file=only_file or "", positive=None)
        scale = _range(entry, "scale", ascending=False)
        metric = Metric(
            name,
            **values,
            labels=vocabulary,
            scale=scale,
            parents=parents,
            language=language,
            score_range=data["score_range"],
            scheme=scheme if takes(values["function"], "scheme") else "",
            scheme_assumed="scheme" not in section.values and not vocabulary,
        )
        title = metric.title or (BUILT_IN[metric.function].title if metric.loss else name)
        metrics.append(metric._replace(title=heading(title) if metric.loss else title))
    if not section.values.get("metrics", ()):
        section.reject("metrics", 'is missing; expected at least one: [{ name = "accuracy" }]')
    return tuple(metrics)


def _files(task: str, section: Section, *, splits: Mapping[str, Split]) -> tuple[TestFile, ...]:
    if "files" not in section.values:
        if not splits.keys() & set(ROLES):
            section.reject(
                "splits", "has neither test nor dev; expected one of them, or [[files]] naming others"
            )
        return (TestFile(file_name(task), task, {role: splits[role] for role in ROLES if role in splits}),)
    entries = list(section.listed("files", KEYS["file"]))
    alone = len(entries) == 1
    return tuple(_file(task, entry, splits=splits, alone=alone) for entry in entries)


def _file(task: str, entry: Section, *, splits: Mapping[str, Split], alone: bool) -> TestFile:
    chosen: dict[Role, Split] = {}
    for role in ROLES:
        name = entry.text(role, role if alone and role in splits else "")
        if name in splits:
            chosen[role] = splits[name]
        elif name:
            entry.reject(role, f'names the split "{name}", which this task lacks; {one_of(splits)}')
    if not chosen and not entry.values.keys() & set(ROLES):
        entry.reject("test", f"is missing, and so is dev; {one_of(splits)}")
    gold = entry.inner("gold", KEYS["gold"])
    return TestFile(
        name=entry.text("name", file_name(task) if alone else None),
        task=task,
        splits=chosen,
        synonyms=entry.texts("synonyms"),
        **entry.read(member="", column="", id="", columns=(), gaps=False, parts=""),
        gold=GoldFile(**gold.read(file="", text=""), columns=gold.texts_by_name("columns")),
        line=entry.inner("line").values,
        other_versions=tuple(
            Version(version.text("name"), version.text("note"), _sizes(version))
            for version in entry.listed("other_versions", KEYS["version"])
        ),
    )


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
    root.findings += name_finding((*head.path, "name"), name)
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
    tasks = _kept(head, names, parent, added)
    if not any(task.averaged for task in tasks):  # a second average, beside that of the parent
        tasks = tuple(task._replace(weight=1.0) if task.scored else task for task in tasks)
    title, description = _described(parent, tasks, added)
    present = {task.name for task in tasks}
    left_out = [file for task in parent.tasks if task.name not in present for file in task.files]
    part = Benchmark(
        **head.read(title=title, description=description, url=parent.url, citation=parent.citation),
        name=name,
        tasks=tasks,
        notes=head.texts("notes"),  # the parent's notes may be about tasks that are left out
        references=published,
        ignored=(*left_out, *parent.ignored),
        extends=(parent.name, *parent.extends),
        card=_card(head),
        rank_by=_rule(head, parent.rank_by),
        auxiliary=tuple(extra for extra in parent.auxiliary if extra.trains in present),
    )
    root.findings += check_part(part, parent, added, list(root.findings))
    return part


def _described(parent: Benchmark, tasks: tuple[Task, ...], added: tuple[Task, ...]) -> tuple[str, str]:
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


def _kept(
    head: Section, names: tuple[str, ...], parent: Benchmark, added: tuple[Task, ...]
) -> tuple[Task, ...]:
    """The tasks of the names, in their order, and then the added ones that the names leave out."""
    tasks: list[Task] = []
    for position, name in enumerate(names):
        path = (*head.path, "tasks", position)
        try:
            task = find(name, (*parent.tasks, *added), what=f"task of {parent.name}")
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
