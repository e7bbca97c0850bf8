"""Teams that share a quota, which leaving and joining do not multiply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from gluebench.leaderboard.limits import acts
from gluebench.leaderboard.limits.acts import TeamError
from gluebench.leaderboard.limits.models import Departure
from gluebench.leaderboard.limits.quota import QuotaError, usage
from gluebench.leaderboard.submissions.models import Submission

Send = Callable[..., Submission]


def set_policy(benchmark: Any, **values: Any) -> None:
    benchmark.settings = {"per_day": None, "at_once": None, **values}
    benchmark.save()


@pytest.fixture
def pair(tiny: Any, ada: Any, person: Callable[[str], Any]) -> tuple[Any, Any, Any]:
    """Two people in one team, where two submissions a day are allowed to a team."""
    set_policy(tiny, per_day=2, per="team")
    grace = person("grace@example.org")
    team = acts.create_team(ada, "Lovelace")
    acts.join_team(grace, team.code)
    ada.refresh_from_db()
    grace.refresh_from_db()
    return ada, grace, team


def left(tiny: Any, user: Any) -> int | None:
    user.refresh_from_db()
    remaining: int | None = usage(tiny, user).remaining
    return remaining


def test_a_team_shares_one_quota(tiny: Any, pair: Any, send: Send) -> None:
    ada, grace, team = pair
    first = send(owner=grace)
    assert first.group == team
    assert (left(tiny, ada), left(tiny, grace)) == (1, 1)
    send(owner=ada)
    with pytest.raises(QuotaError, match="Your team's limit is 2 submissions in 24 hours"):
        send(owner=grace)


def test_leaving_takes_along_what_the_team_had_sent(tiny: Any, pair: Any, send: Send) -> None:
    ada, grace, _ = pair
    send(owner=grace)
    send(owner=grace)
    acts.leave_team(ada)
    assert left(tiny, ada) == 0, "leaving brings no new quota"
    acts.create_team(ada, "Babbage")
    assert left(tiny, ada) == 0, "nor does another team"


def test_who_left_pays_no_more_for_the_team_nor_it_for_them(tiny: Any, pair: Any, send: Send) -> None:
    ada, grace, team = pair
    send(owner=ada)
    acts.leave_team(ada)
    assert (left(tiny, ada), left(tiny, grace)) == (1, 1), "what she sent for it stays with both"
    grace.refresh_from_db()
    send(owner=grace)
    assert (left(tiny, ada), left(tiny, grace)) == (1, 0)
    ada.refresh_from_db()
    send(owner=ada)
    acts.join_team(ada, team.code)
    assert usage(tiny, grace)["day"].used == 3, "back in the team, all of hers counts for it again"


def test_who_joins_brings_what_they_sent(tiny: Any, pair: Any, person: Any, send: Send) -> None:
    ada, _, team = pair
    new = person("new@example.org")
    send(owner=new)
    acts.join_team(new, team.code)
    assert left(tiny, ada) == 1


def test_per_person_a_team_changes_nothing(tiny: Any, pair: Any, send: Send) -> None:
    ada, grace, _ = pair
    set_policy(tiny, per_day=2)
    send(owner=grace)
    assert (left(tiny, ada), left(tiny, grace)) == (2, 1)


def test_one_is_in_one_team_at_a_time(pair: Any, person: Callable[[str], Any]) -> None:
    ada, _, team = pair
    other = acts.create_team(person("new@example.org"), "Babbage")
    for act in (lambda: acts.join_team(ada, other.code), lambda: acts.create_team(ada, "Another")):
        with pytest.raises(TeamError, match=r"'Lovelace'. Leave it first"):
            act()
    assert acts.join_team(ada, team.code) == team
    with pytest.raises(TeamError, match="already"):
        acts.create_team(person("newer@example.org"), "Lovelace")


def test_founding_inviting_joining_and_leaving_by_the_pages(
    client: Client, tiny: Any, ada: Any, person: Callable[[str], Any]
) -> None:
    assert client.get("/account/team").status_code == 302
    client.force_login(ada)
    assert client.post("/account/team", {"name": "turned‮around"}).status_code == 422
    client.post("/account/team", {"name": "Lovelace"})
    page = client.get("/account/team").content.decode()
    link = page.split('value="http://testserver')[1].split('"')[0]
    guest = Client()
    assert guest.get(link)["Location"].startswith("/account/login/")
    guest.force_login(person("grace@example.org"))
    assert "Join Lovelace?" in guest.get(link).content.decode()
    guest.get(link)
    assert "You are in no team" in guest.get("/account/team").content.decode(), "looking joins nobody"
    assert "in the team Lovelace now" in guest.post(link, follow=True).content.decode()
    theirs = guest.get("/account/team").content.decode()
    assert "2 people" in theirs
    assert "ada@example.org" not in theirs
    client.post("/account/team/renew")
    assert guest.get(link).status_code == 404
    assert "This link no longer works" in guest.post(link, follow=True).content.decode()
    assert "You left the team" in guest.post("/account/team/leave", follow=True).content.decode()
    assert "in no team" in guest.post("/account/team/leave", follow=True).content.decode()
    assert Departure.objects.get().user.email == "grace@example.org"
