"""Where a site's ranks have no rank sets, its pages say why."""

from __future__ import annotations

from typing import Any

import pytest
from leaderboard.test_ranks import renewed, three  # noqa: F401 - a fixture


@pytest.mark.django_db
def test_the_board_and_the_rules_say_why_ranks_have_no_sets(
    client: Any,
    three: list[Any],  # noqa: F811
    tiny: Any,
) -> None:
    renewed(tiny)
    page = client.get("/benchmarks/tiny").content.decode()
    assert page.count("“–”: no rank set, too few examples on ") == 1
    borda = client.get("/benchmarks/tiny?by=borda").content.decode()
    assert borda.count("“–”: no rank set, no known interval of ranks by this rule holds") == 1
    rules = client.get("/benchmarks/tiny/rules").content.decode()
    assert "No rank set by average and rank score: too few examples on " in rules
    withheld = client.get("/benchmarks/tiny/rules.json").json()["withheld"]
    assert {rule for rule, reason in withheld.items() if reason.startswith("too few")} == {
        "mean",
        "rank-score",
    }
    assert {*withheld} == {"mean", "borda", "median", "kemeny", "rank-score"}
