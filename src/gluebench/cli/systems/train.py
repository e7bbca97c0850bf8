"""`gluebench train`: one body with a head for each task: the paper's BiLSTM, or a pre-trained encoder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.benchmark import Benchmark
from gluebench.benchmark.figures import counted
from gluebench.cli.common import option
from gluebench.cli.common.interrupts import kept_if_stopped
from gluebench.cli.common.output import Form, command_line, emit, notice

if TYPE_CHECKING:
    from gluebench.scoring import Report
    from gluebench.systems.training.row import Row
    from gluebench.systems.training.settings import Changes, Spec
    from gluebench.systems.training.trained import TrainedSystem


@click.command
@option.data("Folder of prepared data")
@option.new_folder("--out", required=True, help="Folder of the runs.")
@option.text("--tasks A,B", default="", help="Tasks to train, by default all that are scored.")
@click.option(
    "--multi-task/--single-task", "multi", default=True, show_default=True, help="One model, or one a task."
)
@option.text("--body hf:NAME|FOLDER", help="A Hugging Face encoder instead of the paper's BiLSTM.")
@option.choice(
    "--preset",
    of="tiny small paper released",
    help="BiLSTM: sizes and protocol: seconds, minutes of CPU, the paper's text, or its code [tiny].",
)
@option.number("--hidden", least=1, help="BiLSTM: width per direction.")
@option.flag("--attention", help="BiLSTM: attention between the texts of a pair (B.1).")
@option.file("--vectors", help="BiLSTM: word vectors as text.")
@option.number("--seed", "seeds", multiple=True, help="Once for each run.")
@option.repeated("--auxiliary NAME", help="Auxiliary data to train on as well: SNLI.")
@option.repeated(
    "--tracker NAME",
    "trackers",
    help="tensorboard, wandb, mlflow, trackio and others of Accelerate, or none [tensorboard, if installed].",
)
@option.text(
    "--push OWNER/NAME",
    help="Upload what answers the tasks, with a model card, to the Hugging Face Hub; new ones are private.",
)
@option.changed_settings
@option.device
@option.precision
@option.threads
@option.benchmark
@option.output
def train(
    data: Path,
    out: str,
    tasks: str,
    multi: bool,
    body: str | None,
    preset: str | None,
    vectors: str | None,
    seeds: tuple[int, ...],
    auxiliary: tuple[str, ...],
    trackers: tuple[str, ...],
    push: str | None,
    changes: tuple[str, ...],
    device: str,
    precision: str | None,
    threads: int | None,
    suite: Benchmark,
    form: Form,
    **spec: Any,
) -> None:
    """Train the paper's BiLSTM, or an encoder, on tasks and print its dev scores.

    It saves every five minutes, and when it is stopped (Ctrl-C). Called again with the same options it goes
    on from there; finished runs stay as they are.

    \b
    Example:
      gluebench train --data data/ --out runs/multi --vectors glove.6B.300d.txt --preset small
      gluebench train --data data/ --out runs/rte --tasks RTE,MRPC --single-task --seed 111 --seed 222
      gluebench train --data data/ --out runs/bert --body hf:bert-base-cased --set tuning=lora
    """
    if auxiliary and not multi:
        raise click.UsageError("--auxiliary data join multi-task training only; leave out --single-task.")
    import torch

    if threads:
        torch.set_num_threads(threads)
    from gluebench.systems.devices import device as device_called
    from gluebench.systems.devices import leads
    from gluebench.systems.run import quiet
    from gluebench.systems.training.data import load_task_data
    from gluebench.systems.training.row import train_row

    if push:
        from gluebench.systems.adapters.hub import expect_ready

        expect_ready(push)
    place = device_called(device)
    tracked = _choose_trackers(trackers)
    if precision:
        changes += (f"precision={precision}",)
    if body is None:
        own = {"vectors": Path(vectors) if vectors else None, "spec": spec}
        row = _bilstm_row(preset or "tiny", changes, own, multi=multi, seeds=seeds)
    else:
        given = {"--preset": preset, "--vectors": vectors, **{f"--{name}": spec[name] for name in spec}}
        row = _transformer_row(body, changes, given, multi=multi, seeds=seeds)
    names = option.listed(tasks)
    task_data = load_task_data(data, suite, names, auxiliary)
    say = notice if leads() else quiet
    if body is None and row.vectors is None:
        say("no --vectors: every word has a random vector, and none of them is trained")
    folder = Path(out)
    with kept_if_stopped(lambda: _what_is_kept(folder)):
        system = train_row(
            row,
            task_data,
            folder,
            benchmark=suite,
            data_folder=data,
            device=place,
            trackers=tracked,
            say=say,
        )
    if leads():
        if find_spec("matplotlib") is not None:
            _draw_curves(system)
        report = _print(system, suite, data, form=form)
        if push:
            _upload(system, report, suite, push)


def _choose_trackers(names: tuple[str, ...]) -> tuple[str, ...]:
    from gluebench.systems.training.trackers import choose_trackers

    try:
        return choose_trackers(names)
    except ModuleNotFoundError as error:
        raise click.UsageError(f"{error}.") from None


def _bilstm_row(
    name: str, changes: tuple[str, ...], own: Mapping[str, Any], *, multi: bool, seeds: tuple[int, ...]
) -> Row:
    from gluebench.systems.training.row import preset
    from gluebench.systems.training.settings import BiLstmSpec

    with usage_errors():
        changed = _parse_changed(changes, BiLstmSpec)
        given = {key: value for key, value in own["spec"].items() if value}
        return preset(
            name,
            multi=multi,
            seeds=seeds,
            vectors=own["vectors"],
            spec={**given, **changed.body},
            settings=changed.settings,
        )


def _transformer_row(
    body: str, changes: tuple[str, ...], others: Mapping[str, Any], *, multi: bool, seeds: tuple[int, ...]
) -> Row:
    from gluebench.systems.training.row import transformer_row
    from gluebench.systems.training.settings import TransformerSpec

    kind, _, encoder = body.partition(":")
    if kind != "hf" or not encoder:
        raise click.UsageError(f"--body is {body!r}; expected hf:NAME or hf:FOLDER.")
    given = [name for name, value in others.items() if value]
    if given:
        raise click.UsageError(f"{given[0]} goes with the BiLSTM; leave it out, or leave out --body.")
    with usage_errors():
        changed = _parse_changed(changes, TransformerSpec)
        return transformer_row(
            encoder, multi=multi, seeds=seeds, spec=changed.body, settings=changed.settings
        )


def _parse_changed(changes: tuple[str, ...], spec: type[Spec]) -> Changes:
    from gluebench.systems.devices import launched_precision
    from gluebench.systems.training.settings import parse_changes

    changed = parse_changes(changes, spec)
    if launched := launched_precision():
        changed.settings.setdefault("precision", launched)
    return changed


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn the ValueError of an invalid setting into a usage error."""
    try:
        yield
    except ValueError as error:
        if type(error).__module__.startswith("gluebench."):
            raise
        raise click.UsageError(f"{error}.") from None


def _what_is_kept(folder: Path) -> str:
    """What of the runs in a folder is on disk, for who stopped them."""
    from gluebench.systems.training.checkpoint import OUTCOME, STATE

    finished = len(list(folder.rglob(OUTCOME)))
    begun = len(list(folder.rglob(STATE)))
    if not finished and not begun:
        return "Nothing was saved yet; the same command starts over."
    return (
        f"{counted(finished, 'run')} finished and {begun} saved in part, in {folder}: "
        "the same command goes on from there."
    )


def _draw_curves(system: TrainedSystem) -> None:
    """Plot the training curves into the folder of the runs."""
    from gluebench.systems.training.log import LOG, draw_curves

    for parent in {run.parent for run in system.runs()}:
        logged = sorted(log.parent for log in parent.glob(f"seed-*/{LOG}"))
        draw_curves({run.name: run for run in logged}, parent / "curves.svg")


def _upload(system: TrainedSystem, report: Report, suite: Benchmark, repository: str) -> None:
    from gluebench.systems.adapters.cards import write_shared_card
    from gluebench.systems.adapters.hub import upload

    write_shared_card(system, report, suite, name=repository)
    address = upload(system, repository)
    notice(f"{address}: uploaded, with its model card.")


def _print(system: TrainedSystem, suite: Benchmark, home: Path, *, form: Form) -> Report:
    from gluebench.cli.scoring.grade import report_output
    from gluebench.data.gold import gold_from_data
    from gluebench.scoring import grade
    from gluebench.systems.run import answer
    from gluebench.systems.scores import FILE, keep_scores
    from gluebench.systems.training.checkpoint import OUTCOME

    predictions = {}
    for file in suite.files("dev"):
        if file.task in system.tasks:
            predictions[file.name] = answer(system, suite, file, home, role="dev").column
    report = grade(predictions, gold_from_data(home, suite, role="dev", partial=True))
    taken = sum(float(json.loads((run / OUTCOME).read_bytes())["seconds"]) for run in system.runs())
    keep_scores(system.folder / FILE, system.title, report, seconds=taken, command=command_line())
    emit(report_output(report, suite, source=system.title, only=system.tasks), form)
    return report
