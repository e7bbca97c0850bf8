"""Phases: what is open when, deadlines to the minute, what counts, late files, and when a board shows it."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from leaderboard.material import GOLD
from leaderboard.phased import BOARD, Clock, Make, at, names, of_quality
from leaderboard.sealing import logged_acts

from gluebench.leaderboard.apps.accounts.models import Team, move_to
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.limits.phase_acts import extend, save_phase, settle_phase
from gluebench.leaderboard.apps.limits.quota import QuotaError, usage
from gluebench.leaderboard.apps.phases.models import Extension, Phase
from gluebench.leaderboard.apps.phases.moments import slot_of
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.phases.times import in_utc, local_text, zone_of
from gluebench.leaderboard.apps.phases.wording import time_left
from gluebench.leaderboard.apps.submissions import acts, grading
from gluebench.leaderboard.apps.submissions.counting import RankedSubmission, select_counting
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status, people_of
from gluebench.leaderboard.apps.uploads.accept import PendingUpload
from gluebench.scoring.split import WARNINGS


@pytest.mark.parametrize(
    ("local", "zone", "utc"),
    [
        ("2027-05-31 23:59", "AoE", "2027-06-01 11:59"),
        ("2028-02-29 23:59", "AoE", "2028-03-01 11:59"),
        ("2028-02-28 23:59", "AoE", "2028-02-29 11:59"),
        ("2027-12-31 12:00", "AoE", "2028-01-01 00:00"),
        ("2027-03-27 23:59", "Europe/Berlin", "2027-03-27 22:59"),
        ("2027-03-28 23:59", "Europe/Berlin", "2027-03-28 21:59"),
        ("2027-10-31 01:59", "Europe/Berlin", "2027-10-30 23:59"),
        ("2027-10-31 03:00", "Europe/Berlin", "2027-10-31 02:00"),
        ("2027-11-07 23:59", "America/New_York", "2027-11-08 04:59"),
        ("2027-05-01 00:00", "Asia/Kolkata", "2027-04-30 18:30"),
    ],
)
def test_a_time_on_the_clocks_of_a_zone_is_this_moment(local: str, zone: str, utc: str) -> None:
    moment = in_utc(datetime.fromisoformat(local), zone)
    assert moment == at(utc)
    assert moment.astimezone(zone_of(zone)).strftime("%Y-%m-%d %H:%M") == local


@pytest.mark.parametrize(
    ("local", "why"), [("2027-03-28 02:30", "does not exist"), ("2027-10-31 02:30", "is there twice")]
)
def test_a_time_that_clocks_skip_or_show_twice_is_refused(local: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        in_utc(datetime.fromisoformat(local), "Europe/Berlin")


def test_times_are_stated_in_the_zone_and_in_utc() -> None:
    assert local_text(at("2027-06-01 11:59"), "AoE") == "31 May 2027, 23:59 AoE (1 June, 11:59 UTC)"
    assert local_text(at("2027-06-01 11:59"), "UTC") == "1 June 2027, 11:59 UTC"
    assert local_text(at("2027-06-01 11:59"), "Asia/Tokyo") == "1 June 2027, 20:59 Asia/Tokyo (11:59 UTC)"
    assert time_left(at("2027-06-03 11:59"), at("2027-06-01 08:57:57")) == "2 days 03:01:03"
    assert time_left(at("2027-06-01 11:59"), at("2027-06-01 12:00")) == "00:00:00"


@pytest.mark.parametrize(
    ("moment", "name", "late"),
    [
        ("2027-05-31 23:59:59", "Dev", False),
        ("2027-06-01 11:59:00", "Dev", False),
        ("2027-06-01 11:59:59", "Dev", False),
        ("2027-06-01 12:00:00", "Dev", True),
        ("2027-06-09 23:59:59", "Dev", True),
        ("2027-06-10 00:00:00", "Test", False),
        ("2027-06-20 10:00:59", "Test", False),
    ],
)
def test_the_last_minute_belongs_to_a_phase_and_the_next_does_not(
    tiny: Any, ada: Any, phase: Make, moment: str, name: str, late: bool
) -> None:
    phase("Dev", "2027-05-01 00:00", "2027-06-01 11:59", zone="AoE")
    phase("Test", "2027-06-10 00:00", "2027-06-20 10:00", late="refused")
    slot = slot_of(tiny, ada, at(moment))
    assert (str(slot.phase), slot.late, slot.closed) == (name, late, "")


def test_before_the_first_phase_and_after_one_that_refuses_nothing_is_taken(
    tiny: Any, ada: Any, phase: Make, clock: Clock, send: Callable[..., Any]
) -> None:
    phase("Test", "2027-06-10 00:00", "2027-06-20 10:00", late="refused", zone="AoE")
    clock.move("2027-06-09 23:59:59")
    with pytest.raises(QuotaError, match=r"takes no submissions yet\. The phase Test opens on 9 June 2027"):
        send()
    clock.move("2027-06-20 10:01:00")
    with pytest.raises(QuotaError, match="The phase Test closed after 19 June 2027, 22:00 AoE"):
        send()
    assert not usage(tiny, ada).open
    assert not Submission.objects.exists()


VALUES = st.one_of(st.none(), st.integers(0, 3).map(lambda tenths: tenths / 10))
ROWS = st.lists(
    st.tuples(st.integers(1, 3), st.one_of(st.none(), st.integers(1, 2)), VALUES, st.booleans()), max_size=12
)


@given(
    rows=ROWS,
    rule=st.sampled_from(["every", "best", "last", "chosen"]),
    otherwise=st.sampled_from(["best", "last"]),
    per=st.sampled_from(["person", "team"]),
)
def test_what_counts_is_what_a_plain_loop_keeps(
    rows: list[tuple[int, int | None, float | None, bool]], rule: str, otherwise: str, per: str
) -> None:
    sent = []
    for pk, (owner, group, value, chosen) in enumerate(rows):
        teams = {1, 2} if per == "team" else ()
        sent.append(RankedSubmission(pk, people_of(owner, group, teams), value, chosen))
    kept: dict[Any, Any] = {}
    chose: dict[Any, list[int]] = {}
    for pk, (owner, group, value, chosen) in enumerate(rows):
        who = ("T", group) if per == "team" and group else ("P", owner)
        if rule == "every":
            kept[pk] = (pk, value)
            continue
        use = otherwise if rule == "chosen" else rule
        if chosen and rule == "chosen":
            chose.setdefault(who, []).append(pk)
        score = -1.0 if value is None else value
        if who not in kept or use == "last" or score > kept[who][1]:
            kept[who] = (pk, score)
    expected = {pk for who, (pk, _) in kept.items() if who not in chose} | {
        pk for pks in chose.values() for pk in pks
    }
    assert select_counting(sent, rule, otherwise=otherwise) == expected


def test_an_upload_that_began_before_the_deadline_counts(
    tiny: Any, ada: Any, phase: Make, clock: Clock, client: Client
) -> None:
    phase("Test", "2027-06-01 00:00", "2027-06-10 11:59")

    def sent(name: str, began: str | None, **headers: str) -> bool:
        client.force_login(ada)
        extra: dict[str, Any] = {**headers} | ({"gluebench.began": at(began).timestamp()} if began else {})
        data = {"name": name, "model": "m", "regime": "other", "use": "own"}
        file = SimpleUploadedFile("a.zip", of_quality(5))
        answer = client.post(f"{BOARD}/submit", {**data, "upload": file}, **extra)
        assert answer.status_code == 302, answer.content.decode()
        return Submission.objects.get(name=name).late

    clock.move("2027-06-10 12:05:00")
    assert not sent("in time", "2027-06-10 11:59:59")
    assert sent("too late", "2027-06-10 12:00:00")
    assert sent("behind another server", None)
    stamp = str(at("2027-06-10 11:00").timestamp())
    assert sent("forged", None, HTTP_GLUEBENCH_BEGAN=stamp, HTTP_X_REQUEST_START=stamp)
    clock.move("2027-06-10 12:09:59")
    assert not sent("slow", "2027-06-10 11:50:00")
    clock.move("2027-06-10 12:10:01")
    assert sent("too slow", "2027-06-10 11:50:00")


def test_a_file_is_in_time_that_was_there_before_its_sender_was_asked_about_it(
    tiny: Any, ada: Any, phase: Make, clock: Clock, client: Client
) -> None:
    phase("Test", "2027-06-01 00:00", "2027-06-10 11:59")
    clock.move("2027-06-10 12:03:00")
    client.force_login(ada)
    for complete, late in (("2027-06-10 11:59:30", False), ("2027-06-10 12:01:00", True)):
        held = PendingUpload.new(ada.pk)
        upload = TemporaryUploadedFile("a.zip", "application/zip", 0, None)
        upload.write(of_quality(4 + late))
        upload.flush()
        held.store(upload, own=True)
        os.utime(held.folder / "name", (at(complete).timestamp(),) * 2)
        data = {"name": complete, "model": "m", "regime": "other", "use": "own", "kept": held.token}
        assert client.post(f"{BOARD}/submit", data).status_code == 302
        assert Submission.objects.get(name=complete).late is late
    other = SimpleUploadedFile("b.zip", of_quality(3))
    data = {"name": "other", "model": "m", "regime": "other", "use": "own", "kept": held.token}
    client.post(f"{BOARD}/submit", {**data, "upload": other})
    assert Submission.objects.get(name="other").late


def test_late_files_are_kept_and_marked_and_graded_only_where_the_phase_says_so(
    tiny: Any, phase: Make, clock: Clock, graded: Callable[..., Any], client: Client, owner: Client
) -> None:
    row = phase("Test", "2027-05-01 00:00", "2027-05-02 00:00", counting="best")
    clock.move("2027-05-01 10:00")
    good = graded(of_quality(4), name="in time")
    clock.move("2027-05-02 00:01")
    kept = graded(of_quality(6), name="late")
    assert (kept.status, kept.late, kept.counts, kept.phase) == (Status.KEPT, True, False, row)
    assert kept.file.storage.exists(str(kept.file))
    grading.regrade(Benchmark.objects.get(), "new labels")
    assert Submission.objects.get(pk=kept.pk).status == Status.KEPT
    grading.grade(good.pk)
    row.late = "graded"
    save_phase(row)
    scored = graded(of_quality(6), name="late and graded")
    assert (scored.status, scored.late) == (Status.GRADED, True)
    assert scored.value is not None
    assert scored.value > good.value
    assert names(client) == ["in time"]
    clock.move("2026-11-23 23:00")
    owner.force_login(kept.owner)
    page = owner.get(kept.get_absolute_url()).content.decode()
    assert "came after the deadline of the phase Test" in page
    facts = owner.get(f"/api/v1/submissions/{kept.key}").json()
    assert (facts["phase"], facts["late"], facts["status"], facts["standing"]) == (
        "Test",
        True,
        "kept",
        "late",
    )


def test_limits_of_a_phase_are_its_own(
    tiny: Any, ada: Any, phase: Make, clock: Clock, send: Callable[..., Any]
) -> None:
    phase("Dev", "2027-05-01 00:00", "2027-05-09 23:59", settings={"total": None})
    phase("Test", "2027-05-10 00:00", "2027-05-20 00:00", settings={"total": 2})
    tiny.settings = {**tiny.settings, "total": 3}
    tiny.save()
    clock.move("2027-05-02 10:00")
    assert usage(tiny, ada).remaining is None
    for number in range(4):
        send(of_quality(number), name=f"dev {number}")
    clock.move("2027-05-12 10:00")
    assert usage(tiny, ada).remaining == 2
    for number in range(2):
        send(of_quality(number), name=f"test {number}")
    with pytest.raises(QuotaError, match="2 submissions in all; 0 remain"):
        send(of_quality(5))
    assert Submission.objects.filter(phase__name="Dev").count() == 4


def test_who_takes_part_is_sorted_as_people_sort(
    phase: Make, clock: Clock, graded: Callable[..., Any], client: Client
) -> None:
    """By code points, 10 came before 9 and Ä after Z."""
    phase("Test", "2027-05-02 00:00", "2027-05-03 00:00", shown="closed")
    clock.move("2027-05-02 10:00")
    for name in ("zebra", "System 10", "System 9", "Ärger"):
        graded(name=name)
    text = client.get(BOARD).content.decode()
    assert "4 systems take part: Ärger, System 9, System 10, zebra." in text


def test_a_board_is_hidden_until_its_phase_is_closed_and_then_shown_at_the_first_request(
    tiny: Any, ada: Any, phase: Make, clock: Clock, graded: Callable[..., Any], client: Client, owner: Client
) -> None:
    hidden = {"feedback": "with-board"}
    phase("Dev", "2027-05-01 00:00", "2027-05-02 00:00", zone="AoE")
    row = phase(
        "Test", "2027-05-02 00:00", "2027-05-03 00:00", shown="closed", settings=hidden, counting="last"
    )
    clock.move("2027-05-01 10:00")
    graded(of_quality(6), name="dev system")
    clock.move("2027-05-02 10:00")
    first, last = graded(of_quality(6), name="first"), graded(of_quality(3), name="last")
    assert (last.status, last.value, last.report) == (Status.GRADED, None, None)
    page = client.get(BOARD)
    assert names(client) == ["dev system"]
    assert "Taking part, scores to come: first, last." in page.content.decode()
    assert client.get(f"{BOARD}.json?phase={row.pk}").status_code == 404
    for submission in (first, last):
        assert client.get(submission.get_absolute_url()).status_code == 404
    clock.move("2027-05-03 00:00:59")
    assert client.get(BOARD, headers={"If-None-Match": page["ETag"]}).status_code == 304
    clock.move("2027-05-03 00:10:59")
    client.get(BOARD)
    assert names(client) == ["dev system"]
    clock.move("2027-05-03 00:11")
    later = client.get(BOARD, headers={"If-None-Match": page["ETag"]})
    assert later.status_code == 200
    assert names(client) == ["last"]
    assert names(client, f"?phase={Phase.objects.get(name='Dev').pk}") == ["dev system"]
    last.refresh_from_db()
    assert last.report is not None
    assert client.get(last.get_absolute_url()).status_code == 200
    assert client.get(first.get_absolute_url()).status_code == 404
    assert Entry.objects.filter(action="phase follows", detail__phase="Test").count() == 1
    assert client.get("/api/v1/benchmarks/tiny").json()["phases"][1]["board"]


def test_a_board_whose_scores_are_to_come_does_not_say_that_it_has_no_systems(
    tiny: Any, ada: Any, phase: Make, clock: Clock, graded: Callable[..., Any], client: Client
) -> None:
    """It said "yours can be the first" and "Systems 0" below the names of those that take part."""
    phase("Test", "2027-05-01 00:00", "2027-05-02 00:00", shown="closed", counting="last")
    clock.move("2027-05-01 10:00")
    first = "yours can be the first"
    assert first in client.get(BOARD).content.decode()
    graded(of_quality(6), name="Alpha")
    page = client.get(BOARD).content.decode()
    assert "1 system takes part: Alpha." in page
    assert first not in page
    assert "<dt>Systems</dt>" not in page


def test_the_board_of_another_phase_does_not_lead_to_pages_of_the_usual_one(
    tiny: Any, ada: Any, phase: Make, clock: Clock, graded: Callable[..., Any], client: Client
) -> None:
    """Its charts, comparisons and pairs were those of the phase that the board usually shows."""
    dev = phase("Dev", "2027-05-01 00:00", "2027-05-02 00:00")
    phase("Test", "2027-05-02 00:00", "2027-05-03 00:00")
    clock.move("2027-05-01 10:00")
    graded(of_quality(6), name="dev system")
    clock.move("2027-05-02 10:00")
    graded(of_quality(6), name="test system")
    pages = [f'href="{BOARD}/{name}"' for name in ("progress", "pairs", "rules", "compare", "efficiency")]
    usual, other = (client.get(f"{BOARD}{query}").content.decode() for query in ("", f"?phase={dev.pk}"))
    assert [page for page in pages if page not in usual] == []
    assert [page for page in pages if page in other] == []
    assert "dev system" in other
    api = client.get(f"/api/v1{BOARD}/board?phase={dev.pk}").json()
    assert [row["name"] for row in api["rows"]] == ["dev system"]
    assert client.get(f"/api/v1{BOARD}/board?phase=77").status_code == 404


def test_a_worker_scores_the_other_rows_once_a_phase_is_closed(
    tiny: Any, phase: Make, clock: Clock, graded: Callable[..., Any], client: Client
) -> None:
    phase("Test", "2027-05-01 00:00", "2027-05-03 00:00", rows="both", share=0.5)
    clock.move("2027-05-02 10:00")
    row = graded(of_quality(3))
    assert WARNINGS["public"] in row.report["warnings"]
    public = row.results.first().report
    grading.phases_due()
    assert Submission.objects.get(pk=row.pk).status == Status.GRADED
    clock.move("2027-05-03 00:11")
    grading.phases_due()
    grading.phases_due()
    assert Submission.objects.get(pk=row.pk).status == Status.QUEUED
    grading.grade(row.pk)
    held_back = row.results.first().report
    assert row.results.count() == 2
    whole = len(GOLD["Para"])
    counts = [report["tasks"]["Para"]["score"]["n"] for report in (public, held_back)]
    assert sum(counts) == whole
    assert Benchmark.objects.get().due is None


def test_what_comes_while_the_rows_change_is_graded_on_the_new_ones(
    tiny: Any, phase: Make, clock: Clock, send: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    phase("Test", "2027-05-01 00:00", "2027-05-03 00:00", rows="both", share=0.5)
    clock.move("2027-05-03 00:00:30")
    row = send(of_quality(3))
    work = grading._work

    def slow(*arguments: Any) -> Any:
        result = work(*arguments)
        clock.move("2027-05-03 00:11:30")
        if not Phase.objects.get().is_settled:
            settle_phase(Phase.objects.get(), None, "The results are due.")
        return result

    monkeypatch.setattr(grading, "_work", slow)
    grading.grade(row.pk)
    row.refresh_from_db()
    assert (row.status, row.results.count()) == (Status.QUEUED, 0)
    grading.grade(row.pk)
    assert row.results.count() == 1


def test_authors_choose_until_the_deadline_and_it_is_logged(
    tiny: Any, ada: Any, phase: Make, clock: Clock, graded: Callable[..., Any], client: Client
) -> None:
    phase("Test", "2027-05-01 00:00", "2027-05-03 00:00", counting="chosen", most=2, otherwise="last")
    clock.move("2027-05-02 10:00")
    rows = [graded(of_quality(right), name=f"of {right}") for right in (2, 5, 4, 3)]
    assert names(client) == ["of 3"]
    own = Client()
    own.force_login(ada)
    for number, said in ((0, "You chose it"), (1, "You chose it"), (2, "You may choose 2, and have")):
        answer = own.post(f"/submissions/{rows[number].key}/choose", {"chosen": "1"}, follow=True)
        assert said in answer.content.decode()
    assert sorted(names(client)) == ["of 2", "of 5"]
    own.post(f"/submissions/{rows[0].key}/choose", {"chosen": "0"})
    assert names(client) == ["of 5"]
    assert Entry.objects.filter(action__startswith="choose", actor=ada.pk).count() == 3
    clock.move("2027-05-03 00:01")
    with pytest.raises(ActError, match="You could choose through 3 May 2027, 00:00 UTC"):
        acts.choose(rows[2], ada, chosen=True)
    assert names(client) == ["of 5"]


def test_programs_read_phases_and_choose(
    tiny: Any, ada: Any, phase: Make, clock: Clock, graded: Callable[..., Any], client: Client, person: Any
) -> None:
    row = phase("Test", "2027-05-01 00:00", "2027-05-03 00:00", counting="chosen")
    Extension.objects.create(
        phase=row, user=ada, before=row.closes, closes=row.closes + timedelta(days=1), reason="Ill"
    )
    Phase.objects.update(last=row.closes + timedelta(days=1))
    clock.move("2027-05-02 10:00")
    one, other = (graded(of_quality(right), name=f"of {right}") for right in (2, 5))
    own = Client()
    own.force_login(ada)
    ends = [who.get("/api/v1/benchmarks/tiny/phases").json()["items"][0]["ends"] for who in (client, own)]
    assert [end[:16] for end in ends] == ["2027-05-03T00:01", "2027-05-04T00:01"]
    own.get("/api/v1/docs")
    csrf = {"X-CSRFToken": own.cookies["csrftoken"].value}
    here = "/api/v1/submissions"
    assert own.post(f"{here}/{one.key}/choose", headers=csrf).json()["chosen"].startswith("2027-05-02T10:00")
    refused = own.post(f"{here}/{other.key}/choose", headers=csrf)
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:gluebench:choice")
    assert names(client) == ["of 2"]
    assert own.post(f"{here}/{one.key}/unchoose", headers=csrf).json()["chosen"] is None
    assert own.post(f"{here}/{other.key}/choose", headers=csrf).status_code == 200
    assert names(client) == ["of 5"]


def test_nobody_improves_by_withdrawing_after_the_deadline(
    tiny: Any, phase: Make, clock: Clock, graded: Callable[..., Any], client: Client, person: Any
) -> None:
    phase("Test", "2027-05-01 00:00", "2027-05-03 00:00", counting="last")
    clock.move("2027-05-02 10:00")
    better, last = graded(of_quality(6), name="better"), graded(of_quality(2), name="last")
    acts.withdraw(last)
    assert names(client) == ["better"]
    acts.restore(last)
    assert names(client) == ["last"]
    clock.move("2027-05-03 00:01")
    acts.withdraw(last)
    assert names(client) == []
    acts.restore(last)
    acts.decline(last, person("grace@example.org"), "Its system was trained on the test set.")
    assert names(client) == ["better"]
    assert Submission.objects.get(pk=better.pk).standing == "listed"


def test_baselines_count_beside_the_rule(
    tiny: Any, ada: Any, phase: Make, clock: Clock, graded: Callable[..., Any], client: Client
) -> None:
    phase("Test", "2027-05-01 00:00", "2027-05-03 00:00", counting="best")
    for right in (1, 2, 3):
        acts.mark(graded(of_quality(right), name=f"of {right}"), ada, kind="baseline", verified=False)
    graded(of_quality(5), name="a system")
    graded(of_quality(4), name="another")
    assert sorted(names(client)) == ["a system", "of 1", "of 2", "of 3"]


def test_before_the_board_shows_a_phase_a_complete_submission_lacks_nothing(
    phase: Make, clock: Clock, graded: Callable[..., Any], owner: Client
) -> None:
    phase("Test", "2027-05-01 00:00", "2027-05-03 00:00", shown="closed")
    page = owner.get(graded().get_absolute_url()).content.decode()
    assert "the board does not show the scores of the phase Test yet" in page
    assert "missing" not in page
    assert "Submit all files" not in page


def test_an_extension_for_everybody_is_announced_and_one_for_a_person_names_nobody(
    tiny: Any, ada: Any, person: Any, phase: Make, clock: Clock, client: Client
) -> None:
    row = phase("Test", "2027-05-01 00:00", "2027-05-03 00:00", zone="AoE", shown="closed")
    other = person("grace@example.org")
    clock.move("2027-05-02 10:00")
    extend(row, closes=at("2027-05-05 00:00"), who=None, actor=other, reason="The site was down.")
    announced = "Deadline extended to 4 May 2027, 12:00 AoE (5 May, 00:00 UTC); it was 2 May 2027, 12:00 AoE"
    page = client.get(BOARD).content.decode()
    assert announced in page
    assert "The site was down." in page
    row.refresh_from_db()
    extend(row, closes=at("2027-05-08 00:00"), who=ada, actor=other, reason="A doctor's note.")
    page = client.get(BOARD).content.decode()
    assert "Extensions for single people or teams: 1; the last of them is until 7 May 2027, 12:00 AoE" in page
    assert "doctor" not in page
    assert ada.email not in page
    for moment, whose, late in (
        ("2027-05-05 00:00:59", other, False),
        ("2027-05-05 00:01:00", other, True),
        ("2027-05-05 00:01:00", ada, False),
        ("2027-05-08 00:00:59", ada, False),
        ("2027-05-08 00:01:00", ada, True),
    ):
        assert slot_of(tiny, whose, at(moment)).late is late, (moment, whose)
    row.refresh_from_db()
    assert row.shows == at("2027-05-08 00:11")  # no score is shown before the last person is done
    assert [entry.action for entry in logged_acts().order_by("pk")][-2:] == ["phase changed", "extension"]
    assert Extension.objects.filter(user=None, team=None).count() == 1


def test_per_team_members_share_what_counts_and_a_team_may_get_an_extension(
    tiny: Any, ada: Any, person: Any, phase: Make, clock: Clock, graded: Callable[..., Any], client: Client
) -> None:
    tiny.settings = {**tiny.settings, "per": "team"}
    tiny.save()
    owls, grace = Team.objects.create(name="Owls"), person("grace@example.org")
    for user in (ada, grace):
        move_to(user, owls)
    row = phase("Test", "2027-05-01 00:00", "2027-05-03 00:00", counting="best")
    clock.move("2027-05-02 00:00")
    graded(of_quality(4), name="ada's", owner=ada)
    graded(of_quality(5), name="grace's", owner=grace)
    assert names(client) == ["grace's"]
    extend(row, closes=at("2027-05-04 00:00"), who=owls, actor=None, reason="A fire alarm.")
    clock.move("2027-05-03 23:00")
    assert not graded(of_quality(6), name="ada's last", owner=ada).late
    assert names(client) == ["ada's last"]


def test_a_benchmark_without_phases_takes_what_it_took(
    tiny: Any, ada: Any, graded: Callable[..., Any], client: Client
) -> None:
    rows = [graded(of_quality(right), name=f"of {right}") for right in (3, 5, 4)]
    assert names(client) == ["of 5", "of 4", "of 3"]
    assert {(row.phase, row.began, row.late, row.counts) for row in rows} == {(None, None, False, True)}
    assert "Phases" not in client.get(BOARD).content.decode()
    row = Benchmark.objects.get()
    assert (row.due, row.board_phase) == (None, None)
    assert client.get("/api/v1/benchmarks/tiny").json()["phases"] == []


def test_the_submit_page_states_the_deadline_and_the_time_that_is_left(
    tiny: Any, ada: Any, phase: Make, clock: Clock, client: Client
) -> None:
    phase("Test", "2027-05-01 00:00", "2027-05-03 11:59", zone="AoE", counting="best", settings={"total": 5})
    clock.move("2027-05-02 10:30:15")
    client.force_login(ada)
    page = " ".join(client.get(f"{BOARD}/submit").content.decode().split())
    assert "Open now: Test." in page
    assert "Your deadline: 2 May 2027, 23:59 AoE (3 May, 11:59 UTC)." in page
    assert 'data-seconds="91785">1 day 01:29:45</b>' in page
    assert "(it was 10:30:15 UTC by the server’s clock" in page
    assert "A file counts if its upload began before the deadline" in page
    assert "Your best submission counts" in page
    assert "5 in all" in page


SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_page_shows_follows_from_the_clock_alone(
    seed: int, tiny: Any, ada: Any, phase: Make, clock: Clock, client: Client
) -> None:
    """Whoever comes when, and however often: a benchmark is as if it had been followed at every minute."""
    draw = random.Random(seed)
    start, rows = at("2027-05-01 00:00"), []
    for number in range(3):
        opens = start + timedelta(hours=draw.randint(0, 5))
        closes = opens + timedelta(hours=draw.randint(1, 9))
        shown = draw.choice(["always", "closed", "aside"])
        rows.append((f"P{number}", opens, closes, shown))
        phase(f"P{number}", f"{opens:%Y-%m-%d %H:%M}", f"{closes:%Y-%m-%d %H:%M}", shown=shown)
        start = closes + timedelta(minutes=1)
    moments = sorted(start - timedelta(minutes=draw.randint(-90, 1800)) for _ in range(12))
    for moment in moments:
        clock.now = max(moment, clock.now)
        client.get(BOARD)
        begun, now = {"always": 1, "aside": 1, "closed": 2}, clock.now
        shown_now = [row for row in rows if row[begun[row[3]]] + timedelta(minutes=row[3] == "closed") <= now]
        first = [row for row in shown_now if row[3] != "aside"] or shown_now
        expected = first[-1][0] if first else None
        number = Benchmark.objects.get().board_phase
        assert (number and Phase.objects.get(pk=number).name) == expected
