"""Badges and the board in a frame: what they say, and which page other sites may frame."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client
from leaderboard.material import PREDICTIONS, zip_bytes

from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.boards.views import badge_svg
from gluebench.leaderboard.apps.submissions import acts
from gluebench.leaderboard.apps.submissions.models import Submission

Graded = Callable[..., Submission]
HOSTILE = "<script>alert(1)</script>\"'&]]>"
SVG = "{http://www.w3.org/2000/svg}"


def texts_of(picture: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_badges_say_rank_and_scores_of_the_board(tiny: Benchmark, graded: Graded, client: Client) -> None:
    best, second = graded(), graded(zip_bytes({**PREDICTIONS, "Refer": "1011"}))
    rows = client.get("/benchmarks/tiny.json").json()["rows"]
    scores = [f"{100 * row['score']['value']:.1f}" for row in rows]
    pictures = [client.get(f"/submissions/{row.key}/badge.svg") for row in (best, second)]
    assert [texts_of(each.content.decode()) for each in pictures] == [
        [tiny.title, f"rank 1 · …: {scores[0]}"],
        [tiny.title, f"rank 2 · …: {scores[1]}"],
    ]
    whole = client.get("/benchmarks/tiny/badge.svg")
    assert texts_of(whole.content.decode()) == [tiny.title, f"2 systems, best {scores[0]}"]
    assert whole["Content-Type"] == "image/svg+xml"
    known = client.get("/benchmarks/tiny/badge.svg", headers={"If-None-Match": whole["ETag"]})
    assert known.status_code == 304
    acts.withdraw(best)
    assert client.get(f"/submissions/{best.key}/badge.svg").status_code == 404
    assert "rank 1 · –: ".encode() in client.get(f"/submissions/{second.key}/badge.svg").content


def test_an_incomplete_system_and_an_empty_board_have_no_score(
    tiny: Benchmark, graded: Graded, client: Client
) -> None:
    assert texts_of(client.get("/benchmarks/tiny/badge.svg").content.decode())[1] == "0 systems"
    part = graded(zip_bytes({"Sim": PREDICTIONS["Sim"]}))
    assert texts_of(client.get(f"/submissions/{part.key}/badge.svg").content.decode())[1] == "incomplete"


def test_a_badge_of_any_text_is_one_picture() -> None:
    for title in (HOSTILE, "x" * 200, "Ελληνικά 中文", ""):
        picture = badge_svg(title, HOSTILE)
        shown, text = texts_of(picture)
        assert text == HOSTILE
        assert title.startswith(shown.removesuffix("…"))
        assert len(shown) <= 40
        assert {each.tag for each in ElementTree.fromstring(picture).iter()} == {
            f"{SVG}{name}" for name in ("svg", "title", "rect", "path", "g", "text")
        }


def test_private_systems_have_no_badge(graded: Graded, client: Client, tiny: Benchmark) -> None:
    hidden, shown = graded(public=False), graded()
    assert client.get(f"/submissions/{hidden.key}/badge.svg").status_code == 404
    Benchmark.objects.update(draft=True)
    for path in (f"submissions/{shown.key}/badge.svg", "benchmarks/tiny/badge.svg", "benchmarks/tiny/embed"):
        assert client.get(f"/{path}").status_code == 404


def test_only_the_embedded_board_may_be_in_a_frame(tiny: Benchmark, graded: Graded, owner: Client) -> None:
    row = graded(name=HOSTILE, model="BiLSTM")
    for browser in (Client(), owner):
        answer = browser.get("/benchmarks/tiny/embed")
        page = answer.content.decode()
        assert not answer.has_header("X-Frame-Options")
        policy = dict(
            part.strip().partition(" ")[::2] for part in answer["Content-Security-Policy"].split(";")
        )
        assert (policy["frame-ancestors"], policy["script-src"], policy["form-action"]) == (
            "*",
            "'none'",
            "'none'",
        )
        assert not answer.cookies
        assert "Set-Cookie" not in answer
        assert html.escape(HOSTILE) in page
        assert "<script" not in page
        assert "<form" not in page
        assert "Sign" not in page
    for path in ("/benchmarks/tiny", f"/submissions/{row.key}", "/benchmarks/tiny/badge.svg"):
        answer = owner.get(path)
        assert answer["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


def test_the_page_of_a_system_has_snippets_that_work(graded: Graded, client: Client) -> None:
    row = graded()
    page = client.get(f"/submissions/{row.key}").content.decode()
    text = html.unescape(page)
    for path, linked in ((f"/submissions/{row.key}", f"/submissions/{row.key}"), ("/benchmarks/tiny",) * 2):
        picture = f"http://testserver{path}/badge.svg"
        assert f"]({picture})](http://testserver{linked})" in text
        assert f'<a href="http://testserver{linked}"><img src="{picture}" alt="' in text
        assert f'<a href="http://testserver{linked}"><img' not in page
        assert client.get(picture).status_code == 200
    assert '<iframe src="http://testserver/benchmarks/tiny/embed" title="' in text
    assert "<iframe" not in page
    assert f"{row.key}/badge.svg" not in client.get("/benchmarks/tiny").content.decode()


@pytest.mark.parametrize("public", [True, False])
def test_a_private_page_has_no_snippets(graded: Graded, owner: Client, public: bool) -> None:
    row: Any = graded(public=public)
    assert ("badge.svg" in owner.get(f"/submissions/{row.key}").content.decode()) is public
