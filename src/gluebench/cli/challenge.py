"""`gluebench challenge`: examples made by rule, and what a system makes of them; one file per command."""

from __future__ import annotations

import click

from gluebench.cli.lazy import LazyGroup

COMMANDS: dict[str, str] = {
    "perturb": "gluebench.cli.challenge_perturb:perturb",
    "predict": "gluebench.cli.challenge_predict:predict",
    "score": "gluebench.cli.challenge_score:score",
    "shortcuts": "gluebench.cli.challenge_shortcuts:shortcuts",
}
"""Command to its address; each is imported when it is asked for."""


@click.group(cls=LazyGroup, commands_at=COMMANDS)
def challenge() -> None:
    """Make examples by rule, ask a system, and keep what it fails.

    \b
    Example:
      gluebench challenge perturb --data data/ --task RTE --split dev --out changed.tsv
      gluebench challenge predict changed.tsv system:bag-of-words --data data/ --out answers.tsv
      gluebench challenge score changed.tsv answers.tsv --keep diagnostic.tsv
    """
