"""`gluebench reproduce`: the paper's results again, and what it says of them; one file per command."""

from __future__ import annotations

import click

from gluebench.cli.lazy import LazyGroup

COMMANDS = {
    "findings": "gluebench.cli.reproduce_findings:findings",
    "table4": "gluebench.cli.reproduce_tables:table4",
    "table5": "gluebench.cli.reproduce_tables:table5",
    "table6": "gluebench.cli.reproduce_tables:table6",
}
"""Command to its address; each is imported when it is asked for."""


@click.group(cls=LazyGroup, commands_at=COMMANDS)
def reproduce() -> None:
    """Run the paper's baselines again, beside its numbers."""
