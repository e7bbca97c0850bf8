"""`gluebench compare`: whether the difference between two systems is statistically significant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import click

from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.figures import DOWN, counted, on_split, p_text, points
from gluebench.benchmark.tables import Column, Section, Table, numeric
from gluebench.cli.common import option
from gluebench.cli.common.inputs import Inputs, inputs_options, labels_option, table_option
from gluebench.cli.common.output import Form, Output, draw, emit, notices
from gluebench.cli.scoring.grade import BETWEEN_MODELS, categories, titles

if TYPE_CHECKING:
    from gluebench.analysis.compare import Comparison, Difference, TaskComparison


class _Against(click.Command):
    """A command whose `--against` takes all arguments up to the next option, as a shell writes out a glob."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat `--against` before each of its arguments."""
        repeated: list[str] = []
        inside = False
        for arg in args:
            inside = arg == "--against" or (inside and not arg.startswith("-"))
            if inside and arg != "--against":
                repeated += ["--against", arg]
            elif not inside:
                repeated.append(arg)
        if "--against" in args and "--against" not in repeated:
            raise click.UsageError("--against needs the submissions of the other system.", ctx)
        return super().parse_args(ctx, repeated)


@click.command(cls=_Against)
@click.argument("subs", metavar="A... [B]", nargs=-1, type=click.Path())
@option.repeated(
    "--against B...",
    type=click.Path(),
    help="The runs of the other system; those before are runs of the first.",
)
@option.text(
    "--equivalence POINTS",
    type=click.FloatRange(min=0, min_open=True, max=100),
    help="Test too whether the two are the same within so many points, or so much of a loss.",
)
@labels_option
@table_option
@option.flag(
    "--details",
    help="Print the tests, the phenomena and a sentence for each task too; --json has them always.",
)
@option.number("--resamples", default=10_000, least=100, help="Random exchanges for intervals and tests.")
@option.seed
@option.plot("the differences with their intervals")
@inputs_options("Compare on what the gold covers")
@option.output
def compare(
    subs: tuple[str, ...],
    against: tuple[str, ...],
    equivalence: float | None,
    details: bool,
    resamples: int,
    seed: int,
    plot: str | None,
    inputs: Inputs,
    form: Form,
) -> None:
    """Compare two submissions on the same examples.

    What follows in words, and the difference of each score with its interval and a paired test. --details
    adds the effect in examples, the smallest difference that could be shown, and diagnostic sets by
    phenomenon.
    Several runs of each system: A... --against B..., by Student's t over runs and examples.
    With --table, A and B are names of systems in a table, by default its two. More than two systems:
    gluebench rank.

    \b
    Example:
      gluebench compare ours.zip theirs.zip --gold gold/ --equivalence 1
      gluebench compare ours/run*.zip --against theirs/run*.zip --gold gold/
      gluebench compare bert esim --table scores.csv
    """
    if against and not subs:
        raise click.UsageError("name the runs of the first system before --against.")
    if not against:
        systems = inputs.systems(subs)
        if len(systems) != 2:
            rank = f"gluebench rank {' '.join(subs) or '--table TABLE'}"
            more = f"; runs of two systems: A... --against B...; more systems: {rank}"
            if len(systems) < 2:
                more = f"; two files in one table: {BOTH}" if inputs.table else ""
            raise click.UsageError(f"compare takes two submissions or systems, not {len(systems)}{more}.")
        subs = systems[:1]
        against = systems[1:]
    from gluebench.analysis.compare import compare as compare_systems

    ours = [inputs.submission(source) for source in subs]
    theirs = [inputs.submission(source) for source in against]
    labels = inputs.labels()
    margin = equivalence
    if equivalence is not None and not labels.benchmark.loss:  # points of a fraction
        margin = equivalence / 100
    comparison = compare_systems(
        ours,
        theirs,
        labels,
        equivalence=margin,
        categories=details or form in ("json", "csv"),
        resamples=resamples,
        seed=seed,
    )
    emit(comparison_output(comparison, inputs.manifest, details=details), form)
    draw(comparison, plot)
    notices(f"warning: {warning}" for warning in comparison.warnings)


BOTH = "gluebench read FILE FILE --out table.csv"


class _Row(NamedTuple):
    """A row of the first two tables."""

    task: str
    metric: str
    difference: Difference | None
    decides: bool
    """Whether the conclusion uses this row's p-value."""


def comparison_output(comparison: Comparison, benchmark: Benchmark, *, details: bool = True) -> Output:
    """The comparison in every form, its conclusion first.

    With `details`, also the tests, as a table of their own so that none is wider than 60 columns, the
    categories of diagnostic sets and a sentence for each task; a single task has its sentence always. JSON
    and CSV have all of it.
    """
    from gluebench.analysis.compare.comparison import FIELDS

    scored: list[_Row] = []
    for task in benchmark.scored:
        scored += _task_rows(comparison.tasks.get(task.name), task)
    average: list[_Row] = []
    if len(benchmark.averaged) != 1:
        over = f"of {counted(len(comparison.over), 'task')}"
        name = "average" + DOWN if benchmark.loss else "average"
        average.append(_Row(name, over, comparison.overall, decides=True))
    diagnostics: list[_Row] = []
    for task in benchmark.diagnostics:
        diagnostics += _task_rows(comparison.diagnostics.get(task.name), task)
    sections = [section for section in (scored, average, diagnostics) if section]
    tables = [_differences(comparison, benchmark, sections, details=details)]
    if details:
        tables.append(_tests(sections))
        tables += _all_categories(comparison, benchmark)
    words: list[str] = []
    if details or len(comparison.tasks) == 1:
        words = [""] + list(comparison.words[:-1])  # the last one is the conclusion
    verdict = [comparison.conclusion, ""]
    return Output(comparison.as_dict(), tables, FIELDS, comparison.records(), words=words, verdict=verdict)


def _all_categories(comparison: Comparison, benchmark: Benchmark) -> list[Table]:
    """A table for each task that has categories, in the benchmark's order."""
    parts = {**comparison.tasks, **comparison.diagnostics}
    tables = []
    for task in benchmark.tasks:
        part = parts.get(task.name)
        if part is not None and part.categories:
            tables.append(_categories(part, task))
    return tables


def _task_rows(part: TaskComparison | None, task: Task) -> Iterator[_Row]:
    """A row for each metric of a task, and one for its score if there are several."""
    if part is None:
        return
    name = task.name
    single = len(task.metrics) == 1
    for metric, difference in part.metrics.items():
        shown = part.score if single and part.score else difference
        yield _Row(name, titles(task).get(metric, metric), shown, decides=single)
        name = ""
    if not single:
        heading = "task score" + DOWN if task.loss else "task score"
        yield _Row("", heading, part.score, decides=True)


def _differences(
    comparison: Comparison, benchmark: Benchmark, sections: Sequence[Sequence[_Row]], *, details: bool
) -> Table:
    from gluebench.analysis.compare.columns import DIFFERENCE_COLUMNS  # imports numpy
    from gluebench.analysis.compare.words import title

    overall = comparison.overall
    columns = [Column("task"), Column("metric")] + DIFFERENCE_COLUMNS + [numeric("p")]
    tests_equivalence = overall is not None and overall.margin is not None
    if overall is not None and overall.margin is not None:
        columns.append(Column(f"same within {points(overall.margin, overall.loss)}"))
    notes = []
    if benchmark.losses:
        notes.append("Of a loss ↓, A - B is above 0 where A's is lower.")
    notes.append("The test is of one pair, named before its results were seen. To choose: gluebench rank.")
    tested = overall is not None and overall.p is not None
    if tests_equivalence and tested:
        notes.append("Better and the same are two families of tests, each with 5 % false alarms at most.")
    if len(comparison.over) > 1 and tested:
        notes.append(f"p of a task: after Holm's adjustment for {len(comparison.over)} tasks.")
    if comparison.left_out:
        left_out = ", ".join(comparison.left_out)
        notes.append(f"Left out: {left_out}. The average is not the benchmark's macro-average.")
    if not details:
        notes.append("More, with --details: the tests, the phenomena and a sentence for each task.")
    where = on_split(benchmark.title, comparison.split, comparison.provenance)
    table_sections = []
    for section in sections:
        rows = []
        for row in section:
            difference = row.difference
            cells: list[object] = [row.task, row.metric, difference, difference, difference]
            decisive = row.difference if row.decides else None
            cells.append("" if decisive is None else p_text(decisive.decisive))
            if tests_equivalence:
                cells.append(_equivalence_cell(decisive))
            rows.append(cells)
        table_sections.append(Section(rows))
    return Table(
        columns,
        sections=table_sections,
        title=title(where, comparison.a, comparison.b),
        notes=notes,
    )


def _equivalence_cell(difference: Difference | None) -> str:
    """Whether A and B are the same within the margin; empty without a test of it."""
    if difference is None or difference.equivalence_p is None:
        return ""
    verdict = "yes" if difference.equivalent else "not shown"
    return f"{verdict} (p {p_text(difference.equivalence_p)})"


def _tests(sections: Sequence[Sequence[_Row]]) -> Table:
    rows = list(chain.from_iterable(sections))
    has_runs = any(row.difference and row.difference.seeds is not None for row in rows)
    basis = "seeds" if has_runs else "right alone: A, B of n"
    notes = [
        "p: of that test alone, not adjusted. Shows: the smallest true difference that these "
        "examples and these two systems would show four times in five."
    ]
    if has_runs:
        notes.append("Seeds: the share of the variance that comes from the choice of runs.")
    table_sections = []
    for section in sections:
        table_sections.append(
            Section([[row.task, row.metric] + _test_cells(row.difference) for row in section])
        )
    return Table(
        ("task", "metric", "test", numeric("p"), basis, numeric("shows")),
        sections=table_sections,
        title="What it rests on",
        notes=notes,
    )


def _test_cells(difference: Difference | None) -> list[str]:
    """The test, its p-value, what it rests on, and the smallest difference that it would show."""
    if difference is None:
        return ["-", "", "", ""]
    shows = ""
    if difference.detectable is not None:
        shows = points(difference.detectable, difference.loss)
    if difference.seeds is not None:
        basis = f"{100 * difference.seeds:.0f} %"
    elif difference.alone is None:
        basis = f"{difference.n:,}"
    else:
        basis = f"{difference.alone.a:,}, {difference.alone.b:,} of {difference.n:,}"
    return [difference.test, p_text(difference.p), basis, shows]


def _categories(part: TaskComparison, task: Task) -> Table:
    from gluebench.analysis.compare.columns import DIFFERENCE_COLUMNS

    differences = {(entry.kind, entry.name): entry.difference for entry in part.categories}
    metadata: dict[str, list[str]] = {column: [] for column in task.metadata}
    for kind, name in differences:
        if kind in metadata:
            metadata[kind].append(name)
    sections = []
    for entries in categories(task, metadata):
        rows = []
        for kind, name, text in entries:
            if (kind, name) in differences:
                difference = differences[kind, name]
                p = difference.decisive
                rows.append([text, difference, difference, difference, p, difference.n])
        if rows:
            sections.append(Section(rows))
    return Table(
        [Column("category")] + DIFFERENCE_COLUMNS + [numeric("p", p_text), numeric("n")],
        sections=sections,
        title=f"{task.name} by category: {task.metrics[0].title}",
        notes=["p: after Holm's adjustment over the categories of one kind.", BETWEEN_MODELS],
    )
