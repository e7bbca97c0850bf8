"""Joining: the first submission needs an accepted version of the rules, by page, API and any program."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from gluebench.leaderboard.apps.accounts import trust
from gluebench.leaderboard.apps.accounts.models import Scope, User, issue
from gluebench.leaderboard.apps.limits import models
from gluebench.leaderboard.apps.limits.models import Acceptance
from gluebench.leaderboard.apps.limits.quota import QuotaError
from gluebench.leaderboard.apps.participants import pages
from gluebench.leaderboard.apps.submissions.models import Submission

JOIN = "/benchmarks/tiny/join"


@pytest.fixture
def rules(tiny: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The text of the rules, which the benchmark asks people to accept."""
    tiny.settings = {**tiny.settings, "terms": True}
    tiny.save()
    texts = ["Be **fair**."]
    for module in (models, pages):
        monkeypatch.setattr(module, "rules_of", lambda benchmark: texts[-1])
    return texts


def accept(client: Client, text: str) -> Any:
    return client.post(JOIN, {"version": hashlib.sha256(text.encode()).hexdigest()})


def upload(client: Client, data: bytes, **headers: Any) -> Any:
    """By the interface, with a token; else by the page."""
    file = SimpleUploadedFile("predictions.zip", data)
    values = {"name": "A system", "model": "BiLSTM"}
    if headers:
        return client.post("/api/v1/benchmarks/tiny/submissions", {**values, "file": file}, headers=headers)
    return client.post("/benchmarks/tiny/submit", {**values, "regime": "other", "upload": file})


def test_without_rules_of_the_benchmark_those_of_the_site_are_accepted_as_its_page_shows_them(
    tiny: Any, client: Client, owner: Client, ada: User
) -> None:
    User.objects.filter(pk=ada.pk).update(is_superuser=True)
    owner.post("/terms/edit", {"text": "# Terms\n\nBe **nice**.", "act": "save"})
    for page in ("/terms", JOIN):
        assert "Be <strong>nice</strong>." in client.get(page).content.decode(), page


def test_a_page_takes_nothing_before_the_rules_are_accepted(
    rules: list[str], owner: Client, ada: User, good_zip: bytes
) -> None:
    assert "Accept the rules of A tiny" in owner.get("/benchmarks/tiny/submit").content.decode()
    assert f'href="{JOIN}">Rules' in Client().get("/benchmarks/tiny").content.decode()
    refused = upload(owner, good_zip)
    assert refused.status_code == 403
    assert f"page {JOIN}" in refused.content.decode()
    assert not Submission.objects.exists()
    assert "Be <strong>fair</strong>." in owner.get(JOIN).content.decode()
    assert accept(owner, rules[0]).url == "/benchmarks/tiny/submit"
    kept = Acceptance.objects.get()
    assert (kept.user, kept.digest) == (ada, hashlib.sha256(b"Be **fair**.").hexdigest())
    assert "You accepted these rules on" in owner.get(JOIN).content.decode()
    assert "Accept the rules" not in owner.get("/benchmarks/tiny/submit").content.decode()
    assert upload(owner, good_zip).status_code == 302


def test_the_interface_names_the_page(rules: list[str], owner: Client, ada: User, good_zip: bytes) -> None:
    _, secret = issue(ada, "a program", [Scope.READ, Scope.SUBMIT], timedelta(days=1))
    program = Client()
    refused = upload(program, good_zip, Authorization=f"Bearer {secret}")
    problem = json.loads(refused.content)
    assert (refused.status_code, problem["type"]) == (403, "urn:gluebench:rules")
    assert JOIN in problem["detail"]
    accept(owner, rules[0])
    assert upload(program, good_zip, Authorization=f"Bearer {secret}").status_code in (201, 202)


def test_changed_rules_are_accepted_again(rules: list[str], owner: Client, send: Callable[..., Any]) -> None:
    accept(owner, rules[0])
    send()
    rules.append("Be fairer.")
    with pytest.raises(QuotaError, match="Accept the rules"):
        send()
    late = accept(owner, rules[0])
    assert "have changed since" in late.content.decode()
    assert Acceptance.objects.count() == 1
    accept(owner, rules[1])
    accept(owner, rules[1])
    assert Acceptance.objects.count() == 2
    send()


def test_acceptances_are_of_one_person_and_one_benchmark(
    rules: list[str], owner: Client, send: Callable[..., Any], person: Callable[[str], User]
) -> None:
    accept(owner, rules[0])
    with pytest.raises(QuotaError, match="Accept the rules"):
        send(owner=person("bob@example.org"))
    assert accept(Client(), rules[0]).url.startswith("/account/login/")


def test_without_the_setting_nothing_is_asked(owner: Client, send: Callable[..., Any]) -> None:
    assert "Accept the rules" not in owner.get("/benchmarks/tiny/submit").content.decode()
    send()


def test_who_joined_gets_the_news_and_takes_the_acceptance_along(
    rules: list[str], owner: Client, ada: User, tiny: Any, settings: Any
) -> None:
    from gluebench.leaderboard.apps.news.delivery import deliver, publish
    from gluebench.leaderboard.apps.news.models import Announcement

    settings.MAIL_IS_SENT = True
    accept(owner, rules[0])
    publish(Announcement(benchmark=tiny, title="Test phase", text="Now.", site="http://testserver/"), ada)
    assert deliver() == 1
    assert mail.outbox[0].to == [ada.email]
    with trust.export(ada) as archive:
        facts = json.loads(zipfile.ZipFile(archive).read("account.json"))
    assert [each["benchmark__name"] for each in facts["rules_accepted"]] == ["tiny"]
    trust.delete_account(ada)
    assert not Acceptance.objects.exists()
