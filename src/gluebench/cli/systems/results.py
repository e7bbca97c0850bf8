"""`gluebench results`: one table of the systems that other commands ran, and of published ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.benchmark import Benchmark, Role
from gluebench.benchmark.figures import interval, percent, points, unit
from gluebench.benchmark.tables import Section, Table, to_markdown
from gluebench.cli.common import option
from gluebench.cli.common.output import Form, Output, emit

if TYPE_CHECKING:
    from gluebench.scoring import Report
    from gluebench.systems.scores import Figures, Scores

FIELDS = ("system", "task", "metric", "value", "low", "high", "deviation", "runs", "seconds", "command")
PUBLISHED = (
    "Published scores are of the dev sets, as printed: MRPC and QQP accuracy, or accuracy/F1; STS-B one "
    "correlation; MNLI matched. †: first trained on MNLI."
)


@click.command
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@option.choice("--split", of="dev test", default="dev", help="Whose scores.")
@option.repeated(
    "--published WORD", help="Published systems with this word in their name only; none for none."
)
@option.benchmark
@option.output
def results(
    paths: tuple[Path, ...], split: Role, published: tuple[str, ...], suite: Benchmark, form: Form
) -> None:
    """Show finished runs in one Markdown table, with their commands and times.

    PATHS are folders that run, probe, train, sweep or reproduce left, or folders of such folders. On GLUE's
    dev split, published scores of known models stand beneath.

    \b
    Example:
      gluebench results sweep/ runs/ --published BERT-base --published MiniLM
    """
    from gluebench.systems.scores import published as known
    from gluebench.systems.scores import read_scores

    systems = read_scores(paths, suite.name, split)
    beside = [
        row
        for row in (known() if "glue" in suite.lineage and split == "dev" else ())
        if not published or any(word.casefold() in row["name"].casefold() for word in published)
    ]
    answer = results_output(systems, suite, split, published=beside)
    if form not in (None, "markdown"):
        emit(answer, form)
        return
    click.echo(to_markdown(answer.tables[0]))
    commands = dict.fromkeys(system.command for system in systems if system.command)
    click.echo("\n".join(["```sh", *commands, "```"]))


def results_output(
    systems: Sequence[Scores], suite: Benchmark, split: Role, *, published: Sequence[Mapping[str, Any]] = ()
) -> Output:
    """Systems as rows and tasks as columns, in every form."""
    headings = dict(_headings(systems, suite))
    sections = [Section([_cells(system, headings) for system in systems])]
    spread = ", ± standard deviation of the runs" * any(system.runs > 1 for system in systems)
    notes = [f"{suite.title}, {split} split: score{unit(suite.loss)}{spread} [95 % interval]."]
    if published:
        rows = [
            (row["name"], *(row["scores"].get(task, "") for task in headings), row["source"])
            for row in published
        ]
        sections.append(Section(rows, title="published"))
        notes.append(PUBLISHED)
    columns = ("system", *headings.values(), "time" + " or source" * bool(published))
    data = {"systems": [system._asdict() for system in systems], "published": [*published]}
    return Output(data, [Table(columns, sections=sections, notes=notes)], FIELDS, _records(systems))


def _headings(systems: Sequence[Scores], suite: Benchmark) -> Iterator[tuple[str, str]]:
    """Each task that some system has, in the manifest's order, with its metrics."""
    from gluebench.systems.scores import AVERAGE

    present = {task for system in systems for task in system.tasks}
    for task in suite.tasks:
        if task.name in present:
            titles = " / ".join(metric.title for metric in task.metrics)
            yield task.name, f"{task.name}, {titles}"
    if AVERAGE in present:
        yield AVERAGE, "macro-average"


def _cells(system: Scores, tasks: Iterable[str]) -> tuple[str, ...]:
    from gluebench.cli.common.progress import clock

    runs = f" ({system.runs} runs)" if system.runs > 1 else ""
    scores = (" / ".join(map(_cell, system.tasks.get(task, {}).values())) for task in tasks)
    return (f"{system.name}{runs}", *scores, "" if system.seconds is None else clock(system.seconds))


def _cell(figures: Figures) -> str:
    loss = bool(figures.get("loss"))
    deviation = f" ± {points(figures['deviation'], loss)}" if "deviation" in figures else ""
    limits = interval(figures.get("low"), figures.get("high"), loss)
    return f"{percent(figures['value'], loss)}{deviation}{limits}"


def _records(systems: Sequence[Scores]) -> Iterator[dict[str, object]]:
    for system in systems:
        about = {"system": system.name, "runs": system.runs}
        about |= {"seconds": system.seconds, "command": system.command}
        for task, metrics in system.tasks.items():
            for metric, figures in metrics.items():
                yield {**about, "task": task, "metric": metric, **figures}


def keep_scores(folder: Path, name: str, report: Report, *, seconds: float, file: str | None = None) -> None:
    """Write a command's scores into the folder of its results, for `gluebench results`."""
    from gluebench.systems.scores import FILE, Scores, write_scores

    system = Scores.of(name, report, seconds)
    write_scores(folder / (file or FILE), report.benchmark, report.split, [system])
