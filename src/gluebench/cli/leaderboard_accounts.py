"""`gluebench leaderboard admin | confirm | organiser | links`: people, where there is no page for it."""

from __future__ import annotations

import sys

import click

from gluebench.cli.leaderboard import room, site_option

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


@click.command
@site_option
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
    with room() as commands:
        password = commands.make_admin(site, email, unconfirmed=unconfirmed)
    say_password(site, email, password)


@click.command
@site_option
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
    with room() as commands:
        click.echo(url.rstrip("/") + commands.vouch(site, email))


@click.command
@site_option
@click.argument("email")
@click.argument("benchmark")
@click.option("--remove", is_flag=True, help="Take the role away.")
@unconfirmed_option
def organiser(site: str, email: str, benchmark: str, *, remove: bool, unconfirmed: bool) -> None:
    """Let an account organise a benchmark.

    The account's tokens, second factors and sessions end.

    \b
    Example:
      gluebench leaderboard organiser ada@example.org glue
    """
    with room() as commands:
        commands.set_organiser(site, email, benchmark, remove=remove, unconfirmed=unconfirmed)
    click.echo(f"{email} {'no longer organises' if remove else 'organises'} {benchmark}.")


@click.command
@site_option
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
    url = url.rstrip("/")
    with room() as commands:
        if password is not None:
            click.echo(url + commands.password_link(site, password))
            return
        pending = commands.pending_links(site)
    for link in pending:
        click.echo(f"{link.email}\t{link.asked:%Y-%m-%d %H:%M}\t{url}{link.path}")
    if not pending:
        click.echo("Every address is confirmed.")


def say_password(site: str, email: str, password: str) -> None:
    """Show a password once: on a terminal, otherwise in a private file, since a log keeps what is printed."""
    if sys.stdout.isatty():
        click.echo(f"Admin: {email}\nPassword, shown this once: {password}")
        return
    from gluebench.leaderboard import folder

    file = folder.at(site).password_file
    before = file.read_text() if file.is_file() else ""
    folder.write_private(file, f"{before}{email}\t{password}\n".encode())
    click.echo(f"Admin: {email}\nThe password is in {file}. Sign in, then delete this file.")
