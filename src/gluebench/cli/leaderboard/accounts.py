"""`gluebench leaderboard`: admins, organizers, confirmation of addresses, links."""

from __future__ import annotations

import click

from gluebench.cli.common import option
from gluebench.cli.leaderboard.group import (
    leaderboard,
    say_password,
    unconfirmed_option,
    url_option,
)
from gluebench.leaderboard import commands


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
    from gluebench.leaderboard.accounts import trust

    password = trust.make_admin(email, unconfirmed=unconfirmed)
    say_password(site, email, password)


@leaderboard.command
@click.argument("email")
@url_option
def confirm(site: str, email: str, url: str) -> None:
    """Vouch for a person: confirm an address and hand over its account.

    Prints a link for a new password, good once and for three days. Give it only to the person whose address
    this is: you vouch for that. The account is made if there is none. Whoever held it until now loses it: its
    password, tokens, second factors and sessions end.

    \b
    Example:
      gluebench leaderboard confirm ada@example.org --url https://board.example.org
    """
    commands.open_site(site)
    from gluebench.leaderboard.accounts import trust

    click.echo(url.rstrip("/") + trust.vouch(email))


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
    from gluebench.leaderboard.benchmarks.adding import set_organizer

    set_organizer(email, benchmark, remove=remove, unconfirmed=unconfirmed)
    click.echo(f"{email} {'no longer organizes' if remove else 'organizes'} {benchmark}.")


@leaderboard.command
@url_option
@click.option(
    "--password", metavar="EMAIL", help="Instead: a link with which this account gets a new password."
)
def links(site: str, url: str, password: str | None) -> None:
    """Show the links that a mail server would send: to pass on by hand.

    One for each address that nobody has confirmed yet, good for a week.

    \b
    Example:
      gluebench leaderboard links --url https://board.example.org
    """
    commands.open_site(site)
    from gluebench.leaderboard.accounts import trust

    url = url.rstrip("/")
    if password is not None:
        click.echo(url + trust.reset_path(trust.account(password)))
        return
    addresses = trust.unconfirmed()
    for address in addresses:
        link = url + trust.confirmation_path(address)
        click.echo(f"{address.email}\t{address.user.date_joined:%Y-%m-%d %H:%M}\t{link}")
    if not addresses:
        click.echo("Every address is confirmed.")
