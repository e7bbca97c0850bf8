"""A draft exists only for those who run it, a restricted benchmark also for its accepted participants.

At every address of the site, in every list and count.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches
from django.db import transaction
from django.test import Client
from leaderboard.routes import ROUTES
from leaderboard.walk import World, ask, make_world

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.models import Benchmark, only_one
from gluebench.leaderboard.apps.limits.models import Registration, version_of
from gluebench.leaderboard.apps.organizing import copies
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.phases.table import ActError

OF_TINY = [route for route in ROUTES if "/benchmarks/tiny" in route.path or "{shown}" in route.path]
LISTS = ["/", "/?q=tiny", "/api/v1/benchmarks", "/submissions", "/terms", "/account/", "/benchmarks/another"]


@pytest.fixture
def hidden() -> dict[str, bool]:
    """How the benchmark is hidden."""
    return {"draft": True}


both_ways = pytest.mark.parametrize(
    "hidden", [{"draft": True}, {"restricted": True}], ids=["draft", "restricted"]
)


@pytest.fixture(scope="module")
def open_world(django_db_setup: None, django_db_blocker: Any, gold_folder: Path) -> Iterator[World]:
    """The site, whose benchmark every test hides in its own transaction; to make it takes half a second.

    Not by the fixture `db`, which is of one test. Without any test that takes that one, there is no database.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield make_world(gold_folder)
        transaction.set_rollback(True)


@pytest.fixture
def world(open_world: World, hidden: dict[str, bool]) -> Iterator[World]:
    caches["pages"].clear()
    with transaction.atomic():
        # The acts that hide a benchmark refuse while a phase that everybody sees uses its tasks.
        Phase.objects.filter(tasks_of__name="tiny").update(tasks_of=None)
        Benchmark.objects.filter(name="tiny").update(
            **hidden, title="The secret draft", settings={"registration": "invitation"}
        )
        yield open_world
        transaction.set_rollback(True)
    caches["pages"].clear()


def signed_in(world: World, role: str) -> Client:
    client = Client()
    if world.cookies[role]:
        client.cookies["sessionid"] = world.cookies[role]
    return client


@both_ways
def test_no_address_of_a_draft_answers_a_stranger(world: World) -> None:
    assert len(OF_TINY) > 60
    for role in ("anonymous", "foreign"):
        answers = [ask(world, route, role, method) for route in OF_TINY for method in ("GET", "POST")]
        wrong = [answer for answer in answers if answer.outcome not in ("404", "405", "401", "login")]
        for answer in wrong:  # as for a name that does not exist, where the form is read first
            path = answer.route.path.replace("tiny", "nothing")
            nothing = ask(world, answer.route._replace(path=path), role, answer.method)
            assert (answer.outcome, answer.body) == (nothing.outcome, nothing.body), answer.route.path
        assert not any(b"secret draft" in answer.body for answer in answers)


@both_ways
def test_those_who_run_it_see_all_as_before(world: World) -> None:
    for route in OF_TINY:
        for role in ("organizer", "admin"):
            assert ask(world, route, role, "GET").outcome == route.expected("GET", role), route.path


@both_ways
@pytest.mark.parametrize("role", ["anonymous", "foreign"])
def test_no_list_names_a_draft(world: World, role: str) -> None:
    client = signed_in(world, role)
    for path in LISTS:
        assert b"secret draft" not in client.get(path).content, path


def test_its_organizer_finds_it(world: World) -> None:
    client = signed_in(world, "organizer")
    assert b"The secret draft" in client.get("/organize").content
    names = [row["name"] for row in client.get("/api/v1/benchmarks").json()["items"]]
    assert names == ["tiny", "another"]


@both_ways
def test_a_draft_is_not_the_only_benchmark(world: World) -> None:
    assert (only_one() or Any).name == "another"
    assert Client().get("/api/v1/benchmarks").json()["items"][0]["name"] == "another"


@both_ways
def test_a_cached_page_of_a_draft_reaches_no_stranger(world: World) -> None:
    organizer, stranger = signed_in(world, "organizer"), signed_in(world, "foreign")
    page = organizer.get("/benchmarks/tiny")
    assert page.status_code == 200
    known = {"HTTP_IF_NONE_MATCH": page["ETag"]}
    assert stranger.get("/benchmarks/tiny", **known).status_code == 404  # type: ignore[arg-type]


def test_opening_shows_it_to_everybody_and_is_logged(tiny: Benchmark, ada: User) -> None:
    tiny.organizers.add(ada)
    Benchmark.objects.filter(pk=tiny.pk).update(draft=True)
    organizer = Client()
    organizer.force_login(ada)
    assert Client().get("/benchmarks/tiny").status_code == 404
    organizer.post("/benchmarks/tiny/organize/opening", {"act": "open"})
    assert Client().get("/benchmarks/tiny").status_code == 200
    assert b"open to the public" in organizer.get("/benchmarks/tiny/organize/log").content
    organizer.post("/benchmarks/tiny/organize/opening", {"act": "draft"})
    assert Client().get("/benchmarks/tiny").status_code == 404


@pytest.mark.parametrize("hidden", [{"restricted": True}])
def test_accepted_participants_see_what_everybody_saw_until_they_are_blocked(world: World) -> None:
    participant = User.objects.get(email="foreign@example.org")
    tiny = Benchmark.objects.get(name="tiny")
    row = Registration.objects.create(benchmark=tiny, user=participant, standing="waiting")
    client = signed_in(world, "foreign")
    assert client.get("/benchmarks/tiny").status_code == 404
    Registration.objects.filter(pk=row.pk).update(standing="accepted")
    public = [route for route in OF_TINY if route.expected("GET", "anonymous") == "200"]
    assert len(public) > 30
    for route in public:
        assert ask(world, route, "foreign", "GET").outcome == "200", route.path
    organizing = [route for route in OF_TINY if route.path.startswith("/benchmarks/tiny/organize")]
    for route in organizing:
        assert ask(world, route, "foreign", "GET").outcome in ("403", "404", "405"), route.path
    assert b"The secret draft" in client.get("/").content
    assert b"The secret draft" not in Client().get("/").content
    Registration.objects.filter(pk=row.pk).update(standing="blocked")
    assert client.get("/benchmarks/tiny").status_code == 404
    assert b"The secret draft" not in client.get("/").content


@pytest.mark.parametrize("hidden", [{"restricted": True}])
def test_the_page_that_registers_is_open_except_where_an_invitation_is_needed(world: World) -> None:
    tiny, foreign = Benchmark.objects.get(name="tiny"), signed_in(world, "foreign")
    join, interface = "/benchmarks/tiny/join", "/api/v1/benchmarks/tiny/registration"
    link = tiny.invitations.create(uses=1, expires="2999-01-01T00:00Z")
    assert [foreign.get(address).status_code for address in (join, interface)] == [404, 404]
    assert [foreign.get(f"{join}/x").status_code, foreign.get(link.path).status_code] == [404, 200]
    assert foreign.get(f"{interface}?code={link.code}").json()["standing"] is None
    tiny.settings = {"registration": "approval"}
    tiny.save()
    assert [foreign.get(address).status_code for address in (join, interface)] == [200, 200]
    assert Client().get(join).status_code == 200
    foreign.post(join, {"version": version_of(tiny)})
    assert foreign.get("/benchmarks/tiny").status_code == 404, "an organizer has not approved it"
    signed_in(world, "organizer").post(
        f"/benchmarks/tiny/organize/participants/{User.objects.get(email='foreign@example.org').pk}",
        {"act": "approve"},
    )
    assert foreign.get("/benchmarks/tiny").status_code == 200
    Benchmark.objects.filter(name="tiny").update(draft=True)
    assert foreign.get("/benchmarks/tiny").status_code == foreign.get(join).status_code == 404


@pytest.mark.parametrize("hidden", [{}])
def test_restricting_takes_the_board_out_of_the_ledger_and_is_logged(world: World) -> None:
    organizer = signed_in(world, "organizer")
    listed = "/ledger/rows.json"
    before = {row["benchmark"] for row in Client().get(listed).json()["rows"].values()}
    organizer.post("/benchmarks/tiny/organize/opening", {"act": "restrict"})
    assert Client().get("/benchmarks/tiny").status_code == 404
    assert before - {row["benchmark"] for row in Client().get(listed).json()["rows"].values()} == {"tiny"}
    entry = Entry.objects.get(action="open to participants")
    assert set(entry.detail["sealed"]) == {"draft", "restricted"}
    tiny = Benchmark.objects.get(name="tiny")
    with pytest.raises(ActError, match="no public pages"):
        copies.request_copy(tiny, User.objects.get(email="organizer@example.org"))
    organizer.post("/benchmarks/tiny/organize/opening", {"act": "open"})
    assert Client().get("/benchmarks/tiny").status_code == 200


def test_a_reviewer_decides_about_entries_and_nothing_else(world: World) -> None:
    reviewer = User.objects.get(email="other@example.org")
    Benchmark.objects.get(name="tiny").reviewers.add(reviewer)
    client = Client()
    client.force_login(reviewer)
    here, key = "/benchmarks/tiny/organize", world.places["key"]
    allowed = [
        here,
        f"{here}/submissions.csv",
        f"{here}/submissions/{key}",
        f"/submissions/{key}",
        "/benchmarks/tiny",
    ]
    assert [client.get(path).status_code for path in allowed] == [200] * 5
    refused = {route.path for route in OF_TINY if route.path.startswith(f"{here}/")}
    refused -= {f"{here}/submissions/{{key}}", f"{here}/submissions.csv"}
    for path in sorted(refused):
        address = path.format(**world.places)
        assert client.get(address).status_code in (403, 405), path
        assert client.post(address, {"reason": "x", "act": "close"}).status_code in (403, 405)
    decline = {"act": "decline", "decline-reason": "Not its own"}
    assert client.post(f"{here}/submissions/{key}", decline).status_code == 302
    mark = {"act": "mark", "mark-kind": "human", "mark-verified": "on"}
    assert client.post(f"{here}/submissions/{key}", mark).status_code == 403
