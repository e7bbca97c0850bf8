"""`gluebench run`: any model over a whole benchmark, to a submission and its dev scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.cli.errors import needs_extra
from gluebench.cli.options import Form, benchmark_option, output_options, split_option, zip_name
from gluebench.cli.run_options import model_options
from gluebench.cli.sending import Destination, deliver, destination_options, reached

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Role
    from gluebench.systems.adapters.session import Session

EXTRAS = {
    "transformers": "hf",
    "sentence_transformers": "hf",
    "torch": "train",
    "h5py": "train",
    "urllib3": "data",
    "pyarrow": "data",
}
"""Package to the extra that brings it."""


@click.command
@click.argument("model", metavar="MODEL")
@click.option(
    "--out",
    metavar="ZIP",
    required=True,
    type=click.Path(dir_okay=False),
    callback=zip_name,
    help="Where to write the submission; results are kept in a folder beside it.",
)
@click.option("--data", metavar="DIR", type=click.Path(), help="Folder of the data [$GLUEBENCH_DATA].")
@click.option(
    "--tasks", metavar="TASK[,TASK]", multiple=True, help="These tasks only, and what their models answer."
)
@split_option
@click.option("--no-dev", is_flag=True, help="Leave out the dev split, and so the scores.")
@click.option("--again", is_flag=True, help="Start over: forget the results of an earlier run.")
@benchmark_option
@model_options
@destination_options(required=False)
@output_options
@click.pass_context
def run(
    context: click.Context,
    /,
    model: str,
    out: str,
    data: str | None,
    tasks: tuple[str, ...],
    split: Role,
    no_dev: bool,
    again: bool,
    benchmark: str,
    form: Form,
    to: Destination | None,
    **options: Any,
) -> None:
    """Run a model over a benchmark: a submission, and its dev scores.

    MODEL is system:NAME, py:MODULE:NAME, encoder:MODULE:FUNCTION, an encoder's name, recipe:ROW, a folder
    that gluebench train left, hf:NAME, st:NAME (of a folder too) or api:NAME@URL; docs/run.md tells of each.
    Results are kept as each task ends: after an interruption the same command goes on from there.

    \b
    Example:
      gluebench run system:bag-of-words --data data/ --out submission.zip
      gluebench run hf:bert-base-cased --fine-tune --data data/ --tasks RTE,MRPC --out bert.zip
      gluebench run api:llama@http://localhost:8000/v1 --shots 4 --data data/ --out llama.zip
    """
    import gc

    from gluebench.benchmark import load_benchmark
    from gluebench.cli.run_options import wishes
    from gluebench.cli.run_view import Terminal
    from gluebench.data.home import data_folder
    from gluebench.systems.adapters.resolve import resolve
    from gluebench.systems.adapters.session import Plan, Session, held
    from gluebench.systems.encoders.corpus import Corpus
    from gluebench.systems.units import chosen

    gc.enable()  # a run is long, and models are large
    suite = load_benchmark(benchmark)
    there = reached(to, suite.name, split)
    names = [name.strip() for each in tasks for name in each.split(",") if name.strip()]
    plan = Plan(suite, data_folder(data), chosen(suite, names), split, not no_dev)
    folder = Path(out).with_suffix(".run")
    asked = wishes(context, model, options)
    with installed(), held(folder, again=again):
        made = resolve(model, Corpus(suite, plan.data, plan.tasks), folder, asked)
        session = Session(folder, plan, made.identity, sources=made.sources)
        session.claim()
        watcher = Terminal(session)
        with watcher.told_if_stopped():
            session.run(made.system, watcher, together=made.together)
        _finish(session, suite, out=out, source=model, form=form)
    deliver(Path(out), there, form=form, defaults={"name": model, "model": model})


@contextmanager
def installed() -> Iterator[None]:
    """Says what to install where a package is missing that the model needs."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise needs_extra(EXTRAS[package], f"This model ({package})") from None


def _finish(session: Session, suite: Benchmark, *, out: str, source: str, form: Form) -> None:
    """Write the submission, then print the dev scores."""
    from gluebench.cli.output import notices
    from gluebench.cli.run_view import not_understood_lines
    from gluebench.submission import write_submission

    role = session.plan.role
    columns = session.columns(role)
    write_submission(out, columns, suite, role=role)
    if session.plan.dev:
        _print_scores(session, suite, source=source, form=form)
    notices(not_understood_lines(session))
    absent = [f"{file.name}.tsv" for file in suite.files(role) if file.name not in columns]
    if absent:
        notices([f"INCOMPLETE: no predictions for {', '.join(absent)}."])
    notices([f"{out}: {len(columns)} file{'s' * (len(columns) != 1)}, {role} split."])


def _print_scores(session: Session, suite: Benchmark, *, source: str, form: Form) -> None:
    """The dev scores; where there are no labels, that."""
    from gluebench.cli.output import emit, notices
    from gluebench.cli.report_view import report_output
    from gluebench.data import DataError
    from gluebench.systems.adapters.dev_scores import dev_report

    try:
        report = dev_report(session)
    except DataError as error:
        notices([f"no dev scores: {error}"])
        return
    if report is None:
        notices(["no dev scores: none of these tasks has a dev split"])
        return
    notices(_told(report.warnings))
    emit(report_output(report, suite, source=source), form)


def _told(warnings: Sequence[str]) -> list[str]:
    return [f"warning: {warning}" for warning in warnings]
