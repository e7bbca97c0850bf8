"""Edits behind the site's back and files that rot are named, and a file that changed is never graded."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client, override_settings
from django.utils import timezone
from leaderboard.sealing import catch_up
from leaderboard.test_ranks import renewed

from gluebench.leaderboard import commands
from gluebench.leaderboard.apps.audit.models import Entry, record
from gluebench.leaderboard.apps.benchmarks.adding import digest_of
from gluebench.leaderboard.apps.limits.phase_acts import save_phase
from gluebench.leaderboard.apps.news import delivery
from gluebench.leaderboard.apps.news.models import Announcement
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.results.acts import announce
from gluebench.leaderboard.apps.submissions import feedback
from gluebench.leaderboard.apps.submissions.grading import grade, regrade
from gluebench.leaderboard.apps.submissions.models import Result, Submission
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.leaderboard.keeping import integrity

OTHER_KEY = "Wm3vT8_qLz0RkYc5hXn7JdBf2GpAe9UsiVo4M1tKaErS"


def wrong(**options: bool) -> dict[str, str]:
    """What `doctor` finds edited, by subject."""
    findings = commands.doctor(settings.FOLDER.root, **options)
    subjects = {
        "results",
        "listed scores",
        "log",
        "benchmarks",
        "missing files",
        "file contents",
        "orphan files",
    }
    return {each.name: each.state for each in findings if each.name in subjects and not each.ok}


def named_rows() -> list[str]:
    """What `doctor` says of rows that are not as the ledger has them."""
    findings = commands.doctor(settings.FOLDER.root)
    return [each.state for each in findings if each.name == "public rows" and not each.ok]


def sql(text: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(text, values)


@pytest.fixture
def site(graded: Callable[..., Submission]) -> Submission:
    """A site with two graded submissions and a log of three acts; returns the first submission."""
    submission = graded()
    graded(name="Another system")
    for number in range(3):
        record("quota", benchmark=submission.benchmark, reason=f"Reason {number}", per_day=number / 3)
    assert wrong(files=True) == {}
    return submission


@pytest.fixture
def organizer(site: Submission, ada: Any) -> Client:
    site.benchmark.organizers.add(ada)
    client = Client()
    client.force_login(ada)
    return client


def stored(submission: Submission) -> Path:
    return settings.FOLDER.submissions / submission.file.name


def test_an_edited_listed_score_is_named(site: Submission) -> None:
    sql("UPDATE submissions_submission SET value = 0.999 WHERE id = %s", site.pk)
    assert wrong() == {"listed scores": f"1 not what their results say: submission {site.key}."}


def test_an_edited_result_is_named_also_after_its_submission_is_shown_anew(site: Submission) -> None:
    result = site.results.get()
    report = {**result.report, "score": {**result.report["score"], "value": 0.999}}
    Result.objects.filter(pk=result.pk).update(report=report)
    named = f"1 edited in the database: result {result.pk} of submission {site.key}."
    assert wrong()["results"] == named
    feedback.show(site)
    assert wrong() == {"results": named}


def test_a_deleted_grading_is_named_by_the_one_after_it(site: Submission) -> None:
    for reason in ("First again", "Second again"):
        regrade(site.benchmark, reason)
        for row in Submission.objects.all():
            assert grade(row.pk)
    assert wrong() == {}
    last, middle, _ = site.results.values_list("pk", flat=True)
    sql("DELETE FROM submissions_result WHERE id = %s", middle)
    named = {"results": f"1 edited in the database: result {last} of submission {site.key}."}
    assert wrong() == named
    shown = Submission.objects.get(pk=site.pk)
    feedback.show(shown)
    assert wrong() == named, "showing it again does not seal it again"


def test_a_deleted_last_grading_is_named(site: Submission) -> None:
    for _ in range(2):  # the last two have one reason, and are moments apart
        regrade(site.benchmark, "Again")
        for row in Submission.objects.all():
            assert grade(row.pk)
    assert wrong() == {}
    sql("DELETE FROM submissions_result WHERE id = %s", site.results.latest("pk").pk)
    assert wrong() == {"listed scores": f"1 not what their results say: submission {site.key}."}


@pytest.fixture
def shown(site: Submission, ada: Any) -> Submission:
    """All that pages show of a benchmark: a phase, news and results too."""
    benchmark = site.benchmark
    catch_up()
    now = timezone.now()
    save_phase(Phase(benchmark=benchmark, name="Test", opens=now, closes=now + timedelta(days=1)), ada)
    delivery.publish(Announcement(benchmark=benchmark, title="News", text="None", site="http://x/"), ada)
    announce(benchmark, ada, labels=False)
    assert wrong() == {}
    return site


@pytest.mark.parametrize(
    "edit",
    ["name = 'Another'", "description = 'Another'", "public = false", "public = true"],
)
def test_an_edited_name_description_or_visibility_of_a_public_row_is_named(
    site: Submission, graded: Callable[..., Submission], edit: str
) -> None:
    """deploy.md said that it cannot be found."""
    row = graded(name="Private", public=False) if "true" in edit else site
    catch_up()
    assert named_rows() == []
    sql(f"UPDATE submissions_submission SET {edit} WHERE id = %s", row.pk)
    assert named_rows() == [f"1 not as the ledger says: {row.key}."]


def test_what_deploy_md_says_is_not_found_is_not_found(
    site: Submission, graded: Callable[..., Submission]
) -> None:
    private = graded(name="Private", public=False)
    catch_up()
    assert renewed(site.benchmark).failure == ""
    sql("UPDATE submissions_submission SET name = 'Another' WHERE id = %s", private.pk)
    sql("DELETE FROM ranks_decisions")
    assert wrong() == {}
    assert named_rows() == []


def test_labels_that_were_replaced_together_with_their_digest_are_named(
    site: Submission, tmp_path: Path
) -> None:
    """deploy.md said that they cannot be found: the scores are not those of the labels."""
    other = tmp_path / "gold"
    shutil.copytree(site.benchmark.gold_path, other)
    file = other / "Refer.tsv"
    first, second, *rest = file.read_text().splitlines()
    flipped = second[:-1] + ("1" if second.endswith("0") else "0")
    file.write_text("\n".join([first, flipped, *rest]) + "\n")
    digest = digest_of(other)
    home = site.benchmark.gold_path.with_name(digest[:16])
    shutil.move(other, home)
    sql("UPDATE benchmarks_benchmark SET gold_digest = %s", digest)
    try:
        assert set(wrong()) == {"listed scores"}
        assert site.key in wrong()["listed scores"]
    finally:
        shutil.rmtree(home)


@pytest.mark.parametrize(
    ("part", "edit"),
    {
        "title": "UPDATE benchmarks_benchmark SET title = 'Another'",
        "texts": 'UPDATE benchmarks_benchmark SET texts = \'{"rules": "None"}\'',
        "looks": 'UPDATE benchmarks_benchmark SET looks = \'{"contact": "x@example.org"}\'',
        "settings": "UPDATE benchmarks_benchmark SET settings = '{}'",
        "open": "UPDATE benchmarks_benchmark SET open = NOT open",
        "draft": "UPDATE benchmarks_benchmark SET draft = NOT draft",
        "restricted": "UPDATE benchmarks_benchmark SET restricted = NOT restricted",
        "data_files": "UPDATE benchmarks_datafile SET rows = rows + 1",
        "phases": "UPDATE phases_phase SET name = 'Final'",
        "announcements": "DELETE FROM news_announcement",
        "results": "UPDATE results_results SET labels = NOT labels",
    }.items(),
)
def test_an_edit_of_what_pages_show_of_a_benchmark_is_named(
    shown: Submission, ada: Any, part: str, edit: str
) -> None:
    sql(edit)
    named = re.compile(rf"\b{part}( \d+)? of tiny")
    assert named.search(wrong()["benchmarks"])
    record("an act that wrote nothing of it", benchmark=shown.benchmark)
    assert named.search(wrong()["benchmarks"])
    integrity.reseal()
    assert "benchmarks" not in wrong()


@pytest.mark.parametrize(
    ("part", "edit"),
    {
        "announcements": "UPDATE news_announcement SET text = 'Altered'",
        "phases": "UPDATE phases_phase SET zone = 'Asia/Tokyo'",
    }.items(),
)
def test_a_later_act_on_another_row_hides_no_edit(shown: Submission, ada: Any, part: str, edit: str) -> None:
    sql(edit)
    named, now = wrong()["benchmarks"], timezone.now()
    delivery.publish(
        Announcement(benchmark=shown.benchmark, title="Later", text="New", site="http://x/"), ada
    )
    save_phase(Phase(benchmark=shown.benchmark, name="Later", opens=now, closes=now + timedelta(days=2)), ada)
    assert part in named
    assert wrong()["benchmarks"] == named


def test_a_deleted_or_renamed_benchmark_is_named(shown: Submission) -> None:
    sql("UPDATE benchmarks_benchmark SET name = 'other'")
    assert "tiny as a whole" in wrong()["benchmarks"]


def test_every_act_that_writes_something_of_a_benchmark_seals_it(
    shown: Submission, ada: Any, organizer: Client
) -> None:
    """By the pages: texts, looks, drafts, limits, phases, news and results."""
    here = "/benchmarks/tiny/organize"
    phase, news = Phase.objects.get(), Announcement.objects.get()
    for page, data in (
        ("texts", {"title": "Tiny", "overview": "About", "act": "save"}),
        ("looks", {"contact": "x@example.org"}),
        ("opening", {"act": "draft"}),
        ("limits", {"per_day": "3", "per": "person", "feedback": "full", "incomplete": "listed"}),
        (f"phases/{phase.pk}", {"act": "delete", "reason": "No more"}),
        (f"news/{news.pk}", {"act": "take-back"}),
        ("results", {"act": "take-back", "reason": "Too early"}),
    ):
        before = Entry.objects.count()
        organizer.post(f"{here}/{page}", data)
        assert wrong() == {}, page
        assert Entry.objects.count() > before or page == "limits", page


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE audit_entry SET reason = 'Nothing' WHERE id = %s",
        "UPDATE audit_entry SET actor = (SELECT max(id) FROM accounts_user) WHERE id = %s",
        "DELETE FROM audit_entry WHERE id = %s",
    ],
    ids=["reason", "actor", "row"],
)
def test_an_edited_row_of_the_log_is_named(site: Submission, edit: str) -> None:
    first, second, third = Entry.objects.order_by("pk").values_list("pk", flat=True)[:3]
    sql(edit, second)
    named = f"row {third if 'DELETE' in edit else second} (quota)"
    assert named in wrong()["log"]
    record("a later act")  # goes on from there, and hides nothing
    assert named in wrong()["log"]
    assert first < second < third


def test_the_end_of_the_log_cannot_be_cut_off(site: Submission) -> None:
    assert "log" not in wrong()
    last = Entry.objects.order_by("pk").values_list("pk", flat=True).reverse()[0]
    sql("DELETE FROM audit_entry WHERE id = %s", last)
    assert "its end (it has 2 rows, and the ledger says 3)" in wrong()["log"]
    record("a later act")
    assert "its end (it has 3 rows, and the ledger says 4)" in wrong()["log"]


def test_a_changed_missing_or_unknown_file_is_named(site: Submission) -> None:
    stored(site).write_bytes(stored(site).read_bytes()[:-1] + b"x")
    lost = Submission.objects.exclude(pk=site.pk).get()
    stored(lost).unlink()
    orphan, upload = settings.FOLDER.submissions / "ab" / "cd", settings.FOLDER.submissions / "ab" / "ef"
    orphan.parent.mkdir(exist_ok=True)
    orphan.write_text("left behind")
    os.utime(orphan, (time.time() - 7200,) * 2)
    upload.write_text("on its way in")
    try:
        assert wrong() == {}
        assert wrong(files=True) == {
            "file contents": f"1 not what was sent: {site.file.name} of submission {site.key}.",
            "missing files": f"1 not there: {lost.file.name} of submission {lost.key}.",
            "orphan files": "1 of no submission: ab/cd.",
        }
    finally:
        orphan.unlink()
        upload.unlink()


def test_a_file_that_changed_is_not_graded(site: Submission, caplog: pytest.LogCaptureFixture) -> None:
    from leaderboard.material import GOLD, zip_bytes

    stored(site).write_bytes(zip_bytes(GOLD))  # as whoever can write there would: a better one
    regrade(site.benchmark, "New labels")
    grade(site.pk)
    site.refresh_from_db()
    assert site.status == Status.FAILED
    assert "changed after it was sent" in site.failure
    assert not site.is_listed
    assert f"submission {site.key}" in caplog.text


def test_a_new_secret_key_is_told_and_what_is_there_is_sealed_anew(site: Submission) -> None:
    with override_settings(SECRET_KEY=OTHER_KEY):
        assert set(wrong()) == {"results", "log"}
        assert wrong(reseal=True) == {}
    assert set(wrong()) == {"results", "log", "benchmarks"}
