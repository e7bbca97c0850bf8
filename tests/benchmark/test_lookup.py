"""Finding a record by what somebody typed."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass

import pytest

from gluebench.benchmark import UnknownNameError, closest, find, load_benchmark
from gluebench.benchmark.lookup import ByName


@dataclass(frozen=True)
class Thing:
    name: str
    aliases: tuple[str, ...] = ()


THINGS = (Thing("SST-2", ("SST",)), Thing("QQP", ("Quora",)), Thing("t-1-1"), Thing("t11"))


@pytest.mark.parametrize("typed", ["SST-2", "sst-2", "sst2", "SST_2", "sst 2", "sst"])
def test_case_hyphens_and_spaces_do_not_matter(typed: str) -> None:
    assert find(typed, THINGS, what="task") is THINGS[0]


def test_the_very_name_stands_before_one_that_only_looks_like_it() -> None:
    assert find("t11", THINGS, what="file") is THINGS[3]
    assert find("T11", THINGS, what="file") is THINGS[2]


def test_an_unknown_name_lists_the_closest_and_all() -> None:
    with pytest.raises(UnknownNameError) as raised:
        find("QPQ", THINGS, what="task")
    assert (
        str(raised.value) == "no task is called 'QPQ'. Did you mean QQP? Valid names: SST-2, QQP, t-1-1, t11."
    )
    assert (raised.value.name, raised.value.close) == ("QPQ", ("QQP",))


def test_nothing_is_suggested_for_what_looks_like_nothing() -> None:
    assert closest("zzzz", ["SST-2", "QQP"]) == []


def test_an_unknown_key_is_answered_with_the_names() -> None:
    scores = ByName({"accuracy": 0.5, "f1": 0.25}, what="metric of MRPC")
    for same in (scores, pickle.loads(pickle.dumps(scores)), copy.copy(scores)):
        with pytest.raises(KeyError) as caught:
            _ = same["acc"]
        assert isinstance(caught.value, UnknownNameError)
        assert str(caught.value).startswith("no metric of MRPC is called 'acc'.")
        assert same == {"accuracy": 0.5, "f1": 0.25}
        assert same.get("acc") is None


def test_a_benchmark_and_a_task_are_shown_in_a_line() -> None:
    glue = load_benchmark("glue")
    assert repr(glue).startswith("<Benchmark glue: CoLA, SST-2, MRPC, ")
    assert repr(glue.task("MRPC")) == "<Task MRPC: labels, accuracy, f1>"
    assert max(len(repr(glue)), *(len(repr(task)) for task in glue.tasks)) < 120
