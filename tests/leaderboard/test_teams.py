"""Teams that share a quota, which leaving and joining do not multiply."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import (
    Membership,
    Team,
    acting_for,
    former_teams,
    leader_of,
    team_for,
    teams_of,
)
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.limits import acts
from gluebench.leaderboard.apps.limits.phase_acts import extend, save_phase
from gluebench.leaderboard.apps.limits.quota import QuotaError, usage
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.phases.moments import ends_for
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.submissions.acts import edit
from gluebench.leaderboard.apps.submissions.models import Submission

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


def test_the_form_has_the_name_of_the_senders_team(pair: Any, client: Client) -> None:
    ada, _, team = pair
    client.force_login(ada)
    assert client.get("/benchmarks/tiny/submit").context["form"]["team"].value() == team.name


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
        with pytest.raises(ActError, match=r"'Lovelace'. Leave it first"):
            act()
    assert acts.join_team(ada, team.code) == "You are in the team Lovelace now."
    with pytest.raises(ActError, match="already"):
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
    assert theirs.count("<td>Leader</td>") == theirs.count("<td>Member</td>") == 1
    assert "ada@example.org" not in theirs
    client.post("/account/team/renew", {"uses": "3", "days": "7"})
    assert guest.get(link).status_code == 404
    assert "This link no longer works" in guest.post(link, follow=True).content.decode()
    assert "You left the team" in guest.post("/account/team/leave", follow=True).content.decode()
    assert "in no team" in guest.post("/account/team/leave", follow=True).content.decode()
    assert Membership.objects.exclude(until=None).get().user.email == "grace@example.org"


@pytest.fixture
def others(pair: Any, person: Callable[[str], Any]) -> tuple[Any, Any]:
    """Another person alone in a team, whose link Ada has."""
    bob = person("bob@example.org")
    return bob, acts.create_team(bob, "Boole")


def browser(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_two_teams_merge_when_both_agree(tiny: Any, pair: Any, others: Any, send: Send) -> None:
    (ada, grace, lovelace), (bob, boole) = pair, others
    send(owner=ada, group=lovelace)
    bobs = send(owner=bob)
    page = browser(ada).get(f"/account/team/join/{boole.code}").content.decode()
    assert "Merge Lovelace with Boole?" in page
    assert browser(bob).post(f"/account/team/merge/{lovelace.pk}", {"accept": "1"}).status_code == 302
    assert lovelace.members.count() == 2, "nobody asked yet"
    browser(ada).post(f"/account/team/join/{boole.code}", {"merge": "1"})
    assert "Lovelace asks to merge" in browser(bob).get("/account/team").content.decode()
    browser(bob).post(f"/account/team/merge/{lovelace.pk}", {"accept": "1"})
    assert {*boole.members} == {ada, grace, bob}
    assert not Team.objects.filter(pk=lovelace.pk).exists()
    assert {*boole.submissions.all()} == {bobs, Submission.objects.get(owner=ada)}
    assert left(tiny, grace) == 0
    log = Entry.objects.order_by("pk").values_list("action", "actor")
    assert [*log] == [("merge proposed", ada.pk), ("teams merged", bob.pk)]


def test_a_merge_is_declined(pair: Any, others: Any) -> None:
    (ada, _, lovelace), (bob, boole) = pair, others
    acts.propose_merge(ada, boole.code)
    acts.merge(bob, lovelace.pk, accepted=False)
    with pytest.raises(ActError, match="any more"):
        acts.merge(bob, lovelace.pk, accepted=True)
    assert [*boole.members] == [bob]


def test_only_the_team_that_was_asked_answers(pair: Any, others: Any, person: Callable[[str], Any]) -> None:
    (ada, grace, lovelace), (_, boole) = pair, others
    acts.propose_merge(ada, boole.code)
    stranger = person("stranger@example.org")
    for user in (grace, stranger):
        with pytest.raises(ActError, match="any more"):
            acts.merge(user, lovelace.pk, accepted=True)
    with pytest.raises(ActError, match="own team"):
        acts.propose_merge(ada, lovelace.code)


@pytest.mark.parametrize(
    ("policy", "days", "fits"),
    [
        ({"total": 3}, 9, False),
        ({"total": 4}, 9, True),
        ({"per_day": 2}, 0, False),
        ({"per_day": 2}, 1, True),
        ({"per_month": 3}, 29, False),
        ({"per_month": 3}, 30, True),
        ({"total": 3, "per": "person"}, 9, True),
    ],
    ids=str,
)
def test_teams_that_sent_more_than_one_may_do_not_merge(
    tiny: Any, pair: Any, others: Any, send: Send, policy: dict[str, Any], days: int, fits: bool
) -> None:
    (ada, _, lovelace), (bob, boole) = pair, others
    set_policy(tiny)
    for owner in (ada, ada, bob, bob):
        send(owner=owner)
    set_policy(tiny, **{"per": "team", **policy})
    type(tiny).objects.update(added=timezone.now() - timedelta(days=days, minutes=1))
    acts.propose_merge(ada, boole.code)
    if fits:
        acts.merge(bob, lovelace.pk, accepted=True)
        assert boole.members.count() == 3
    else:
        with pytest.raises(ActError, match="Together the teams have sent 4 submissions"):
            acts.merge(bob, lovelace.pk, accepted=True)
        assert boole.members.count() == 1


def account(user: Any) -> str:
    return f"Account {user.pk}"


def test_members_are_listed_by_name_with_roles_and_the_leader_removes_one(
    pair: Any, person: Callable[[str], Any]
) -> None:
    ada, grace, team = pair
    type(ada).objects.filter(pk=grace.pk).update(name="Grace <b>Hopper</b>")
    page = browser(ada).get("/account/team").content.decode()
    assert "Grace &lt;b&gt;Hopper" in page
    assert f"{account(ada)} (you)" in page
    assert "Remove" not in browser(grace).get("/account/team").content.decode()
    with pytest.raises(ActError, match="Only the leader"):
        acts.remove_member(grace, ada.pk)
    code = team.code
    browser(ada).post("/account/team/member", {"act": "remove", "account": str(grace.pk)})
    assert not teams_of(grace)
    with pytest.raises(ActError, match="no longer works"):
        acts.join_team(grace, code)
    stranger = person("eve@example.org")
    for other in (stranger, ada):
        with pytest.raises(ActError, match="not a member"):
            acts.remove_member(ada, other.pk)
    assert Entry.objects.get(action="member removed").actor == ada.pk


def test_a_link_ends_by_time_and_by_use(pair: Any, person: Callable[[str], Any]) -> None:
    ada, grace, team = pair
    with pytest.raises(ActError, match="Only the leader"):
        acts.renew_link(grace)
    acts.renew_link(ada, uses=1, days=3)
    code = team.code
    acts.join_team(person("one@example.org"), code)
    with pytest.raises(ActError, match="used up"):
        acts.join_team(person("two@example.org"), code)
    acts.renew_link(ada, uses=9, days=3)
    team.invitations.update(expires=timezone.now())
    assert team.code == ""
    assert "There is no link" in browser(grace).get("/account/team").content.decode()


def test_the_lead_is_handed_over_or_goes_to_who_is_in_the_team_for_longest(
    pair: Any, person: Callable[[str], Any]
) -> None:
    ada, grace, team = pair
    third = person("third@example.org")
    acts.join_team(third, team.code)
    acts.hand_over_team(ada, third.pk)
    team.refresh_from_db()
    assert leader_of(team) == third
    acts.leave_team(third)
    assert leader_of(Team.objects.get()) == ada
    acts.leave_team(ada)
    assert leader_of(Team.objects.get()) == grace


def test_a_team_grows_to_the_largest_size_and_until_the_last_day(
    tiny: Any, pair: Any, person: Callable[[str], Any], send: Send
) -> None:
    ada, _, team = pair
    set_policy(tiny, per="team", team_size=2)
    acts.join_team(person("early@example.org"), team.code)
    with pytest.raises(QuotaError, match="at most 2 people in a team; yours has 3"):
        send(owner=ada)
    set_policy(tiny, per="team", team_size=3)
    send(owner=ada)
    with pytest.raises(ActError, match="at most 3 people in a team; you would be 4"):
        acts.join_team(person("late@example.org"), team.code)
    assert team.invitations.get().used == 2, "a refusal uses no place of the link"
    today = timezone.now().date()
    set_policy(tiny, per="team", merge_until=(today - timedelta(days=1)).isoformat())
    with pytest.raises(ActError, match="could take in people and merge through"):
        acts.join_team(person("later@example.org"), team.code)
    other = acts.create_team(person("bob@example.org"), "Boole")
    acts.propose_merge(ada, other.code)
    with pytest.raises(ActError, match="could take in people and merge through"):
        acts.merge(other.members.get(), team.pk, accepted=True)
    set_policy(tiny, per="team", merge_until=today.isoformat())
    acts.join_team(person("last@example.org"), team.code)


def test_the_board_has_the_name_of_the_team_and_no_other(
    tiny: Any, pair: Any, graded: Send, client: Client
) -> None:
    ada, _, team = pair
    row = graded(owner=ada, team="Another team")
    assert row.team == team.name
    with pytest.raises(ValidationError, match="The board shows the name of your team"):
        edit(row, ada, {"team": "Another team"})
    form = {"name": "Renamed", "model": "CBoW", "regime": "other", "team": "Another team"}
    browser(ada).post(f"/submissions/{row.key}/edit", form)
    row.refresh_from_db()
    assert (row.name, row.team) == ("Renamed", team.name)
    assert team.name in client.get("/benchmarks/tiny").content.decode()
    set_policy(tiny)
    assert graded(owner=ada, team="Free text").team == "Free text"


def test_every_member_sees_and_does_what_the_team_can(
    tiny: Any, pair: Any, graded: Send, person: Callable[[str], Any]
) -> None:
    """With "chosen", a member met a limit although the choice was a colleague's, and could not undo it."""
    ada, grace, _ = pair
    now = timezone.now()
    times = {"opens": now - timedelta(days=1), "closes": now + timedelta(days=1)}
    save_phase(Phase(benchmark=tiny, name="Test", counting="chosen", most=1, **times))
    first, second = graded(owner=ada, name="First"), graded(owner=grace, name="Second")
    stranger = browser(person("eve@example.org"))
    colleague = browser(grace)
    page = colleague.get("/submissions").content.decode()
    assert "First" in page
    assert "sent by a member of your team" in page
    assert colleague.get(f"/submissions/{first.key}/file").status_code == 200
    colleague.post(f"/submissions/{first.key}/choose", {"chosen": "1"})
    refused = colleague.post(f"/submissions/{second.key}/choose", {"chosen": "1"}, follow=True)
    assert "take another one back first" in refused.content.decode()
    for path in ("/file", "/receipt", "/edit"):
        assert stranger.get(f"/submissions/{first.key}{path}").status_code == 404
    assert stranger.post(f"/submissions/{first.key}/choose", {"chosen": "0"}).status_code == 404
    colleague.post(f"/submissions/{first.key}/choose", {"chosen": "0"})
    colleague.post(f"/submissions/{second.key}/choose", {"chosen": "1"})
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.chosen, second.chosen is not None) == (None, True)
    browser(ada).post(f"/submissions/{second.key}/withdraw")
    second.refresh_from_db()
    assert second.withdrawn is not None
    entry = Entry.objects.get(action="withdraw")
    assert (entry.actor, entry.submission) == (ada.pk, second.key)


def test_who_is_no_member_any_more_or_counts_alone_does_nothing_for_the_team(
    tiny: Any, pair: Any, graded: Send
) -> None:
    ada, grace, _ = pair
    row = graded(owner=ada, public=False)
    assert browser(grace).get(f"/submissions/{row.key}").status_code == 200
    set_policy(tiny)
    assert browser(grace).get(f"/submissions/{row.key}").status_code == 404
    set_policy(tiny, per="team")
    acts.leave_team(grace)
    assert browser(grace).get(f"/submissions/{row.key}").status_code == 404
    assert browser(grace).post(f"/submissions/{row.key}/withdraw").status_code == 404


# ---------------------------------------------------------------------- a team for each benchmark


@pytest.fixture
def second(tiny: Any) -> Any:
    """Another benchmark, which counts per team too."""
    row = type(tiny).objects.get(pk=tiny.pk)
    row.pk = None
    row.name = "second"
    row.title = "Second"
    row.save(force_insert=True)
    return row


def test_a_person_is_in_a_team_of_each_benchmark_and_sends_for_it(
    tiny: Any, second: Any, ada: Any, person: Callable[[str], Any], send: Send
) -> None:
    set_policy(tiny, per_day=2, per="team")
    set_policy(second, per_day=2, per="team")
    bob, eve = person("bob@example.org"), person("eve@example.org")
    owls, larks = acts.create_team(ada, "Owls", tiny), acts.create_team(bob, "Larks", second)
    acts.join_team(ada, larks.code)
    acts.join_team(eve, owls.code)
    first = send(owner=ada)
    assert (first.group, first.team) == (owls, "Owls")
    row = send(owner=ada, benchmark=second)
    assert (row.group, row.team) == (larks, "Larks")
    assert [left(tiny, user) for user in (ada, eve, bob)] == [1, 1, 2]
    assert [left(second, user) for user in (ada, eve, bob)] == [1, 2, 1]
    for user, seen in ((bob, {row}), (eve, {first}), (ada, {first, row})):
        assert set(Submission.objects.managed_by(user)) == seen
        assert {one for one in (first, row) if one.is_managed_by(user)} == seen
    with pytest.raises(ActError, match=r"'Owls'. Leave it first"):
        acts.create_team(ada, "More", tiny)
    acts.leave_team(ada, second)
    assert [user.pk for user in owls.members] == [ada.pk, eve.pk], "it leaves the other team alone"


def test_a_team_of_a_benchmark_comes_before_the_one_of_all_there(
    tiny: Any, second: Any, pair: Any, send: Send
) -> None:
    """Entering it is, on that benchmark, as leaving the other: no act brings new quota."""
    ada, grace, lovelace = pair
    set_policy(second, per="team")
    before, elsewhere = send(owner=grace), send(owner=grace, benchmark=second)
    owls = acts.create_team(ada, "Owls", tiny)
    assert left(tiny, ada) == 1, "what the other team had sent counts on"
    after = send(owner=grace)
    assert (left(tiny, ada), left(tiny, grace)) == (1, 0)
    own = send(owner=ada)
    assert own.group == owls
    assert send(owner=ada, benchmark=second).group == lovelace
    seen = Submission.objects.managed_by(ada)
    assert (elsewhere in seen, own in seen) == (True, True)
    assert {before, after}.isdisjoint(seen)
    assert own not in Submission.objects.managed_by(grace)
    assert not own.is_managed_by(grace)
    acts.leave_team(ada, tiny)
    assert (left(tiny, ada), left(tiny, grace)) == (0, 0), "all of hers counts for Lovelace again"
    assert usage(tiny, grace)["day"].used == 3


def test_the_extension_of_a_team_is_for_who_acts_for_it_on_the_benchmark(tiny: Any, pair: Any) -> None:
    ada, grace, lovelace = pair
    owls = acts.create_team(ada, "Owls", tiny)
    now = timezone.now()
    phase = Phase(benchmark=tiny, name="Test", opens=now - timedelta(days=1), closes=now + timedelta(days=1))
    save_phase(phase)
    for team, days in ((lovelace, 3), (owls, 5)):
        until = now + timedelta(days=days)
        extend(phase, None, closes=until, who=team, reason="a failure")
    phase.refresh_from_db()
    waits = [(ends_for(phase, user.pk) or now) - now for user in (ada, grace)]
    assert [wait.days for wait in waits] == [5, 3]


def test_only_teams_for_the_same_benchmark_merge(
    tiny: Any, second: Any, pair: Any, person: Callable[[str], Any], send: Send
) -> None:
    ada, _, lovelace = pair
    bob = person("bob@example.org")
    larks, owls = acts.create_team(bob, "Larks", tiny), acts.create_team(ada, "Owls", tiny)
    with pytest.raises(ActError, match="in no team"):
        acts.propose_merge(bob, lovelace.code)
    mine, theirs = send(owner=ada), send(owner=bob)
    acts.propose_merge(ada, larks.code)
    acts.merge(bob, owls.pk, accepted=True)
    assert set(larks.members) == {ada, bob}
    assert ada in lovelace.members
    assert {mine, theirs} == set(larks.submissions.all())
    assert team_for(ada.pk, tiny.pk) == larks.pk
    assert team_for(ada.pk, second.pk) == lovelace.pk


def test_the_largest_size_counts_who_acts_for_the_team_on_the_benchmark(
    tiny: Any, pair: Any, person: Callable[[str], Any], send: Send
) -> None:
    ada, grace, lovelace = pair
    set_policy(tiny, per="team", team_size=2)
    send(owner=grace)
    eve = person("eve@example.org")
    with pytest.raises(ActError, match="you would be 3"):
        acts.join_team(eve, lovelace.code)
    owls = acts.create_team(ada, "Owls", tiny)
    acts.join_team(eve, lovelace.code)
    send(owner=eve)
    acts.leave_team(ada, tiny)
    with pytest.raises(QuotaError, match="yours has 3"):
        send(owner=eve)
    assert not owls.members


def test_teams_of_one_benchmark_by_the_pages(
    tiny: Any, second: Any, ada: Any, person: Callable[[str], Any]
) -> None:
    mine, guest = browser(ada), browser(person("grace@example.org"))
    address = "/account/team?benchmark=tiny"
    for name, page in (("Lovelace", "/account/team"), ("Owls", address)):
        assert mine.post(page, {"name": name})["Location"] == page
    shown = mine.get(address).content.decode()
    assert "<h1>Owls</h1>" in shown
    assert ">all benchmarks: Lovelace</option>" in shown
    assert "<h1>Lovelace</h1>" in mine.get("/account/team").content.decode()
    link = shown.split('value="http://testserver')[1].split('"')[0]
    assert f"a team for {tiny.title} alone" in guest.get(link).content.decode()
    joined = guest.post(link)
    assert joined["Location"] == address
    assert "Member" in guest.get(address).content.decode()
    assert "You are in no team" in guest.get("/account/team").content.decode()
    account = browser(ada).get("/account/").content.decode()
    assert f"Team for {tiny.title}" in account
    mine.post("/account/team/member?benchmark=tiny", {"act": "lead", "account": str(guest_of(guest))})
    assert guest.post("/account/team/renew?benchmark=tiny", {"uses": "3", "days": "7"}).status_code == 302
    assert guest.get(link).status_code == 404
    assert mine.post("/account/team/leave?benchmark=tiny")["Location"] == address
    assert "there you are in Lovelace, as everywhere" in mine.get(address).content.decode()
    for unknown in ("?benchmark=nothing", "?team=x"):
        assert mine.get(f"/account/team{unknown}").status_code in (400, 404)


def guest_of(client: Client) -> str:
    return str(client.session["_auth_user_id"])


@pytest.mark.parametrize("seed", range(6))
def test_for_which_team_a_person_acts_is_as_a_replay_of_the_moves_says(
    tiny: Any, second: Any, ada: Any, person: Callable[[str], Any], seed: int
) -> None:
    """Minute by minute, with teams of the benchmark, of another one, and of all."""
    chance = random.Random(seed)
    start = timezone.now() - timedelta(days=1)
    people = [ada, person("grace@example.org")]
    scopes = {None: None, tiny.pk: tiny, second.pk: second}
    teams = {
        scope: [Team.objects.create(name=f"{scope} {number}", benchmark=row) for number in range(2)]
        for scope, row in scopes.items()
    }
    present: dict[tuple[Any, Any], Membership] = {}
    acted: dict[Any, list[int | None]] = {user: [] for user in people}
    for minute in range(40):
        moment = start + timedelta(minutes=minute)
        user, scope = chance.choice(people), chance.choice(list(scopes))
        former = present.pop((user, scope), None)
        if former is not None:
            former.until = moment
            former.save()
        if former is None or chance.random() < 0.4:
            team = chance.choice(teams[scope])
            present[user, scope] = Membership.objects.create(user=user, team=team, since=moment)
        for each in people:
            row = present.get((each, tiny.pk)) or present.get((each, None))
            acted[each].append(row.team_id if row else None)
    every = [team.pk for group in teams.values() for team in group]
    for minute in range(40):
        moment = start + timedelta(minutes=minute, seconds=30)
        replayed = {user.pk: acted[user][minute] for user in people if acted[user][minute] is not None}
        assert {user.pk: team_for(user.pk, tiny.pk, moment) for user in people} == {
            user.pk: acted[user][minute] for user in people
        }
        assert acting_for(every, tiny.pk, moment) == replayed
    for user in people:
        assert team_for(user.pk, tiny.pk) == acted[user][-1]
        ends: dict[int, datetime] = {}
        for minute, (team_then, team_next) in enumerate(pairwise(acted[user])):
            if team_then is not None and team_next != team_then:
                ends[team_then] = start + timedelta(minutes=minute + 1)
        last: dict[int, datetime] = {}
        for team_left, until in former_teams(user.pk, tiny.pk):
            last[team_left] = max(until, last.get(team_left, until))
        now_in = acted[user][-1]
        assert {team: end for team, end in last.items() if team != now_in} == {
            team: end for team, end in ends.items() if team != now_in
        }
