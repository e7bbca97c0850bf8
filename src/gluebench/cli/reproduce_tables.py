"""`gluebench reproduce table4|table5|table6`: rows run again, each number beside the printed one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gluebench.cli.errors import needs_extra, reading_data
from gluebench.cli.options import Form, benchmark_option, output_options
from gluebench.cli.sending import Destination, deliver, destination_options, reached

if TYPE_CHECKING:
    from gluebench.cli.output import Output
    from gluebench.cli.sending import Reached
    from gluebench.scoring import Gold
    from gluebench.systems.rows.reproduce import Asked, Ran
    from gluebench.systems.rows.row import TableName
    from gluebench.systems.rows.runs import Place

F = TypeVar("F", bound=Callable[..., Any])
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_OPTIONS = (
    click.option("--row", "rows", metavar="NAME", multiple=True, help="This row only; may be repeated."),
    click.option("--task", "tasks", metavar="TASK", multiple=True, help="This task only; may be repeated."),
    click.option(
        "--preset",
        metavar="P",
        default="small",
        show_default=True,
        help="tiny (seconds), small (minutes of CPU) or paper.",
    ),
    click.option("--seed", "seeds", metavar="N", type=int, multiple=True, help="Instead of the preset's."),
    click.option("--data", metavar="DIR", type=_FOLDER, help="Folder of the data [$GLUEBENCH_DATA]."),
    click.option(
        "--vectors",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Word vectors in GloVe's format; without, tiny and small train their own.",
    ),
    click.option("--weights", metavar="DIR", type=_FOLDER, help="Published weights, under their own names."),
    click.option(
        "--out",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("reproduced"),
        show_default=True,
        help="Runs, tables and results; a finished run found there is not made again.",
    ),
    click.option("--device", metavar="DEVICE", default="cpu", show_default=True, help="cpu, cuda, cuda:1."),
)
_GOLD = click.option("--gold", metavar="DIR", type=_FOLDER, help="Folder of labels, where there are any.")


def _shared(command: F) -> F:
    """The options that the three commands have in common."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return benchmark_option(output_options(command))


@click.command
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


@click.command
@_GOLD
@_shared
def table5(**options: Any) -> None:
    """R3 on the diagnostic set, answered by each row's MNLI model, beside Table 5.

    \b
    Example:
      gluebench reproduce table5 --row single-bilstm --row multi-bilstm --data data/
    """
    _run("table5", **options)


@click.command
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
    device: str,
    benchmark: str,
    form: Form,
    to: Destination | None = None,
) -> None:
    from gluebench.benchmark import load_benchmark
    from gluebench.cli.output import emit
    from gluebench.cli.reproduce_view import save

    suite = load_benchmark(benchmark)
    there = reached(to, suite.name, "test")
    with _training():
        from gluebench.data.gold import gold_from_data
        from gluebench.data.home import data_folder
        from gluebench.systems.encoders.corpus import Corpus
        from gluebench.systems.rows.files import Files
        from gluebench.systems.rows.reproduce import Asked
        from gluebench.systems.rows.row import rows as all_rows
        from gluebench.systems.rows.runs import Place

        asked = Asked(table, preset, tuple(suite.task(name).name for name in tasks), seeds)
        home = data_folder(data)
        labels = gold_from_data(home, suite, role="dev", partial=True)
        place = Place(Corpus(suite, home), Files(vectors, weights), out / suite.name, labels, device)
        found, answer = _reproduced(asked, rows or tuple(row.name for row in all_rows()), place, gold=gold)
    save(answer, table, place.out / preset)
    emit(answer, form)
    _deliver(found, place, there, form=form)


def _deliver(found: Sequence[Ran], place: Place, there: Reached | None, *, form: Form) -> None:
    """Send the submission of each row that has one."""
    from gluebench.systems.rows.reproduce import submission_path

    for ran in found if there else ():
        path = submission_path(ran, place)
        if ran.chosen and path.is_file():
            said = {"name": f"{ran.row.full_title} ({ran.preset})", "model": ran.row.full_title}
            deliver(path, there, form=form, defaults=said)


def _reproduced(
    asked: Asked, names: tuple[str, ...], place: Place, *, gold: Path | None
) -> tuple[Sequence[Ran], Output]:
    from gluebench.cli.output import notices
    from gluebench.cli.reproduce_view import table_output
    from gluebench.systems.rows.reproduce import reproduce as rerun

    labels = place.dev if asked.table == "table6" else _test_labels(gold, place)
    found = rerun(asked, names, place, gold=labels, say=lambda line: notices([line]))
    return found, table_output(found, asked, place.benchmark)


def _test_labels(gold: Path | None, place: Place) -> Gold | None:
    """Those the user has, or those that came with the data; most are hidden."""
    from gluebench.data import DataError
    from gluebench.data.gold import gold_from_data
    from gluebench.scoring import read_gold

    if gold is not None:
        return read_gold(gold, place.benchmark, role="test", partial=True)
    try:
        return gold_from_data(place.corpus.folder, place.benchmark, role="test", partial=True)
    except DataError:  # no test split has labels, which is how it should be
        return None


@contextmanager
def _training() -> Iterator[None]:
    """Says what to install where PyTorch or the reader of data is missing."""
    with reading_data():
        try:
            yield
        except ModuleNotFoundError as error:
            if error.name not in ("torch", "h5py"):
                raise
            raise needs_extra("train", "Running the paper's rows") from None
