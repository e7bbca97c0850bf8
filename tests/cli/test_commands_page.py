"""The pages of docs/reference/commands are what --help says; GLUEBENCH_WRITE_DOCS=1 writes them again."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import click
from click.testing import CliRunner

from docs.tools import commands
from gluebench.cli import main


def every_command(path: str = "gluebench", command: click.Command = main):
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from every_command(f"{path} {name}", command.get_command(context, name))


def pages_of_a_new_process() -> dict[str, str]:
    """Make the pages where no command has run: one keeps the help options (`-h` or not) of its first call."""
    code = "import json; from docs.tools import commands; print(json.dumps(commands.pages()))"
    root = Path(__file__).resolve().parents[2]
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    pages = json.loads(answer.stdout)
    assert isinstance(pages, dict)
    return pages


def test_the_pages_are_what_the_help_says() -> None:
    if os.environ.get("GLUEBENCH_WRITE_DOCS"):
        commands.write()
    for path, text in pages_of_a_new_process().items():
        assert (commands.REFERENCE / path).read_text() == text, f"{path} is stale: run `make docs`"
    written = {page.name for page in (commands.REFERENCE / "commands").iterdir()}
    assert written == {Path(path).name for path in commands.pages()} - {commands.OVERVIEW}


def test_every_command_is_on_one_page() -> None:
    text = "\n".join(commands.pages().values())
    for path, _ in every_command():
        assert text.count(f"\n## `{path}`\n") == (path != "gluebench"), path


def test_the_help_of_run_is_short_and_names_every_option() -> None:
    short = CliRunner().invoke(main, ["run", "--help"]).output
    long = CliRunner().invoke(main, ["run", "--help-all"]).output
    assert len(short.splitlines()) < 0.6 * len(long.splitlines())
    for path, command in every_command():
        if path == "gluebench run":
            names = [
                parameter.opts[-1] for parameter in command.params if parameter.param_type_name == "option"
            ]
            assert not [name for name in names if name not in short or name not in long]


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
