"""The site does what the table of acts and moments says, and gives its reasons: cells are changed in turn."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from leaderboard.material import MANIFEST, write_gold
from leaderboard.phased import Clock, Make, at, of_quality

from gluebench.leaderboard.apps.accounts.trust import delete_account
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.limits import acts as people
from gluebench.leaderboard.apps.limits.phase_acts import extend, save_phase
from gluebench.leaderboard.apps.limits.quota import QuotaError
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.phases.table import TABLE, ActEffect, ActError, Moment
from gluebench.leaderboard.apps.submissions import acts, grading
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Kind

OPENS, CLOSES = "2027-05-01 00:00", "2027-05-03 00:00"
Graded = Callable[..., Submission]
Change = Callable[..., None]


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> Change:
    """Change a cell of the table."""

    def change(act: str, moment: str, outcome: str, reason: str = "As the table says.") -> None:
        cells = {**TABLE[act].cells, Moment(moment): ActEffect(outcome, reason)}
        monkeypatch.setitem(TABLE, act, TABLE[act]._replace(cells=cells))

    return change


@pytest.fixture
def per_team(tiny: Any) -> None:
    tiny.settings = {**tiny.settings, "per": "team"}
    tiny.save()


def test_an_upload_is_taken_late_or_refused_as_the_table_says(
    phase: Make, clock: Clock, send: Graded, says: Change
) -> None:
    phase("Test", OPENS, CLOSES)
    strict = phase("Strict", "2027-06-01 00:00", "2027-06-03 00:00", late="refused")
    clock.move("2027-05-02 10:00")
    assert not send().late
    says("upload", "open", "keeps")
    assert send(name="late by the table").late
    says("upload", "open", "refused", "{phase} is full.")
    with pytest.raises(QuotaError, match=r"Test is full\."):
        send()
    clock.move("2027-06-04 10:00")
    with pytest.raises(QuotaError, match=r"The phase Strict closed after 3 June 2027, 00:00 UTC\."):
        send()
    says("upload on time", "after", "keeps")
    says("upload on time", "revealed", "keeps")
    kept = send(name="kept by the table")
    assert (kept.phase, kept.late) == (strict, True)


def test_an_upload_that_began_in_time_ends_as_the_table_says(
    phase: Make, clock: Clock, send: Graded, says: Change
) -> None:
    phase("Test", OPENS, CLOSES)
    clock.move("2027-05-03 00:05")
    began = at(CLOSES) - timedelta(minutes=1)
    assert not send(began=began).late
    says("finish", "grace", "keeps")
    assert send(name="late by the table", began=began).late


def test_an_invalid_file_is_replaced_as_the_table_says(
    phase: Make, clock: Clock, graded: Graded, says: Change
) -> None:
    phase("Test", OPENS, CLOSES)
    clock.move("2027-05-02 10:00")
    invalid = graded(b"not a zip", name="invalid")
    says("replace", "open", "refused", "No file of {phase} is replaced.")
    new = Submission(owner=invalid.owner, benchmark=invalid.benchmark)
    with pytest.raises(ActError, match=r"No file of Test is replaced\."):
        acts.replace(invalid, new)


def test_what_waits_and_is_graded_counts_as_the_table_says(
    phase: Make, clock: Clock, send: Graded, client: Client, ada: Any, says: Change
) -> None:
    phase("Test", OPENS, CLOSES, counting="best")
    clock.move("2027-05-02 10:00")
    row = send(of_quality(5), name="waits")
    client.force_login(ada)
    text = TABLE["queue"].cells[Moment.OPEN].reason
    assert client.get(f"/submissions/{row.key}/status.json").json()["effect"] == text
    assert text in client.get(row.get_absolute_url()).content.decode()
    says("grade", "open", "keeps")
    grading.grade(row.pk)
    assert not Submission.objects.get(pk=row.pk).counts
    says("grade", "open", "changes")
    grading.grade(send(of_quality(6), name="better").pk)
    assert [*Submission.objects.filter(counts=True).values_list("name", flat=True)] == ["better"]
    assert client.get(f"/submissions/{row.key}/status.json").json()["effect"] == ""


@pytest.mark.usefixtures("per_team")
def test_teams_are_joined_left_and_merged_as_the_table_says(
    phase: Make, clock: Clock, graded: Graded, ada: Any, person: Any, says: Change
) -> None:
    bob, grace = person("bob@example.org"), person("grace@example.org")
    phase("Test", OPENS, CLOSES, counting="best")
    clock.move("2027-05-01 10:00")
    owls = people.create_team(ada, "Owls")
    sent = graded(of_quality(5), name="of grace", owner=grace)
    assert people.join_team(grace, owls.code) == "You are in the team Owls now."
    clock.move("2027-05-03 10:00")
    done = people.leave_team(grace)
    assert done == "You left the team. In Test you stay in the team of the deadline."
    done = people.join_team(grace, owls.code)
    assert done == "You are in the team Owls now. In Test you stay in the team of the deadline, or in none."
    larks = people.create_team(bob, "Larks")
    for member in (grace, bob):
        member.refresh_from_db()
    late = graded(of_quality(6), name="of bob", owner=bob)
    assert (sent.group, late.group) == (None, None), "bob was in no team at the deadline"
    says("join", "after", "changes")
    says("join", "revealed", "changes")
    now = graded(of_quality(6), name="of bob again", owner=bob)
    assert now.group == larks
    people.propose_merge(grace, larks.code)
    says("merge", "after", "changes")
    says("merge", "revealed", "changes")
    assert people.merge(bob, owls.pk, accepted=True) == "The team Owls is part of yours now."
    assert not Phase.objects.get().submissions.filter(group=owls).exists()


def test_organizers_do_what_the_table_allows(
    phase: Make, clock: Clock, graded: Graded, tiny: Any, ada: Any, says: Change, tmp_path: Path
) -> None:
    test = phase("Test", OPENS, CLOSES, counting="best")
    clock.move("2027-05-02 10:00")
    row = graded(of_quality(5))

    def move() -> None:
        test.closes = at("2027-05-04 00:00")
        save_phase(test)

    def change_the_rule() -> None:
        changed = Phase.objects.get()
        changed.counting = "last"
        save_phase(changed)

    organized: dict[str, Callable[[], object]] = {
        "approve": lambda: acts.approve(row, ada),
        "reject": lambda: acts.decline(row, ada, "It was trained on the test set."),
        "mark": lambda: acts.mark(row, ada, kind=Kind.BASELINE, verified=False),
        "regrade": lambda: acts.grade_again(row, ada, "Another try."),
        "extend": lambda: extend(test, ada, closes=at("2027-05-04 00:00"), who=ada, reason="Ill."),
        "move": move,
        "rule": change_the_rule,
        "labels": lambda: add_benchmark(str(MANIFEST), other_labels(tmp_path / "other")),
    }
    for name, act in organized.items():
        says(name, "open", "refused", f"No {name} in {{phase}}.")
        with pytest.raises(ActError, match=rf"No {name} in Test\."):
            act()
    says("rule", "open", "refused", "No rule in {phase}.")
    with pytest.raises(ActError, match=r"No rule in Test\."):
        people.change_policy(tiny, {"per": "team"}, actor=ada)
    with pytest.raises(ActError, match=r"No regrade in Test\."):
        acts.grade_all_again(tiny, ada, "Another try.")
    row.refresh_from_db()
    assert (row.status, row.kind, row.approved, row.counts) == ("graded", "system", True, True)


def other_labels(folder: Path) -> Path:
    """A new folder with labels of which one differs."""
    write_gold(folder)
    file = folder / "Para.tsv"
    file.write_text(file.read_text().replace("0\t1", "0\t0", 1))
    return folder


def test_an_edit_and_the_loss_of_files_count_as_the_table_says(
    phase: Make, clock: Clock, graded: Graded, ada: Any, says: Change, settings: Any
) -> None:
    phase("Test", OPENS, CLOSES, counting="best")
    clock.move("2027-05-02 10:00")
    row = graded(of_quality(5))
    says("edit", "open", "refused", "No text of {phase} changes.")
    with pytest.raises(ActError, match=r"No text of Test changes\."):
        acts.edit(row, ada, {"description": "Better."})
    says("expire_file", "open", "refused", "{phase} keeps its files.")
    settings.KEEP_DAYS = 0
    clock.move("2027-05-02 11:00")
    assert acts.forget_old_files() == 0
    says("delete_account", "open", "refused", "Accounts stay in {phase}.")
    with pytest.raises(ActError, match=r"Accounts stay in Test\."):
        delete_account(ada)
    Submission.objects.update(counts=False)
    says("edit", "open", "changes")
    acts.edit(row, ada, {"description": "Better."})
    assert Submission.objects.get().counts
    Submission.objects.update(counts=False)
    says("expire_file", "open", "changes")
    assert acts.forget_old_files() == 1
    assert Submission.objects.get().counts


def test_an_organizer_reads_what_a_later_deadline_does(
    phase: Make, clock: Clock, ada: Any, says: Change
) -> None:
    test = phase("Test", OPENS, CLOSES)
    clock.move("2027-05-02 10:00")
    says("extend", "open", "changes", "{phase} waits for them.")
    done = extend(test, ada, closes=at("2027-05-04 00:00"), who=ada, reason="Ill.")
    assert done == "The new deadline is 4 May 2027, 00:00 UTC. Test waits for them."
