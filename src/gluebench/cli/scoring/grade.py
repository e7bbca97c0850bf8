"""`gluebench grade`: every score of a submission, with its error bar."""

from __future__ import annotations

import click

from gluebench.cli.common import option
from gluebench.cli.common.inputs import Inputs, inputs_options, labels_option
from gluebench.cli.common.output import Form, draw, emit, notices


@click.command
@click.argument("subs", metavar="SUB...", nargs=-1, required=True, type=click.Path(exists=True))
@labels_option
@option.flag("--no-intervals", help="Scores alone.")
@option.plot("the scores with their intervals")
@inputs_options("Score what the gold covers")
@option.output
def grade(subs: tuple[str, ...], no_intervals: bool, plot: str | None, inputs: Inputs, form: Form) -> None:
    """Grade a submission, or several runs of one system.

    With several SUBs: their mean with an interval over runs and examples together, its share that is due to
    the runs, their standard deviation and the best, as section 6 of the paper reports three runs.

    \b
    Example:
      gluebench grade submission.zip --gold gold/
      gluebench grade dev-predictions/ --data data/ --split dev --plot scores.svg
    """
    from gluebench.cli.scoring.report_view import report_output, runs_output
    from gluebench.scoring import grade as score
    from gluebench.scoring import grade_runs, summarize

    submissions = [inputs.submission(sub) for sub in subs]
    labels = inputs.labels()
    if len(subs) > 1 and not no_intervals:
        reports, summary = grade_runs(submissions, labels)
    else:
        reports = [score(submission, labels, intervals=not no_intervals) for submission in submissions]
        summary = summarize(reports)
    for report in reports:
        notices(f"warning: {warning}" for warning in report.warnings)
    if len(reports) == 1:
        emit(report_output(reports[0], inputs.manifest, source=subs[0]), form)
    else:
        emit(runs_output(reports, summary, inputs.manifest, sources=subs), form)
    draw(reports[0] if len(reports) == 1 else summary, plot)
