"""`gluebench mcp`: an MCP server, by which an assistant checks, grades, compares and submits."""

from pathlib import Path
from typing import Any

import click

from gluebench.benchmark import Benchmark, installed, load_benchmark
from gluebench.cli.common import option

_GOLD = "Labels of a benchmark, to grade with; they are never shown."
_MORE = "A benchmark besides the installed ones."


@click.command
@option.folder("--folder", "folders", multiple=True, required=True, help="Where submissions are.")
@option.repeated("--benchmark FILE|URL", "suites", type=option.LoadedBenchmark(), help=_MORE)
@option.settings("--gold NAME=DIR", help=_GOLD)
@option.text("--to URL", "url", help="A leaderboard, whose tools are then offered too.")
@click.option("--token", envvar="GLUEBENCH_TOKEN", default="", help="Better from GLUEBENCH_TOKEN.")
@option.number("--budget", default=1, help="Submissions it may send, each after a confirmation.")
def mcp(folders: tuple[str, ...], suites: tuple[Benchmark, ...], gold: dict[str, str], **to: Any) -> None:
    """Serve tools to an assistant by the Model Context Protocol, on standard input.

    The tools list and describe benchmarks, check submissions, and grade, compare and rank them with local
    labels. With --to, they also read a board, show limits, rules and states, register and submit. They read
    files of the --folder options alone.

    \b
    Example:
      gluebench mcp --folder runs
      gluebench mcp --folder runs --gold glue=gold --to https://board.example.org --budget 2
    """
    from gluebench.cli.mcp.server import Local, serve

    known = {}
    for name in installed():
        suite = load_benchmark(name)
        known[suite.name] = suite
    for suite in suites:
        known[suite.name] = suite
    for name, folder in gold.items():
        if name not in known or not Path(folder).is_dir():
            expected = "expected a benchmark and a folder, as glue=gold."
            raise click.BadParameter(f"{name}={folder}: {expected}", param_hint="--gold")
    labels = {name: Path(folder).resolve() for name, folder in gold.items()}
    serve(Local([Path(folder).resolve() for folder in folders], known, labels), **to)
