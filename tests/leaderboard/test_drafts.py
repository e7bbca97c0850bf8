"""A draft exists only for those who run it: at every address of the site, in every list and count."""

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

from gluebench.leaderboard.apps.benchmarks.models import Benchmark, only_one

OF_TINY = [route for route in ROUTES if "/benchmarks/tiny" in route.path or "{shown}" in route.path]
LISTS = ["/", "/?q=tiny", "/api/v1/benchmarks", "/submissions", "/terms", "/account/", "/benchmarks/another"]


@pytest.fixture
def world(db: None, gold_folder: Path) -> Iterator[World]:
    caches["pages"].clear()
    with transaction.atomic():
        made = make_world(gold_folder)
        Benchmark.objects.filter(name="tiny").update(draft=True, title="The secret draft")
        yield made
        transaction.set_rollback(True)
    caches["pages"].clear()


def signed_in(world: World, role: str) -> Client:
    client = Client()
    if world.cookies[role]:
        client.cookies["sessionid"] = world.cookies[role]
    return client


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


def test_those_who_run_it_see_all_as_before(world: World) -> None:
    for route in OF_TINY:
        for role in ("organizer", "admin"):
            assert ask(world, route, role, "GET").outcome == route.expected("GET", role), route.path


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


def test_a_draft_is_not_the_only_benchmark(world: World) -> None:
    assert (only_one() or Any).name == "another"
    assert Client().get("/api/v1/benchmarks").json()["items"][0]["name"] == "another"


def test_a_cached_page_of_a_draft_reaches_no_stranger(world: World) -> None:
    organizer, stranger = signed_in(world, "organizer"), signed_in(world, "foreign")
    page = organizer.get("/benchmarks/tiny")
    assert page.status_code == 200
    known = {"HTTP_IF_NONE_MATCH": page["ETag"]}
    assert stranger.get("/benchmarks/tiny", **known).status_code == 404  # type: ignore[arg-type]


def test_opening_shows_it_to_everybody_and_is_logged(world: World) -> None:
    organizer = signed_in(world, "organizer")
    organizer.post("/benchmarks/tiny/organize/opening", {"act": "open"})
    assert Client().get("/benchmarks/tiny").status_code == 200
    assert b"open to the public" in organizer.get("/benchmarks/tiny/organize/log").content
    organizer.post("/benchmarks/tiny/organize/opening", {"act": "draft"})
    assert Client().get("/benchmarks/tiny").status_code == 404


def test_a_reviewer_decides_about_entries_and_nothing_else(world: World, person: Any) -> None:
    reviewer = person("reviewer@example.org")
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
