"""`gluebench results`: one table of the systems that other commands ran, and of published ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.benchmark import Benchmark, Role
from gluebench.benchmark.figures import interval, percent, points, unit
from gluebench.benchmark.tables import Best, Column, Section, Table, to_markdown
from gluebench.cli.analysis.diagnose import names_of_systems
from gluebench.cli.common import option
from gluebench.cli.common.inputs import Inputs, labels_option
from gluebench.cli.common.output import Form, Output, emit

if TYPE_CHECKING:
    from gluebench.systems.scores import Figures, Scores

FIELDS = ("system", "task", "metric", "value", "low", "high", "deviation", "runs", "seconds", "command")
PUBLISHED = (
    "Published scores are of the dev sets, as printed: MRPC and QQP accuracy, or accuracy/F1; STS-B one "
    "correlation; MNLI matched. †: first trained on MNLI."
)


@click.command
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@labels_option
@option.flag("--no-intervals", help="With labels: scores alone.")
@option.choice("--split", of="dev test", help="Whose scores [test with --gold, else dev].")
@option.repeated(
    "--published WORD", help="Published systems with this word in their name only; none for none."
)
@option.named_benchmark(type=option.BenchmarkName())
@option.output
def results(
    paths: tuple[Path, ...],
    gold: str | None,
    data: str | None,
    no_intervals: bool,
    split: Role | None,
    published: tuple[str, ...],
    benchmark: str,
    form: Form,
) -> None:
    """Show runs or submissions in one table, systems x tasks, as Table 4.

    It is Markdown, with the commands and times of runs.
    PATHS are folders that run, probe, train, sweep or reproduce left, or folders of such folders; with --gold
    or --data they are submissions, which are graded. On GLUE's dev split, published scores of known models
    stand beneath.

    \b
    Example:
      gluebench results sweep/ runs/ --published BERT-base --published MiniLM
      gluebench results ours.zip theirs.zip --gold gold/ --no-intervals --latex
    """
    from gluebench.systems.scores import published_scores as known
    from gluebench.systems.scores import read_scores

    if split is None:
        split = "test" if gold else "dev"
    inputs = Inputs(gold, data, allow_partial_gold=False, split=split, benchmark=benchmark)
    suite = inputs.manifest
    if gold or data:
        systems = list(_grade_each(paths, inputs, intervals=not no_intervals))
    else:
        systems = read_scores(paths, suite.name, split)
    beside = []
    if "glue" in suite.lineage and split == "dev":
        for row in known():
            name = row["name"].casefold()
            if not published or any(word.casefold() in name for word in published):
                beside.append(row)
    answer = results_output(systems, suite, split, published=beside)
    if form not in (None, "markdown"):
        emit(answer, form)
        return
    click.echo(to_markdown(answer.tables[0]))
    commands = dict.fromkeys(system.command for system in systems if system.command)
    if commands:
        click.echo("\n".join(["```sh", *commands, "```"]))


def _grade_each(paths: Sequence[Path], inputs: Inputs, *, intervals: bool) -> Iterator[Scores]:
    """The scores of each submission, named by its file."""
    from gluebench.scoring import grade
    from gluebench.systems.scores import Scores

    labels = inputs.labels()
    for name, source in names_of_systems(tuple(map(str, paths))).items():
        report = grade(inputs.submission(source), labels, intervals=intervals)
        yield Scores.of(name, report)


def results_output(
    systems: Sequence[Scores], suite: Benchmark, split: Role, *, published: Sequence[Mapping[str, Any]] = ()
) -> Output:
    """Systems as rows and tasks as columns, in every form; the best of each column is bold."""
    tasks = dict(_task_columns(systems, suite))
    best = {task: _best_mean(systems, task) for task in tasks}
    sections = [Section([_task_cells(system, best) for system in systems])]
    records = list(_records(systems))
    spread = ", ± standard deviation of the runs" * any(system.runs > 1 for system in systems)
    limits = " [95 % interval]" * any("low" in record for record in records)
    notes = [f"{suite.title}, {split} split: score{unit(suite.loss)}{spread}{limits}."]
    last = "time"
    if published:
        rows = []
        for row in published:
            cells = [row["name"]]
            cells += [row["scores"].get(task, "") for task in tasks]
            cells.append(row["source"])
            rows.append(cells)
        sections.append(Section(rows, title="published"))
        notes.append(PUBLISHED)
        last = "time or source"
    columns = [Column("system")]
    columns += tasks.values()
    columns.append(Column(last))
    table = Table(columns, sections=sections, notes=notes)
    if not any(row[-1] for row in table.rows):
        table = Table(columns[:-1], [row[:-1] for row in table.rows], notes=notes)
    data = {"systems": [system._asdict() for system in systems], "published": [*published]}
    return Output(data, [table], FIELDS, records)


def _task_columns(systems: Sequence[Scores], suite: Benchmark) -> Iterator[tuple[str, Column]]:
    """A column for each task that some system has, in the manifest's order, with its metrics."""
    from gluebench.systems.scores import AVERAGE

    present: set[str] = set()
    for system in systems:
        present.update(system.tasks)
    for task in suite.tasks:
        if task.name in present:
            titles = " / ".join(metric.title for metric in task.metrics)
            yield task.name, Column(f"{task.name}, {titles}", group=task.section)
    if AVERAGE in present:
        yield AVERAGE, Column("macro-average")


def _mean(system: Scores, task: str) -> float | None:
    """The mean of a task's metrics; None without any."""
    values = [figures["value"] for figures in system.tasks.get(task, {}).values()]
    return sum(values) / len(values) if values else None


def _best_mean(systems: Sequence[Scores], task: str) -> float | None:
    """The highest mean of a task's metrics; None if no system is below another."""
    means = [mean for system in systems if (mean := _mean(system, task)) is not None]
    return max(means) if len(set(means)) > 1 else None


def _task_cells(system: Scores, best: Mapping[str, float | None]) -> list[str]:
    """Its name, the scores of each task, and its time."""
    from gluebench.cli.common.progress import clock

    cells = [f"{system.name} ({system.runs} runs)" if system.runs > 1 else system.name]
    for task, highest in best.items():
        text = " / ".join(map(_score_text, system.tasks.get(task, {}).values()))
        is_best = highest is not None and _mean(system, task) == highest
        cells.append(Best(text) if is_best else text)
    cells.append("" if system.seconds is None else clock(system.seconds))
    return cells


def _score_text(figures: Figures) -> str:
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
