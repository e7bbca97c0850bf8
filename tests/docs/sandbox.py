"""A folder in which the commands and the Python of a page run as they stand there.

python -m docs.sandbox TEMPLATE HOME < BLOCKS    the blocks, as JSON, with what this Python has installed
"""

from __future__ import annotations

import ast
import glob
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any
from unittest import mock

import click
from click.testing import CliRunner
from docs.blocks import Block, is_script, lines, words
from outside import environment

import gluebench
from gluebench.benchmark import Task, load_benchmark
from gluebench.cli import main
from gluebench.data.recipes import RECIPES, recipe

ROOT = Path(__file__).resolve().parents[2]
SOURCE = str(Path(gluebench.__file__).resolve().parents[1])
"""Where the gluebench is that the blocks use."""
TASKS = ("CoLA", "MRPC", "STS-B", "RTE", "WNLI", "AX")
"""The small tasks of GLUE, with all splits; of the others the sandbox has the dev splits alone."""
RUNS = [f"{system}/run{seed}" for system in ("ours", "theirs", "base") for seed in (1, 2, 3)]
PART = """
[benchmark]
name = "mine"
extends = "glue"
tasks = ["CoLA", "MRPC", "STS-B", "RTE", "WNLI", "AX"]
"""
IN_OWN_PROCESS = ("leaderboard", "submit")
"""Commands that set up Django, which a process does once."""
VOCABULARY = [
    "the",
    "a",
    "cat",
    "dog",
    "rain",
    "house",
    "reads",
    "sees",
    "likes",
    "old",
    "small",
    "blue",
    "river",
    "it",
    "was",
    "not",
    "every",
]
WITHOUT_FILES = (click.Choice, click.types.IntParamType, click.types.FloatParamType)
"""Types of options whose values are checked without running the command."""
MODEL = """
class Model:
    def predict(self, task, examples):
        return [task.words[0] if task.labels else 2.5 for _ in examples]
"""


class BlockError(Exception):
    """A block that does not do what its page says."""


def make_template(folder: Path) -> None:
    """Write what pages take for granted: made-up examples of GLUE with predictions, and the sample."""
    rng = random.Random(7)
    glue = load_benchmark("glue")
    (folder / "gold").mkdir(parents=True)
    labels: dict[str, dict[str, list[str]]] = {"test": {}, "dev": {}}
    for task in glue.tasks:
        small = task.name in TASKS
        for split in task.splits.values():
            if small or split.name.startswith("dev"):
                answers = [_answer(task, rng) for _ in range(split.size)]
                _write_examples(folder / "data/glue" / task.name / split.file, task, answers, rng)
                if small and split.name != "train":
                    labels["dev" if split.name == "dev" else "test"][task.name] = answers
    for name, answers in labels["test"].items():
        _write_table(folder / "gold" / f"{name}.tsv", "label", answers)
    _write_tags(folder / "gold", glue.task("AX"), len(labels["test"]["AX"]), rng)
    for name in ("submission", "mine", "theirs", "ours", "a", "b", "c", *RUNS):
        _write_zip(folder / f"{name}.zip", _predicted(glue.tasks, labels["test"], rng))
    for name in ("dev/mine", "dev/ours", "dev/theirs", "runs/a", "runs/b", "runs/c"):
        _write_zip(folder / f"{name}.zip", _predicted(glue.tasks, labels["dev"], rng))
    for role, place in (("test", "predictions"), ("dev", "dev-predictions")):
        for name, answers in _predicted(glue.tasks, labels[role], rng).items():
            _write_table(folder / place / f"{name}.tsv", "prediction", answers)
    CliRunner().invoke(main, ["data", "get", "sample", "--to", str(folder / "data")], catch_exceptions=False)
    (folder / "mymodel.py").write_text(MODEL)
    (folder / "my-benchmark.toml").write_text(PART)


def _answer(task: Task, rng: random.Random) -> str:
    return rng.choice(task.words) if task.labels else f"{rng.uniform(0, 5):.1f}"


def _predicted(
    tasks: Iterable[Task], labels: Mapping[str, list[str]], rng: random.Random
) -> dict[str, list[str]]:
    """Predictions of which four in five are right."""
    known = {task.name: task for task in tasks}
    return {
        name: [label if rng.random() < 0.8 else _answer(known[name], rng) for label in answers]
        for name, answers in labels.items()
    }


def _write_table(path: Path, column: str, values: Iterable[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(_table(column, values))


def _table(column: str, values: Iterable[str]) -> str:
    return f"index\t{column}\n" + "".join(f"{index}\t{value}\n" for index, value in enumerate(values))


def _write_zip(path: Path, columns: Mapping[str, list[str]]) -> None:
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in columns.items():
            archive.writestr(f"{name}.tsv", _table("prediction", values))


def _write_examples(path: Path, task: Task, labels: list[str], rng: random.Random) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ["\t".join(["index", *task.columns, "label"])]
    for index, label in enumerate(labels):
        texts = [" ".join(rng.choices(VOCABULARY, k=6)) for _ in task.columns]
        rows.append("\t".join([str(index), *texts, label]))
    path.write_text("\n".join(rows) + "\n")


def _write_tags(gold: Path, task: Task, size: int, rng: random.Random) -> None:
    tagged = [rng.choice(task.phenomena) for _ in range(size)]
    rows = "".join(f"{index}\t{tag.coarse}\t{tag.name}\n" for index, tag in enumerate(tagged))
    (gold / "AX.phenomena.tsv").write_text(f"index\tcoarse\tfine\n{rows}")
    sides = ("forward", "backward")
    rows = "".join(f"{index}\t{index // 2}\t{sides[index % 2]}\tnews\n" for index in range(size))
    (gold / "AX.metadata.tsv").write_text(f"index\tgroup\tdirection\tdomain\n{rows}")


class Sandbox:
    """A copy of the template for one page, with what its Python has defined so far."""

    def __init__(self, template: Path, home: Path) -> None:
        shutil.copytree(template, home, copy_function=os.link)
        self.home = home
        self.names: dict[str, Any] = {"__name__": "page"}
        with zipfile.ZipFile(home / "mine.zip") as archive:
            rows = archive.read("MRPC.tsv").decode().splitlines()[1:]
        self.names["predictions"] = [row.split("\t")[1] for row in rows]

    def run(self, block: Block) -> None:
        """Run a block, or check what can be checked of one that is marked. Raises BlockError."""
        if block.kind == "python":
            self._run_python(block)
        elif block.kind == "toml":
            tomllib.loads(block.text)
        elif block.kind == "sh":
            self._run_commands(block)

    def _run_python(self, block: Block) -> None:
        name = re.match(r"# ([\w-]+\.py)\n", block.text)
        if name:
            (self.home / name[1]).write_text(block.text)
        tree = ast.parse(block.text)
        if block.not_run:  # names that it imports must exist all the same
            tree.body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        try:
            exec(compile(tree, block.place, "exec"), self.names)
        except Exception as error:
            missing = error.name or "" if isinstance(error, ModuleNotFoundError) else "gluebench"
            if block.not_run and not missing.startswith("gluebench"):
                return  # another library, which is not installed here
            raise BlockError(f"{block.place}: {type(error).__name__}: {error}") from error

    def _run_commands(self, block: Block) -> None:
        if is_script(block.text) and not block.not_run:
            self._run_process(block, ["bash", "-euo", "pipefail", "-c", block.text], block.status)
            return
        commands = lines(block.text)
        for place, line in enumerate(commands):
            skipped = bool(block.not_run) and bool(re.search(block.word, line))
            self._run_command(block, line, block.status * (place == len(commands) - 1), skipped=skipped)

    def _run_command(self, block: Block, line: str, status: int, *, skipped: bool) -> None:
        program, *arguments = words(line)
        if program == "pip":
            check_extras(block, line)
        elif program == "make":
            check_target(block, arguments[0])
        elif program == "export":
            os.environ.update([arguments[0].split("=", 1)])
        elif program != "gluebench":
            if not skipped:
                self._run_process(block, ["bash", "-c", line], status)
        elif skipped:
            check_options(block, line, arguments)
        elif arguments[0] in IN_OWN_PROCESS:
            self._run_process(block, [sys.executable, "-m", "gluebench", *arguments], status)
        else:
            self._run_here(block, line, arguments, status)

    def _run_here(self, block: Block, line: str, arguments: list[str], status: int) -> None:
        expanded = [word for argument in arguments for word in sorted(glob.glob(argument)) or [argument]]
        result = CliRunner().invoke(main, expanded, prog_name="gluebench")
        if result.exit_code != status or (result.exception and not isinstance(result.exception, SystemExit)):
            raise BlockError(
                f"{block.place}: {line}: exit status {result.exit_code}, expected {status}: "
                f"{result.output[-600:]} {result.exception or ''}"
            )

    def _run_process(self, block: Block, command: list[str], status: int) -> None:
        tool = self.home / ".bin/gluebench"
        tool.parent.mkdir(exist_ok=True)
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gluebench "$@"\n')
        tool.chmod(0o755)
        paths = {
            "PATH": os.pathsep.join([str(tool.parent), os.environ["PATH"]]),
            "PYTHONPATH": os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")]),
        }
        done = subprocess.run(
            command, cwd=self.home, env=environment(**paths), capture_output=True, text=True, timeout=300
        )
        if done.returncode != status:
            raise BlockError(
                f"{block.place}: exit status {done.returncode}: {done.stdout[-300:]} {done.stderr[-600:]}"
            )


def follow(page: Iterable[Block], template: Path, home: Path, *, slow: bool) -> list[str]:
    """What is wrong with a page's blocks, run in order in a sandbox of their own; `slow` ones too."""
    sandbox = Sandbox(template, home)
    for name in ("mine", "mymodel"):
        sys.modules.pop(name, None)
    problems = []
    settings = {"GLUEBENCH_DATA": "data", "GLUEBENCH_TOKEN": "none"}
    with (
        chdir(home),
        mock.patch.dict(os.environ, settings),
        mock.patch("sys.path", [str(home), *sys.path]),
    ):
        for block in page:
            try:
                if not block.slow or slow:
                    sandbox.run(block)
            except (BlockError, SyntaxError, ValueError) as problem:
                problems.append(str(problem))
    return problems


def check_extras(block: Block, line: str) -> None:
    """Raises BlockError if the package has not the extras that are installed."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {name for names in re.findall(r"\[([\w,-]+)\]", line) for name in names.split(",")}
    if unknown := named - extras.keys():
        raise BlockError(f"{block.place}: no extra {', '.join(unknown)}")


def check_target(block: Block, target: str) -> None:
    """Raises BlockError if the Makefile has no such target."""
    if not re.search(rf"^{re.escape(target)}:", (ROOT / "Makefile").read_text(), re.MULTILINE):
        raise BlockError(f"{block.place}: the Makefile has no target {target}")


def check_options(block: Block, line: str, arguments: list[str]) -> None:
    """Parse a command without running it. Raises BlockError for an option or value that it does not take."""
    arguments = list(itertools.takewhile(lambda word: word not in (">", "||"), arguments))
    command: click.Command = main
    context = click.Context(main, info_name="gluebench", **main.context_settings)
    try:
        while isinstance(command, click.Group):
            name, found, arguments = command.resolve_command(context, arguments)
            if found is None:
                raise BlockError(f"{block.place}: {line}: no such command")
            context = click.Context(found, parent=context, info_name=name, **found.context_settings)
            command = found
        given, rest, _ = command.make_parser(context).parse_args(arguments)
        values = {name: value for name, value in given.items() if isinstance(value, str | list | tuple)}
        passed = [word for word in values.get("rest", ()) if word.startswith("--")]
        if rest or (passed and not {*passed} <= _recipe_options()):
            raise BlockError(f"{block.place}: {line}: it does not take {rest or passed}")
        for parameter in command.params:
            value = values.get(parameter.name or "", ())
            if parameter.required and not value:
                raise click.MissingParameter(ctx=context, param=parameter)
            if isinstance(parameter.type, WITHOUT_FILES) and value:
                parameter.type_cast_value(context, value)
    except click.UsageError as error:
        raise BlockError(f"{block.place}: {line}: {error.format_message()}") from error


def _recipe_options() -> set[str]:
    """What `data build` takes besides its own options, by one recipe or another."""
    return {f"--{option.name.replace('_', '-')}" for name in RECIPES for option in recipe(name).options}


if __name__ == "__main__":
    blocks = [Block(Path(page), *rest) for page, *rest in json.load(sys.stdin)]
    found = follow(blocks, Path(sys.argv[1]), Path(sys.argv[2]), slow=True)
    sys.exit("\n".join(found) or None)
