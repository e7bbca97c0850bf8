"""`gluebench check`: what is wrong with a submission, without scoring it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from gluebench.cli.errors import WRONG_FILE
from gluebench.cli.options import Form, benchmark_option, output_options, split_option, zip_name
from gluebench.cli.output import emit

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Role
    from gluebench.submission import Submission


@click.command
@click.argument("sub", metavar="SUB", type=click.Path(exists=True))
@click.option("--official", is_flag=True, help="Judge it as the original site would: form matters too.")
@click.option(
    "--fix",
    metavar="ZIP",
    type=click.Path(dir_okay=False),
    callback=zip_name,
    help="Write a mended copy; no label is changed.",
)
@split_option
@benchmark_option
@output_options
def check(sub: str, official: bool, fix: str | None, split: Role, benchmark: str, form: Form) -> None:
    """Check a submission without scoring it.

    SUB is a zip, a folder or a single file. Every fault is named with its file, line, value and remedy.

    \b
    Example:
      gluebench check submission.zip --official
    """
    from gluebench.benchmark import load_benchmark

    if fix and os.path.exists(fix) and os.path.samefile(sub, fix):
        raise click.BadParameter(f"{fix} is the submission itself; name another file.", param_hint="'--fix'")
    manifest = load_benchmark(benchmark)
    done = _mend(sub, fix, manifest, role=split) if fix else []
    submission = _checked(fix or sub, manifest, role=split, official=official)
    _print(submission, form, done=done)
    if submission.verdict == "invalid":
        raise click.exceptions.Exit(WRONG_FILE)


def _checked(source: str, manifest: Benchmark, *, role: Role, official: bool) -> Submission:
    from gluebench import submission

    found = submission.check(source, manifest, role=role)
    return submission.official(found) if official else found


def _mend(source: str, out: str, manifest: Benchmark, *, role: Role) -> list[str]:
    """What was mended on the way to `out`; exits when something is left that cannot be."""
    from gluebench.submission import fix_submission

    mended = fix_submission(source, out, manifest, role=role)
    if mended.problems:
        from gluebench.cli.findings import marked

        advice = "Nothing was written: this cannot be mended without guessing."
        raise click.ClickException("\n".join([advice, *marked(mended.problems)]))
    return mended.done


def _print(submission: Submission, form: Form, *, done: list[str]) -> None:
    from gluebench.cli import findings

    if form is None:
        click.echo(findings.as_lines(submission, done=done), nl=False)
    else:
        emit(findings.check_output(submission, done=done), form)
