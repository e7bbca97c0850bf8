"""`gluebench grade`: every score of a submission, with its error bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gluebench.cli.errors import WRONG_FILE
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
    from gluebench.benchmark import Benchmark, Role
    from gluebench.scoring import Report
    from gluebench.submission import Submission


@click.command
@click.argument("subs", metavar="SUB...", nargs=-1, required=True, type=click.Path(exists=True))
@labels_option
@click.option(
    "--resamples",
    metavar="N",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Resamples for the intervals.",
)
@seed_option
@click.option("--no-intervals", is_flag=True, help="Scores alone: no resampling.")
@click.option("--allow-partial-gold", is_flag=True, help="Score what the gold covers, and say so.")
@split_option
@benchmark_option
@output_options
def grade(
    subs: tuple[str, ...],
    gold: str | None,
    data: str | None,
    resamples: int,
    seed: int,
    no_intervals: bool,
    allow_partial_gold: bool,
    split: Role,
    benchmark: str,
    form: Form,
) -> None:
    """Grade a submission, or several seeds of one system.

    With several SUBs, their mean, standard deviation and best, as section 6 of the paper reports three runs.

    \b
    Example:
      gluebench grade submission.zip --gold gold/
      gluebench grade dev-predictions/ --data data/ --split dev
    """
    from gluebench.benchmark import load_benchmark
    from gluebench.scoring import grade as score

    manifest = load_benchmark(benchmark)
    submissions = [read_submission(sub, manifest, benchmark=benchmark, role=split) for sub in subs]
    labels = read_labels(gold, data, manifest, role=split, partial=allow_partial_gold)
    count = 0 if no_intervals else resamples
    reports = [score(submission, labels, resamples=count, seed=seed) for submission in submissions]
    _print(reports, manifest, sources=subs, form=form)


def read_submission(source: str, manifest: Benchmark, *, benchmark: str, role: Role) -> Submission:
    """The submission, what was found in it said on standard error; exits when it is invalid."""
    from gluebench.submission import check

    submission = check(source, manifest, role=role)
    if submission.problems:
        from gluebench.cli.findings import brief_lines, problem_lines, verdict_line
        from gluebench.cli.output import notices

        if submission.verdict == "invalid":
            notices([*problem_lines(submission), verdict_line(submission)])
            raise click.exceptions.Exit(WRONG_FILE)
        notices(brief_lines(submission, _options(benchmark, role)))
    return submission


def _options(benchmark: str, role: Role) -> list[str]:
    """What must be said again for another command to read the submission alike."""
    named = [] if benchmark == "glue" else ["--benchmark", benchmark]
    return named if role == "test" else [*named, "--split", role]


def _print(reports: list[Report], manifest: Benchmark, *, sources: tuple[str, ...], form: Form) -> None:
    from gluebench.cli.output import emit, notices
    from gluebench.cli.report_view import report_output

    for report in reports:
        notices(f"warning: {warning}" for warning in report.warnings)
    if len(reports) == 1:
        emit(report_output(reports[0], manifest, source=sources[0]), form)
        return
    from gluebench.cli.runs_view import runs_output

    emit(runs_output(reports, manifest, sources=sources), form)
