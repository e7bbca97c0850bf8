"""`gluebench annotate`: a human baseline, from the drawing of examples to the agreement of the annotators."""

from __future__ import annotations

import click

from gluebench.cli.lazy import LazyGroup

COMMANDS = {
    "draw": "gluebench.cli.annotate_draw:draw",
    "score": "gluebench.cli.annotate_score:score",
}


@click.group(cls=LazyGroup, commands_at=COMMANDS)
def annotate() -> None:
    """Make a human baseline on a diagnostic set."""
