"""The page of errors in Chromium: its filters and figures are those of the code that it does again."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browser import MARKS, Tab, axe_finds, shown

from gluebench.analysis.errors import Case, CaseFile, CaseFilter, rates
from gluebench.analysis.errors.page import page as page_of
from gluebench.benchmark import load_benchmark

pytestmark = MARKS
TASK = load_benchmark("sample").task("AX")


@pytest.fixture(scope="module")
def file() -> CaseFile:
    """Two systems on 120 examples, in groups of up to three."""
    rng = random.Random(0)
    phenomena = [each.name for each in TASK.phenomena]

    def case(at: int) -> Case:
        gold = rng.choice(TASK.words)
        answers = tuple(gold if rng.random() < 0.6 else rng.choice(TASK.words) for _ in range(2))
        words = ["<b>lake</b>", "warm", "stone", "Rain"]
        texts = {"premise": " ".join(rng.choices(words, k=4)), "hypothesis": rng.choice(words)}
        return Case(
            at,
            texts,
            gold,
            answers,
            tuple(each != gold for each in answers),
            phenomena=tuple(rng.sample(phenomena, k=rng.randint(0, 2))),
            length=rng.randint(3, 30),
            overlap=rng.random(),
            group=at // 3,
        )

    return CaseFile(TASK, "AX", "test", ("one", "two"), tuple(map(case, range(120))))


LOOKS = (("light", 1280, 20), ("dark", 390, 20))
"""Color scheme, width and number of examples: few are quicker to check, and have every part of the page."""


@pytest.fixture
def tab(chromium: Any, file: CaseFile, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Tab]:
    path = tmp_path / "errors.html"
    scheme, width, count = getattr(request, "param", ("dark", 390, len(file.cases)))
    shown_file = replace(file, cases=file.cases[:count])
    path.write_text(page_of([shown_file], title="Errors"), encoding="utf-8")
    with Tab(chromium, color_scheme=scheme, viewport={"width": width, "height": 900}) as made:
        made.page.goto(path.as_uri())
        yield made
        assert made.complaints == []
        assert made.requests == [path.as_uri()]


def test_its_filters_find_what_the_command_finds(tab: Tab, file: CaseFile) -> None:
    """Of the first system, which is chosen at the start."""
    choices: list[tuple[dict[str, str], Callable[[Case], bool]]] = [
        ({}, lambda case: case.wrong[0]),
        ({"show": "only"}, CaseFilter("only")),
        ({"show": "allwrong"}, CaseFilter("all-wrong")),
        ({"show": "disagree"}, CaseFilter("disagree")),
        ({"show": "right", "gold": "neutral"}, lambda case: not case.wrong[0] and case.gold == "neutral"),
        ({"show": "all", "answer": "entailment"}, lambda case: case.answers[0] == "entailment"),
        ({"show": "all", "text": "RAIN"}, CaseFilter("all", pattern=re.compile("rain", re.IGNORECASE))),
    ]
    for values, wanted in choices:
        tab.page.get_by_role("button", name="Clear all filters").click()
        for name, value in values.items():
            field = tab.page.locator(f"#{name}")
            field.fill(value) if name == "text" else field.select_option(value)
        expected = [case.index for case in file.cases if wanted(case)]
        assert tab.page.locator("#count").text_content().startswith(f"{len(expected)} of 120"), values
        cards = tab.page.locator("#list > li")
        assert cards.count() == min(25, len(expected)), values


def test_its_figures_are_those_that_were_counted_before(tab: Tab, file: CaseFile) -> None:
    text = tab.page.locator("#plots").inner_text()
    overall = rates(file)[0]
    for system, bar in enumerate(overall.bars):
        assert bar.low is not None
        assert bar.high is not None
        assert f"{100 * overall.share(system):.1f} %" in text
        assert f"{100 * bar.low:.1f} % to {100 * bar.high:.1f} %" in text
    some = next(each for each in rates(file) if (each.kind, each.name) == ("label", "neutral"))
    row = tab.page.locator("#plots tr").filter(has_text=some.name)
    low, high = (f"{100 * end:.1f} %" for end in some.bars[0][:2] if end is not None)
    assert f"{low} to {high}" in row.first.inner_text()


@pytest.mark.parametrize("tab", LOOKS, ids=str, indirect=True)
def test_everybody_can_read_it(tab: Tab) -> None:
    assert [shown(each) for each in axe_finds(tab.page)] == []
    wide = tab.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0


def test_what_an_example_says_is_no_markup(tab: Tab) -> None:
    tab.page.locator("#show").select_option("all")
    assert tab.page.locator("#list b").count() == 0
    assert "<b>lake</b>" in tab.page.locator("#list").inner_text()
