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
@click.argument("subs", metavar="A... [B]", nargs=-1, required=True, type=click.Path(exists=True))
@click.option(
    "--against",
    metavar="B...",
    multiple=True,
    type=click.Path(exists=True),
    help="The runs of the other system; those before are runs of the first.",
)
@click.option(
    "--equivalence",
    metavar="POINTS",
    type=click.FloatRange(min=0, min_open=True, max=100),
    help="Test too whether the two are the same within so many points.",
)
@labels_option
@click.option(
    "--resamples",
    metavar="N",
    type=click.IntRange(min=100),
    default=10_000,
    show_default=True,
    help="Random exchanges for intervals and tests.",
)
@seed_option
@click.option("--allow-partial-gold", is_flag=True, help="Compare on what the gold covers, and say so.")
@split_option
@benchmark_option
@output_options
def compare(
    subs: tuple[str, ...],
    against: tuple[str, ...],
    equivalence: float | None,
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
    Several runs of each system: A... --against B... resamples runs and examples together.
    More than two systems: gluebench rank.

    \b
    Example:
      gluebench compare ours.zip theirs.zip --gold gold/ --equivalence 1
      gluebench compare ours/run*.zip --against theirs/run*.zip --gold gold/
    """
    if not against:
        if len(subs) != 2:
            raise click.UsageError(f"compare takes two submissions, not {len(subs)}{_more_than_two(subs)}.")
        subs, against = subs[:1], subs[1:]
    from gluebench.analysis.compare import compare as compared
    from gluebench.benchmark import load_benchmark
    from gluebench.cli.compare_view import comparison_output
    from gluebench.cli.grade import read_submission
    from gluebench.cli.output import emit, notices

    manifest = load_benchmark(benchmark)
    ours, theirs = (
        [read_submission(source, manifest, benchmark=benchmark, role=split) for source in side]
        for side in (subs, against)
    )
    labels = read_labels(gold, data, manifest, role=split, partial=allow_partial_gold)
    margin = None if equivalence is None else equivalence / 100
    comparison = compared(ours, theirs, labels, equivalence=margin, resamples=resamples, seed=seed)
    notices(f"warning: {warning}" for warning in comparison.warnings)
    emit(comparison_output(comparison, manifest), form)


def _more_than_two(subs: tuple[str, ...]) -> str:
    if len(subs) < 3:
        return ""
    return f"; runs of two systems: A... --against B...; more systems: gluebench rank {' '.join(subs)}"
