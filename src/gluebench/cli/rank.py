"""`gluebench rank`: the order of several systems, how sure it is, and what depends on the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gluebench.cli.options import (
    Form,
    benchmark_option,
    labels_option,
    output_options,
    pairs,
    read_labels,
    seed_option,
    split_option,
)

if TYPE_CHECKING:
    from gluebench.analysis.aggregate import Missing, Rule
    from gluebench.benchmark import Role


@click.command
@click.argument("subs", metavar="SUB SUB...", nargs=-1, required=True, type=click.Path(exists=True))
@labels_option
@click.option(
    "--by",
    type=click.Choice(["mean", "borda", "median", "kemeny"]),
    default="mean",
    show_default=True,
    help="Macro-average, mean rank, median score, or Kemeny's order.",
)
@click.option(
    "--weights", metavar="TASK=N", multiple=True, callback=pairs, help="Weight of a task; 0 leaves it out."
)
@click.option(
    "--missing",
    type=click.Choice(["unranked", "shared", "own", "lowest"]),
    default="unranked",
    show_default=True,
    help="What a missing score means.",
)
@click.option(
    "--majority",
    metavar="TASK",
    multiple=True,
    help="Take every system to answer this task's most frequent label, as the paper does for WNLI.",
)
@click.option(
    "--costs",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Table of system, parameters and latency: says who is beaten on score and cost.",
)
@click.option("--matrix", is_flag=True, help="Print all pairs as well.")
@click.option(
    "--resamples",
    metavar="N",
    type=click.IntRange(min=100),
    default=1000,
    show_default=True,
    help="Resamples for the rank intervals.",
)
@click.option("--approximate", is_flag=True, help="Draw large test files from their normal limit: faster.")
@seed_option
@click.option("--allow-partial-gold", is_flag=True, help="Rank on what the gold covers, and say so.")
@split_option
@benchmark_option
@output_options
def rank(
    subs: tuple[str, ...],
    gold: str | None,
    data: str | None,
    by: Rule,
    weights: dict[str, str],
    missing: Missing,
    majority: tuple[str, ...],
    costs: str | None,
    matrix: bool,
    resamples: int,
    approximate: bool,
    seed: int,
    allow_partial_gold: bool,
    split: Role,
    benchmark: str,
    form: Form,
) -> None:
    """Rank several submissions on the same examples.

    Each rank with its interval, who is tied, and which conclusions hold under every rule of aggregation.

    \b
    Example:
      gluebench rank a.zip b.zip c.zip --gold gold/
      gluebench rank runs/* --data data/ --split dev --by borda --majority WNLI
    """
    from gluebench.analysis.costs import read_costs
    from gluebench.analysis.ranks import rank as ranked
    from gluebench.benchmark import load_benchmark
    from gluebench.cli.grade import read_submission
    from gluebench.cli.output import emit, notices
    from gluebench.cli.rank_view import ranking_output

    if len(subs) < 2:
        raise click.UsageError("name two or more submissions to rank.")
    if len(set(subs)) < len(subs):
        raise click.UsageError("a submission is named twice.")
    weighed = _numbers(weights)
    manifest = load_benchmark(benchmark)
    spent = None if costs is None else read_costs(costs, subs)
    systems = {sub: read_submission(sub, manifest, benchmark=benchmark, role=split) for sub in subs}
    labels = read_labels(gold, data, manifest, role=split, partial=allow_partial_gold)
    found = ranked(
        systems,
        labels,
        by=by,
        weights=weighed,
        missing=missing,
        majority=majority,
        resamples=resamples,
        seed=seed,
        approximate=approximate,
    )
    notices(f"warning: {warning}" for warning in found.warnings)
    emit(ranking_output(found, manifest, costs=spent, matrix=matrix), form)


def _numbers(weights: dict[str, str]) -> dict[str, float]:
    from math import isfinite

    found = {}
    for task, text in weights.items():
        try:
            found[task] = float(text)
        except ValueError:
            found[task] = -1.0
        if not (isfinite(found[task]) and found[task] >= 0):
            raise click.BadParameter(f"{task}={text}: expected a number from 0.", param_hint="--weights")
    return found
