"""`gluebench rank`: the order of several systems, how sure it is, and what depends on the rule."""

from typing import Any

import click

from gluebench.cli.analysis.diagnose import names_of_systems
from gluebench.cli.common import option
from gluebench.cli.common.inputs import Inputs, inputs_options, labels_option, table_option
from gluebench.cli.common.output import Form, draw, emit, notice, notices


@click.command
@click.argument("subs", metavar="SUB SUB...", nargs=-1, type=click.Path())
@option.settings(
    "--runs NAME=GLOB", help="Several runs of one system: the submissions that match, ranked by their mean."
)
@labels_option
@table_option
@option.choice(
    "--by",
    of="mean borda median kemeny rank-score",
    help=(
        "Macro-average, mean rank, median score, Kemeny's order, or EuroEval's rank score. By default as the "
        "manifest says, else the macro-average."
    ),
)
@option.settings("--weights TASK=N", help="Weight of a task; 0 leaves it out.")
@option.choice(
    "--missing", of="unranked shared own lowest", default="unranked", help="What a missing score means."
)
@option.repeated(
    "--majority TASK",
    help="Take every system to answer this task's most frequent label, as the paper does for WNLI.",
)
@option.file(
    "--costs", help="Table of system, parameters and latency: says which systems are Pareto-optimal."
)
@option.flag("--matrix", help="Print all pairs as well.")
@option.plot("the ranks, each with its rank set")
@inputs_options("Rank on what the gold covers")
@option.output
def rank(
    subs: tuple[str, ...],
    runs: dict[str, str],
    weights: dict[str, str],
    costs: str | None,
    matrix: bool,
    plot: str | None,
    inputs: Inputs,
    form: Form,
    **settings: Any,
) -> None:
    """Rank several submissions on the same examples.

    Each observed rank with its rank set (the ranks that the system may truly have), the systems that may be
    the best, and which conclusions hold under every rule of aggregation. A system is a submission, or by
    --runs the mean of several. With --table, systems are named, by default all of the table.

    \b
    Example:
      gluebench rank a.zip b.zip c.zip --gold gold/
      gluebench rank runs/* --data data/ --split dev --by borda --majority WNLI
      gluebench rank --runs ours='ours/run*.zip' --runs base='base/run*.zip' --gold gold/
      gluebench rank --table scores.csv
    """
    from gluebench.analysis.rank import rank as rank_systems
    from gluebench.analysis.rank.rules import read_costs
    from gluebench.cli.analysis.rank_view import WITHHELD, ranking_output

    sources = _sources(subs if runs else inputs.systems(subs), runs, inputs)
    task_weights = _numbers(weights)
    manifest = inputs.manifest
    system_costs = None
    if costs is not None:
        system_costs = read_costs(costs, {source: name for name, source in sources})
    systems = {}
    for name, source in sources:
        paths = inputs.matching(runs[name]) if name in runs else [source]
        systems[name] = [inputs.submission(path) for path in paths]
    labels = inputs.labels()
    ranking = rank_systems(systems, labels, weights=task_weights, **settings)
    if ranking.withheld and form in ("json", "csv"):  # other forms say so under the table
        notice(f"warning: {WITHHELD.format(ranking.withheld)}")
    notices(f"warning: {warning}" for warning in ranking.warnings)
    emit(ranking_output(ranking, manifest, costs=system_costs, matrix=matrix), form)
    draw(ranking, plot)


def _sources(subs: tuple[str, ...], runs: dict[str, str], inputs: Inputs) -> list[tuple[str, str]]:
    """The name of each system with its path, or, for several runs and systems of a table, its name again."""
    if inputs.table is None:
        sources = list(names_of_systems(subs).items())
    else:
        sources = [(sub, sub) for sub in names_of_systems(subs).values()]
    for name, pattern in runs.items():
        if name in dict(sources):
            raise click.UsageError(f"{name} is the name of two systems.")
        if not inputs.matching(pattern):
            raise click.BadParameter(f"no submission matches {pattern}.", param_hint="--runs")
        sources.append((name, name))
    if len(sources) < 2:
        raise click.UsageError("name two or more systems to rank.")
    return sources


def _numbers(weights: dict[str, str]) -> dict[str, float]:
    """The weights as numbers. Raises BadParameter."""
    from gluebench.reading.notation import NotationError, weight

    numbers = {}
    for task, text in weights.items():
        try:
            numbers[task] = weight(text)
        except NotationError:
            problem = f"{task}={text}: expected a number from 0."
            raise click.BadParameter(problem, param_hint="--weights") from None
    return numbers
