"""A benchmark that is a part of another: `extends` with a list of tasks."""

from __future__ import annotations

from gluebench.benchmark.build import header, references
from gluebench.benchmark.checks import average_findings, name_finding
from gluebench.benchmark.lookup import UnknownNameError
from gluebench.benchmark.reader import Finding, Section
from gluebench.benchmark.records import Benchmark, Task

_MOST_NAMED = 4
"""Tasks that a title made for a part still names."""


def part_record(root: Section, parent: Benchmark | None) -> Benchmark | None:
    """The listed tasks of the parent, in the order listed; None for a parent that could not be read.

    What the manifest says of itself stands before the parent's; the parent's references are of another
    average and are not taken over.
    """
    head = header(root)
    if "tasks" in root.values:
        root.reject("tasks", "cannot be added to a benchmark that extends another; expected only their names")
    name = head.text("name")
    root.findings += name_finding((*head.path, "name"), name)
    own = references(head)
    names = head.texts("tasks")
    if not names:
        head.reject("tasks", 'is missing; expected the tasks to keep, by name or alias: ["SST-2", "AX"]')
    if parent is None:
        return None
    tasks = _tasks(head, names, parent)
    if name == parent.name:
        head.reject("name", f'"{name}" is what it extends; expected a name of its own')
    part = Benchmark(
        name=name,
        title=head.text("title", _title(parent, tasks)),
        description=head.text("description", _description(parent, tasks)),
        tasks=tasks,
        url=head.text("url", parent.url),
        citation=head.text("citation", parent.citation),
        notes=head.texts("notes"),  # the parent's may speak of tasks that are not here
        references=own,
        ignored=(
            *(file for task in parent.tasks if task not in tasks for file in task.files),
            *parent.ignored,
        ),
        extends=(parent.name, *parent.extends),
        auxiliary=tuple(extra for extra in parent.auxiliary if extra.trains in {task.name for task in tasks}),
    )
    root.findings += average_findings(part)
    return part


def _tasks(head: Section, names: tuple[str, ...], parent: Benchmark) -> tuple[Task, ...]:
    tasks: list[Task] = []
    for position, name in enumerate(names):
        path = (*head.path, "tasks", position)
        try:
            task = parent.task(name)
        except UnknownNameError as error:
            head.findings.append(Finding(path, str(error)))
            continue
        if task in tasks:
            head.findings.append(Finding(path, f'"{name}" is {task.name} again; expected each task once'))
        else:
            tasks.append(task)
    if tasks and not any(task.scored for task in tasks):
        head.reject("tasks", "none of them is scored; expected one that is, beside the diagnostic set")
    return tuple(tasks)


def _title(parent: Benchmark, tasks: tuple[Task, ...]) -> str:
    if len(tasks) <= _MOST_NAMED:
        return f"{parent.title}: {', '.join(task.name for task in tasks)}"
    scored = sum(task.scored for task in tasks)
    return f"{parent.title}: {scored} of {len(parent.scored)} tasks"


def _description(parent: Benchmark, tasks: tuple[Task, ...]) -> str:
    scored = ", ".join(task.name for task in tasks if task.scored)
    others = ", ".join(task.name for task in tasks if not task.scored)
    reported = f"; {others} is reported beside it" if others else ""
    return f"A part of {parent.title}, ranked by the mean over {scored}{reported}."
