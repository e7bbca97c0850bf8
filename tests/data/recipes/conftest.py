"""Building from a folder with a recipe's own defaults, and reading GLUE's released files as plain lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gluebench.benchmark import Task, load_benchmark
from gluebench.data import DataError
from gluebench.data.recipes import RecipeResult, recipe

Make = Callable[..., RecipeResult]


@pytest.fixture
def make() -> Make:
    """`make("rte", folder, task, dev=3)`; the task is a Task or the name of one of GLUE's."""

    def built(name: str, corpus: Path, task: Task | str, **given: Any) -> RecipeResult:
        found = recipe(name)
        options = {option.name: option.default for option in found.options}
        options |= {key.replace("_", "-"): value for key, value in given.items()}
        record = load_benchmark("glue").task(task) if isinstance(task, str) else task
        return found.build(corpus, record, options)

    return built


@pytest.fixture
def problems(make: Make) -> Callable[..., list[str]]:
    """The problems of a folder that cannot be built from."""

    def told(name: str, corpus: Path, task: Task | str, **given: Any) -> list[str]:
        with pytest.raises(DataError) as caught:
            make(name, corpus, task, **given)
        return caught.value.problems

    return told


@pytest.fixture
def released() -> Callable[[Path], list[list[str]]]:
    """The rows of a released file by tabs and line feeds alone, its header, if it has one, first."""

    def rows(path: Path) -> list[list[str]]:
        lines = path.read_bytes().decode("utf-8-sig").removesuffix("\n").split("\n")
        return [line.removesuffix("\r").split("\t") for line in lines]

    return rows


@pytest.fixture
def own_task(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Task]:
    """A task of another benchmark, with these columns and label words."""

    def task(columns: list[str], words: list[str]) -> Task:
        labels = ", ".join(f'{word} = "{word}"' for word in words)
        kind = f"labels = {{ {labels} }}" if words else "score_range = [0.0, 5.0]"
        metric = "accuracy" if words else "pearson"
        path = tmp_path_factory.mktemp("own") / "own.toml"
        path.write_text(
            f'[benchmark]\nname = "own"\n[tasks.Own]\ncolumns = {columns}\n{kind}\n'
            f'metrics = [{{ name = "{metric}" }}]\nsplits = {{ test = {{ size = 2 }} }}\n'
            'source = { corpus = "own", license = "CC0", citation = "none" }\n'
        )
        return load_benchmark(path).task("Own")

    return task
