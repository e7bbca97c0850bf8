"""Options that several commands share, each written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Role
    from gluebench.scoring import Gold

Form = Literal["json", "csv", "markdown", "latex"] | None
"""How to print; None is a table to read."""
F = TypeVar("F", bound=Callable[..., Any])

_FORMS = {
    "latex": "Print LaTeX tables (booktabs).",
    "markdown": "Print Markdown tables.",
    "csv": "Print one CSV table, numbers as fractions.",
    "json": "Print JSON, numbers as fractions.",
}


def output_options(command: F) -> F:
    """`--json`, `--csv`, `--markdown` or `--latex`, passed as `form`: None for a table to read."""
    for form, text in _FORMS.items():
        command = click.option(f"--{form}", "form", flag_value=form, default=None, help=text)(command)
    return command


def benchmark_option(command: F) -> F:
    """`--benchmark NAME|FILE`, passed as `benchmark`."""
    return click.option(
        "--benchmark",
        metavar="NAME|FILE",
        default="glue",
        show_default=True,
        help="An installed benchmark, or the path of a manifest.",
    )(command)


def split_option(command: F) -> F:
    """`--split test|dev`, passed as `split`."""
    return click.option(
        "--split",
        type=click.Choice(["test", "dev"]),
        default="test",
        show_default=True,
        help="The split that was predicted.",
    )(command)


def labels_option(command: F) -> F:
    """`--gold DIR` and `--data DIR`, passed as `gold` and `data`; `read_labels` takes one of them."""
    folder = click.Path(exists=True, file_okay=False)
    command = click.option(
        "--data", metavar="DIR", type=folder, help="Folder of prepared data, for splits that have labels."
    )(command)
    return click.option(
        "--gold", metavar="DIR", type=folder, help="Folder with a label file for each test file."
    )(command)


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


def seed_option(command: F) -> F:
    """`--seed N`, passed as `seed`."""
    return click.option(
        "--seed",
        metavar="N",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Seed of the resampling.",
    )(command)


def pairs(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """NAME=VALUE, given any number of times, as a dictionary."""
    found = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"{value!r} is not NAME=VALUE.", context, parameter)
        found[name] = text
    return found


def zip_name(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Refuses a name that a zip would not have: it may be that of the predictions."""
    if value is not None and not value.casefold().endswith(".zip"):
        raise click.BadParameter(f"{value} does not end in .zip.", context, parameter)
    return value
