"""The manifest of a plan, as TOML with comments for whoever edits it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from gluebench.data.organise.labels import TITLES
from gluebench.data.organise.plan import NOT_STATED, Plan, TaskPlan

_HEAD = """\
# A benchmark's manifest, yours to edit; docs/manifest.md explains every key. To look at the result:
#   gluebench benchmark show ./{file}
"""


def manifest(plan: Plan) -> str:
    """The whole manifest."""
    head = [
        _HEAD.format(file=f"{plan.name}.toml"),
        "[benchmark]",
        f"name = {quoted(plan.name)}",
        f"title = {quoted(plan.title)}",
        '# description = "What it is, in a sentence"',
        '# url = "Where it is at home"',
        '# citation = "How to cite it"',
    ]
    return "\n".join([*head, *(line for task in plan.tasks for line in ("", *_task(task)))]) + "\n"


def quoted(text: str) -> str:
    """The text as a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _task(task: TaskPlan) -> Iterator[str]:
    path = f"tasks.{_key(task.name)}"
    yield f"[{path}]"
    yield '# title = "Its full name"'
    yield '# summary = "What is asked, in a word or two"'
    yield '# domain = "Where its text comes from, in a word or two"'
    yield f"columns = {_array(task.columns.inputs)}"
    if "test" in task.splits:
        yield "private = true  # of the test labels; false if they have been published"
    yield from _scale(task)
    yield "metrics = ["
    for name in task.labels.metrics:
        positive = f", positive = {quoted(task.labels.positive or '')}" if name == "f1" else ""
        yield f'  {{ name = "{name}", title = "{TITLES[name]}"{positive} }},'
    yield "]"
    if task.notes:
        yield "notes = ["
        yield from (f"  {quoted(note)}," for note in task.notes)
        yield "]"
    yield from _tables(path, task)


def _scale(task: TaskPlan) -> Iterator[str]:
    """Labels stand in a table of their own; a range stands here."""
    if task.labels.score_range:
        yield "score_range = [{!r}, {!r}]".format(*task.labels.score_range)


def _tables(path: str, task: TaskPlan) -> Iterator[str]:
    if task.labels.words:
        yield ""
        yield f"[{path}.labels]  # each word as the files write it, and what it means"
        yield from (f"{quoted(word)} = {quoted(word)}" for word in task.labels.words)
    if "train" in task.splits and task.labels.words and all(task.labels.shares.values()):
        yield ""
        yield f"[{path}.label_shares]  # in train: predictions with the labels swapped are warned of"
        yield from (f"{quoted(word)} = {share:.4f}" for word, share in task.labels.shares.items())
    yield ""
    yield f"[{path}.splits]"
    for split, examples in task.splits.items():
        yield f'{split} = {{ file = "{split}.tsv", size = {len(examples)} }}'
    yield ""
    yield f"[{path}.source]"
    yield f"corpus = {quoted(task.name)}  # the corpus, and where its text comes from"
    advice = "  # say it, and whether it may be redistributed" if task.licence == NOT_STATED else ""
    yield f"licence = {quoted(task.licence)}{advice}"
    yield '# citation = "How to cite it"'


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else quoted(name)


def _array(values: Sequence[str]) -> str:
    return f"[{', '.join(map(quoted, values))}]"
