"""`gluebench leaderboard web | worker | doctor`: parts of a site on machines of their own, and its health."""

from __future__ import annotations

import sys

import click

from gluebench.cli.leaderboard import host_option, port_option, room, site_option


@click.command
@site_option
@host_option
@port_option
def web(site: str, host: str, port: int) -> None:
    """Serve the leaderboard's pages only; workers run elsewhere.

    GLUEBENCH_WEB says how many processes answer.

    \b
    Example:
      gluebench leaderboard web --host 0.0.0.0 --port 8000
    """
    with room() as commands:
        commands.web(site, host=host, port=port)


@click.command
@site_option
def worker(site: str) -> None:
    """Grade what is submitted to the leaderboard; pages are served elsewhere.

    GLUEBENCH_WORKERS says how many processes grade.

    \b
    Example:
      gluebench leaderboard worker
    """
    with room() as commands:
        commands.worker(site)


@click.command
@site_option
def doctor(site: str) -> None:
    """Look at all that the leaderboard needs, and say how to mend what is wrong.

    The exit status is 1 when something is.

    \b
    Example:
      gluebench leaderboard doctor --site my-site
    """
    with room() as commands:
        findings = commands.doctor(site)
    width = max(len(each.what) for each in findings)
    for each in findings:
        click.echo(f"{'ok   ' if each.ok else 'WRONG'}  {each.what:{width}}  {each.found}")
        if each.mend:
            click.echo(f"{'':{width + 7}}  {each.mend}")
    bad = sum(not each.ok for each in findings)
    click.echo(f"{bad} of {len(findings)} need mending." if bad else "The site has all it needs.")
    sys.exit(1 if bad else 0)
