"""`gluebench compare`: whether the difference between two systems is statistically significant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.figures import DOWN, between, counted, on_split, percent, points
from gluebench.cli.common import option
from gluebench.cli.common.inputs import Inputs, inputs_options, labels_option, table_option
from gluebench.cli.common.output import Form, Output, Section, Table, draw, emit, notices
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
        subs, against = systems[:1], systems[1:]
    from gluebench.analysis.compare import compare as compared

    ours, theirs = ([inputs.submission(source) for source in side] for side in (subs, against))
    labels = inputs.labels()
    margin = None if equivalence is None else equivalence / (1 if labels.benchmark.loss else 100)
    comparison = compared(ours, theirs, labels, equivalence=margin, resamples=resamples, seed=seed)
    emit(comparison_output(comparison, inputs.manifest, details=details), form)
    draw(comparison, plot)
    notices(f"warning: {warning}" for warning in comparison.warnings)


BOTH = "gluebench read FILE FILE --out table.csv"
DIFFERENCE = "A - B [95 % interval]"


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

    over = f"of {counted(len(comparison.over), 'task')}"
    sections = [
        [row for task in benchmark.scored for row in _rows(comparison.tasks.get(task.name), task)],
        [_Row(f"average{DOWN * benchmark.loss}", over, comparison.overall, decides=True)]
        * (len(benchmark.averaged) != 1),
        [row for task in benchmark.diagnostics for row in _rows(comparison.diagnostics.get(task.name), task)],
    ]
    sections = [section for section in sections if section]
    tables = [_differences(comparison, benchmark, sections, details=details)]
    if details:
        tables.append(_tests(sections))
        for task in benchmark.tasks:
            part = {**comparison.tasks, **comparison.diagnostics}.get(task.name)
            if part is not None and part.categories:
                tables.append(_categories(part, task))
    words: list[str] = []
    if details or len(comparison.tasks) == 1:
        words = ["", *comparison.words[:-1]]  # the last one is the conclusion
    verdict = [comparison.conclusion, ""]
    return Output(comparison.as_dict(), tables, FIELDS, comparison.records(), words=words, verdict=verdict)


def _rows(part: TaskComparison | None, task: Task) -> Iterator[_Row]:
    if part is None:
        return
    name = task.name
    single = len(task.metrics) == 1
    for metric, difference in part.metrics.items():
        shown = part.score if single and part.score else difference
        yield _Row(name, titles(task).get(metric, metric), shown, decides=single)
        name = ""
    if not single:
        yield _Row("", f"task score{DOWN * task.loss}", part.score, decides=True)


def _differences(
    comparison: Comparison, benchmark: Benchmark, sections: Sequence[Sequence[_Row]], *, details: bool
) -> Table:
    from gluebench.analysis.compare.words import title  # imports numpy

    overall = comparison.overall
    same = (
        []
        if overall is None or overall.margin is None
        else [f"same within {points(overall.margin, overall.loss)}"]
    )
    notes = ["Of a loss ↓, A - B is above 0 where A's is lower."] * bool(benchmark.losses)
    notes.append("The test is of one pair, named before its results were seen. To choose: gluebench rank.")
    tested = overall is not None and overall.p is not None
    if same and tested:
        notes.append("Better and the same are two families of tests, each with 5 % false alarms at most.")
    if len(comparison.over) > 1 and tested:
        notes.append(f"p of a task: after Holm's adjustment for {len(comparison.over)} tasks.")
    if comparison.left_out:
        left_out = ", ".join(comparison.left_out)
        notes.append(f"Left out: {left_out}. The average is not the benchmark's macro-average.")
    if not details:
        notes.append("More, with --details: the tests, the phenomena and a sentence for each task.")
    where = on_split(benchmark.title, comparison.split, comparison.provenance)
    return Table(
        ("task", "metric", "A", "B", DIFFERENCE, "p", *same),
        [
            Section([(row.task, row.metric, *_values(row.difference), *_decisive(row, same)) for row in rows])
            for rows in sections
        ],
        title=title(where, comparison.a, comparison.b),
        right={2, 3, 5},
        notes=notes,
    )


def _values(difference: Difference | None) -> tuple[str, ...]:
    if difference is None:
        return ("-", "-", "-")
    withheld = f" ({difference.withheld})" if difference.withheld else ""
    if difference.same and not withheld:
        withheld = " (same answers)"
    loss = difference.loss
    limits = between(difference.low, difference.high, loss)
    shown = f"{points(difference.difference, loss):>5}{limits}{withheld}"
    return (percent(difference.a, loss), percent(difference.b, loss), shown)


def _decisive(row: _Row, same: Sequence[str]) -> tuple[str, ...]:
    """The p-value of the difference, and the verdict on equivalence if there is a column for it."""
    difference = row.difference if row.decides else None
    p = "" if difference is None else p_cell(difference.decisive)
    if not same:
        return (p,)
    if difference is None or difference.equivalence_p is None:
        return (p, "")
    return (p, f"{'yes' if difference.equivalent else 'not shown'} (p {p_cell(difference.equivalence_p)})")


def p_cell(p: float | None) -> str:
    """A p-value with three decimals, never shown as zero; "-" without a test."""
    if p is None:
        return "-"
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _tests(sections: Sequence[Sequence[_Row]]) -> Table:
    has_runs = any(row.difference and row.difference.seeds is not None for rows in sections for row in rows)
    notes = [
        "p: of that test alone, not adjusted. Shows: the smallest true difference that these "
        "examples and these two systems would show four times in five."
    ]
    if has_runs:
        notes.append("Seeds: the share of the variance that comes from the choice of runs.")
    return Table(
        ("task", "metric", "test", "p", "seeds" if has_runs else "right alone: A, B of n", "shows"),
        [Section([(row.task, row.metric, *_test(row.difference)) for row in rows]) for rows in sections],
        title="What it rests on",
        right={3, 5},
        notes=notes,
    )


def _test(difference: Difference | None) -> tuple[str, ...]:
    if difference is None:
        return ("-", "", "", "")
    shows = "" if difference.detectable is None else points(difference.detectable, difference.loss)
    if difference.seeds is not None:
        basis = f"{100 * difference.seeds:.0f} %"
    elif difference.alone is None:
        basis = f"{difference.n:,}"
    else:
        basis = f"{difference.alone.a:,}, {difference.alone.b:,} of {difference.n:,}"
    return (difference.test, p_cell(difference.p), basis, shows)


def _categories(part: TaskComparison, task: Task) -> Table:
    parts = {(entry.kind, entry.name): entry.difference for entry in part.categories}
    metadata = {column: [name for kind, name in parts if kind == column] for column in task.metadata}
    sections = []
    for entries in categories(task, metadata):
        rows = [(text, parts[kind, name]) for kind, name, text in entries if (kind, name) in parts]
        sections.append([(text, *_values(gap), p_cell(gap.decisive), str(gap.n)) for text, gap in rows])
    return Table(
        ("category", "A", "B", DIFFERENCE, "p", "n"),
        [Section(rows) for rows in sections if rows],
        title=f"{task.name} by category: {task.metrics[0].title}",
        right={1, 2, 4, 5},
        notes=["p: after Holm's adjustment over the categories of one kind.", BETWEEN_MODELS],
    )
