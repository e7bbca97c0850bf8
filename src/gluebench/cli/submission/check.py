"""`gluebench check` and `gluebench write`: what is wrong with a submission, and a valid one made."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gluebench.benchmark import Benchmark, Role
from gluebench.benchmark.figures import counted
from gluebench.cli.common import option
from gluebench.cli.common.errors import WRONG_FILE
from gluebench.cli.common.output import Form, emit, notices

if TYPE_CHECKING:
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
    from gluebench import submission

    if fix and os.path.exists(fix) and os.path.samefile(sub, fix):
        raise click.BadParameter(f"{fix} is the submission itself; name another file.", param_hint="'--fix'")
    if labels and not fix:
        raise click.UsageError("--labels goes with --fix OUT.zip.")
    done = _fix(sub, fix, suite, role=split, labels=[text.split(",") for text in labels]) if fix else []
    checked = submission.check(fix or sub, suite, role=split)
    if official:
        checked = submission.official(checked)
    print_check(checked, form, done=done)
    if checked.verdict == "invalid":
        raise click.exceptions.Exit(WRONG_FILE)


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


def print_check(submission: Submission, form: Form, *, done: list[str]) -> None:
    """Print the problems of a submission, after the repairs that were made."""
    from gluebench.cli.submission import findings

    if form is None:
        click.echo(findings.as_lines(submission, done=done), nl=False)
    else:
        emit(findings.check_output(submission, done=done), form)


@click.command
@click.argument("predictions", metavar="PREDICTIONS", type=click.Path(exists=True))
@option.zip_file("--out", required=True, help="Where to write the submission.")
@option.repeated("--like", metavar="NAME=FILE", help="Nest a file's answers as the task's own JSON lines.")
@option.split
@option.benchmark
def write(predictions: str, out: str, like: tuple[str, ...], split: Role, suite: Benchmark) -> None:
    """Write a submission from prediction files.

    PREDICTIONS is a folder or a zip with a file for each test file, named as it is: .tsv or .csv with a
    header that names the columns index and prediction, .json or .jsonl with those keys, or .txt with one
    prediction a line in the order of the examples. Each step on the way to the submission is said.

    \b
    Example:
      gluebench write predictions/ --out submission.zip
      gluebench write predictions/ --out submission.zip --benchmark superglue --like MultiRC=test.jsonl
    """
    from gluebench.cli.submission.findings import marked
    from gluebench.submission import read_predictions, write_submission

    read = read_predictions(predictions, suite, role=split)
    notices([*read.done, *marked(read.problems)])
    if read.problems:
        notices(["Nothing was written."])
        raise click.exceptions.Exit(WRONG_FILE)
    own = {suite.file(name).name: path for name, _, path in (item.partition("=") for item in like)}
    try:
        write_submission(out, read.columns, suite, role=split, like=own)
    except ValueError as error:
        raise click.ClickException(f"{error}\nNothing was written.") from None
    absent = [file.path for file in suite.files(split) if file.name not in read.columns]
    if absent:
        notices([f"INCOMPLETE: no predictions for {', '.join(absent)}."])
    click.echo(f"{out}: {counted(len(read.columns), 'file')}.")
