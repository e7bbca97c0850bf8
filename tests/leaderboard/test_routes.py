"""Who may do what: every address, every role, against the one table of leaderboard.routes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings
from django.urls import Resolver404, resolve
from leaderboard.routes import MODEL_PAGES, ROUTES
from leaderboard.test_canary import answered, leaks
from leaderboard.walk import Answer, Walk, patterns, people, sign_in, walk

pytestmark = pytest.mark.xdist_group("walk")
"""They share a walk through the whole site, which is made once a process."""


def differing(answers: Iterable[Answer]) -> list[str]:
    """Where the site and the table disagree."""
    return [
        f"{answer.method} {answer.route.path} as {answer.role}: {answer.outcome}, expected {expected}"
        for answer in answers
        if answer.outcome != (expected := answer.route.expected(answer.method, answer.role))
    ]


def test_one_process_makes_the_walk(request: pytest.FixtureRequest) -> None:
    """Groups were silently ignored after an update of pytest, and each process walked."""
    if not request.config.getoption("loadgroup", False):
        pytest.skip("the tests are not shared out by groups here (-n 2 --dist loadgroup)")
    assert request.node.nodeid.endswith("@walk")


def test_the_table_lists_every_address_and_no_other() -> None:
    assert sorted({route.pattern for route in (*ROUTES, *MODEL_PAGES)}) == patterns()


@pytest.mark.parametrize("path", ["/account/team/join/", "/label/"])
def test_no_database_is_asked_for_a_code_that_cannot_be_one(path: str) -> None:
    """PostgreSQL refuses a text with a NUL in it, which was a fault."""
    assert resolve(f"{path}aZ_9-x").kwargs == {"code": "aZ_9-x"}
    with pytest.raises(Resolver404):
        resolve(f"{path}\x00")


def test_everybody_is_answered_as_the_table_says(walked: Walk) -> None:
    assert len(walked.answers) > 400
    assert not differing(walked.answers)


def test_nothing_fails(walked: Walk) -> None:
    assert "Traceback" not in walked.log
    assert {answer.route.path for answer in walked.answers if answer.outcome.startswith("5")} == set()


def test_a_refusal_changes_nothing(walked: Walk) -> None:
    refused = [answer for answer in walked.answers if not answer.outcome.startswith(("2", "3"))]
    assert [(answer.route.path, answer.role) for answer in refused if answer.changed] == []


def test_visitors_change_nothing_but_by_signing_up_or_by_a_link_from_mail(walked: Walk) -> None:
    anonymous = [answer for answer in walked.answers if answer.role == "anonymous" and answer.changed]
    assert {answer.route.path for answer in anonymous} == {"/account/signup/", "{unsubscribe}"}


def test_acts_are_told_from_refusals(walked: Walk) -> None:
    """Guards the guard: what is allowed does change something."""
    changed = {(answer.route.path, answer.role) for answer in walked.answers if answer.changed}
    assert ("/submissions/{key}/withdraw", "owner") in changed
    assert ("/benchmarks/tiny/organize/submissions/{key}", "organizer") in changed
    assert ("/admin/accounts/token/{token}/delete/", "admin") in changed


def test_where_addresses_must_be_confirmed_nobody_gets_in_before(db: None, settings: Any) -> None:
    people()
    with override_settings(ACCOUNT_EMAIL_VERIFICATION="mandatory"):
        assert sign_in("unverified@example.org") == ""
        assert sign_in("other@example.org") != ""


@pytest.mark.slow
def test_every_page_answers_every_role_as_the_table_says(db: None, gold_folder: Path) -> None:
    walked = walk(gold_folder, whole=True)
    assert not differing(walked.answers)
    assert leaks(answered(walked), dict(walked.secrets)) == []
