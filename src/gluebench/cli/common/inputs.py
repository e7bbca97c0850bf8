"""Inputs of commands that score submissions: submissions, labels, and their benchmark."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from glob import glob
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gluebench.benchmark import Benchmark, Role, load_benchmark
from gluebench.cli.common import option
from gluebench.cli.common.errors import WRONG_FILE
from gluebench.cli.common.output import notice, notices

if TYPE_CHECKING:
    from gluebench.scoring import Gold
    from gluebench.scoring.table import TableGold
    from gluebench.submission import Submission

F = TypeVar("F", bound=Callable[..., Any])
OF_A_HARNESS = "Results of a harness? First gluebench read FILE... --out table.csv, then --table table.csv."


def labels_option(command: F) -> F:
    """`--gold DIR` and `--data DIR`, passed as `gold` and `data`; `read_labels` takes one of them."""
    data = option.folder("--data", help="Folder of prepared data, for splits that have labels.")
    return option.folder("--gold", help="Folder with a label file for each test file.")(data(command))


def read_labels(
    gold: str | None, data: str | None, manifest: Benchmark, *, role: Role, partial: bool
) -> Gold:
    """The labels that the user named, by `--gold` or by `--data`."""
    if gold is not None and data is not None:
        raise click.UsageError("--gold and --data both name labels; give one of them.")
    if gold is not None:
        from gluebench.scoring import read_gold

        return read_gold(gold, manifest, role=role, partial=partial)
    if data is not None:
        from gluebench.data.gold import gold_from_data

        return gold_from_data(data, manifest, role=role, partial=partial)
    raise click.UsageError("name the labels: --gold DIR, or --data DIR with --split dev for prepared data.")


@dataclass(frozen=True)
class Inputs:
    """Options for scoring submissions: labels, benchmark and split."""

    gold: str | None
    data: str | None
    allow_partial_gold: bool
    split: Role
    benchmark: str
    table: str | None = None

    @functools.cached_property
    def scored(self) -> TableGold | None:
        """The scored table, which replaces labels and submissions; None if there is none."""
        if self.table is None:
            return None
        if (self.gold, self.data, self.split, self.benchmark) != (None, None, "test", "glue"):
            raise click.UsageError("--table has the scores already, and takes no labels, split or benchmark.")
        from gluebench.data.results import read_results

        return read_results(self.table).gold

    @functools.cached_property
    def manifest(self) -> Benchmark:
        """The benchmark. Raises UnknownNameError, ManifestError."""
        if self.scored:
            return self.scored.benchmark
        return load_benchmark(self.benchmark)

    def systems(self, sources: tuple[str, ...]) -> tuple[str, ...]:
        """The submissions that the user named; without any, all systems of the table."""
        if not sources and self.scored:
            return tuple(self.scored.systems)
        return sources

    def matching(self, pattern: str) -> list[str]:
        """The paths of submissions, or the systems of the table, that match a pattern."""
        if self.scored:
            from fnmatch import filter

            return sorted(filter(self.scored.systems, pattern))
        return sorted(glob(pattern))

    def submission(self, source: str, *, files: Collection[str] | None = None) -> Submission:
        """The submission, checked, or the system of the table; exits if it is invalid.

        With `files`, only what concerns these test files is said.
        """
        if self.scored:
            return self.scored.system(source)
        if not os.path.exists(source):
            raise click.UsageError(f"Path {source!r} does not exist.")
        options = []
        if self.benchmark != "glue":
            options += ["--benchmark", self.benchmark]
        if self.split != "test":
            options += ["--split", self.split]
        end = ""
        if source.endswith((".json", ".jsonl", ".eval", ".csv")):
            end = OF_A_HARNESS
        return checked(source, self.manifest, role=self.split, options=options, end=end, files=files)

    def labels(self) -> Gold:
        """The labels that the user named. Raises UsageError, GoldError, DataError."""
        if self.scored:
            return self.scored
        return read_labels(
            self.gold, self.data, self.manifest, role=self.split, partial=self.allow_partial_gold
        )


def checked(
    source: str,
    suite: Benchmark,
    *,
    role: Role = "test",
    options: Sequence[str] = (),
    end: str = "",
    files: Collection[str] | None = None,
) -> Submission:
    """The submission, its problems printed in brief; if it is invalid, exits with all of them and `end`.

    `options` are those with which `gluebench check` would print them all. With `files`, only what concerns
    these test files is printed, unless it is invalid.
    """
    from gluebench.submission import check

    submission = check(source, suite, role=role)
    if submission.problems:
        from gluebench.cli.submission.check import brief_lines, problem_lines, verdict_line

        if submission.verdict == "invalid":
            notices(problem_lines(submission))
            notice(verdict_line(submission))
            if end:
                notice(end)
            raise click.exceptions.Exit(WRONG_FILE)
        if files is not None:
            about = {suite.file(name).path for name in files}
            problems = [problem for problem in submission.problems if problem.file in about]
            unshown = {path: counts for path, counts in submission.unshown.items() if path in about}
            notices(brief_lines(replace(submission, problems=tuple(problems), unshown=unshown), options)[:-1])
            return submission
        notices(brief_lines(submission, options))
    return submission


table_option = option.text(
    "--table FILE",
    type=click.Path(exists=True),
    is_eager=True,
    help="Scored table or other results that `gluebench read` reads; systems are then named as in it.",
)
"""`--table FILE`, passed to `inputs_options`."""


def inputs_options(help_of_partial: str) -> Callable[[F], F]:
    """`--allow-partial-gold`, `--split` and `--benchmark`; with `labels_option` passed as `inputs`.

    `help_of_partial` says what the command does if the gold is partial, as "Score what the gold covers".
    """

    def add_options(command: F) -> F:
        @functools.wraps(command)
        def command_with_inputs(*arguments: Any, **values: Any) -> Any:
            names = ("gold", "data", "allow_partial_gold", "split", "benchmark", "table")
            inputs = Inputs(**{name: values.pop(name) for name in names if name in values})
            return command(*arguments, inputs=inputs, **values)

        add_benchmark = option.named_benchmark(type=option.BenchmarkName())
        partial_help = f"{help_of_partial}, and say so."
        add_partial_gold = click.option("--allow-partial-gold", is_flag=True, help=partial_help)
        # As stacked decorators: the help lists the outermost option first.
        with_benchmark = add_benchmark(command_with_inputs)
        with_split = option.split(with_benchmark)
        return add_partial_gold(with_split)  # type: ignore[return-value]

    return add_options
