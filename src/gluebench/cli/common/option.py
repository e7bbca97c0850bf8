"""Options that several commands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gluebench.benchmark import (
    Benchmark,
    ManifestError,
    Task,
    UnknownNameError,
    installed,
    load_benchmark,
)
from gluebench.cli.common.errors import needs_extra

if TYPE_CHECKING:
    # Both take milliseconds to import, which every command would pay.
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from gluebench.submission.client import Remote

F = TypeVar("F", bound=Callable[..., Any])
TOKEN = "GLUEBENCH_TOKEN"
"""The variable of the environment that has the token of an account on a leaderboard."""


def text(spec: str, *names: str, **attributes: Any) -> Callable[[F], F]:
    """An option with a value, named as its help begins: "--like TASK". The help shows a default too."""
    flag, _, metavar = spec.partition(" ")
    if metavar:
        attributes["metavar"] = metavar
    attributes.setdefault("show_default", attributes.get("default") not in (None, ""))
    if flag in ("--task", "--tasks"):
        attributes.setdefault("shell_complete", task_names)
    return click.option(flag, *names, **attributes)


def task_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The benchmark's tasks that complete what a shell has so far, the last of a list with commas."""
    *before, word = incomplete.split(",")
    name = context.params.get("suite") or context.params.get("benchmark") or "glue"
    try:
        names = [task.name for task in load_benchmark(name).tasks]
    except (UnknownNameError, ManifestError, OSError):
        return []  # a shell has no place for messages; the command itself says what is wrong
    matches = [name for name in names if name.casefold().startswith(word.casefold())]
    return [",".join(before + [match]) for match in matches]


flag = partial(click.option, is_flag=True)
repeated = partial(text, multiple=True)
folder = partial(text, metavar="DIR", type=click.Path(exists=True, file_okay=False))
new_folder = partial(text, metavar="DIR", type=click.Path(file_okay=False))
file = partial(text, metavar="FILE", type=click.Path(exists=True, dir_okay=False))
new_file = partial(text, metavar="FILE", type=click.Path(dir_okay=False))


def _data_folder(context: click.Context, parameter: click.Parameter, value: str | None) -> Path:
    from gluebench.data.home import data_folder

    return data_folder(value)


data_folder = partial(new_folder, callback=_data_folder)
"""A folder of prepared data: the named one, or the user's default."""


def data(help: str = "Folder of the data") -> Callable[[F], F]:
    """`--data DIR`, passed as `data`: the folder of prepared data."""
    return text("--data DIR", type=click.Path(), callback=_data_folder, help=f"{help} [$GLUEBENCH_DATA].")


def number(flag: str, *names: str, least: int = 0, **attributes: Any) -> Callable[[F], F]:
    """An option for an integer of at least `least`."""
    return text(f"{flag} N", *names, type=click.IntRange(min=least), **attributes)


def choice(flag: str, *names: str, of: str, **attributes: Any) -> Callable[[F], F]:
    """An option for one of the words in `of`."""
    return text(flag, *names, type=click.Choice(of.split()), **attributes)


def whole_numbers(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, ...]:
    """Convert "1,2,3" to different whole numbers; none without a value. Raises BadParameter."""
    words = listed(value or "")
    if not all(map(str.isdigit, words)) or len(set(words)) < len(words):
        message = f"{value!r} is not a list of different whole numbers, such as 1,2,3."
        raise click.BadParameter(message, context, parameter)
    return tuple(map(int, words))


def pattern(
    context: click.Context, parameter: click.Parameter, value: str | None, flags: int = 0
) -> re.Pattern[str] | None:
    """Compile a regular expression. Raises BadParameter."""
    if value is None:
        return None
    try:
        return re.compile(value, flags)
    except re.error as error:
        message = f"{value!r} is not a regular expression: {error}."
        raise click.BadParameter(message, context, parameter) from None


regex = partial(text, metavar="REGEX", callback=pattern)
"""An option for a regular expression, passed compiled."""
positive = partial(text, type=click.FloatRange(min=0, min_open=True))
"""An option for a number above 0."""


def listed(text: str) -> list[str]:
    """The parts of a text that are separated by commas, without empty ones."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _each_listed(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """The parts of all values, each of which may have several between commas."""
    parts: list[str] = []
    for value in values:
        parts += listed(value)
    return tuple(parts)


tasks = partial(repeated, metavar="TASK[,TASK]", callback=_each_listed)
"""An option for the names of tasks: repeated, with commas, or both."""


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in this order."""

    def add_options(command: F) -> F:
        for add_option in reversed(options):
            command = add_option(command)
        return command

    return add_options


output = together(
    click.option("--json", "form", flag_value="json", default=None, help="Print JSON, numbers as fractions."),
    click.option("--csv", "form", flag_value="csv", help="Print one CSV table, numbers as fractions."),
    click.option("--markdown", "form", flag_value="markdown", help="Print Markdown tables."),
    click.option("--latex", "form", flag_value="latex", help="Print LaTeX tables (booktabs)."),
)
"""`--json`, `--csv`, `--markdown` or `--latex`, passed as `form`; None for a plain-text table."""


def plot(what: str) -> Callable[[F], F]:
    """`--plot FILE`, passed as `plot`: a file to draw into, checked before any computation."""
    return new_file("--plot", callback=_drawable, help=f"Draw {what}: .png, .svg or .pdf.")


def _drawable(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is None or context.resilient_parsing:
        return value
    if os.path.splitext(value)[1].casefold() not in (".png", ".svg", ".pdf"):
        raise click.BadParameter(f"{value} does not end in .png, .svg, .pdf.", context, parameter)
    parent = os.path.dirname(value) or os.curdir
    if not os.path.isdir(parent):
        raise click.BadParameter(f"{parent} is not a folder.", context, parameter)
    if find_spec("matplotlib") is None:
        raise needs_extra("plot", "Drawing")
    return value


class BenchmarkName(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """An installed benchmark, the path of a manifest, or an address, whose manifest is cached."""

    name = "benchmark"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The installed benchmarks, or files where none begins so."""
        from click.shell_completion import CompletionItem

        names = [name for name in installed() if name.startswith(incomplete.casefold())]
        if not names:
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(name) for name in names]

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """A name or path for `load_benchmark`. Raises SendError if an address does not return a manifest."""
        if "://" not in value or (ctx is not None and ctx.resilient_parsing):
            return value
        return str(remote_benchmark(value).manifest)


def remote_benchmark(address: str) -> Remote:
    """The benchmark at an address; where not everybody sees it, by $GLUEBENCH_TOKEN. Raises SendError."""
    from gluebench.submission.client import RefusedByLeaderboardError, SendError, remote

    token = os.environ.get(TOKEN, "")
    try:
        return remote(address, lambda line: click.echo(line, err=True), token=token)
    except RefusedByLeaderboardError as refusal:
        if refusal.status != 404 or token:
            raise
        way = f"If it is for its participants alone, set {TOKEN} to your token with the scope 'read'."
        raise SendError(f"{refusal} {way}") from None


class LoadedBenchmark(BenchmarkName):
    """The benchmark itself. Raises UnknownNameError, ManifestError, SendError."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The benchmark of that name or manifest."""
        if ctx is not None and ctx.resilient_parsing:
            return value
        return load_benchmark(super().convert(value, param, ctx))


named_benchmark = partial(
    text,
    "--benchmark NAME|FILE|URL",
    default="glue",
    help="An installed benchmark, the path of a manifest, or an address on a leaderboard.",
)
benchmark = named_benchmark("suite", type=LoadedBenchmark())
"""`--benchmark NAME|FILE|URL`, passed as `suite`: the benchmark."""
hidden_gold = folder("--gold", help="Folder of gold labels, where the data have none.")
"""`--gold DIR` for commands that also take a folder of data, passed as `gold`."""


split = choice("--split", of="test dev", default="test", help="The split that was predicted.")
"""`--split test|dev`, passed as `split`."""
seed = number("--seed", default=0, help="Seed of the resampling.")


device = text("--device auto|cpu|cuda[:N]", default="auto", help="auto: a GPU if any.")
"""`--device`, passed as `device` to `gluebench.systems.devices.device`, whose DeviceError exits with 2."""
PRECISIONS = click.Choice(["fp32", "tf32", "bf16"])
precision = click.option(
    "--precision", type=PRECISIONS, help="Of a GPU's arithmetic; bf16 on a CPU too [fp32]."
)
"""`--precision`, passed as `precision`: a `gluebench.systems.devices.Precision`, or None."""
changed_settings = repeated("--set NAME=VALUE", "changes", help="Another setting (docs/how-to/training.md).")
"""`--set`, passed as `changes` for `gluebench.systems.training.settings.parse_changes`."""
threads = number("--threads", least=1, help="Threads of PyTorch on the CPU.")


def diagnostic_task(manifest: Benchmark, name: str | None) -> Task:
    """The task of that name, or the benchmark's only diagnostic set. Raises UsageError."""
    if name is not None:
        return manifest.task(name)
    if len(manifest.diagnostics) != 1:
        names = ", ".join(task.name for task in manifest.diagnostics) or "none"
        raise click.UsageError(f"Name the diagnostic set with --task; those of {manifest.name}: {names}.")
    return manifest.diagnostics[0]


def split_to_read(task: Task, name: str | None) -> str:
    """The named split, else dev or the only one. Raises UsageError if there are several."""
    from gluebench.data.show import default_splits

    if name is not None:
        return name
    names = default_splits(task)
    if len(names) > 1:
        choices = " or ".join(f"--split {split}" for split in names)
        raise click.UsageError(f"{task.name} has several splits to read; name one: {choices}.")
    return names[0]


def matching(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Replace each pattern such as `runs/*.zip` by the paths that match. Raises BadParameter if none does.

    With --table, the values are names of systems, and stay.
    """
    from glob import glob

    if context.params.get("table"):
        return values
    paths: list[str] = []
    for value in values:
        matches = [value] if os.path.exists(value) else sorted(glob(value))
        if not matches and not context.resilient_parsing:
            raise click.BadParameter(f"Path '{value}' does not exist.", context, parameter)
        paths += matches
    return tuple(paths)


def pairs(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Convert repeated NAME=VALUE to a dictionary. Raises BadParameter."""
    by_name = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"{value!r} is not NAME=VALUE.", context, parameter)
        by_name[name] = text
    return by_name


def zip_name(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Raise BadParameter unless the name ends in .zip, so that predictions are not overwritten."""
    if value is not None and not value.casefold().endswith(".zip"):
        raise click.BadParameter(f"{value} does not end in .zip.", context, parameter)
    return value


settings = partial(text, metavar="NAME=VALUE", multiple=True, callback=pairs)
"""An option for repeated NAME=VALUE, passed as a dictionary."""
zip_file = partial(text, metavar="ZIP", type=click.Path(dir_okay=False), callback=zip_name)
