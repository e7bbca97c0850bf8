"""The organizer's pages: four groups of tabs, and the checklist from a draft to final results."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from gluebench.leaderboard.apps.benchmarks.organizer_pages import TABS

HERE = "/benchmarks/tiny/organize"


@pytest.fixture
def organizer(client: Client, tiny: Any, person: Callable[[str], Any]) -> Client:
    grace = person("grace@example.org")
    tiny.organizers.add(grace)
    client.force_login(grace)
    return client


def links(html: str, nav: str) -> list[str]:
    """The texts of the links of a navigation, with a star at the one that is open."""
    part = html.partition(f'aria-label="{nav}"')[2].partition("</nav>")[0]
    found = re.findall(r"<a href=\"[^\"]*\"( aria-current)?[^>]*>([^<]*)</a>", part)
    return [f"{text}*" if is_open else text for is_open, text in found]


def steps(html: str) -> dict[str, str]:
    """The mark of each step of the checklist."""
    part = html.partition('class="checklist"')[2].partition("</ol>")[0]
    return dict(re.findall(r">([^<]*)</a> <span class=\"tag[^>]*>([^<]*)</span>", part))


def test_tabs_are_in_four_groups_and_each_is_reached(organizer: Client) -> None:
    html = organizer.get(f"{HERE}/setup").content.decode()
    assert links(html, "Organizer’s pages") == ["Set up*", "Run", "People", "Results"]
    assert links(html, "Set up") == ["Setup*", "Texts", "Looks", "Phases", "Limits and feedback"]
    reached = set()
    for group in re.findall(
        r'<a href="([^"]*)"', html.partition("Organizer’s pages")[2].partition("</nav>")[0]
    ):
        page = organizer.get(group).content.decode()
        nav = page.partition('class="subtabs"')[2].partition("</nav>")[0]
        reached |= set(re.findall(r">([^<]*)</a>", nav))
    assert reached == {title for _, title, _ in TABS.values()}


def test_pages_without_a_tab_open_the_group_that_leads_to_them(
    organizer: Client, graded: Callable[..., Any]
) -> None:
    one = organizer.get(f"{HERE}/submissions/{graded().key}").content.decode()
    assert "Run*" in links(one, "Organizer’s pages")
    assert "Set up*" in links(organizer.get(f"{HERE}/replace").content.decode(), "Organizer’s pages")


def test_reviewers_have_the_submissions_alone(
    client: Client, tiny: Any, person: Callable[[str], Any]
) -> None:
    joan = person("joan@example.org")
    tiny.reviewers.add(joan)
    client.force_login(joan)
    html = client.get(HERE).content.decode()
    assert links(html, "Organizer’s pages") == ["Run*"]
    assert 'class="subtabs"' not in html


def test_the_checklist_names_the_next_step_until_all_are_done(organizer: Client, tiny: Any) -> None:
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.organizing.models import DryRun
    from gluebench.leaderboard.apps.results.models import Results

    Benchmark.objects.filter(pk=tiny.pk).update(draft=True, settings={})
    html = organizer.get(f"{HERE}/setup").content.decode()
    assert ">Next: pass a dry run</h2>" in html
    assert steps(html) == {
        "Add labels and data": "done",
        "Pass a dry run": "next",
        "Write an overview": "to do",
        "Set deadlines": "optional",
        "Set limits and feedback": "optional",
        "Open it to the public": "to do",
        "Announce the final results": "to do",
    }
    check = {"verdict": "valid", "missing": [], "problems": [], "unshown": {}}
    result: dict[str, Any] = {"expected": True, "score": None, "tasks": {}, "warnings": [], "check": check}
    passed = dict.fromkeys(("perfect", "majority", "broken"), result)
    run = DryRun.objects.create(benchmark=tiny, gold=tiny.gold, results=passed)
    assert ">Next: write an overview</h2>" in organizer.get(f"{HERE}/setup").content.decode()
    DryRun.objects.filter(pk=run.pk).update(gold="other labels")
    assert steps(organizer.get(f"{HERE}/setup").content.decode())["Pass a dry run"] == "next"
    DryRun.objects.filter(pk=run.pk).update(gold=tiny.gold)
    Benchmark.objects.filter(pk=tiny.pk).update(draft=False, texts={"overview": "What it is."})
    assert ">Next: announce the final results</h2>" in organizer.get(f"{HERE}/setup").content.decode()
    Results.objects.create(benchmark=tiny, labels=False, made=tiny.added, file="archive.zip")
    html = organizer.get(f"{HERE}/setup").content.decode()
    assert ">All steps are done</h2>" in html
    assert {mark for title, mark in steps(html).items() if title != "Set deadlines"} <= {"done", "optional"}
