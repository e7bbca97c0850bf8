"""`gluebench leaderboard admin`, `organiser` and `links`: people, where there is no page for it yet."""

from __future__ import annotations

import click

from gluebench.cli.leaderboard import room, site_option


@click.command
@site_option
@click.argument("email")
def admin(site: str, email: str) -> None:
    """Make an account an admin and give it a new random password.

    The account is made if there is none. The password is shown this once.

    \b
    Example:
      gluebench leaderboard admin ada@example.org
    """
    with room() as commands:
        password = commands.make_admin(site, email)
    say_password(email, password)


@click.command
@site_option
@click.argument("email")
@click.argument("benchmark")
@click.option("--remove", is_flag=True, help="Take the role away.")
def organiser(site: str, email: str, benchmark: str, *, remove: bool) -> None:
    """Let an account organise a benchmark.

    \b
    Example:
      gluebench leaderboard organiser ada@example.org glue
    """
    with room() as commands:
        commands.set_organiser(site, email, benchmark, remove=remove)
    click.echo(f"{email} {'no longer organises' if remove else 'organises'} {benchmark}.")


@click.command
@site_option
@click.option(
    "--url",
    metavar="URL",
    default="http://127.0.0.1:8000",
    show_default=True,
    help="How people reach the site; the links begin with it.",
)
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


def say_password(email: str, password: str) -> None:
    """Show a password, once."""
    click.echo(f"Admin: {email}\nPassword, shown this once: {password}")
