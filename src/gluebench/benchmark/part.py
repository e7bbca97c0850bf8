"""Build the record of a manifest that extends another one: tasks of it, and tasks of its own."""

from __future__ import annotations

from gluebench.benchmark.build import KEYS, card_record, header, references, rule_of, task_record
from gluebench.benchmark.checks import check_part, name_finding
from gluebench.benchmark.lookup import UnknownNameError, find
from gluebench.benchmark.reader import Finding, Section, key_path
from gluebench.benchmark.records import Benchmark, Task, TestFile

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
    added = tuple(task_record(own, section) for own, section in root.named("tasks", KEYS["task"]))
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
        card=card_record(head),
        rank_by=rule_of(head, parent.rank_by),
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
