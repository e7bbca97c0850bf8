"""Where a site's ranks have no intervals, its pages say why."""

from __future__ import annotations

from typing import Any

import pytest
from leaderboard.test_ranks import renewed, three  # noqa: F401 - a fixture

REASON = "are withheld: too few examples on "


@pytest.mark.django_db
def test_the_board_and_the_rules_say_why_ranks_have_no_intervals(
    client: Any,
    three: list[Any],  # noqa: F811
    tiny: Any,
) -> None:
    renewed(tiny)
    assert "withheld" not in client.get("/benchmarks/tiny").content.decode(), "only where intervals are shown"
    for address in ("?intervals=1", "?intervals=1&by=borda"):
        page = client.get(f"/benchmarks/tiny{address}").content.decode()
        assert page.count(f"Intervals of ranks {REASON}") == 1
    rules = client.get("/benchmarks/tiny/rules").content.decode()
    assert f"Intervals of ranks by every rule {REASON}" in rules
    withheld = client.get("/benchmarks/tiny/rules.json").json()["withheld"]
    assert all(reason.startswith("too few examples on ") for reason in withheld.values())
    assert {*withheld} == {"mean", "borda", "median", "kemeny", "rank-score"}


@pytest.mark.django_db
def test_a_ranking_of_an_earlier_release_shows_no_reason(
    client: Any,
    three: list[Any],  # noqa: F811
    tiny: Any,
) -> None:
    ranking = renewed(tiny)
    for board in ranking.board["boards"].values():
        for rule in board["rules"].values():
            del rule["withheld"]
    ranking.save()
    assert "withheld" not in client.get("/benchmarks/tiny?intervals=1").content.decode()
    assert client.get("/benchmarks/tiny/rules").status_code == 200
