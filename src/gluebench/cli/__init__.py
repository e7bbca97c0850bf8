"""The `gluebench` command: one file per command group, each of which parses, calls and prints."""

import os

import click

from gluebench.cli.common.lazy import LazyGroup
from gluebench.version import __version__

# One thread: the matrices here are small, and numpy starts sooner. A value that is set already stays.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

COMMANDS = {
    "annotate": "gluebench.cli.analysis.annotate:annotate",
    "audit": "gluebench.cli.analysis.audit:audit",
    "benchmark": "gluebench.cli.benchmark:benchmark",
    "challenge": "gluebench.cli.analysis.challenge:challenge",
    "check": "gluebench.cli.submission.check:check",
    "compare": "gluebench.cli.analysis.compare:compare",
    "data": "gluebench.cli.data:data",
    "diagnose": "gluebench.cli.analysis.diagnose:diagnose",
    "encode": "gluebench.cli.systems.probe:encode",
    "errors": "gluebench.cli.analysis.errors:errors",
    "export": "gluebench.cli.scoring.export:export",
    "grade": "gluebench.cli.scoring.grade:grade",
    "leaderboard": "gluebench.cli.leaderboard:leaderboard",
    "mcp": "gluebench.cli.mcp:mcp",
    "probe": "gluebench.cli.systems.probe:probe",
    "rank": "gluebench.cli.analysis.rank:rank",
    "read": "gluebench.cli.data.read:read",
    "reproduce": "gluebench.cli.systems.reproduce:reproduce",
    "results": "gluebench.cli.systems.results:results",
    "run": "gluebench.cli.systems.run:run",
    "submit": "gluebench.cli.submission.submit:submit",
    "sweep": "gluebench.cli.systems.sweep:sweep",
    "train": "gluebench.cli.systems.train:train",
    "write": "gluebench.cli.submission.check:write",
}


SECTIONS = {
    "Data": ["data", "benchmark"],
    "Submissions": ["check", "write", "submit"],
    "Scores": ["grade", "compare", "rank", "read", "export"],
    "Analysis": ["diagnose", "errors", "audit", "challenge", "annotate"],
    "Models": ["run", "encode", "probe", "train", "sweep", "results", "reproduce"],
    "Servers": ["leaderboard", "mcp"],
}
"""The commands in the order of work, under the headings of the help."""


@click.group(
    cls=LazyGroup,
    commands_at=COMMANDS,
    sections=SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=(
        "Exit codes: 0 done (an incomplete submission too), 1 something in your files is wrong, 2 usage. "
        'Completion: eval "$(_GLUEBENCH_COMPLETE=bash_source gluebench)", or zsh_source, fish_source.'
    ),
)
@click.version_option(__version__, prog_name="gluebench")
def main() -> None:
    """Score, compare and host submissions to GLUE and to benchmarks shaped like it."""
