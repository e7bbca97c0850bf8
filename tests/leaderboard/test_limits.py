"""Limits as submitters meet them: what is taken, what is refused, and what they are told."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from leaderboard.material import PREDICTIONS, zip_bytes

from gluebench.leaderboard.apps.limits.quota import QuotaError, usage
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status

Send = Callable[..., Submission]
LACKING = {name: values for name, values in PREDICTIONS.items() if name != "Refer"}


def set_policy(benchmark: Any, **values: Any) -> None:
    benchmark.settings = {"per_day": None, "at_once": None, **values}
    benchmark.save()


def stored() -> list[Path]:
    return [path for path in settings.FOLDER.submissions.rglob("*") if path.is_file()]


def post(client: Client, data: bytes) -> Any:
    file = SimpleUploadedFile("mine.zip", data, content_type="application/zip")
    fields = {"name": "Mine", "model": "CBoW", "regime": "frozen", "action": "submit", "upload": file}
    return client.post("/benchmarks/tiny/submit", fields)


def test_one_too_many_is_refused_with_its_time_and_leaves_nothing(
    client: Client, tiny: Any, ada: Any, good_zip: bytes
) -> None:
    set_policy(tiny, per_day=1)
    client.force_login(ada)
    assert post(client, good_zip).status_code == 302
    there = stored()
    answer = post(client, good_zip)
    assert answer.status_code == 429
    assert 86_000 < int(answer["Retry-After"]) <= 86_400
    text = answer.content.decode()
    assert "Your limit is 1 submission in 24 hours; 0 remain." in text
    assert "The next one is possible from" in text
    assert 'value="Mine"' in text, "what was typed is still there"
    assert stored() == there
    assert Submission.objects.count() == 1


def test_a_refusal_under_the_lock_takes_the_stored_file_away_again(
    tiny: Any, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gluebench.leaderboard.apps.limits import quota

    set_policy(tiny, per_day=1)
    send()
    there = stored()
    monkeypatch.setattr(
        quota, "check_quota", lambda submission: None
    )  # as for one that asked before the other was in
    with pytest.raises(QuotaError) as refusal:
        send()
    assert refusal.value.next is not None
    assert stored() == there


def test_no_upload_ends_in_an_account_that_was_deleted_meanwhile(
    tiny: Any, ada: Any, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gluebench.leaderboard.apps.accounts.trust import delete_account
    from gluebench.leaderboard.apps.limits import quota

    there = stored()
    monkeypatch.setattr(quota, "check_quota", lambda submission: delete_account(ada))
    with pytest.raises(QuotaError, match="This account is closed"):
        send()
    assert stored() == there
    assert not Submission.objects.exists()


def test_grading_again_gives_no_quota_back(tiny: Any, ada: Any, graded: Send, gold_folder: Path) -> None:
    from gluebench.leaderboard.apps.submissions.grading import grade, regrade

    set_policy(tiny, per_day=2, invalid_per_day=2)
    failed, invalid = graded(), graded()
    regrade(tiny, "New labels.")
    settings.FOLDER.submissions.joinpath(invalid.file.name).write_bytes(b"no zip")
    Submission.objects.filter(pk=invalid.pk).update(sha256=hashlib.sha256(b"no zip").hexdigest())
    grade(invalid.pk)
    Submission.objects.filter(pk=failed.pk).update(status=Status.FAILED, failure="The grader was killed.")
    assert usage(tiny, ada)["day"].used == 2
    assert usage(tiny, ada)["invalid"].used == 0
    assert Submission.objects.get(pk=invalid.pk).status == Status.INVALID


def test_the_same_upload_again_is_not_told_of_limits(tiny: Any, send: Send) -> None:
    from django.db import IntegrityError, transaction

    set_policy(tiny, per_day=1)
    send(retry_key="once")
    with pytest.raises(IntegrityError), transaction.atomic():
        send(retry_key="once")  # its sender is given the one that is there
    with pytest.raises(QuotaError):
        send(retry_key="another")


def test_a_closed_benchmark_takes_nothing_and_still_checks(
    client: Client, tiny: Any, ada: Any, send: Send, good_zip: bytes
) -> None:
    tiny.open = False
    tiny.save()
    with pytest.raises(QuotaError, match="takes no submissions now"):
        send()
    client.force_login(ada)
    assert "takes no submissions now" in client.get("/benchmarks/tiny/submit").content.decode()
    answer = post(client, good_zip)
    assert (answer.status_code, Submission.objects.count()) == (403, 0)
    file = SimpleUploadedFile("mine.zip", good_zip, content_type="application/zip")
    checked = client.post("/benchmarks/tiny/submit", {"action": "check", "upload": file})
    assert "The file is valid." in checked.content.decode()


def test_what_is_left_stands_where_one_submits_and_beside_one_s_own(
    client: Client, tiny: Any, ada: Any, graded: Send
) -> None:
    set_policy(tiny, per_day=2, per_month=30)
    graded()
    client.force_login(ada)
    for page in ("/benchmarks/tiny/submit", "/submissions"):
        text = client.get(page).content.decode()
        assert "You may send 1 more" in text
        assert "1 of 30" in text
    graded()
    for page in ("/benchmarks/tiny/submit", "/submissions"):
        assert "The next one is possible from" in client.get(page).content.decode()


def test_an_invalid_upload_costs_nothing_but_has_its_cap(tiny: Any, ada: Any, graded: Send) -> None:
    set_policy(tiny, per_day=1, invalid_per_day=2)
    for _ in range(2):
        assert graded(b"no zip").status == Status.INVALID
    with pytest.raises(QuotaError, match="2 rejected uploads"):
        graded()
    assert usage(tiny, ada)["day"].remaining == 1


def test_who_runs_the_site_is_held_by_no_limit(tiny: Any, ada: Any, tmp_path: Path, good_zip: bytes) -> None:
    from gluebench.leaderboard import commands

    set_policy(tiny, per_day=1)
    file = tmp_path / "a.zip"
    file.write_bytes(good_zip)
    for name in ("One", "Two"):
        commands.submit_local(settings.FOLDER.root, "tiny", ada.email, file, model="CBoW", name=name)
    assert Submission.objects.count() == 2


def test_an_incomplete_submission_is_refused_where_the_policy_says_so(
    client: Client, tiny: Any, ada: Any, graded: Send
) -> None:
    set_policy(tiny, incomplete="refused", per_day=1)
    client.force_login(ada)
    file = SimpleUploadedFile("mine.zip", zip_bytes(LACKING), content_type="application/zip")
    checked = client.post("/benchmarks/tiny/submit", {"action": "check", "upload": file}).content.decode()
    refused = graded(zip_bytes(LACKING))
    page = client.get(refused.get_absolute_url()).content.decode()
    for text in (checked, page):
        assert "The file cannot be graded." in text
        assert "Refer.tsv" in text
        assert "this benchmark takes complete submissions only" in text.lower()
    assert (refused.status, refused.verdict, refused.report) == (Status.INVALID, "invalid", None)
    assert usage(tiny, ada)["day"].remaining == 1
    assert graded().status == Status.GRADED


def test_what_was_taken_incomplete_stays_when_it_is_graded_again(tiny: Any, graded: Send) -> None:
    from gluebench.leaderboard.apps.submissions.grading import grade, regrade

    taken = graded(zip_bytes(LACKING))
    assert taken.status == Status.GRADED
    set_policy(tiny, incomplete="refused")
    turned_away = graded(zip_bytes(LACKING))
    regrade(tiny, "New labels.")
    for submission in (taken, turned_away):
        grade(submission.pk)
        submission.refresh_from_db()
    assert (taken.status, turned_away.status) == (Status.GRADED, Status.INVALID)
