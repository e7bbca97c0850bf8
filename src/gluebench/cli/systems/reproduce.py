"""`gluebench reproduce`: run the paper's baselines again, and test the claims of its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.benchmark import Benchmark
from gluebench.benchmark.tables import Table
from gluebench.cli.common import option
from gluebench.cli.common.interrupts import kept_if_stopped
from gluebench.cli.common.lazy import LazyGroup
from gluebench.cli.common.output import Form, Output, command_line, emit, notice
from gluebench.cli.submission.submit import Destination, deliver, destination_options, reached

if TYPE_CHECKING:
    from gluebench.scoring import Gold
    from gluebench.systems.reproduce.claims import Numbers
    from gluebench.systems.reproduce.rerun import RowResult, Setup
    from gluebench.systems.reproduce.row import TableName


@click.group(cls=LazyGroup)
def reproduce() -> None:
    """Run the paper's baselines again, beside its numbers."""


_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_shared = option.together(
    option.benchmark,
    option.output,
    option.repeated("--row NAME", "rows", help="This row only; may be repeated."),
    option.tasks("--task", "tasks", help="These tasks only; may be repeated."),
    option.text(
        "--preset P",
        default="small",
        help="tiny (seconds), small (minutes of CPU), paper (its text) or released (its code).",
    ),
    option.text("--seed N", "seeds", type=int, multiple=True, help="Instead of the preset's."),
    option.text("--data DIR", type=_FOLDER, help="Folder of the data [$GLUEBENCH_DATA]."),
    option.text(
        "--vectors FILE",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Word vectors in GloVe's format; without, tiny and small train their own.",
    ),
    option.text("--weights DIR", type=_FOLDER, help="Published weights, under their own names."),
    option.text(
        "--out DIR",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("reproduced"),
        help="Runs, tables and results; a finished run found there is not made again.",
    ),
    option.changed_settings,
    option.device,
    option.precision,
    option.threads,
)
"""Options of all three table commands."""
_GOLD = option.text("--gold DIR", type=_FOLDER, help="Folder of labels, where there are any.")


@reproduce.command
@_GOLD
@_shared
@destination_options(required=False)
def table4(**options: Any) -> None:
    """Test scores of all rows, or of those named, beside Table 4.

    WNLI is answered by its majority class, as in the paper. Where test labels are hidden, as GLUE's are, a
    submission is written for each row instead.

    \b
    Example:
      gluebench reproduce table4 --row cbow --vectors glove.840B.300d.txt --data data/
    """
    _run("table4", **options)


@reproduce.command
@_GOLD
@_shared
def table5(**options: Any) -> None:
    """R3 on the diagnostic set, answered by each row's MNLI model, beside Table 5.

    \b
    Example:
      gluebench reproduce table5 --row single-bilstm --row multi-bilstm --data data/
    """
    _run("table5", **options)


@reproduce.command
@_shared
def table6(**options: Any) -> None:
    """Dev scores of all rows, or of those named, beside Table 6.

    \b
    Example:
      gluebench reproduce table6 --row cbow --row single-bilstm --task RTE --preset tiny --data data/
    """
    _run("table6", gold=None, **options)


def _run(
    table: TableName,
    *,
    rows: tuple[str, ...],
    tasks: tuple[str, ...],
    preset: str,
    seeds: tuple[int, ...],
    data: Path | None,
    gold: Path | None,
    vectors: Path | None,
    weights: Path | None,
    out: Path,
    changes: tuple[str, ...],
    device: str,
    precision: str | None,
    threads: int | None,
    suite: Benchmark,
    form: Form,
    to: Destination | None = None,
) -> None:
    board = reached(to, suite.name, "test")
    from gluebench.cli.systems.reproduce_view import save, table_output
    from gluebench.cli.systems.train import usage_errors
    from gluebench.data.gold import gold_from_data
    from gluebench.data.home import data_folder
    from gluebench.systems.devices import device as device_called
    from gluebench.systems.encoders.corpus import Corpus
    from gluebench.systems.reproduce.rerun import Request, Setup, submission_path
    from gluebench.systems.reproduce.rerun import reproduce as rerun
    from gluebench.systems.reproduce.row import Files
    from gluebench.systems.reproduce.row import rows as all_rows
    from gluebench.systems.scores import keep_scores

    if threads:
        import torch

        torch.set_num_threads(threads)
    answered = tuple(suite.task(name).name for name in tasks)
    request = Request(table, preset, answered, seeds, precision, changes)
    names = rows or tuple(row.name for row in all_rows())
    with usage_errors():  # before anything runs
        request.rows(names)
    place = device_called(device)
    home = data_folder(data)
    labels = gold_from_data(home, suite, role="dev", partial=True)
    setup = Setup(Corpus(suite, home), Files(vectors, weights), out / suite.name, labels, place)
    scored = labels if table == "table6" else _test_labels(gold, setup)
    kept = f"Finished runs and saved states are in {setup.out / preset}: the same command goes on from there."
    with kept_if_stopped(lambda: kept):
        runs = rerun(request, names, setup, gold=scored, say=notice)
    output = table_output(runs, request, suite)
    save(output, table, setup.out / preset)
    for ran in runs:
        if ran.report:
            taken = sum({id(run): run.seconds for run in ran.chosen.values()}.values())
            scores = setup.out / preset / ran.row.name / f"scores-{table}.json"
            name = f"{ran.row.full_title} ({preset})"
            keep_scores(scores, name, ran.report, seconds=taken, command=command_line())
        _draw_curves(ran)
    emit(output, form)
    for ran in runs if board else ():
        path = submission_path(ran, setup)
        if ran.chosen and path.is_file():
            details = {"name": f"{ran.row.full_title} ({ran.row.preset})", "model": ran.row.full_title}
            deliver(path, board, form=form, defaults=details)


def _draw_curves(ran: RowResult) -> None:
    """Plot the training of each task's runs, all seeds in one figure beside their folders."""
    from gluebench.systems.training.log import LOG, draw_curves

    if find_spec("matplotlib") is None:
        return
    for folder in {run.session.folder.parent for run in ran.chosen.values()}:
        logs = sorted(folder.glob(f"seed-*/training/**/{LOG}"))
        if logs:  # a frozen encoder has none
            draw_curves({log.parent.name: log.parent for log in logs}, folder / "curves.svg")


def _test_labels(gold: Path | None, setup: Setup) -> Gold | None:
    """Test labels from the user's gold folder, or from the data; None if all are hidden."""
    from gluebench.data import DataError
    from gluebench.data.gold import gold_from_data
    from gluebench.scoring import read_gold

    if gold is not None:
        return read_gold(gold, setup.benchmark, role="test", partial=True)
    try:
        return gold_from_data(setup.corpus.folder, setup.benchmark, role="test", partial=True)
    except DataError:  # no test split has labels, as usual
        return None


_FIELDS = ("finding", "section", "claim", "reading", "whose", "table", "verdict", "detail")
_SHORT: Mapping[str, str] = {"table4": "test", "table5": "diagnostic", "table6": "dev"}


@reproduce.command
@option.text(
    "--results FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A results.json that table4, table5 or table6 wrote.",
)
@option.output
def findings(results: Path | None, form: Form) -> None:
    """Test each directional claim of the paper on the numbers it printed.

    With --results, on yours as well. What each claim is taken to mean stands in the JSON and CSV, and in
    docs/how-to/reproduce.md.

    \b
    Example:
      gluebench reproduce findings
      gluebench reproduce findings --results reproduced/glue/small/results.json
    """
    from gluebench.systems.reproduce.claims import read_results

    own: Mapping[TableName, Numbers] = read_results(results) if results else {}
    emit(_output(own), form)


def _output(own: Mapping[TableName, Numbers]) -> Output:
    records = list(_judgments(own))
    rows = []
    last = None
    for name, section, claim, _, whose, table, verdict, detail in records:
        if name == last:
            section = ""
            claim = ""
        rows.append((section, claim, f"{whose}, {_SHORT[table]}", verdict, detail))
        last = name
    shown = Table(
        ("section", "claim", "numbers", "verdict", "because"),
        rows,
        title="What the paper says of its results",
        notes=[
            "Sections 6 and 8 speak of test scores; the same claims are put to the dev scores too.",
            "Only which number is above which is tested, not whether the difference could be chance.",
        ],
    )
    data = [dict(zip(_FIELDS, record, strict=True)) for record in records]
    return Output(data, [shown], _FIELDS, records)


def _judgments(own: Mapping[TableName, Numbers]) -> Iterator[tuple[str, ...]]:
    """A record for each claim and table: judged by the paper's numbers, then by the user's."""
    from gluebench.systems.reproduce.claims import FINDINGS, judge_finding, paper_numbers

    for finding in FINDINGS:
        about = (finding.name, finding.section, finding.claim, finding.reading)
        for table in finding.tables:
            verdict = judge_finding(finding, paper_numbers(table))
            yield about + ("paper", table) + verdict
        for table in finding.tables:
            if table in own:
                verdict = judge_finding(finding, own[table])
                yield about + ("yours", table) + verdict
