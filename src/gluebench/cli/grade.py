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
    split_option,
)

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Role
    from gluebench.submission import Submission


@click.command
@click.argument("subs", metavar="SUB...", nargs=-1, required=True, type=click.Path(exists=True))
@labels_option
@click.option("--no-intervals", is_flag=True, help="Scores alone.")
@click.option("--allow-partial-gold", is_flag=True, help="Score what the gold covers, and say so.")
@split_option
@benchmark_option
@output_options
def grade(
    subs: tuple[str, ...],
    gold: str | None,
    data: str | None,
    no_intervals: bool,
    allow_partial_gold: bool,
    split: Role,
    benchmark: str,
    form: Form,
) -> None:
    """Grade a submission, or several runs of one system.

    With several SUBs: their mean with an interval over runs and examples together, its share that is due to
    the runs, their standard deviation and the best, as section 6 of the paper reports three runs.

    \b
    Example:
      gluebench grade submission.zip --gold gold/
      gluebench grade dev-predictions/ --data data/ --split dev
    """
    from gluebench.benchmark import load_benchmark
    from gluebench.cli.output import emit, notices
    from gluebench.cli.report_view import report_output
    from gluebench.cli.runs_view import runs_output
    from gluebench.scoring import grade as score
    from gluebench.scoring import grade_runs, summarise

    manifest = load_benchmark(benchmark)
    submissions = [read_submission(sub, manifest, benchmark=benchmark, role=split) for sub in subs]
    labels = read_labels(gold, data, manifest, role=split, partial=allow_partial_gold)
    if len(subs) > 1 and not no_intervals:
        reports, summary = grade_runs(submissions, labels)
    else:
        reports = [score(submission, labels, intervals=not no_intervals) for submission in submissions]
        summary = summarise(reports)
    for report in reports:
        notices(f"warning: {warning}" for warning in report.warnings)
    if len(reports) == 1:
        emit(report_output(reports[0], manifest, source=subs[0]), form)
    else:
        emit(runs_output(reports, summary, manifest, sources=subs), form)


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
