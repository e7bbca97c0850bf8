"""`gluebench leaderboard web | worker | doctor | backup | restore`: how an operator runs a site."""

from __future__ import annotations

import sys

import click

from gluebench.cli.leaderboard import host_option, log_option, port_option, room, site_option


@click.command
@site_option
@host_option
@port_option
@log_option
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
@log_option
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
@click.option("--files", is_flag=True, help="Also compare every submitted file with its SHA-256.")
@click.option("--reseal", is_flag=True, help="First seal results and log anew, after a new secret key.")
def doctor(site: str, *, files: bool, reseal: bool) -> None:
    """Check all that the leaderboard needs, and say how to fix what is wrong.

    The exit status is 1 if something is wrong. A result, a listed score or a row of the log that was edited
    in the database is named.

    \b
    Example:
      gluebench leaderboard doctor --site my-site
      gluebench leaderboard doctor --files
    """
    with room() as commands:
        findings = commands.doctor(site, files=files, reseal=reseal)
    width = max(len(each.what) for each in findings)
    for each in findings:
        click.echo(f"{'ok   ' if each.ok else 'WRONG'}  {each.what:{width}}  {each.found}")
        if each.mend:
            click.echo(f"{'':{width + 7}}  {each.mend}")
    bad = sum(not each.ok for each in findings)
    click.echo(f"{bad} of {len(findings)} need mending." if bad else "The site has all it needs.")
    sys.exit(1 if bad else 0)


@click.command
@site_option
@click.argument("file", metavar="FILE", type=click.Path(dir_okay=False))
def backup(site: str, file: str) -> None:
    """Write the whole leaderboard into one archive, also while it is served.

    The archive holds the database, submitted files, labels, manifests, pages, settings and the secret key:
    keep it where only you can read it.

    \b
    Example:
      gluebench leaderboard backup board-monday.tar.gz
    """
    with room() as commands:
        made = commands.backup(site, file)
    for problem in made.problems:
        click.echo(f"WRONG  {problem}")
    click.echo(f"{file}: {made.files} submitted files and all else, {made.size / 1e6:.1f} MB.")
    click.echo("It holds the secret key, passwords from the settings, labels and addresses: keep it private.")
    sys.exit(1 if made.problems else 0)


@click.command
@site_option
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.option("--replace", is_flag=True, help="Move what is in the folder aside; overwrite the database.")
def restore(site: str, file: str, *, replace: bool) -> None:
    """Make a leaderboard from a backup, in a new or empty folder.

    All checksums of the backup are verified before anything is written.

    Stop the site first if it runs.

    \b
    Example:
      gluebench leaderboard restore board-monday.tar.gz --site new-site
    """
    with room() as commands:
        done = commands.restore(site, file, replace=replace)
    click.echo(f"{site} is the site of {done.about['at']}, with {done.files} submitted files.")
    click.echo(f"Compare {site}/settings.env, its settings there, with the settings here. Then run:")
    click.echo(
        f"  gluebench leaderboard init --site {site}\n  gluebench leaderboard doctor --files --site {site}"
    )
