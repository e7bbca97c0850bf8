"""The help of `gluebench run`: what every run needs first, then names of the options of special models."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import click

ALL = "gluebench.all_options"
"""Key of a context's `meta`: whether the help explains all options."""
_SECTIONS = {
    "Fine-tuning (hf:)": {"hf"},
    "Prompts (api:, causal:)": {"api", "causal", "log"},
}
"""Headings, and the kinds of MODEL that the options below them go with."""
_BOARD = "A leaderboard (with --to)"
_GENERAL = "Options"


class RunCommand(click.Command):
    """A command with `--help-all` beside a short `--help`."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """All parameters, `--help-all` just before `--help`."""
        *params, help_option = super().get_params(ctx)
        help_all = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_all,
            help="Explain all options.",
        )
        return params + [help_all, help_option]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in sections; those of special models by name, unless all are to be explained."""
        titles = [_GENERAL, *_SECTIONS, _BOARD]
        sections: dict[str, list[click.Option]] = {title: [] for title in titles}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option):
                sections[_section(parameter)].append(parameter)
        for title, options in sections.items():
            with formatter.section(title):
                if title == _GENERAL or ctx.meta.get(ALL):
                    rows = [option.get_help_record(ctx) for option in options]
                    formatter.write_dl([row for row in rows if row is not None])
                else:
                    formatter.write(_option_names(options, formatter) + "\n")


def _option_names(options: Sequence[click.Option], formatter: click.HelpFormatter) -> str:
    """The options' names, wrapped between names only: click would break "--max-tokens" at its hyphen."""
    indent = " " * formatter.current_indent
    return textwrap.fill(
        ", ".join(option.opts[-1] for option in options),
        width=formatter.width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )


def _section(option: click.Option) -> str:
    """The heading that the option stands under."""
    name = option.name or ""
    if name.startswith("to_") and name != "to_url":
        return _BOARD
    kinds = set(getattr(option, "kinds", ()))
    for title, models in _SECTIONS.items():
        if kinds and kinds <= models:
            return title
    return _GENERAL


def _print_all(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value and not context.resilient_parsing:
        context.meta[ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()
