"""The reference pages of the commands, from their own help: `python -m docs.tools.commands` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from gluebench.cli import SECTIONS, main
from gluebench.cli.systems.run_help import ALL

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
OVERVIEW = "commands.md"
WIDTH = 100
_GENERATED = "This page is generated: `make docs` writes it again, and a test fails while it differs.\n"


def pages() -> dict[str, str]:
    """Each page as Markdown, by its path below `docs/reference`: the overview, then one for each section."""
    overview = ["# Commands\n"]
    overview.append(f"Every command of `gluebench`, as its `--help` prints it.\n{_GENERATED}")
    overview.append(f"```text\n{_help('gluebench', main)}\n```\n")
    by_path = {}
    for title, names in SECTIONS.items():
        page = f"commands/{title.lower()}.md"
        links = ", ".join(f"[{name}]({page}#gluebench-{name})" for name in names)
        overview.append(f"- **{title}**: {links}")
        parts = [f"# Commands: {title.lower()}\n\n[All commands](../{OVERVIEW}). {_GENERATED}"]
        for name in names:
            command = main.get_command(click.Context(main), name)
            if command is None:
                raise LookupError(f"{name} is in a section, and no command")
            for path, inner in _walk(f"gluebench {name}", command):
                parts.append(f"## `{path}`\n\n```text\n{_help(path, inner)}\n```\n")
        by_path[page] = "\n".join(parts)
    return {OVERVIEW: "\n".join(overview) + "\n", **by_path}


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
    context.meta[ALL] = True
    text = command.get_help(context)
    return "\n".join(line.rstrip() for line in text.splitlines())


def write() -> None:
    """Write all pages."""
    for path, text in pages().items():
        page = REFERENCE / path
        page.parent.mkdir(exist_ok=True)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
