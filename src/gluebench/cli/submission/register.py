"""`gluebench register`: accept the rules of a benchmark on a leaderboard, and register for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from gluebench.benchmark.tables import to_json
from gluebench.cli.common import option
from gluebench.cli.submission.submit import Destination, connect, name_there

VERSION_LENGTH = 8
"""Characters of a version of the rules that tell it apart."""


@click.command
@option.text("--to URL", "url", required=True, help="Address of the leaderboard.")
@option.text("--benchmark NAME|URL", type=option.BenchmarkName(), help="Where the leaderboard has several.")
@option.text(
    "--token TOKEN",
    envvar="GLUEBENCH_TOKEN",
    default="",
    help="Yours, from its page /account/tokens; better from GLUEBENCH_TOKEN than from here.",
)
@option.text("--accept VERSION", help="Accept the rules: their version, as this command prints it.")
@option.text("--name NAME", default="", help="Your name, for organizers and your team.")
@option.text("--affiliation TEXT", default="", help="Your affiliation, for organizers.")
@option.flag("--consent", help="Agree to the text that this command prints.")
@option.text("--code CODE", default="", help="That of an invitation: the last part of its link.")
@option.flag("--json", "as_json", help="Print JSON.")
def register(
    url: str, benchmark: str | None, token: str, accept: str | None, as_json: bool, **given: Any
) -> None:
    """Register for a benchmark of a leaderboard, or read its rules.

    Without --accept it prints the rules, what they ask for, and whether you may submit. Nothing changes then.

    \b
    Example:
      gluebench register --to https://board.example.org
      gluebench register --to https://board.example.org --accept 3f2a9c01 --affiliation "Example University"
    """
    client = connect(Destination(url, token, {}, wait=False, again=False))
    if benchmark is not None and "/" not in benchmark and not benchmark.endswith(".toml"):
        name = benchmark  # its list of benchmarks leaves out one for participants alone
    else:
        name = name_there(client, benchmark)
    facts = client.registration(name, given["code"])
    if accept is not None:
        version = str(facts["version"])
        if len(accept) < VERSION_LENGTH or not version.startswith(accept):
            raise click.UsageError(
                f"--accept {accept}: the rules now have version {version[:VERSION_LENGTH]}. "
                "Read them first: the same command without --accept prints them."
            )
        facts = client.register(name, {"version": version, **given})
    if as_json:
        click.echo(to_json(facts), nl=False)
    elif accept is None:
        click.echo("\n".join(_rules_and_questions(facts)))
    else:
        click.echo(facts["done"])


def _rules_and_questions(facts: Mapping[str, Any]) -> list[str]:
    """The rules, where the person stands, and the options that registering needs."""
    lines = [facts["rules"].strip(), ""]
    asks, version = facts["asks"], facts["version"][:VERSION_LENGTH]
    options = [f"--accept {version}"]
    if asks["name"]:
        options.append("--name NAME")
    if asks["affiliation"]:
        options.append("--affiliation TEXT")
    if asks["consent"]:
        lines += [f"You agree with --consent: {asks['consent']}", ""]
        options.append("--consent")
    if facts["registration"] == "invitation" and facts["standing"] != "accepted":
        options.append("--code CODE")
    if facts["registration"] == "approval" and facts["standing"] is None:
        lines.append("An organizer approves each registration.")
    lines.append(facts["obstacle"] or f"You may submit to {facts['benchmark']}.")
    if facts["obstacle"] or not facts["accepted"]:
        lines.append(f"To accept these rules, add: {' '.join(options)}")
    return lines
