"""docs/reference/commands.md is what --help says; run with GLUEBENCH_WRITE_DOCS=1 to write it again."""

from __future__ import annotations

import inspect
import os
from pathlib import Path

import click

from docs.tools import commands
from gluebench.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "commands.md"


def every_command(path: str = "gluebench", command: click.Command = main):
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from every_command(f"{path} {name}", command.get_command(context, name))


def test_the_page_is_what_the_help_says() -> None:
    if os.environ.get("GLUEBENCH_WRITE_DOCS"):
        PAGE.write_text(commands.page())
    assert PAGE.read_text() == commands.page(), "stale: run `make docs`"


def test_every_command_is_on_the_page() -> None:
    text = PAGE.read_text()
    for path, _ in every_command():
        assert f"## `{path}`" in text


def test_every_command_has_one_line_of_help_and_an_example() -> None:
    for path, command in every_command():
        text = inspect.cleandoc(command.help or "")
        first = text.split("\n\n")[0]
        assert first.endswith("."), path
        assert len(first) <= 78, path
        if not isinstance(command, click.Group):
            assert f"Example:\n  {path} " in text or f"Example:\n  {path}\n" in f"{text}\n", path


def test_every_option_is_explained() -> None:
    for path, command in every_command():
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{path} {parameter.opts}"
