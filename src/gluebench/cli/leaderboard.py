"""`gluebench leaderboard`: set up a site, give it a benchmark, serve it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

import click

from gluebench.cli.errors import needs_extra

site_option = click.option(
    "--site",
    metavar="FOLDER",
    type=click.Path(file_okay=False),
    default="gluebench-site",
    show_default=True,
    envvar="GLUEBENCH_SITE",
    help="The folder that is the site; also from GLUEBENCH_SITE.",
)
host_option = click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
port_option = click.option(
    "--port", type=click.IntRange(1, 65535), default=8000, show_default=True, help="Port to listen on."
)


@click.group
def leaderboard() -> None:
    """Set up and serve a leaderboard."""


@leaderboard.command
@site_option
def init(site: str) -> None:
    """Set up a leaderboard in a new folder.

    \b
    Example:
      gluebench leaderboard init --site my-site
    """
    with _room() as commands:
        commands.init(site)
    click.echo(f"The site is in {site}. Next: gluebench leaderboard add BENCHMARK --gold DIR --site {site}")


@leaderboard.command
@site_option
@click.argument("benchmark", metavar="BENCHMARK")
@click.option(
    "--gold",
    metavar="DIR",
    required=True,
    type=click.Path(exists=True, file_okay=False),
    help="Folder with a label file for each test file.",
)
def add(site: str, benchmark: str, gold: str) -> None:
    """Give the leaderboard a benchmark and its labels.

    BENCHMARK is the name of an installed benchmark or the path of a manifest.

    \b
    Example:
      gluebench leaderboard add glue --gold gold/
    """
    with _room() as commands:
        name = commands.add(site, benchmark, gold)
    click.echo(f"{name} is on the site. Next: gluebench leaderboard serve --site {site}")


@leaderboard.command
@site_option
@host_option
@port_option
def serve(site: str, host: str, port: int) -> None:
    """Serve the leaderboard.

    \b
    Example:
      gluebench leaderboard serve --port 8000
    """
    with _room() as commands:
        commands.serve(site, host=host, port=port)


@leaderboard.command
@site_option
@host_option
@port_option
def demo(site: str, host: str, port: int) -> None:
    """Serve the sample benchmark with five simple systems.

    The site is made if it is not there; what is submitted to it is kept.

    \b
    Example:
      gluebench leaderboard demo
    """
    with _room("demo") as commands:
        commands.demo(site, host=host, port=port)


@contextmanager
def _room(module: str = "commands") -> Iterator[ModuleType]:
    """A module of the leaderboard. A package that they miss, then or later, is said to be an extra."""
    gc.enable()  # a site runs for long
    try:
        yield import_module(f"gluebench.leaderboard.{module}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "gluebench":
            raise
        raise needs_extra("leaderboard", "The leaderboard") from error
