"""`gluebench run`: run a model over a benchmark, write a submission and print its dev scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import click

from gluebench.benchmark import Benchmark, Role, Task
from gluebench.benchmark.figures import counted, percent
from gluebench.cli.common import option
from gluebench.cli.common.interrupts import terminable
from gluebench.cli.common.output import Form, command_line, emit, notice
from gluebench.cli.submission.submit import Destination, deliver, destination_options, reached
from gluebench.cli.systems.run_help import RunCommand
from gluebench.cli.systems.run_options import chosen_options, model_options, run_options, settings_of

if TYPE_CHECKING:
    from gluebench.systems.adapters.resolve import ModelOptions
    from gluebench.systems.adapters.session import RunPlan, Session, TaskPosition, TaskResult
    from gluebench.systems.protocols import Predictor


@click.command(cls=RunCommand)
@click.argument("model", metavar="MODEL")
@option.zip_file(
    "--out", required=True, help="Where to write the submission; results are kept in a folder beside it."
)
@option.data()
@option.tasks("--tasks", help="These tasks only, and what their models answer.")
@option.split
@option.flag("--no-dev", help="Leave out the dev split, and so the scores.")
@option.number(
    "--limit", least=1, help="Answer so many examples of each dev split only, drawn once for all models."
)
@option.flag("--again", help="Start over: forget the results of an earlier run.")
@option.benchmark
@model_options
@run_options
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
    that gluebench train left, hf:NAME, st:NAME or causal:NAME (of a folder too), api:NAME@URL, or log:FOLDER
    of another harness; see docs/how-to/run.md.
    Results are kept as each task ends: after an interruption the same command goes on from there.

    \b
    Example:
      gluebench run system:bag-of-words --data data/ --out submission.zip
      gluebench run hf:bert-base-cased --fine-tune --data data/ --tasks RTE,MRPC --out bert.zip
      gluebench run api:llama@http://localhost:8000/v1 --shots 4 --data data/ --out llama.zip
    """
    from gluebench.systems.adapters.session import RunPlan
    from gluebench.systems.devices import leads
    from gluebench.systems.run import choose_tasks

    seeds = options.pop("seeds")
    if seeds and to is not None:
        raise click.UsageError("--seeds writes several submissions; leave out --to, and submit one of them.")
    if limit and (no_dev or to):
        raise click.UsageError("--limit gives dev scores alone: leave out --no-dev and --to.")
    board = reached(to, suite.name, split) if leads() else None
    plan = RunPlan(suite, data, choose_tasks(suite, tasks), split, not no_dev, limit)
    settings = chosen_options(context, model, options)
    runs = [(out, settings)]
    if seeds:
        path = Path(out)
        runs = [(str(path.with_stem(f"{path.stem}-{seed}")), settings_of(settings, seed)) for seed in seeds]
    sessions = [_run(model, plan, path, own, again=again, form=form) for path, own in runs]
    if not leads() or (settings.asking is not None and settings.asking.collect is not None):
        return
    if seeds and plan.dev:
        _print_seeds(sessions, [path for path, _ in runs], form=form)
    if limit is None:
        deliver(Path(out), board, form=form, defaults={"name": model, "model": model})


def _run(model: str, plan: RunPlan, out: str, settings: ModelOptions, *, again: bool, form: Form) -> Session:
    """Run the model with one seed, write its submission and print its dev scores.

    Of several processes that train one model together, only the leading one writes and prints.
    """
    from gluebench.systems.adapters.resolve import resolve
    from gluebench.systems.adapters.session import Session, lock_folder
    from gluebench.systems.devices import arithmetic, leads
    from gluebench.systems.encoders.corpus import Corpus

    folder = Path(out).with_suffix(".run")
    holding = lock_folder(folder, again=again) if leads() else nullcontext()
    with holding:
        made = resolve(model, Corpus(plan.benchmark, plan.data, plan.tasks), folder, first_template(settings))
        session = Session(folder, plan, made.identity, sources=made.sources)
        if settings.asking is not None and settings.asking.collect is not None:
            collect(made.system, plan, settings.asking.collect)
            return session
        if not leads():
            with arithmetic(made.precision):
                session.follow(made.system)
            return session
        session.claim()
        if made.about:
            notice(f"{model}: {made.about}")
        watcher = Terminal(session, getattr(made.system, "answers", None))
        with terminable(), watcher.say_if_stopped(), arithmetic(made.precision):
            session.run(made.system, watcher, together=made.together)
            by_template = scores_by_template(model, session, settings)
        _finish(session, by_template, out=out, source=model, form=form, saved=settings.save)
    return session


def _print_seeds(sessions: Sequence[Session], sources: Sequence[str], *, form: Form) -> None:
    """Print the mean of the runs' dev scores, with intervals over runs and examples."""
    from gluebench.cli.scoring.grade import runs_output
    from gluebench.data import DataError
    from gluebench.scoring import grade_runs

    try:
        gold = sessions[0].dev_labels()
    except DataError:  # said when the first run ended
        return
    columns = [session.dev_columns(gold) for session in sessions]
    reports, summary = grade_runs(columns, gold)
    emit(runs_output(reports, summary, sessions[0].plan.benchmark, sources=sources), form)


def _finish(
    session: Session, by_template: Sequence[str], *, out: str, source: str, form: Form, saved: Path | None
) -> None:
    """Write the submission and print the dev scores; add them to the cards of saved models."""
    from gluebench.submission import write_submission

    suite = session.plan.benchmark
    role = session.plan.role
    columns = session.columns(role)
    if session.plan.limit is None:
        write_submission(out, columns, suite, role=role)
    if session.plan.dev:
        _print_dev(session, by_template, source=source, form=form, saved=saved)
    if session.plan.limit is not None:
        notice(f"no submission: --limit {session.plan.limit} leaves out examples.")
        return
    if lines := session.list_unanswered(role):
        notice(
            f"No answer in the submission: {'; '.join(lines)}. There stands the most frequent training label "
            "(or the mean score), which may be right by chance; in the dev scores such a label counts as "
            "wrong."
        )
    files = list(suite.files(role))
    absent = [file.path for file in files if file.name not in columns]
    if absent and len(session.plan.tasks) < len(suite.tasks):
        notice(f"INCOMPLETE: {len(columns)} of {len(files)} files; the other tasks were not run.")
    elif absent:
        notice(f"INCOMPLETE: no predictions for {', '.join(absent)}.")
    notice(f"{out}: {counted(len(columns), 'file')}, {role} split.")


def _print_dev(
    session: Session, by_template: Sequence[str], *, source: str, form: Form, saved: Path | None
) -> None:
    from gluebench.cli.scoring.grade import print_report
    from gluebench.data import DataError
    from gluebench.systems.scores import FILE, keep_scores

    suite = session.plan.benchmark
    try:
        report = session.dev_report()
    except DataError as error:
        notice(f"no dev scores: {error}")
        return
    if report is None:
        notice("no dev scores: none of these tasks has a dev split")
        return
    results = session.results()
    provenance = dict(report.provenance)
    notes = {name: result.notes for name, result in results.items() if "tokens_in" in result.notes}
    if notes:
        provenance["notes"] = notes
    report = replace(report, warnings=report.warnings + tuple(by_template), provenance=provenance)
    taken = sum(result.seconds for result in results.values())
    keep_scores(session.folder / FILE, source, report, seconds=taken, command=command_line())
    print_report(report, suite, source=source, form=form, only={task.name for task in session.plan.tasks})
    if saved is not None:
        from gluebench.systems.adapters.cards import write_cards

        write_cards(saved, report, suite, model=source)
        notice(f"{saved}: a folder with the model and its card for each task.")


class Terminal:
    """Prints when a task begins and ends, and how long the rest may take."""

    def __init__(self, session: Session, answers: Path | None = None) -> None:
        """Print at once which tasks an earlier run finished; `answers` is a server's, kept by question."""
        self._session = session
        self._answers = ""
        if answers:
            self._answers = f" Answers so far are in {answers}."
        self._at: str | None = None
        todo = {unit.task.name for unit in session.missing()}
        done = [unit.task.name for unit in session.plan.units() if unit.task.name not in todo]
        if done:
            rest = "going on with the rest" if todo else "nothing is left to do"
            notice(f"{', '.join(done)}: already done, in {session.folder}; {rest}.")
        outdated = session.list_outdated()
        if outdated:
            were = "was" if len(outdated) == 1 else "were"
            notice(
                f"note: the model's Python file has changed since {', '.join(outdated)} "
                f"{were} done; --again does everything anew."
            )

    def report_start(self, place: TaskPosition) -> None:
        """Print a line with the task's name."""
        self._at = place.unit.task.name
        notice(f"[{place.number}/{place.of}] {self._at}")

    def report_end(self, place: TaskPosition, result: TaskResult) -> None:
        """Print a line with the task's time, the system's notes on it, and the time left."""
        from gluebench.cli.common.progress import clock

        words = [f"done in {clock(result.seconds)}"]
        words += _notes(result.notes)
        if place.left and place.number < place.of:
            words.append(f"about {clock(place.left)} left")
        notice(f"[{place.number}/{place.of}] {place.unit.task.name}: {', '.join(words)}")
        self._at = None

    @contextmanager
    def say_if_stopped(self) -> Iterator[None]:
        """If anything stops the run, print which results are kept, and raise again."""
        try:
            yield
        except BaseException:
            kept = len(self._session.plan.units()) - len(self._session.missing())
            where = ""
            if self._at:
                where = f" at {self._at}"
            notice(
                f"\nStopped{where}. {counted(kept, 'task')} done, kept in {self._session.folder}: "
                f"the same command goes on from there.{self._answers}"
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
    tokens = f"{notes['tokens_in']:,} + {notes['tokens_out']:,} tokens"
    if notes.get("tokens_reasoning"):
        tokens += f" ({notes['tokens_reasoning']:,} of reasoning)"
    yield tokens
    if "cost" in notes:
        yield f"cost {notes['cost']:.4g}"
    for reason in ("not_understood", "cut_off", "refused", "filtered"):
        if notes.get(reason):
            yield f"{notes[reason]:,} {reason.replace('_', ' ')}"


# ---------------------------------------------------------------- prompted models


def first_template(settings: ModelOptions) -> ModelOptions:
    """The settings of the run that gives the submission: with all templates, by each task's first."""
    from gluebench.systems.adapters.prompts import ALL

    if settings.asking is None or settings.asking.template != ALL:
        return settings
    return replace(settings, asking=replace(settings.asking, template=None))


def scores_by_template(model: str, session: Session, settings: ModelOptions) -> list[str]:
    """Run each further template over dev, and list each task's scores and their spread, as text.

    Each template has a folder in that of the run, and resumes as a run does. Empty unless all were requested.
    """
    from gluebench.systems.adapters.prompts import ALL

    asking = settings.asking
    if asking is None or asking.template != ALL:
        return []
    names = {task.name: _templates(session.plan, task, settings) for task in session.plan.tasks}
    scores: dict[str, dict[str, float]] = {}
    _add(scores, session, {task: of_task[0] for task, of_task in names.items()})
    further: dict[str, None] = {}
    for of_task in names.values():
        further |= dict.fromkeys(of_task[1:])
    for name in further:
        tasks = [task for task in session.plan.tasks if name in names[task.name][1:]]
        plan = session.plan._replace(tasks=tasks, role="dev", dev=True)
        click.echo(f"template {name}", err=True)
        _add(scores, _run_template(model, plan, session, settings, name), dict.fromkeys(names, name))
    return [_spread(task, by_name) for task, by_name in scores.items()]


def _run_template(model: str, plan: RunPlan, main: Session, settings: ModelOptions, name: str) -> Session:
    from gluebench.systems.adapters.resolve import resolve
    from gluebench.systems.adapters.session import Session
    from gluebench.systems.encoders.corpus import Corpus

    folder = main.folder / f"template-{name}"
    folder.mkdir(exist_ok=True)
    assert settings.asking is not None
    settings = replace(settings, asking=replace(settings.asking, template=name))
    made = resolve(model, Corpus(plan.benchmark, plan.data, plan.tasks), folder, settings)
    session = Session(folder, plan, made.identity)
    session.claim()
    session.run(made.system, Terminal(session))
    return session


def _templates(plan: RunPlan, task: Task, settings: ModelOptions) -> list[str]:
    """The templates of a task, or of the one whose model answers it."""
    from gluebench.systems.adapters.prompts import templates_of

    answering = plan.benchmark.task(task.predict_with or task.name)
    return list(templates_of(answering, settings.asking.templates if settings.asking else None))


def _add(scores: dict[str, dict[str, float]], session: Session, template: dict[str, str]) -> None:
    """Note the dev score of each task under its template."""
    report = session.dev_report()
    if report is None:
        return
    for name, task in report.tasks.items():
        if task.score is not None and task.score.value is not None:
            scores.setdefault(name, {})[template[name]] = task.score.value


def _spread(task: str, scores: dict[str, float]) -> str:
    by_template = ", ".join(f"{name} {percent(value)}" for name, value in scores.items())
    low = percent(min(scores.values()))
    high = percent(max(scores.values()))
    return f"{task} by template: {by_template}; {low} to {high}, mean {percent(mean(scores.values()))}"


def collect(system: Predictor, plan: RunPlan, writer: Any) -> None:
    """Write the requests of a run to the file of a batch API; answer nothing."""
    from gluebench.systems.run import answer, fit

    for unit in plan.units():
        fit(system, plan.benchmark, unit.task, plan.data)
        for query in unit.queries:
            answer(system, plan.benchmark, query.file, plan.data, role=query.role, limit=plan.limit)
    click.echo(
        f"{writer.path}: {len(writer.keys):,} requests. Send it to the batch API, then run the same command "
        "with --batch-in RESULTS in place of --batch-out.",
        err=True,
    )
