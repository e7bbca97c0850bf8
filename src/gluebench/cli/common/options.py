"""Options that several commands share, each written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Task

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


class BenchmarkName(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """An installed benchmark or the path of a manifest; of an address, the cached manifest."""

    name = "benchmark"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """A name or path for `load_benchmark`. Raises SendError where an address does not give a manifest."""
        if "://" not in value or (ctx is not None and ctx.resilient_parsing):
            return value
        from gluebench.submission.remote import remote

        return str(remote(value, lambda line: click.echo(line, err=True)).manifest)


def benchmark_option(command: F) -> F:
    """`--benchmark NAME|FILE|URL`, passed as `benchmark`."""
    return click.option(
        "--benchmark",
        metavar="NAME|FILE|URL",
        type=BenchmarkName(),
        default="glue",
        show_default=True,
        help="An installed benchmark, the path of a manifest, or an address on a leaderboard.",
    )(command)


def hidden_gold_option(command: F) -> F:
    """`--gold DIR` beside a folder of data, passed as `gold`."""
    return click.option(
        "--gold",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False),
        help="Folder of gold labels, where the data have none.",
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


def diagnostic_task(manifest: Benchmark, name: str | None) -> Task:
    """The task of that name, or the one diagnostic set of the benchmark. Raises UsageError."""
    if name is not None:
        return manifest.task(name)
    if len(manifest.diagnostics) != 1:
        names = ", ".join(task.name for task in manifest.diagnostics) or "none"
        raise click.UsageError(f"Name the diagnostic set with --task; those of {manifest.name}: {names}.")
    return manifest.diagnostics[0]


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
    by_name = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"{value!r} is not NAME=VALUE.", context, parameter)
        by_name[name] = text
    return by_name


def zip_name(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Refuses a name that a zip would not have: it may be that of the predictions."""
    if value is not None and not value.casefold().endswith(".zip"):
        raise click.BadParameter(f"{value} does not end in .zip.", context, parameter)
    return value
