"""`gluebench check` and `gluebench write`: what is wrong with a submission, and a valid one made.

The findings of a check are lines in the style of a compiler, or a table.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from gluebench.benchmark import Benchmark, Role
from gluebench.benchmark.figures import counted
from gluebench.benchmark.tables import Table, escape_controls, numeric
from gluebench.cli.common import option
from gluebench.cli.common.errors import WRONG_FILE
from gluebench.cli.common.output import Form, Output, emit, notices

if TYPE_CHECKING:
    from gluebench.submission import Problem, Submission


@click.command
@click.argument("sub", metavar="SUB", type=click.Path(exists=True))
@option.flag("--official", help="Judge it as the original site would: form matters too.")
@option.zip_file("--fix", help="Write a copy in the right form; no label is changed.")
@option.repeated(
    "--labels WORD,WORD",
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
    done = []
    if fix:
        done = _fix(sub, fix, suite, role=split, labels=_orders(labels, suite))
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

    fixed = fix_submission(source, out, suite, role=role, labels=labels)
    if fixed.problems:
        lines = ["Nothing was written: this is left to you."] + lines_by_severity(fixed.problems)
        raise click.ClickException("\n".join(lines))
    return fixed.done


def _orders(labels: Iterable[str], suite: Benchmark) -> list[list[str]]:
    """The label words of each option; exits unless they are those of a task."""
    known = dict.fromkeys(",".join(task.words or task.vocabulary) for task in suite.tasks)
    known.pop("", None)
    orders = [text.split(",") for text in labels]
    for words in orders:
        if not any(set(words) == set(text.split(",")) for text in known):
            message = f"{','.join(words)} are the labels of no task; these are: {', or '.join(known)}."
            raise click.BadParameter(message, param_hint="'--labels'")
    return orders


def print_check(submission: Submission, form: Form, *, done: list[str]) -> None:
    """Print the problems of a submission, after the repairs that were made."""
    if form is None:
        click.echo(as_lines(submission, done=done), nl=False)
    else:
        emit(check_output(submission, done=done), form)


@click.command
@click.argument("predictions", metavar="PREDICTIONS", type=click.Path(exists=True))
@option.zip_file("--out", required=True, help="Where to write the submission.")
@option.repeated("--like NAME=FILE", help="Nest a file's answers as the task's own JSON lines.")
@option.flag("--argmax", help="Of probabilities or logits, take the label with the largest number.")
@option.repeated(
    "--labels WORD,WORD",
    help="The label words of class numbers or columns, in order; once for each set of labels.",
)
@option.split
@option.benchmark
def write(
    predictions: str,
    out: str,
    like: tuple[str, ...],
    argmax: bool,
    labels: tuple[str, ...],
    split: Role,
    suite: Benchmark,
) -> None:
    """Write a submission from prediction files.

    PREDICTIONS is a folder or a zip with a file for each test file, named as it is: .tsv, .csv or .parquet
    with columns named index and prediction, .json or .jsonl with those keys, or .txt with one prediction a
    line in the order of the examples; or a single file, with the tasks as keys or in a column task. The
    output folder of a training program, with a folder for each task, is read too. Each step on the way to
    the submission is said.

    \b
    Example:
      gluebench write predictions/ --out submission.zip
      gluebench write predictions/ --out submission.zip --benchmark superglue --like MultiRC=test.jsonl
      gluebench write bert_output/ --out submission.zip --argmax --labels contradiction,entailment,neutral
    """
    from gluebench.submission import read_predictions, write_submission

    read = read_predictions(predictions, suite, role=split, labels=_orders(labels, suite), argmax=argmax)
    notices(read.done)
    notices(lines_by_severity(read.problems))
    if read.problems:
        notices(["Nothing was written."])
        raise click.exceptions.Exit(WRONG_FILE)
    own = {}
    for item in like:
        name, _, path = item.partition("=")
        own[suite.file(name).name] = path
    try:
        write_submission(out, read.columns, suite, role=split, like=own)
    except ValueError as error:
        raise click.ClickException(f"{error}\nNothing was written.") from None
    absent = dict.fromkeys(file.path for file in suite.files(split) if file.name not in read.columns)
    if absent:
        notices([f"INCOMPLETE: no predictions for {', '.join(absent)}."])
    written = {suite.file(name).path for name in read.columns}
    click.echo(f"{out}: {counted(len(written), 'file')}.")


FIELDS = ("severity", "file", "line", "index", "code", "value", "expected", "fix")
COLUMNS = ("severity", "file", numeric("line"), numeric("index"), "code", "value", "expected", "fix")
_WORST_FIRST = ("error", "warning", "notice")


def lines_by_severity(
    problems: Iterable[Problem], unshown: Mapping[str, Mapping[str, int]] | None = None
) -> list[str]:
    """Errors, then warnings, then notices as lines, those of a kind together; `unshown` as in `listed`."""
    from gluebench.submission.problems import listed

    shown = list(problems)
    lines = []
    for severity in _WORST_FIRST:
        these = [problem for problem in shown if problem.severity == severity]
        codes = {problem.code for problem in these}
        more = {}
        for file, kinds in (unshown or {}).items():
            more[file] = {code: kinds[code] for code in codes & set(kinds)}
        for line in listed(these, more):
            # A place, which is indented, belongs to the line above.
            lines.append(line if line.startswith(" ") else f"{severity}: {line}")
    return lines


def problem_lines(submission: Submission) -> list[str]:
    """Every finding; text shared by several is printed once, above their locations."""
    return lines_by_severity(submission.problems, submission.unshown)


def brief_lines(submission: Submission, options: Sequence[str] = ()) -> list[str]:
    """The findings short of an error, in brief, for a command whose main output is something else.

    A line for each kind of warning, then the verdict, the kinds of notice and the check that explains them.
    """
    lines = []
    for code, counts in _files(submission, "warning").items():
        if code != "missing-file":  # the verdict names these
            places = [f"{file} ({count:,} rows)" if count > 1 else file for file, count in counts.items()]
            lines.append(f"warning: {code}: {', '.join(filter(None, places))}")
    notices = ", ".join(_files(submission, "notice"))
    kinds = f" Notices: {notices}." if notices else ""
    words = ["gluebench", "check", submission.source] + list(options)
    lines.append(f"{verdict_line(submission)}{kinds} More: {shlex.join(words)}")
    return lines


def _files(submission: Submission, severity: str) -> dict[str, Counter[str]]:
    """For each kind of finding of that severity, its files and its counts."""
    counts: dict[str, Counter[str]] = {}
    for problem in submission.problems:
        if problem.severity == severity:
            counts.setdefault(problem.code, Counter())[problem.file] += 1
    for file, kinds in submission.unshown.items():
        for code, count in kinds.items():
            if code in counts:
                counts[code][file] += count
    return counts


def as_lines(submission: Submission, *, done: list[str]) -> str:
    """What a check prints for a reader, with what options of the command do about the problems."""
    from gluebench.submission import read_predictions

    lines = [f"fixed: {step}" for step in done] + problem_lines(submission) + [verdict_line(submission)]
    codes = {problem.code for problem in submission.problems}
    if submission.verdict == "invalid" or any(problem.repair for problem in submission.problems):
        # What --fix would do is what it does, but for the writing.
        read = read_predictions(
            submission.source, submission.benchmark, role=submission.role, checked=submission
        )
        known = codes | {"no-files"}
        unlisted = [problem for problem in read.problems if problem.code not in known]
        codes |= {problem.code for problem in unlisted}
        if unlisted:
            lines.append("hint: --fix OUT.zip reads more, and then finds:")
            lines += lines_by_severity(unlisted)
        elif read.done:
            shown = "; ".join(read.done[:_REPAIRS])
            if len(read.done) > _REPAIRS:
                shown += " and more"
            when = ", once the other problems are gone" if read.problems else ""
            lines.append(f"hint: --fix OUT.zip writes a copy with these repaired{when} ({shown}).")
    lines += [f"hint: {hint}" for code, hint in _OPTIONS.items() if code in codes]
    return "".join(f"{line}\n" for line in lines)


_REPAIRS = 5
"""Repairs that a hint names."""
_OPTIONS = {
    "wrong-split": "--split dev reads predictions of the dev split.",
    "probabilities": "gluebench write SUB --out OUT.zip --argmax takes the label with the largest number.",
    "class-numbers": "--fix OUT.zip --labels WORD,WORD writes words for numbers, in the order you name.",
    "multi-hot": "--fix OUT.zip --labels WORD,WORD writes the labels of the ones, in the order you name.",
}


def verdict_line(submission: Submission) -> str:
    """The verdict in one sentence."""
    totals: Counter[str] = Counter(problem.severity for problem in submission.problems)
    hidden = sum(sum(kinds.values()) for kinds in submission.unshown.values())
    counts = [counted(totals[severity], severity) for severity in _WORST_FIRST if totals[severity]]
    if hidden:
        counts.append(f"{hidden:,} more not listed")
    verdict = f"{escape_controls(submission.source)}: {submission.verdict.upper()}"
    if counts:
        verdict += f" ({', '.join(counts)})"
    verdict += "."
    if submission.verdict == "incomplete":
        paths = [submission.benchmark.file(name).path for name in submission.missing]
        names = ", ".join(dict.fromkeys(paths))
        return f"{verdict} There is no macro-average without {names}."
    return verdict


def check_output(submission: Submission, *, done: list[str]) -> Output:
    """The check in the forms for programs and papers."""
    rows = []
    for problem in submission.problems:
        values = problem.as_dict()
        rows.append([values[name] for name in FIELDS])
    notes = [f"Fixed: {step}." for step in done]
    notes.append(verdict_line(submission))
    table = Table(COLUMNS, rows, notes=notes)
    return Output(submission.as_dict() | {"fixed": done}, [table])
