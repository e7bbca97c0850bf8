"""`gluebench leaderboard`: set up a site, add a benchmark, serve the site, manage its accounts."""

from __future__ import annotations

import gc
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from gluebench.cli.common import option
from gluebench.cli.common.errors import needs_extra
from gluebench.cli.common.lazy import LazyGroup
from gluebench.leaderboard import commands, folder

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


@leaderboard.command
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
    commands.init(site)
    from gluebench.leaderboard.accounts import trust

    password = trust.first_admin(admin)
    if password is not None:
        say_password(site, admin, password)
    click.echo(f"The site is in {site}. Next: gluebench leaderboard add BENCHMARK --gold DIR --site {site}")


@leaderboard.command
@click.argument("benchmark", metavar="BENCHMARK")
@option.folder("--gold", help="Folder with a label file for each test file.")
@option.flag("--labels-elsewhere", help="Grade on a machine of your own: see `work`.")
@option.file("--policy", help="TOML file with limits and feedback (docs/reference/limits.md).")
@option.folder(
    "--data",
    metavar="FOLDER",
    help="Folder of examples that anybody may download: TASK/train.tsv, dev.tsv, test.tsv.",
)
def add(
    site: str,
    benchmark: str,
    gold: str | None,
    policy: str | None,
    data: str | None,
    *,
    labels_elsewhere: bool,
) -> None:
    """Give the leaderboard a benchmark and its labels.

    BENCHMARK is the name of an installed benchmark or the path of a manifest. Test files of --data are
    refused if they hold labels.

    \b
    Example:
      gluebench leaderboard add glue --gold gold/
      gluebench leaderboard add ./hotels/hotels.toml --gold hotels/gold --data hotels/data
      gluebench leaderboard add glue --gold gold/ --policy policy.toml
      gluebench leaderboard add ./hotels/hotels.toml --labels-elsewhere
    """
    if (gold is None) != labels_elsewhere:
        raise click.UsageError(
            "Give --gold FOLDER, or --labels-elsewhere if only your own machine has the labels."
        )
    name = commands.add(site, benchmark, gold, policy, data)
    click.echo(f"{name} is on the site. Next: gluebench leaderboard serve --site {site}")


@leaderboard.command
@click.argument("benchmark", metavar="BENCHMARK")
@option.file("--file", help="TOML file; a setting that it leaves out gets its usual value.")
@option.repeated(
    "--set",
    "changes",
    metavar="NAME=VALUE",
    callback=option.pairs,
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
    commands.open_site(site)
    from gluebench.leaderboard.limits.acts import set_policy

    for line in set_policy(benchmark, Path(file) if file else None, changes):
        click.echo(line)


@leaderboard.command
@host_option
@port_option
@log_option
def serve(site: str, host: str, port: int) -> None:
    """Serve the leaderboard.

    \b
    Example:
      gluebench leaderboard serve --port 8000
    """
    commands.serve(site, (host, port), change=True)


@leaderboard.command
@host_option
@port_option
def demo(site: str, host: str, port: int) -> None:
    """Serve the sample benchmark with simple systems, an organizer and a team.

    The site is made if it is not there; what is submitted to it is kept.

    \b
    Example:
      gluebench leaderboard demo
    """
    from gluebench.leaderboard.demo import demo as serve_demo

    serve_demo(site, host=host, port=port)


@leaderboard.command
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
    commands.serve(site, (host, port), workers=0)


@leaderboard.command
@log_option
def worker(site: str) -> None:
    """Grade what is submitted to the leaderboard; pages are served elsewhere.

    GLUEBENCH_WORKERS says how many processes grade.

    \b
    Example:
      gluebench leaderboard worker
    """
    commands.serve(site, None)


@leaderboard.command(cls=click.Command)
@click.argument("address", metavar="URL")
@option.folder("--gold", required=True, help="Folder with a label file for each test file.")
@click.option(
    "--token", metavar="TOKEN", envvar="GLUEBENCH_TOKEN", default="", help="Better from GLUEBENCH_TOKEN."
)
def work(address: str, gold: str, token: str) -> None:
    """Grade a benchmark's submissions on this machine, which alone has the labels.

    URL is the address of the benchmark on the site. GLUEBENCH_TOKEN is a token of one of its organizers with
    the right to grade; /account/tokens of the site makes one. Labels never leave this machine. Several
    machines may work at once, and each may stop at any time.

    \b
    Example:
      gluebench leaderboard work https://board.example.org/benchmarks/hotels --gold gold/
    """
    from gluebench.benchmark import load_benchmark
    from gluebench.cli.submission.submit import Destination, connect
    from gluebench.leaderboard.remote_worker import serve
    from gluebench.scoring import read_gold
    from gluebench.submission.client import remote

    benchmark = remote(address)
    read_gold(gold, load_benchmark(benchmark.manifest))  # reports all problems before any work
    client = connect(Destination(benchmark.address.site, token, {}, wait=False, again=False))
    click.echo(f"Grading submissions to {benchmark.address.page}; Ctrl+C stops after the one at work.")
    click.echo(f"{serve(client, benchmark.address.name, Path(gold), click.echo)} graded.")


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
    for check in checks:
        click.echo(f"{'ok   ' if check.ok else 'WRONG'}  {check.name:{width}}  {check.state}")
        if check.fix:
            click.echo(f"{'':{width + 7}}  {check.fix}")
    bad = sum(not check.ok for check in checks)
    click.echo(f"{bad} of {len(checks)} need fixing." if bad else "The site has all it needs.")
    sys.exit(1 if bad else 0)


@leaderboard.command
@click.argument("source", metavar="[SOURCE]", required=False)
@option.file("--checkpoint", help="A checkpoint that you kept: the ledger must go on from it.")
@click.option(
    "--key", metavar="KEY", help="The site's public key, if you know it; usual is the one beside it."
)
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
    "--release-labels",
    "release",
    metavar="BENCHMARK",
    help="Put its labels and the predictions of its public rows in the copy, for everybody.",
)
def freeze(site: str, folder: str, release: tuple[str, ...]) -> None:
    """Copy what visitors see into a folder of static files.

    Any file server shows it, and a browser opens it from the disk. It has the ledger, the exports and a
    signed list of the files, and `verify` checks it.

    \b
    Example:
      gluebench leaderboard freeze glue-2026 --release-labels glue
    """
    commands.open_site(site)
    from gluebench.leaderboard.freeze import freeze as write

    number = write(Path(folder), release)
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
    from gluebench.leaderboard import transfer

    done = transfer.export_site(file, secrets=secrets)
    for problem in done.problems:
        click.echo(f"WRONG  {problem}", err=True)
    if file != "-":
        click.echo(
            f"{file}: {done.files} submitted files and all else, {Path(file).stat().st_size / 1e6:.1f} MB."
        )
    what = "the secret key, passwords from the settings, " if secrets else ""
    click.echo(f"It holds {what}labels and addresses: keep it private.", err=file == "-")
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
    from gluebench.leaderboard import transfer

    prepare = partial(commands.prepare, site, change=True)
    done = transfer.import_site(folder.at(site), file, prepare, replace=replace)
    for problem in done.problems:
        click.echo(f"WRONG  {problem}")
    click.echo(f"{site} is the site of {done.facts['at']}, with {done.files} submitted files. Then run:")
    click.echo(
        f"  gluebench leaderboard init --site {site}\n  gluebench leaderboard doctor --files --site {site}"
    )
    sys.exit(1 if done.problems else 0)


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
def organiser(site: str, email: str, benchmark: str, *, remove: bool, unconfirmed: bool) -> None:
    """Let an account organize a benchmark.

    The account's tokens, second factors and sessions end.

    \b
    Example:
      gluebench leaderboard organiser ada@example.org glue
    """
    commands.open_site(site)
    from gluebench.leaderboard.benchmarks.adding import set_organiser

    set_organiser(email, benchmark, remove=remove, unconfirmed=unconfirmed)
    click.echo(f"{email} {'no longer organises' if remove else 'organises'} {benchmark}.")


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


def say_password(site: str, email: str, password: str) -> None:
    """Show a password once: on a terminal, otherwise in a private file, since a log keeps what is printed."""
    if sys.stdout.isatty():
        click.echo(f"Admin: {email}\nPassword, shown this once: {password}")
        return
    file = folder.at(site).password_file
    earlier = file.read_text() if file.is_file() else ""
    folder.write_private(file, f"{earlier}{email}\t{password}\n".encode())
    click.echo(f"Admin: {email}\nThe password is in {file}. Sign in, then delete this file.")
