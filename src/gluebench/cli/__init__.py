"""The `gluebench` command: one file per command group, each of which parses, calls and prints."""

import os

import click

from gluebench.cli.common.lazy import LazyGroup
from gluebench.version import __version__

# One thread: the matrices here are small, and numpy starts sooner. A value that is set already stays.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

SECTIONS = {
    "Data": {
        "data": "gluebench.cli.data:data",
        "benchmark": "gluebench.cli.benchmark:benchmark",
    },
    "Submissions": {
        "check": "gluebench.cli.submission.check:check",
        "write": "gluebench.cli.submission.check:write",
        "register": "gluebench.cli.submission.register:register",
        "submit": "gluebench.cli.submission.submit:submit",
    },
    "Scores": {
        "grade": "gluebench.cli.scoring.grade:grade",
        "compare": "gluebench.cli.analysis.compare:compare",
        "rank": "gluebench.cli.analysis.rank:rank",
        "read": "gluebench.cli.data.read:read",
        "export": "gluebench.cli.scoring.export:export",
    },
    "Analysis": {
        "diagnose": "gluebench.cli.analysis.diagnose:diagnose",
        "errors": "gluebench.cli.analysis.errors:errors",
        "audit": "gluebench.cli.analysis.audit:audit",
        "challenge": "gluebench.cli.analysis.challenge:challenge",
        "annotate": "gluebench.cli.analysis.annotate:annotate",
    },
    "Models": {
        "run": "gluebench.cli.systems.run:run",
        "questions": "gluebench.cli.systems.questions:questions",
        "encode": "gluebench.cli.systems.probe:encode",
        "probe": "gluebench.cli.systems.probe:probe",
        "train": "gluebench.cli.systems.train:train",
        "sweep": "gluebench.cli.systems.sweep:sweep",
        "results": "gluebench.cli.systems.results:results",
        "reproduce": "gluebench.cli.systems.reproduce:reproduce",
    },
    "Servers": {
        "leaderboard": "gluebench.cli.leaderboard:leaderboard",
        "mcp": "gluebench.cli.mcp:mcp",
    },
}
"""The commands in the order of work, each with its address, under the headings of the help."""
COMMANDS = {name: address for section in SECTIONS.values() for name, address in section.items()}


@click.group(
    cls=LazyGroup,
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
