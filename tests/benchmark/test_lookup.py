"""Finding a record by what somebody typed."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from gluebench.benchmark import UnknownNameError, closest, find


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
