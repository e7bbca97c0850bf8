"""A shell completes names of benchmarks and tasks, as it asks the command for them."""

from __future__ import annotations

import pytest
from click.shell_completion import ShellComplete

from gluebench.cli import main


def completions(*words: str) -> list[str]:
    """What a shell shows after these words, the last of which is incomplete."""
    shell = ShellComplete(main, {}, "gluebench", "_GLUEBENCH_COMPLETE")
    return [item.value for item in shell.get_completions([*words[:-1]], words[-1])]


def test_benchmarks_are_completed() -> None:
    assert completions("grade", "--benchmark", "s") == ["sample", "superglue"]
    assert completions("compare", "--benchmark", "GL") == ["glue"]


def test_tasks_of_the_named_benchmark_are_completed() -> None:
    assert completions("run", "--tasks", "q") == ["QQP", "QNLI"]
    assert completions("run", "--tasks", "RTE,m") == ["RTE,MRPC", "RTE,MNLI"]
    assert completions("errors", "--benchmark", "superglue", "--task", "b") == ["BoolQ"]


@pytest.mark.parametrize("benchmark", ["no-such", "missing/file.toml"])
def test_nothing_is_completed_for_a_benchmark_that_is_not_there(benchmark: str) -> None:
    assert completions("run", "--benchmark", benchmark, "--tasks", "q") == []


def test_a_file_is_completed_where_no_benchmark_begins_so() -> None:
    shell = ShellComplete(main, {}, "gluebench", "_GLUEBENCH_COMPLETE")
    [item] = shell.get_completions(["grade", "--benchmark"], "./own")
    assert (item.value, item.type) == ("./own", "file")
