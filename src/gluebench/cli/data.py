"""`gluebench data`: get the examples, build them anew, check and read them; one file per command."""

from __future__ import annotations

import click

from gluebench.cli.lazy import LazyGroup

COMMANDS: dict[str, str] = {
    "build": "gluebench.cli.data_build:build",
    "get": "gluebench.cli.data_get:get",
    "lint-diagnostic": "gluebench.cli.data_lint_diagnostic:lint_diagnostic",
    "show": "gluebench.cli.data_show:show",
    "stats": "gluebench.cli.data_stats:stats",
    "verify": "gluebench.cli.data_verify:verify",
}
"""Command to its address; each is imported when it is asked for."""


@click.group(cls=LazyGroup, commands_at=COMMANDS)
def data() -> None:
    """Get, build, check and read the examples of a benchmark."""
