"""The reference page of the commands, from their own help: `python -m docs.tools.commands`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from gluebench.cli import main

WIDTH = 100
_INTRODUCTION = """# Commands

Every command of `gluebench` as its `--help` prints it. This page is generated: `make docs` writes it
again, and a test fails while it differs.
"""


def page() -> str:
    """The page as Markdown."""
    parts = [_INTRODUCTION]
    for path, command in _walk("gluebench", main):
        parts.append(f"## `{path}`\n\n```text\n{_help(path, command)}\n```\n")
    return "\n".join(parts)


def _walk(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """The command and all below it, each with the words one types."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _walk(f"{path} {name}", inner)


def _help(path: str, command: click.Command) -> str:
    context = click.Context(command, info_name=path, terminal_width=WIDTH, help_option_names=["-h", "--help"])
    text = command.get_help(context)
    return "\n".join(line.rstrip() for line in text.splitlines())


if __name__ == "__main__":
    print(page(), end="")
