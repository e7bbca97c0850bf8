"""`gluebench leaderboard`: the group, its options, and the commands for admins, organizers and links."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from gluebench.cli.common import option
from gluebench.cli.common.errors import needs_extra
from gluebench.cli.common.lazy import LazyGroup
from gluebench.leaderboard import commands
from gluebench.leaderboard.keeping import folder
from gluebench.leaderboard.serving.environment import PORT

SITE = click.Option(
    ["--site"],
    metavar="FOLDER",
    type=click.Path(file_okay=False),
    default="gluebench-site",
    show_default=True,
    envvar="GLUEBENCH_SITE",
    help="The folder that is the site; also from GLUEBENCH_SITE.",
)
host_option = option.text("--host", default="127.0.0.1", help="Address to listen on.")
port_option = option.text("--port", type=click.IntRange(1, 65535), default=PORT, help="Port to listen on.")
log_option = option.choice(
    "--log-format",
    of="text json",
    expose_value=False,
    callback=lambda _context, _option, value: value and os.environ.update(GLUEBENCH_LOG_FORMAT=value),
    help="Lines of the log as text (usual) or JSON; also from GLUEBENCH_LOG_FORMAT.",
)
unconfirmed_option = option.flag(
    "--unconfirmed",
    help="Also if the address is not confirmed. It then may not be its owner who signed up with it.",
)
url_option = option.text(
    "--url URL",
    show_default="its name in GLUEBENCH_HOSTS with GLUEBENCH_HTTPS, or where it was last served",
    help="How people reach the site; the links begin with it.",
)


def _readable_folder(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    try:
        if value is not None:
            folder.require_readable(Path(value))
    except folder.SiteError as error:
        raise click.BadParameter(str(error), context, parameter) from None
    return value


gold_option = partial(
    option.text,
    "--gold DIR",
    type=click.Path(),
    callback=_readable_folder,
    help="Folder with a label file for each test file.",
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
    file = folder.site_in(site).password_file
    earlier = file.read_text() if file.is_file() else ""
    folder.write_private(file, f"{earlier}{email}\t{password}\n".encode())
    click.echo(f"Admin: {email}\nThe password is in {file}. Sign in, then delete this file.")


@leaderboard.command
@click.argument("email")
@unconfirmed_option
def admin(site: str, email: str, *, unconfirmed: bool) -> None:
    """Make an account an admin and give it a new random password.

    The account is made if there is none. The password is shown once, as `init` does. The account's tokens,
    second factors and sessions end.

    \b
    Example:
      gluebench leaderboard admin ada@example.org
    """
    commands.open_site(site)
    from gluebench.leaderboard.apps.accounts import trust

    password = trust.make_admin(email, unconfirmed=unconfirmed)
    say_password(site, email, password)


@leaderboard.command
@click.argument("email")
@url_option
def confirm(site: str, email: str, url: str | None) -> None:
    """Vouch for a person: confirm an address and hand over its account.

    Prints a link for a new password, good once and for three days. Give it only to the person whose address
    this is: you vouch for that. The account is made if there is none. Whoever held it until now loses it: its
    password, tokens, second factors and sessions end.

    \b
    Example:
      gluebench leaderboard confirm ada@example.org --url https://board.example.org
    """
    commands.open_site(site)
    from gluebench.leaderboard.apps.accounts import trust

    click.echo(commands.address(site, url) + trust.vouch(email))


@leaderboard.command
@click.argument("email")
@click.argument("benchmark")
@option.flag("--remove", help="Take the role away.")
@unconfirmed_option
def organizer(site: str, email: str, benchmark: str, *, remove: bool, unconfirmed: bool) -> None:
    """Let an account organize a benchmark.

    The account's tokens, second factors and sessions end.

    \b
    Example:
      gluebench leaderboard organizer ada@example.org glue
    """
    commands.open_site(site)
    from gluebench.leaderboard.apps.organizing.acts import set_organizer

    set_organizer(email, benchmark, remove=remove, unconfirmed=unconfirmed)
    click.echo(f"{email} {'no longer organizes' if remove else 'organizes'} {benchmark}.")


@leaderboard.command
@url_option
@option.text("--password EMAIL", help="Instead: a link with which this account gets a new password.")
def links(site: str, url: str | None, password: str | None) -> None:
    """Show the links that a mail server would send: to pass on by hand.

    One for each address that is not confirmed yet, good for a week.

    \b
    Example:
      gluebench leaderboard links --url https://board.example.org
    """
    commands.open_site(site)
    from gluebench.leaderboard.apps.accounts import trust

    root = commands.address(site, url)
    if password is not None:
        click.echo(root + trust.reset_path(trust.account(password)))
        return
    addresses = trust.addresses_to_confirm()
    for address in addresses:
        link = root + trust.confirmation_path(address)
        click.echo(f"{address.email}\t{address.user.date_joined:%Y-%m-%d %H:%M}\t{link}")
    if not addresses:
        click.echo("Every address is confirmed.")
