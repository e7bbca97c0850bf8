from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluebench.systems.text.ptb import sentences

CASES = [
    ["He left.", "She stayed."],
    ["Mr. Orr of the U.S. Senate left at 3 p.m.", "The vote was late."],
    ["It was No. 5.", "She said no.", "He sat down."],
    ["J. K. Orr wrote it."],
    ['"I did."', "He said no.", '"Go."'],
    ["They met (Dr. A. Lee led.)", "Then it rained."],
    ["It grew by 3.5 per cent.", "It fell by 2."],
    ["Was it?", "Yes!", "It was."],
    ["He ran ... and fell."],
    ["Jones vs. Smith et al. was heard in Jan. 1999 by Judge Lee."],
]


@pytest.mark.parametrize("parts", CASES)
def test_cases_by_hand(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts


@given(st.text(alphabet="aB. \n\"')", max_size=40))
def test_nothing_but_space_is_lost(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_a_long_row_of_stops_takes_no_time() -> None:
    assert sentences("a." * 50_000) == ["a." * 50_000]
    assert sentences("." * 50_000) == ["." * 50_000]
