"""`gluebench compare`: whether the difference between two systems is real."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gluebench.cli.options import (
    Form,
    benchmark_option,
    labels_option,
    output_options,
    read_labels,
    seed_option,
    split_option,
)

if TYPE_CHECKING:
    from gluebench.benchmark import Role


@click.command
@click.argument("subs", metavar="A B", nargs=-1, required=True, type=click.Path(exists=True))
@labels_option
@click.option(
    "--resamples",
    metavar="N",
    type=click.IntRange(min=100),
    default=10_000,
    show_default=True,
    help="Resamples for intervals and tests.",
)
@seed_option
@click.option("--allow-partial-gold", is_flag=True, help="Compare on what the gold covers, and say so.")
@split_option
@benchmark_option
@output_options
def compare(
    subs: tuple[str, ...],
    gold: str | None,
    data: str | None,
    resamples: int,
    seed: int,
    allow_partial_gold: bool,
    split: Role,
    benchmark: str,
    form: Form,
) -> None:
    """Compare two submissions on the same examples.

    The difference of each score with its interval, a paired test, the effect in examples, the smallest
    difference that could be shown, and what follows in words; diagnostic sets by phenomenon too.
    More than two submissions: gluebench rank.

    \b
    Example:
      gluebench compare ours.zip theirs.zip --gold gold/
    """
    if len(subs) != 2:
        raise click.UsageError(f"compare takes two submissions, not {len(subs)}{_more_than_two(subs)}.")
    from gluebench import analysis
    from gluebench.benchmark import load_benchmark
    from gluebench.cli.compare_view import comparison_output
    from gluebench.cli.grade import read_submission
    from gluebench.cli.output import emit, notices

    manifest = load_benchmark(benchmark)
    ours, theirs = (read_submission(source, manifest, benchmark=benchmark, role=split) for source in subs)
    labels = read_labels(gold, data, manifest, role=split, partial=allow_partial_gold)
    comparison = analysis.compare(ours, theirs, labels, resamples=resamples, seed=seed)
    notices(f"warning: {warning}" for warning in comparison.warnings)
    emit(comparison_output(comparison, manifest), form)


def _more_than_two(subs: tuple[str, ...]) -> str:
    return f"; for more: gluebench rank {' '.join(subs)}" if len(subs) > 2 else ""
