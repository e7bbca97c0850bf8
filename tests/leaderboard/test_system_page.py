"""The page of a system for readers: its rank set, neighbors, places on tasks' boards, and what is folded."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.core.cache import caches
from django.test import Client
from leaderboard.phased import of_quality
from leaderboard.test_one_task_boards import text_of


@pytest.fixture
def four(tiny: Any, graded: Callable[..., Any]) -> list[Any]:
    """Four public systems from the best to the worst; two name the same team."""
    teams = ("", "Lakeside", "Lakeside", "")
    return [graded(of_quality(6 - at), name=f"System {at}", team=team) for at, team in enumerate(teams)]


TESTS = ["significant", "not significant", "significant"]
ALL_BUT_THE_MIDDLE = [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]
"""Pairs of positions that differ significantly: all but the second and the third."""


def rank_them(rows: list[Any], decisions: dict[str, list[tuple[int, int]]]) -> None:
    """Store, for each score, which system is significantly better than which, by position."""
    from gluebench.analysis.rank.packed import pack_decisions
    from gluebench.leaderboard.apps.ranks.models import Decisions, Ranking

    benchmark = rows[0].benchmark
    benchmark.refresh_from_db()
    pairs = [[row.pk, row.key] for row in rows]
    ranking = Ranking.objects.create(benchmark=benchmark, version=benchmark.version, systems=pairs)
    for score, decided in decisions.items():
        better = np.zeros((len(rows), len(rows)), np.bool_)
        for winner, loser in decided:
            better[winner, loser] = True
        counts = np.stack([better.sum(0), better.sum(1)], axis=1).tolist()
        Decisions.objects.create(ranking=ranking, score=score, counts=counts, better=pack_decisions(better))
    caches["pages"].clear()


def test_a_system_says_its_rank_set_and_its_places_on_the_tasks(four: list[Any], client: Client) -> None:
    rank_them(four, {"": ALL_BUT_THE_MIDDLE, "Para": [(0, 2), (0, 3), (1, 3)]})
    page = client.get(four[1].get_absolute_url())
    text, html = text_of(page), page.content.decode()
    assert "2 · 2–3 of 4: 2nd by score; true rank 2 to 3." in text
    assert 'class="rank-set"' in html
    assert re.search(r'tasks/Para"><span aria-hidden="true">2 · 1–3</span>', html)
    assert "2nd by score; true rank 1 to 3" in html
    assert '<th scope="col">Rank on the task’s board</th>' in html


def test_a_system_stands_beside_its_neighbors_with_links_to_comparisons(
    four: list[Any], client: Client
) -> None:
    rank_them(four, {"": ALL_BUT_THE_MIDDLE})
    html = client.get(four[2].get_absolute_url()).content.decode()
    table = html.partition('class="list neighbors"')[2].partition("</table>")[0]
    keys = [four[at].key for at in (0, 1, 3)]
    assert re.findall(r'href="/submissions/(\w+)"', table) == keys
    assert re.findall(r"compare\?a=(\w+)&amp;b=(\w+)", table) == [(four[2].key, key) for key in keys]
    assert re.findall(r">(The [\w ]+): <a", table) == ["The best", "The next better", "The next"]
    assert re.findall(r"</a> ((?:not )?significant)</td>", table) == TESTS
    points = [100 * (four[at].value - four[2].value) for at in (0, 1, 3)]
    shown = [float(text.replace("−", "-")) for text in re.findall(r'<td class="n">([−+\d.]+)</td>', table)]
    assert shown == pytest.approx(points, abs=0.051)


def test_the_systems_of_a_team_are_listed_and_those_without_a_team_are_not(
    four: list[Any], client: Client
) -> None:
    text = text_of(client.get(four[1].get_absolute_url()))
    assert "All 2 systems of Lakeside here" in text
    assert "All 2 systems" not in text_of(client.get(four[0].get_absolute_url()))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("BERT", "BERT v2", True),
        ("bert 1.0", "BERT 1.1", True),
        ("BERT (2)", "BERT", True),
        ("Tower, run 3", "Tower", True),
        ("GPT-3", "GPT-4", True),
        ("BERT-base", "BERT-large", False),
        ("Llama 7B", "Llama 13B", False),
        ("1", "2", False),
    ],
)
def test_versions_of_a_system_are_the_same_peoples_entries_of_one_name(
    graded: Callable[..., Any], client: Client, one: str, other: str, same: bool
) -> None:
    older = graded(name=one)
    newer = graded(name=other)
    html = client.get(older.get_absolute_url()).content.decode()
    assert ("2 versions of this system" in html) is same
    assert (f'A newer version of this system: <a href="{newer.get_absolute_url()}"' in html) is same
    assert "A newer version" not in client.get(newer.get_absolute_url()).content.decode()


def test_systems_of_others_under_the_same_name_are_no_versions(
    graded: Callable[..., Any], client: Client
) -> None:
    from gluebench.leaderboard.apps.accounts.models import User

    older = graded(name="BERT")
    newer = graded(name="BERT 2")
    type(newer).objects.filter(pk=newer.pk).update(owner=User.objects.create_user("other@example.org"))
    type(newer.benchmark).objects.filter(pk=newer.benchmark_id).touch()
    assert "versions of this system" not in client.get(older.get_absolute_url()).content.decode()


def test_long_tables_are_folded(four: list[Any], client: Client) -> None:
    html = client.get(four[0].get_absolute_url()).content.decode()
    folds = re.findall(r'<details class="more"><summary>([^<]*)</summary>', html)
    assert "By phenomenon" in folds
    assert "Labels, data and versions" in folds
    before = html.partition("By phenomenon")[0]
    assert "All: <b>" in before, "the whole set's number is in sight"


def test_private_systems_have_no_rank_on_tasks(graded: Callable[..., Any], owner: Client) -> None:
    row = graded(name="Mine", public=False)
    html = owner.get(row.get_absolute_url()).content.decode()
    assert "Rank on the task" not in html
    assert 'class="list neighbors"' not in html
