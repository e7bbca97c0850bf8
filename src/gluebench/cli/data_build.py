"""`gluebench data build`: a task anew from its original corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.cli.errors import needs_extra
from gluebench.cli.options import benchmark_option

if TYPE_CHECKING:
    from gluebench.data.dataset import Dataset
    from gluebench.data.recipes import Recipe

_KINDS = {str: "TEXT", int: "N", float: "NUMBER", Path: "FILE"}


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("task", metavar="TASK")
@click.argument("rest", metavar="[RECIPE OPTIONS]", nargs=-1, type=click.UNPROCESSED)
@click.option("--from", "corpus", metavar="DIR", type=click.Path(), help="Folder of the original corpus.")
@click.option("--to", metavar="DIR", type=click.Path(file_okay=False), help="Data folder [$GLUEBENCH_DATA].")
@click.option("--recipe", metavar="NAME", help="Another recipe than the manifest names.")
@click.option(
    "--explain", is_flag=True, help="Say what the recipe does, reads and can be told; build nothing."
)
@benchmark_option
def build(
    task: str,
    rest: tuple[str, ...],
    corpus: str | None,
    to: str | None,
    recipe: str | None,
    explain: bool,
    benchmark: str,
) -> None:
    """Build a task's data anew from its original corpus.

    Each recipe has options of its own, given as --NAME VALUE; --explain lists them.

    \b
    Example:
      gluebench data build QNLI --explain
      gluebench data build RTE --from rte-challenges/ --to data/ --seed 7
    """
    from gluebench.benchmark import load_benchmark
    from gluebench.data.build import build as build_task
    from gluebench.data.build import recipe_of
    from gluebench.data.home import data_folder

    suite = load_benchmark(benchmark)
    record = suite.dataset(task)
    if explain:
        click.echo(_explained(recipe_of(record, recipe)), nl=False)
        return
    if corpus is None:
        raise click.UsageError(
            "name the folder of the original corpus: --from DIR; --explain says what it holds."
        )
    folder = data_folder(to)
    try:
        made = build_task(Path(corpus), folder, suite, record, _options(rest), named=recipe)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"pyarrow", "numpy", "scipy"}:
            raise
        raise needs_extra("data,recipes", "Building data") from None
    click.echo(_told(made, folder / suite.name / record.name), nl=False)


def _options(rest: Sequence[str]) -> dict[str, str]:
    """`--name value` and `--name=value`, of which only the recipe knows the names."""
    found: dict[str, str] = {}
    words = list(rest)
    while words:
        word = words.pop(0)
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not name:
            raise click.UsageError(f"{word!r} is not expected here; options of a recipe are --NAME VALUE.")
        if not equals:
            if not words:
                raise click.UsageError(f"--{name} has no value; options of a recipe are --NAME VALUE.")
            value = words.pop(0)
        found[name] = value
    return found


def _explained(recipe: Recipe) -> str:
    """The recipe's procedure, what it reads, and its options."""
    import inspect
    import sys

    procedure = inspect.cleandoc(sys.modules[recipe.build.__module__].__doc__ or "")
    lines = [procedure, "", f"Reads: {recipe.corpus}", ""]
    if recipe.options:
        lines.append("Options:")
    for option in recipe.options:
        default = "no default" if option.default is None else f"default {option.default}"
        lines.append(f"  --{option.name} {_KINDS[option.type]}  {option.help} [{default}]")
    return "\n".join(lines).rstrip() + "\n"


def _told(made: Dataset, place: Path) -> str:
    lines = [f"{made.task}: {name}, {split.rows:,} examples" for name, split in made.splits.items()]
    lines += [f"note: {note}" for note in made.notes]
    return "\n".join([*lines, f"written to {place}"]) + "\n"
