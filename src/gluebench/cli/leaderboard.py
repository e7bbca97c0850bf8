"""`gluebench leaderboard`: set up a site, give it a benchmark, serve it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import click

from gluebench.cli.errors import needs_extra
from gluebench.cli.options import gold_option

folder_argument = click.argument("folder", metavar="FOLDER", type=click.Path(file_okay=False))
host_option = click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
port_option = click.option(
    "--port", type=click.IntRange(1, 65535), default=8000, show_default=True, help="Port to listen on."
)


@click.group
def leaderboard() -> None:
    """Set up and serve a leaderboard."""


@leaderboard.command
@folder_argument
def init(folder: str) -> None:
    """Set up a leaderboard in FOLDER.

    \b
    Example:
      gluebench leaderboard init site/
    """
    _room().init(folder)


@leaderboard.command
@folder_argument
@click.argument("benchmark", metavar="BENCHMARK")
@gold_option
def add(folder: str, benchmark: str, gold: str) -> None:
    """Give the leaderboard in FOLDER a benchmark.

    BENCHMARK is the name of an installed benchmark or the path of a manifest.

    \b
    Example:
      gluebench leaderboard add site/ glue --gold gold/
    """
    _room().add(folder, benchmark, gold)


@leaderboard.command
@folder_argument
@host_option
@port_option
def serve(folder: str, host: str, port: int) -> None:
    """Serve the leaderboard in FOLDER.

    \b
    Example:
      gluebench leaderboard serve site/ --port 8000
    """
    _room().serve(folder, host=host, port=port)


@leaderboard.command
@folder_argument
@host_option
@port_option
def demo(folder: str, host: str, port: int) -> None:
    """Serve the sample benchmark with four simple systems.

    FOLDER is made if it is not there; what is submitted to it is kept.

    \b
    Example:
      gluebench leaderboard demo site/
    """
    _room().demo(folder, host=host, port=port)


def _room() -> ModuleType:
    """The leaderboard's commands. A package that they miss is said to be an extra."""
    try:
        return import_module("gluebench.leaderboard.commands")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "gluebench":
            raise
        raise needs_extra("leaderboard", "The leaderboard") from error
