"""`gluebench leaderboard`: check a site, freeze it, export and import it."""

import sys
from functools import partial
from pathlib import Path

import click

from gluebench.cli.common import option
from gluebench.cli.leaderboard.group import leaderboard
from gluebench.leaderboard import commands
from gluebench.leaderboard.keeping import folder


@leaderboard.command
@option.flag("--files", help="Also compare every submitted file with its SHA-256.")
@option.flag("--reseal", help="First seal results and log anew, after a new secret key.")
def doctor(site: str, *, files: bool, reseal: bool) -> None:
    """Check all that the leaderboard needs, and say how to fix what is wrong.

    The exit status is 1 if something is wrong. A result, a listed score or a row of the log that was edited
    in the database is named.

    \b
    Example:
      gluebench leaderboard doctor --site my-site
      gluebench leaderboard doctor --files
    """
    checks = commands.doctor(site, files=files, reseal=reseal)
    width = max(len(check.name) for check in checks)
    bad = 0
    for check in checks:
        verdict = "ok   "
        if not check.ok:
            verdict = "WRONG"
            bad += 1
        click.echo(f"{verdict}  {check.name:{width}}  {check.state}")
        if check.fix:
            click.echo(f"{'':{width + 7}}  {check.fix}")
    if bad:
        click.echo(f"{bad} of {len(checks)} need fixing.")
        sys.exit(1)
    click.echo("The site has all it needs.")
    sys.exit(0)


@leaderboard.command
@click.argument("source", metavar="[SOURCE]", required=False)
@option.file("--checkpoint", help="A checkpoint that you kept: the ledger must go on from it.")
@option.text("--key KEY", help="The site's public key, if you know it; usual is the one beside it.")
@option.file("--receipt", help="Check a receipt of a submission; needs --key.")
@option.flag("--recompute", help="Of a frozen copy: grade the released predictions again.")
def verify(
    site: str,
    source: str | None,
    checkpoint: str | None,
    key: str | None,
    receipt: str | None,
    *,
    recompute: bool,
) -> None:
    """Check that nothing of a leaderboard was altered.

    SOURCE is a site (usually --site), a frozen copy, an export, or the address of a site. The exit status
    is 1 if something was altered; all that is wrong is named.

    \b
    Example:
      gluebench leaderboard verify --site my-site
      gluebench leaderboard verify frozen --recompute
      gluebench leaderboard verify https://board.example.org --checkpoint kept.txt
    """
    result = commands.verify(source or site, checkpoint, key, receipt, recompute=recompute)
    for finding in result.findings:
        click.echo(f"WRONG  {finding}")
    if result.findings:
        sys.exit(1)
    click.echo(f"Nothing was altered. {' '.join(result.checked)}")


@leaderboard.command
@click.argument("folder", metavar="FOLDER", type=click.Path(file_okay=False))
@option.repeated(
    "--release-labels BENCHMARK",
    "release",
    help="Put its labels and the predictions of its public rows in the copy, for everybody.",
)
@click.option("--only", metavar="BENCHMARK", help="Copy the pages of this benchmark alone.")
def freeze(site: str, folder: str, release: tuple[str, ...], only: str | None) -> None:
    """Copy what visitors see into a folder of static files.

    Any file server shows it, and a browser opens it from the disk. It has the ledger, the exports and a
    signed list of the files, and `verify` checks it.

    \b
    Example:
      gluebench leaderboard freeze glue-2026 --release-labels glue
      gluebench leaderboard freeze glue-alone --only glue
    """
    commands.open_site(site)
    from gluebench.leaderboard.keeping.freeze import freeze as write

    number = write(Path(folder), release, only=only)
    click.echo(
        f"{folder}: {number} files; begin with index.html. Check it: gluebench leaderboard verify {folder}"
    )


@leaderboard.command
@click.argument("file", metavar="FILE|-", type=click.Path(dir_okay=False))
@option.flag("--secrets", help="Also the secret key, settings, passwords, tokens and sessions: as a backup.")
def export(site: str, file: str, *, secrets: bool) -> None:
    """Write the whole leaderboard into one archive, also while it is served.

    The archive holds every table, submitted files, labels, manifests and pages, each with its checksum, and
    is signed: keep it where only you can read it. With -, it goes to standard output.

    \b
    Example:
      gluebench leaderboard export --secrets board-monday.tar.gz
      gluebench leaderboard export - | ssh archive "cat > board.tar"
    """
    commands.open_site(site)
    from gluebench.leaderboard.keeping import transfer

    done = transfer.export_site(file, secrets=secrets)
    for problem in done.problems:
        click.echo(f"WRONG  {problem}", err=True)
    if file != "-":
        click.echo(
            f"{file}: {done.files} submitted files and all else, {Path(file).stat().st_size / 1e6:.1f} MB."
        )
    content = "labels and addresses"
    if secrets:
        content = f"the secret key, passwords from the settings, {content}"
    click.echo(f"It holds {content}: keep it private.", err=file == "-")
    sys.exit(1 if done.problems else 0)


@leaderboard.command("import")
@click.argument("file", metavar="FILE|-", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@option.flag("--replace", help="Move what is in the folder aside; overwrite the database.")
def import_(site: str, file: str, *, replace: bool) -> None:
    """Make a leaderboard from an export, in a new or empty folder.

    All checksums are verified before anything is written. The database may be another one than before. An
    export without secrets gets a new key, and people set new passwords.

    Stop the site first if it runs.

    \b
    Example:
      gluebench leaderboard import board-monday.tar.gz --site new-site
    """
    from gluebench.leaderboard.keeping import transfer

    prepare = partial(commands.prepare, site, change=True)
    done = transfer.import_site(folder.site_in(site), file, prepare, replace=replace)
    for problem in done.problems:
        click.echo(f"WRONG  {problem}")
    click.echo(f"{site} is the site of {done.facts['at']}, with {done.files} submitted files. Then run:")
    click.echo(
        f"  gluebench leaderboard init --site {site}\n  gluebench leaderboard doctor --files --site {site}"
    )
    sys.exit(1 if done.problems else 0)
