"""`gluebench run`: run a model over a benchmark, write a submission and print its dev scores."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.benchmark import Benchmark, Role
from gluebench.cli.common import option
from gluebench.cli.common.errors import needs_extra
from gluebench.cli.common.output import Form
from gluebench.cli.submission.submit import Destination, deliver, destination_options, reached
from gluebench.cli.systems.run_options import chosen_options, model_options
from gluebench.cli.systems.run_prompts import collect, first_template, scores_by_template

if TYPE_CHECKING:
    from gluebench.systems.adapters.session import Place, Session, TaskResult

EXTRAS = {
    "transformers": "hf",
    "sentence_transformers": "hf",
    "peft": "lora",
    "torch": "train",
    "h5py": "train",
    "urllib3": "data",
    "pyarrow": "data",
}
"""Package to the extra that installs it."""


@click.command
@click.argument("model", metavar="MODEL")
@option.zip_file(
    "--out", required=True, help="Where to write the submission; results are kept in a folder beside it."
)
@option.data()
@option.repeated("--tasks", metavar="TASK[,TASK]", help="These tasks only, and what their models answer.")
@option.split
@option.flag("--no-dev", help="Leave out the dev split, and so the scores.")
@option.number(
    "--limit", least=1, help="Answer so many examples of each dev split only, drawn once for all models."
)
@option.flag("--again", help="Start over: forget the results of an earlier run.")
@option.benchmark
@model_options
@destination_options(required=False)
@option.output
@click.pass_context
def run(
    context: click.Context,
    /,
    model: str,
    out: str,
    data: Path,
    tasks: tuple[str, ...],
    split: Role,
    no_dev: bool,
    limit: int | None,
    again: bool,
    suite: Benchmark,
    form: Form,
    to: Destination | None,
    **options: Any,
) -> None:
    """Run a model over a benchmark: a submission, and its dev scores.

    MODEL is system:NAME, py:MODULE:NAME, encoder:MODULE:FUNCTION, an encoder's name, recipe:ROW, a folder
    that gluebench train left, hf:NAME, st:NAME or causal:NAME (of a folder too), or api:NAME@URL; see
    docs/how-to/run.md.
    Results are kept as each task ends: after an interruption the same command goes on from there.

    \b
    Example:
      gluebench run system:bag-of-words --data data/ --out submission.zip
      gluebench run hf:bert-base-cased --fine-tune --data data/ --tasks RTE,MRPC --out bert.zip
      gluebench run api:llama@http://localhost:8000/v1 --shots 4 --data data/ --out llama.zip
    """
    from gluebench.systems.adapters.resolve import resolve
    from gluebench.systems.adapters.session import Plan, Session, held
    from gluebench.systems.encoders.corpus import Corpus
    from gluebench.systems.run import chosen

    gc.enable()  # turned off for short commands; a run is long, and models are large
    if limit and (no_dev or to):
        raise click.UsageError("--limit gives dev scores alone: leave out --no-dev and --to.")
    board = reached(to, suite.name, split)
    names = [name.strip() for listed in tasks for name in listed.split(",") if name.strip()]
    plan = Plan(suite, data, chosen(suite, names), split, not no_dev, limit)
    folder = Path(out).with_suffix(".run")
    settings = chosen_options(context, model, options)
    with installed(), held(folder, again=again):
        made = resolve(model, Corpus(suite, plan.data, plan.tasks), folder, first_template(settings))
        if settings.asking is not None and settings.asking.collect is not None:
            collect(made.system, plan, settings.asking.collect)
            return
        session = Session(folder, plan, made.identity, sources=made.sources)
        session.claim()
        watcher = Terminal(session)
        with watcher.told_if_stopped():
            session.run(made.system, watcher, together=made.together)
            by_template = scores_by_template(model, session, settings, Terminal)
        _finish(session, suite, by_template, out=out, source=model, form=form)
    if limit is None:
        deliver(Path(out), board, form=form, defaults={"name": model, "model": model})


@contextmanager
def installed() -> Iterator[None]:
    """If the model needs a missing package, raise an error that says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise needs_extra(EXTRAS[package], f"This model ({package})") from None


def _finish(
    session: Session, suite: Benchmark, by_template: Sequence[str], *, out: str, source: str, form: Form
) -> None:
    """Write the submission, then print the dev scores."""
    from gluebench.cli.scoring.grade import print_report
    from gluebench.data import DataError
    from gluebench.submission import write_submission

    role = session.plan.role
    columns = session.columns(role)
    if session.plan.limit is None:
        write_submission(out, columns, suite, role=role)
    if session.plan.dev:
        try:
            report = session.dev_report()
        except DataError as error:
            _echo(f"no dev scores: {error}")
        else:
            if report is None:
                _echo("no dev scores: none of these tasks has a dev split")
            else:
                results = session.results().items()
                notes = {name: result.notes for name, result in results if "tokens_in" in result.notes}
                extra = {"notes": notes} if notes else {}
                report = report._replace(
                    warnings=(*report.warnings, *by_template), provenance={**report.provenance, **extra}
                )
                print_report(report, suite, source=source, form=form)
    if session.plan.limit is not None:
        _echo(f"no submission: --limit {session.plan.limit} leaves out examples.")
        return
    if lines := session.unanswered(role):
        _echo(
            f"No answer in the submission: {'; '.join(lines)}. There stands the most frequent training label "
            "(or the mean score), which may be right by chance; in the dev scores they count as wrong."
        )
    absent = [f"{file.name}.tsv" for file in suite.files(role) if file.name not in columns]
    if absent:
        _echo(f"INCOMPLETE: no predictions for {', '.join(absent)}.")
    _echo(f"{out}: {len(columns)} file{'s' * (len(columns) != 1)}, {role} split.")


class Terminal:
    """Prints when a task begins and ends, and how long the rest may take."""

    def __init__(self, session: Session) -> None:
        """Print at once which tasks an earlier run finished."""
        self._session = session
        self._at: str | None = None
        todo = {unit.task.name for unit in session.missing()}
        done = [unit.task.name for unit in session.plan.units() if unit.task.name not in todo]
        if done:
            rest = "going on with the rest" if todo else "nothing is left to do"
            _echo(f"{', '.join(done)}: already done, in {session.folder}; {rest}.")
        if outdated := session.outdated():
            _echo(
                f"note: the model's Python file has changed since {', '.join(outdated)} "
                f"{'was' if len(outdated) == 1 else 'were'} done; --again does everything anew."
            )

    def began(self, place: Place) -> None:
        """Print a line with the task's name."""
        self._at = place.unit.task.name
        _echo(f"[{place.number}/{place.of}] {self._at}")

    def ended(self, place: Place, result: TaskResult) -> None:
        """Print a line with the task's time, the system's notes on it, and the time left."""
        from gluebench.cli.common.progress import clock

        words = [f"done in {clock(result.seconds)}", *_notes(result.notes)]
        if place.left and place.number < place.of:
            words.append(f"about {clock(place.left)} left")
        _echo(f"[{place.number}/{place.of}] {place.unit.task.name}: {', '.join(words)}")
        self._at = None

    @contextmanager
    def told_if_stopped(self) -> Iterator[None]:
        """If anything stops the run, print which results are kept, and raise again."""
        try:
            yield
        except BaseException:
            kept = len(self._session.results())
            where = f" at {self._at}" if self._at else ""
            _echo(
                f"\nStopped{where}. {kept} task{'s' * (kept != 1)} done, kept in {self._session.folder}: "
                "the same command goes on from there."
            )
            raise


def _notes(notes: Any) -> Iterator[str]:
    """Counts and cost of a language model's answers; nothing for other models."""
    if notes.get("cut_texts"):
        yield f"{notes['cut_texts']:,} texts cut to the model's length"
    if "asked" not in notes:
        return
    yield f"{notes['asked']:,} asked"
    if notes["from_cache"]:
        yield f"{notes['from_cache']:,} from the cache"
    reasoning = f" ({notes['tokens_reasoning']:,} of reasoning)" if notes.get("tokens_reasoning") else ""
    yield f"{notes['tokens_in']:,} + {notes['tokens_out']:,} tokens{reasoning}"
    if "cost" in notes:
        yield f"cost {notes['cost']:.4g}"
    for reason in ("not_understood", "cut_off", "refused", "filtered"):
        if notes.get(reason):
            yield f"{notes[reason]:,} {reason.replace('_', ' ')}"


def _echo(line: str) -> None:
    click.echo(line, err=True)
