"""What `gluebench run` does for prompted models alone: several templates, and requests for a batch API."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import mean
from typing import TYPE_CHECKING, Any

import click

from gluebench.benchmark.figures import percent

if TYPE_CHECKING:
    from gluebench.benchmark import Task
    from gluebench.systems.adapters.resolve import ModelOptions
    from gluebench.systems.adapters.session import Plan, Session, Watcher
    from gluebench.systems.protocols import Predictor


def first_template(settings: ModelOptions) -> ModelOptions:
    """The settings of the run that gives the submission: with all templates, by each task's first."""
    from gluebench.systems.adapters.prompts import ALL

    if settings.asking is None or settings.asking.template != ALL:
        return settings
    return replace(settings, asking=replace(settings.asking, template=None))


def scores_by_template(
    model: str, session: Session, settings: ModelOptions, watch: Callable[[Session], Watcher]
) -> list[str]:
    """Run each further template over dev, and list each task's scores and their spread, as text.

    Each template has a folder in that of the run, and resumes as a run does. Empty unless all were requested.
    """
    from gluebench.systems.adapters.prompts import ALL

    asking = settings.asking
    if asking is None or asking.template != ALL:
        return []
    names = {task.name: _names(session.plan, task, settings) for task in session.plan.tasks}
    scores: dict[str, dict[str, float]] = {}
    _add(scores, session, {task: given[0] for task, given in names.items()})
    for name in dict.fromkeys(name for given in names.values() for name in given[1:]):
        tasks = [task for task in session.plan.tasks if name in names[task.name][1:]]
        plan = session.plan._replace(tasks=tasks, role="dev", dev=True)
        click.echo(f"template {name}", err=True)
        _add(scores, _run(model, plan, session, settings, name, watch), dict.fromkeys(names, name))
    return [_spread(task, by_name) for task, by_name in scores.items()]


def _run(
    model: str,
    plan: Plan,
    main: Session,
    settings: ModelOptions,
    name: str,
    watch: Callable[[Session], Watcher],
) -> Session:
    from gluebench.systems.adapters.resolve import resolve
    from gluebench.systems.adapters.session import Session
    from gluebench.systems.encoders.corpus import Corpus

    folder = main.folder / f"template-{name}"
    folder.mkdir(exist_ok=True)
    assert settings.asking is not None
    settings = replace(settings, asking=replace(settings.asking, template=name))
    made = resolve(model, Corpus(plan.benchmark, plan.data, plan.tasks), folder, settings)
    session = Session(folder, plan, made.identity)
    session.claim()
    session.run(made.system, watch(session))
    return session


def _names(plan: Plan, task: Task, settings: ModelOptions) -> list[str]:
    """The templates of a task, or of the one whose model answers it."""
    from gluebench.systems.adapters.prompts import templates_of

    answering = plan.benchmark.task(task.predict_with or task.name)
    return list(templates_of(answering, settings.asking.templates if settings.asking else None))


def _add(scores: dict[str, dict[str, float]], session: Session, template: dict[str, str]) -> None:
    """Note the dev score of each task under its template."""
    report = session.dev_report()
    for name, task in report.tasks.items() if report else ():
        if task.score is not None and task.score.value is not None:
            scores.setdefault(name, {})[template[name]] = task.score.value


def _spread(task: str, scores: dict[str, float]) -> str:
    by_template = ", ".join(f"{name} {percent(value)}" for name, value in scores.items())
    low, high = percent(min(scores.values())), percent(max(scores.values()))
    return f"{task} by template: {by_template}; {low} to {high}, mean {percent(mean(scores.values()))}"


def collect(system: Predictor, plan: Plan, writer: Any) -> None:
    """Write the requests of a run to the file of a batch API; answer nothing."""
    from gluebench.systems.run import answer, fit

    for unit in plan.units():
        fit(system, plan.benchmark, unit.task, plan.data)
        for query in unit.queries:
            answer(system, plan.benchmark, query.file, plan.data, role=query.role, limit=plan.limit)
    click.echo(
        f"{writer.path}: {len(writer.keys):,} requests. Send it to the batch API, then run the same command "
        "with --batch-in RESULTS in place of --batch-out.",
        err=True,
    )
