"""What `gluebench encode` and `gluebench probe` share: naming an encoder, its options, and the tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gluebench.cli.errors import needs_extra, reading_data
from gluebench.cli.options import pairs

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Task

F = TypeVar("F", bound=Callable[..., Any])


def encoder_options(command: F) -> F:
    """`-o NAME=VALUE`, `--task`, `--data`, `--float16` and `--batch-size`, which go with an encoder."""
    options = (
        click.option(
            "-o",
            "--option",
            "options",
            metavar="NAME=VALUE",
            multiple=True,
            callback=pairs,
            help="An option of the encoder; may be repeated.",
        ),
        click.option(
            "--task",
            "--tasks",
            "tasks",
            metavar="TASK[,TASK]",
            multiple=True,
            help="These tasks only; may be repeated.",
        ),
        click.option(
            "--data", metavar="DIR", type=click.Path(), help="Folder of the data [$GLUEBENCH_DATA]."
        ),
        click.option("--float16", is_flag=True, help="Store vectors at half the size, to three digits."),
        click.option(
            "--batch-size",
            metavar="N",
            type=click.IntRange(min=1),
            default=128,
            show_default=True,
            help="Sentences that the encoder is given at a time.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def chosen(benchmark: Benchmark, names: Sequence[str]) -> list[Task]:
    """The tasks named, with those that they answer (AX with MNLI); all without a name. UnknownNameError."""
    if not names:
        return list(benchmark.tasks)
    wanted = {benchmark.task(name.strip()).name for each in names for name in each.split(",")}
    return [task for task in benchmark.tasks if wanted & {task.name, task.predict_with}]


@contextmanager
def encoding() -> Iterator[None]:
    """Says what to install where PyTorch or the reader of data is missing."""
    with reading_data():
        try:
            yield
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise needs_extra("train", "Probing") from None
