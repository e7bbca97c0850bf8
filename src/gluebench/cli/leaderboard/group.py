"""`gluebench leaderboard`: set up a site, add a benchmark, serve the site, manage its accounts."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

import click

from gluebench.cli.common.errors import needs_extra
from gluebench.cli.common.lazy import LazyGroup
from gluebench.leaderboard import folder

SITE = click.Option(
    ["--site"],
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
unconfirmed_option = click.option(
    "--unconfirmed",
    is_flag=True,
    help="Also where nobody has confirmed the address. It then may not be its owner who signed up with it.",
)
url_option = click.option(
    "--url",
    metavar="URL",
    default="http://127.0.0.1:8000",
    show_default=True,
    help="How people reach the site; the links begin with it.",
)


class SiteCommand(click.Command):
    """A command with the option that names the site."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.insert(0, SITE)


class SiteGroup(LazyGroup):
    """A group whose commands need the leaderboard's packages."""

    command_class = SiteCommand

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; if a package is missing, name the extra that installs it."""
        gc.enable()  # turned off for short commands; a site runs for weeks
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.split(".")[0] == "gluebench":
                raise
            raise needs_extra("leaderboard", "The leaderboard") from error


@click.group(cls=SiteGroup, commands_at={})
def leaderboard() -> None:
    """Set up and serve a leaderboard."""


def say_password(site: str, email: str, password: str) -> None:
    """Show a password once: on a terminal, otherwise in a private file, since a log keeps what is printed."""
    if sys.stdout.isatty():
        click.echo(f"Admin: {email}\nPassword, shown this once: {password}")
        return
    file = folder.at(site).password_file
    earlier = file.read_text() if file.is_file() else ""
    folder.write_private(file, f"{earlier}{email}\t{password}\n".encode())
    click.echo(f"Admin: {email}\nThe password is in {file}. Sign in, then delete this file.")
