"""`gluebench check`: what is wrong with a submission, without scoring it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gluebench.cli.common import option
from gluebench.cli.common.errors import WRONG_FILE
from gluebench.cli.common.output import Form, emit

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Role
    from gluebench.submission import Submission


@click.command
@click.argument("sub", metavar="SUB", type=click.Path(exists=True))
@option.flag("--official", help="Judge it as the original site would: form matters too.")
@option.zip_file("--fix", help="Write a copy in the right form; no label is changed.")
@option.repeated(
    "--labels",
    metavar="WORD,WORD",
    help="With --fix: the label words that class numbers mean, in order; once for each set of labels.",
)
@option.split
@option.benchmark
@option.output
def check(
    sub: str,
    official: bool,
    fix: str | None,
    labels: tuple[str, ...],
    split: Role,
    suite: Benchmark,
    form: Form,
) -> None:
    """Check a submission without scoring it.

    SUB is a zip, a folder or a single file. Every problem is named with its file, line, value and remedy.

    \b
    Example:
      gluebench check submission.zip --official
      gluebench check predictions/ --fix submission.zip --labels entailment,not_entailment
    """

    if fix and os.path.exists(fix) and os.path.samefile(sub, fix):
        raise click.BadParameter(f"{fix} is the submission itself; name another file.", param_hint="'--fix'")
    if labels and not fix:
        raise click.UsageError("--labels goes with --fix OUT.zip.")
    done = _fix(sub, fix, suite, role=split, labels=[text.split(",") for text in labels]) if fix else []
    submission = _checked(fix or sub, suite, role=split, official=official)
    _print(submission, form, done=done)
    if submission.verdict == "invalid":
        raise click.exceptions.Exit(WRONG_FILE)


def _checked(source: str, suite: Benchmark, *, role: Role, official: bool) -> Submission:
    from gluebench import submission

    checked = submission.check(source, suite, role=role)
    return submission.official(checked) if official else checked


def _fix(
    source: str, out: str, suite: Benchmark, *, role: Role, labels: Sequence[Sequence[str]]
) -> list[str]:
    """The repairs made in writing `out`; exits when a problem is left that rewriting cannot repair."""
    from gluebench.submission import fix_submission

    known = dict.fromkeys(",".join(task.words) for task in suite.tasks if task.words)
    for words in labels:
        if not any({*words} == {*text.split(",")} for text in known):
            message = f"{','.join(words)} are the labels of no task; these are: {', or '.join(known)}."
            raise click.BadParameter(message, param_hint="'--labels'")
    fixed = fix_submission(source, out, suite, role=role, labels=labels)
    if fixed.problems:
        from gluebench.cli.submission.findings import marked

        advice = "Nothing was written: this is left to you."
        raise click.ClickException("\n".join([advice, *marked(fixed.problems)]))
    return fixed.done


def _print(submission: Submission, form: Form, *, done: list[str]) -> None:
    from gluebench.cli.submission import findings

    if form is None:
        click.echo(findings.as_lines(submission, done=done), nl=False)
    else:
        emit(findings.check_output(submission, done=done), form)
