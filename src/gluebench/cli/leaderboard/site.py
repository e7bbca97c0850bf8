"""`gluebench leaderboard`: set up a site, add a benchmark, serve the site, grade elsewhere."""

from pathlib import Path

import click

from gluebench.benchmark import load_benchmark
from gluebench.cli.common import option
from gluebench.cli.leaderboard.group import (
    gold_option,
    host_option,
    leaderboard,
    log_option,
    port_option,
    say_password,
)
from gluebench.leaderboard import commands


@leaderboard.command
@option.text("--admin EMAIL", default="admin@localhost", help="Address that the first admin signs in with.")
def init(site: str, admin: str) -> None:
    """Set up a leaderboard in a new folder, with a first admin.

    The admin's random password is shown once: on a terminal, otherwise in a file that only this account can
    read, whose path is printed. If the site has an admin already, no other is made.

    \b
    Example:
      gluebench leaderboard init --site my-site --admin ada@example.org
    """
    commands.init(site)
    from gluebench.leaderboard.apps.accounts import trust

    password = trust.first_admin(admin)
    if password is not None:
        say_password(site, admin, password)
    click.echo(f"The site is in {site}. Next: gluebench leaderboard add BENCHMARK --gold DIR --site {site}")


@leaderboard.command
@click.argument("benchmark", metavar="BENCHMARK")
@gold_option()
@option.flag("--labels-elsewhere", help="Grade on a machine of your own: see `work`.")
@option.file("--policy", help="TOML file with limits and feedback (docs/reference/limits.md).")
@option.folder(
    "--data FOLDER", help="Folder of examples that anybody may download: TASK/train.tsv, dev.tsv, test.tsv."
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
    if exact := load_benchmark(benchmark).exact_scores:
        click.echo(exact)
    click.echo(f"{name} is on the site. Next: gluebench leaderboard serve --site {site}")


@leaderboard.command
@click.argument("benchmark", metavar="BENCHMARK")
@option.file("--file", help="TOML file; a setting that it leaves out gets its usual value.")
@option.repeated(
    "--set NAME=VALUE",
    "changes",
    callback=option.pairs,
    help="One setting, any number of times; none for no limit.",
)
def policy(site: str, benchmark: str, file: str | None, changes: dict[str, str]) -> None:
    """Show or change a benchmark's limits, feedback and phases.

    Without --file and --set, it prints the policy and the phases as they are, as a TOML file.

    \b
    Example:
      gluebench leaderboard policy glue --set per_day=1 --set per=team
      gluebench leaderboard policy glue > policy.toml
    """
    commands.open_site(site)
    from gluebench.leaderboard.apps.benchmarks.policy import read_policy
    from gluebench.leaderboard.apps.limits.acts import set_policy

    policy_file = read_policy(Path(file)) if file else None
    for line in set_policy(benchmark, policy_file, changes):
        click.echo(line)


@leaderboard.command
@click.argument("benchmark", metavar="BENCHMARK")
@click.argument("phase", metavar="PHASE")
@option.text("--reason TEXT", required=True, help="Why; kept in the log.")
def settle(site: str, benchmark: str, phase: str, reason: str) -> None:
    """Show the results of a phase although submissions wait to be graded.

    Results wait until everything that may count is graded. What is graded later counts by the same rule.

    \b
    Example:
      gluebench leaderboard settle glue Test --reason "The machine with the labels is broken."
    """
    commands.settle(site, benchmark, phase, reason)
    click.echo(f"The results of {phase} do not wait any more.")


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
@gold_option(required=True)
@option.text("--token TOKEN", envvar="GLUEBENCH_TOKEN", default="", help="Better from GLUEBENCH_TOKEN.")
def work(address: str, gold: str, token: str) -> None:
    """Grade a benchmark's submissions on this machine, which alone has the labels.

    URL is the address of the benchmark on the site. GLUEBENCH_TOKEN is a token of one of its organizers with
    the right to grade; /account/tokens of the site makes one. Labels never leave this machine. Several
    machines may work at once, and each may stop at any time.

    \b
    Example:
      gluebench leaderboard work https://board.example.org/benchmarks/hotels --gold gold/
    """
    from gluebench.cli.submission.submit import Destination, connect
    from gluebench.leaderboard.serving.remote_worker import serve
    from gluebench.scoring import read_gold
    from gluebench.submission.client import remote

    benchmark = remote(address, token=token)
    read_gold(gold, load_benchmark(benchmark.manifest))  # reports all problems before any work
    client = connect(Destination(benchmark.address.site, token, {}, wait=False, again=False))
    click.echo(f"Grading submissions to {benchmark.address.page}; Ctrl+C stops after the one at work.")
    click.echo(f"{serve(client, benchmark.address.name, Path(gold), click.echo)} graded.")
