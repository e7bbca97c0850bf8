"""`gluebench leaderboard`: set up a site, give it a benchmark, serve it."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

import click

from gluebench.cli.errors import needs_extra
from gluebench.cli.lazy import LazyGroup
from gluebench.cli.options import pairs

COMMANDS: dict[str, str] = {
    "admin": "gluebench.cli.leaderboard_accounts:admin",
    "confirm": "gluebench.cli.leaderboard_accounts:confirm",
    "links": "gluebench.cli.leaderboard_accounts:links",
    "organiser": "gluebench.cli.leaderboard_accounts:organiser",
    "backup": "gluebench.cli.leaderboard_running:backup",
    "doctor": "gluebench.cli.leaderboard_running:doctor",
    "restore": "gluebench.cli.leaderboard_running:restore",
    "web": "gluebench.cli.leaderboard_running:web",
    "worker": "gluebench.cli.leaderboard_running:worker",
}
"""Command to its address, for those in files of their own; each is imported when it is asked for."""

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
log_option = click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    expose_value=False,
    callback=lambda _context, _option, value: value and os.environ.update(GLUEBENCH_LOG_FORMAT=value),
    help="Lines of the log as text (usual) or JSON; also from GLUEBENCH_LOG_FORMAT.",
)


@click.group(cls=LazyGroup, commands_at=COMMANDS)
def leaderboard() -> None:
    """Set up and serve a leaderboard."""


@leaderboard.command
@site_option
@click.option(
    "--admin",
    metavar="EMAIL",
    default="admin@localhost",
    show_default=True,
    help="Address that the first admin signs in with.",
)
def init(site: str, admin: str) -> None:
    """Set up a leaderboard in a new folder, with a first admin.

    The admin's random password is shown once: on a terminal, otherwise in a file that only this account can
    read, whose path is printed. On a site that has an admin, nobody is made one.

    \b
    Example:
      gluebench leaderboard init --site my-site --admin ada@example.org
    """
    from gluebench.cli.leaderboard_accounts import say_password

    with room() as commands:
        commands.init(site)
        password = commands.first_admin(site, admin)
    if password is not None:
        say_password(site, admin, password)
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
@click.option(
    "--policy",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="TOML file with limits and feedback (docs/limits.md).",
)
def add(site: str, benchmark: str, gold: str, policy: str | None) -> None:
    """Give the leaderboard a benchmark and its labels.

    BENCHMARK is the name of an installed benchmark or the path of a manifest.

    \b
    Example:
      gluebench leaderboard add glue --gold gold/
      gluebench leaderboard add glue --gold gold/ --policy policy.toml
    """
    with room() as commands:
        name = commands.add(site, benchmark, gold, policy)
    click.echo(f"{name} is on the site. Next: gluebench leaderboard serve --site {site}")


@leaderboard.command
@site_option
@click.argument("benchmark", metavar="BENCHMARK")
@click.option(
    "--file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="TOML file; a setting that it leaves out gets its usual value.",
)
@click.option(
    "--set",
    "changes",
    metavar="NAME=VALUE",
    multiple=True,
    callback=pairs,
    help="One setting, any number of times; none for no limit.",
)
def policy(site: str, benchmark: str, file: str | None, changes: dict[str, str]) -> None:
    """Show or change a benchmark's limits and feedback.

    Without --file and --set, it prints the policy as it is, as a TOML file.

    \b
    Example:
      gluebench leaderboard policy glue --set per_day=1 --set per=team
      gluebench leaderboard policy glue > policy.toml
    """
    with room() as commands:
        for line in commands.policy(site, benchmark, file, changes):
            click.echo(line)


@leaderboard.command
@site_option
@host_option
@port_option
@log_option
def serve(site: str, host: str, port: int) -> None:
    """Serve the leaderboard.

    \b
    Example:
      gluebench leaderboard serve --port 8000
    """
    with room() as commands:
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
    with room("demo") as commands:
        commands.demo(site, host=host, port=port)


@contextmanager
def room(module: str = "commands") -> Iterator[ModuleType]:
    """A module of the leaderboard. A package that they miss, then or later, is said to be an extra."""
    gc.enable()  # a site runs for long
    try:
        yield import_module(f"gluebench.leaderboard.{module}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "gluebench":
            raise
        raise needs_extra("leaderboard", "The leaderboard") from error
