"""What counts at a deadline and after it, and what a board compares."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from leaderboard.material import GOLD, MANIFEST, write_gold
from leaderboard.phased import BOARD, Clock, Make, at, names, of_answers, of_quality

from docs.tools.counting import SIGNS, page
from gluebench.cli import main
from gluebench.leaderboard.apps.accounts.models import Membership, Scope, Team, issue, team_for
from gluebench.leaderboard.apps.accounts.trust import delete_account
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.formats import APART
from gluebench.leaderboard.apps.limits import acts as people
from gluebench.leaderboard.apps.limits.phase_acts import extend, save_phase, settle_phase
from gluebench.leaderboard.apps.phases.models import Phase, at_phase
from gluebench.leaderboard.apps.phases.moments import slot_of
from gluebench.leaderboard.apps.phases.table import TABLE, ActError, Moment
from gluebench.leaderboard.apps.ranks.health import attempts
from gluebench.leaderboard.apps.ranks.models import leaders
from gluebench.leaderboard.apps.results.acts import announce
from gluebench.leaderboard.apps.submissions import acts, feedback, grading
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.scoring.gold import label_key, read_gold
from gluebench.scoring.split import _positions_in_part

Graded = Callable[..., Submission]
OPENS, CLOSES = "2027-05-01 00:00", "2027-05-03 00:00"
"""The last minute belongs to the phase: it is over at 00:01, and complete at 00:11."""


def grade_all() -> None:
    while waiting := list(Submission.objects.filter(status=Status.QUEUED).order_by("pk")):
        for row in waiting:
            grading.grade(row.pk)


def that_count() -> set[str]:
    return set(Submission.objects.filter(counts=True).values_list("name", flat=True))


def places() -> set[int]:
    return set(Submission.objects.filter(counts=True).values_list("pk", flat=True))


def answers(public: int, others: int) -> str:
    """Answers with so many right ones of the public share, and of the other rows."""
    row = Benchmark.objects.get()
    gold = read_gold(row.gold_path, row.record)
    places = set(_positions_in_part("Para", gold, "public", share=0.5, key=label_key(row.gold_path)))
    given = []
    for place, label in enumerate(GOLD["Para"]):
        left = public if place in places else others
        given.append(label if left > 0 else str(1 - int(label)))
        public -= place in places
        others -= place not in places
    return "".join(given)


@pytest.fixture
def per_team(tiny: Any) -> None:
    """Entries count by team."""
    tiny.settings = {**tiny.settings, "per": "team"}
    tiny.save()


@pytest.fixture
def both(phase: Make) -> Phase:
    """A phase in which the best on the public share counts, and is scored on the other rows."""
    return phase("Test", OPENS, CLOSES, rows="both", share=0.5, counting="best", shown="closed")


def test_the_results_wait_for_the_queue(
    both: Phase, clock: Clock, graded: Graded, send: Graded, client: Client
) -> None:
    clock.move("2027-05-02 10:00")
    graded(of_answers(answers(3, 0)), name="best on the public share")
    waits = send(of_answers(answers(1, 3)), name="waits")
    clock.move("2027-05-03 00:30")
    grading.phases_due()
    assert not Phase.objects.get().is_settled
    grading.grade(waits.pk)
    grade_all()
    assert Phase.objects.get().is_settled
    assert names(client) == ["best on the public share"]
    assert that_count() == {"best on the public share"}


def test_what_is_graded_after_the_results_is_compared_on_the_public_share(
    both: Phase, clock: Clock, graded: Graded, send: Graded, ada: Any, client: Client
) -> None:
    clock.move("2027-05-02 10:00")
    graded(of_answers(answers(3, 0)), name="best on the public share")
    waits = send(of_answers(answers(1, 3)), name="waits")
    clock.move("2027-05-03 00:05")
    with pytest.raises(ActError, match="may still come"):
        settle_phase(both, ada, "The workers are down.")
    clock.move("2027-05-03 00:11")
    settle_phase(Phase.objects.get(), ada, "The workers are down.")
    grade_all()
    waits.refresh_from_db()
    assert waits.public_value is not None
    assert waits.value is not None
    assert waits.value > Submission.objects.exclude(pk=waits.pk).get().value  # type: ignore[operator]
    assert names(client) == ["best on the public share"]
    with pytest.raises(ActError, match="settled already"):
        settle_phase(Phase.objects.get(), ada, "Again.")


def test_final_scores_come_after_the_last_upload_that_may_count(
    both: Phase, clock: Clock, graded: Graded, client: Client, owner: Client
) -> None:
    clock.move("2027-05-02 10:00")
    first = graded(of_answers(answers(0, 2)), name="first")
    clock.move("2027-05-03 00:10:59")
    grading.phases_due()
    assert Submission.objects.get().status == Status.GRADED
    assert owner.get(f"/api/v1/submissions/{first.key}").json()["report"]["provenance"]["rows"] == "public"
    data = {"name": "slow", "model": "m", "regime": "other", "use": "own"}
    file = SimpleUploadedFile("a.zip", of_answers(answers(2, 1)))
    began = {"gluebench.began": at("2027-05-03 00:00:59").timestamp()}
    assert owner.post(f"{BOARD}/submit", {**data, "upload": file}, **began).status_code == 302
    slow = Submission.objects.get(name="slow")
    assert not slow.late
    clock.move("2027-05-03 00:11:00")
    file = SimpleUploadedFile("a.zip", of_answers(answers(3, 2)))
    assert (
        owner.post(f"{BOARD}/submit", {**data, "name": "too slow", "upload": file}, **began).status_code
        == 302
    )
    assert Submission.objects.get(name="too slow").late
    grading.phases_due()
    assert names(client) == []
    grade_all()
    assert names(client) == ["slow"]


def test_a_withdrawal_from_before_the_deadline_cannot_be_undone_after_it(
    phase: Make, clock: Clock, graded: Graded, client: Client, owner: Client
) -> None:
    phase("Test", OPENS, CLOSES, counting="last")
    clock.move("2027-05-02 10:00")
    graded(of_quality(2), name="counts")
    better = graded(of_quality(6), name="better")
    acts.withdraw(better)
    clock.move("2027-05-03 00:30")
    with pytest.raises(ActError, match="could undo that through 3 May 2027, 00:00 UTC"):
        acts.restore(better)
    page = owner.post(f"/submissions/{better.key}/withdraw", {"undo": "1"}, follow=True).content.decode()
    assert "You withdrew it before the deadline" in page
    owner.get("/api/v1/docs")
    csrf = {"X-CSRFToken": owner.cookies["csrftoken"].value}
    refused = owner.post(f"/api/v1/submissions/{better.key}/restore", headers=csrf)
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:gluebench:moment")
    assert names(client) == ["counts"]


def test_an_extension_lets_another_count_for_what_was_withdrawn_before_its_end(
    phase: Make, clock: Clock, graded: Graded, ada: Any
) -> None:
    row = phase("Test", OPENS, CLOSES, counting="best")
    clock.move("2027-05-02 10:00")
    graded(of_quality(3), name="second")
    best = graded(of_quality(6), name="best")
    extend(row, closes=at("2027-05-04 00:00"), who=ada, actor=None, reason="Ill.")
    clock.move("2027-05-04 00:05")
    acts.withdraw(best)
    assert that_count() == {"best"}
    extend(row, closes=at("2027-05-05 00:00"), who=ada, actor=None, reason="Still ill.")
    assert that_count() == {"second"}


def test_who_withdraws_a_choice_chooses_it_no_longer(
    phase: Make, clock: Clock, graded: Graded, ada: Any, client: Client
) -> None:
    phase("Test", OPENS, CLOSES, counting="chosen", most=1)
    clock.move("2027-05-02 10:00")
    rows = [graded(of_quality(right), name=f"of {right}") for right in (1, 2, 3, 4)]
    for row in rows[:3]:
        acts.choose(row, ada, chosen=True)
        acts.withdraw(row)
    for row in rows[:3]:
        acts.restore(row)
    acts.choose(rows[3], ada, chosen=True)
    assert names(client) == ["of 4"]


def test_nothing_is_published_or_hidden_after_the_deadline(
    phase: Make, clock: Clock, graded: Graded, client: Client, owner: Client
) -> None:
    phase("Test", OPENS, CLOSES, counting="every")
    clock.move("2027-05-02 10:00")
    hidden, shown = graded(of_quality(6), name="hidden", public=False), graded(of_quality(3), name="shown")
    clock.move("2027-05-03 00:01")
    for row, public in ((hidden, True), (shown, False)):
        with pytest.raises(ActError, match="through 3 May 2027, 00:00 UTC"):
            acts.publish(row, public=public)
        answer = owner.post(f"/submissions/{row.key}/publish", {"public": int(public)}, follow=True)
        assert "What counts in Test no longer changes" in answer.content.decode()
    assert names(client) == ["shown"]


def test_an_approved_entry_stays_while_a_later_one_waits(
    phase: Make, clock: Clock, graded: Graded, ada: Any, client: Client
) -> None:
    phase("Test", OPENS, CLOSES, counting="last", settings={"approval": True})
    clock.move("2027-05-02 10:00")
    approved = graded(of_quality(4), name="approved")
    acts.approve(approved, ada)
    later = graded(of_quality(5), name="later")
    assert names(client) == ["approved"]
    acts.approve(later, ada)
    assert names(client) == ["later"]
    acts.decline(later, ada, "It was trained on the test set.")
    assert names(client) == ["approved"]


@pytest.mark.parametrize("rule", ["best", "last", "chosen"])
def test_a_new_rule_drops_nobody_whose_better_entry_is_private(
    rule: str, phase: Make, clock: Clock, graded: Graded, client: Client
) -> None:
    row = phase("Test", OPENS, CLOSES, counting="every")
    clock.move("2027-05-02 10:00")
    graded(of_quality(3), name="public")
    graded(of_quality(6), name="private", public=False)
    row.counting = rule
    save_phase(row)
    assert names(client) == ["public"]


@pytest.mark.parametrize("moment", ["2027-05-02 11:00", "2027-05-03 00:30"])
def test_the_entry_that_counts_cannot_be_made_private(
    moment: str, phase: Make, clock: Clock, graded: Graded, client: Client
) -> None:
    phase("Test", OPENS, CLOSES, counting="best")
    clock.move("2027-05-02 10:00")
    best = graded(of_quality(5), name="best")
    graded(of_quality(4), name="second")
    clock.move(moment)
    with pytest.raises(ActError, match="Withdraw it instead"):
        acts.publish(best, public=False)
    assert names(client) == ["best"]


def test_a_score_of_other_rows_has_no_rank(
    phase: Make, clock: Clock, graded: Graded, person: Any, client: Client
) -> None:
    phase("Test", OPENS, CLOSES, rows="both", share=0.5, counting="best")
    clock.move("2027-05-02 10:00")
    gone, grace = person("gone@example.org"), person("grace@example.org")
    graded(of_quality(6), name="of a deleted account", owner=gone)
    graded(of_quality(3), name="stays", owner=grace)
    delete_account(gone)
    clock.move("2027-05-03 00:30")
    grading.phases_due()
    grade_all()
    rows = client.get(f"{BOARD}.json").json()["rows"]
    assert [(row["name"], row["rank"]) for row in rows] == [("stays", 1), ("Anonymous", None)]
    assert rows[1]["withheld"] == "other rows: not ranked"
    assert ",other rows: not ranked," in client.get(f"{BOARD}.csv").content.decode()
    assert "other rows: not ranked" in client.get(BOARD).content.decode()
    row = Submission.objects.get(owner=gone)
    assert (
        row.why_apart
        == "Not ranked: it was scored on other rows than the ranked systems. Its file is no longer kept."
    )
    assert row.why_apart in client.get(row.get_absolute_url()).content.decode()


def test_scores_of_another_share_or_version_of_the_metrics_are_not_compared() -> None:
    key = feedback.ScoreKey("labels", "tasks", "public", 0.5)
    assert key.difference(key._replace(share=0.3)) == "share"
    assert key.difference(key._replace(metrics=key.metrics + 1)) == "metrics"
    assert key.difference(key._replace(rows=None, share=None)) == "rows"
    assert key.difference(key._replace(share=None)) == "", "a result of an earlier version does not say"
    assert {*feedback.ScoreKey._fields} == {*APART}
    assert all(len(name) <= 8 for name in APART)


def test_the_share_of_the_rows_is_in_the_key_of_a_result(tiny: Any, graded: Graded) -> None:
    tiny.settings = {**tiny.settings, "public_share": 0.5, "reveal": "2999-01-01"}
    tiny.save()
    row = graded()
    result = row.results.get()
    key = feedback.key_of(result.labels, result.report["provenance"])
    assert key == feedback.key_now(tiny, None)
    assert (key.rows, key.share, key.metrics) == ("public", 0.5, 1)


def test_a_score_with_older_labels_has_no_rank_until_it_is_graded_again(
    tiny: Any, graded: Graded, client: Client, tmp_path: Path
) -> None:
    from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark

    old, new = graded(of_quality(6), name="expired"), graded(of_quality(3), name="kept")
    acts.forget_files(Submission.objects.filter(pk=old.pk))
    gold = write_gold(tmp_path / "gold")
    text = (gold / "Para.tsv").read_text()
    (gold / "Para.tsv").write_text(text.replace("0\t1", "0\t0", 1))
    add_benchmark(str(MANIFEST), gold)
    assert {row["rank"] for row in client.get(f"{BOARD}.json").json()["rows"]} == {None}
    new.refresh_from_db()
    assert (new.why_apart or "").endswith("It is graded again.")
    grade_all()
    rows = client.get(f"{BOARD}.json").json()["rows"]
    assert [(row["name"], row["rank"]) for row in rows] == [("kept", 1), ("expired", None)]


def test_a_later_deadline_gives_back_the_ranks_that_the_reveal_took(
    phase: Make, clock: Clock, graded: Graded, person: Any, client: Client
) -> None:
    row = phase("Test", OPENS, CLOSES, rows="both", share=0.5, counting="best")
    clock.move("2027-05-02 10:00")
    gone = person("gone@example.org")
    graded(of_quality(6), name="of a deleted account", owner=gone)
    graded(of_answers(answers(0, 0)), name="waits to be graded again")
    delete_account(gone)
    before = Submission.objects.get(owner=gone).value
    clock.move("2027-05-03 00:30")
    grading.phases_due()
    assert {one["rank"] for one in client.get(f"{BOARD}.json").json()["rows"]} == {None}
    row.refresh_from_db()
    extend(row, closes=at("2027-05-05 00:00"), who=None, actor=None, reason="The site was down.")
    rows = client.get(f"{BOARD}.json").json()["rows"]
    assert [(one["name"], one["rank"]) for one in rows] == [("Anonymous", 1), ("waits to be graded again", 2)]
    again = Submission.objects.get(owner=gone)
    assert (again.value, again.why_apart) == (before, "")


def test_a_later_deadline_takes_no_final_score_for_a_public_one(
    phase: Make, clock: Clock, graded: Graded
) -> None:
    """Of files that are gone, the scores stay those of the rows that were held back."""
    row = phase("Test", OPENS, CLOSES, rows="both", share=0.5, counting="best")
    clock.move("2027-05-02 10:00")
    graded(of_answers(answers(public=3, others=0)), name="better on the public share")
    graded(of_answers(answers(public=0, others=3)), name="better on the other rows")
    clock.move("2027-05-03 00:30")
    grading.phases_due()
    grade_all()
    acts.forget_files(Submission.objects.all())
    for closes in ("2027-05-05 00:00", "2027-05-06 00:00"):
        row.refresh_from_db()
        extend(row, closes=at(closes), who=None, actor=None, reason="The site was down.")
    assert that_count() == {"better on the public share"}


def test_other_labels_let_another_entry_count_for_one_whose_file_is_gone(
    phase: Make, clock: Clock, graded: Graded, tmp_path: Path
) -> None:
    from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark

    phase("Test", OPENS, CLOSES, counting="best")
    clock.move("2027-05-02 10:00")
    best = graded(of_quality(6), name="best, expired")
    graded(of_quality(3), name="kept")
    acts.forget_files(Submission.objects.filter(pk=best.pk))
    gold = write_gold(tmp_path / "gold")
    text = (gold / "Para.tsv").read_text()
    (gold / "Para.tsv").write_text(text.replace("0\t1", "0\t0", 1))
    assert that_count() == {"best, expired"}
    add_benchmark(str(MANIFEST), gold)
    assert that_count() == {"kept"}


def test_the_same_labels_again_leave_all_ranks(tiny: Any, graded: Graded, client: Client) -> None:
    graded(of_quality(6), name="first")
    graded(of_quality(3), name="second")
    grading.regrade(Benchmark.objects.get(), "An organizer asked for it.")
    assert [row["rank"] for row in client.get(f"{BOARD}.json").json()["rows"]] == [1, 2]


def test_the_extension_of_a_team_is_for_its_members_at_the_deadline(
    tiny: Any, ada: Any, person: Any, phase: Make, clock: Clock
) -> None:
    grace, late, leaver = (person(f"{name}@example.org") for name in ("grace", "late", "leaver"))
    clock.move("2027-05-01 10:00")
    team = people.create_team(ada, "Owls")
    people.join_team(grace, team.code)
    people.join_team(leaver, team.code)
    row = phase("Test", OPENS, CLOSES, counting="last")
    extend(row, closes=at("2027-05-05 00:00"), who=team, actor=None, reason="A fire alarm.")
    clock.move("2027-05-03 10:00")
    people.join_team(late, team.code)
    people.leave_team(leaver)
    assert [
        slot_of(tiny, type(ada).objects.get(pk=who.pk), clock.now).late for who in (ada, grace, late, leaver)
    ] == [
        False,
        False,
        True,
        False,
    ]


@pytest.mark.usefixtures("per_team")
def test_merging_after_the_deadline_moves_nothing(
    ada: Any, person: Any, phase: Make, clock: Clock, graded: Graded, client: Client
) -> None:
    bob = person("bob@example.org")
    clock.move("2027-05-01 10:00")
    owls, larks = people.create_team(ada, "Owls"), people.create_team(bob, "Larks")
    row = phase("Test", OPENS, CLOSES, counting="best")
    extend(row, closes=at("2027-05-05 00:00"), who=owls, actor=None, reason="A fire alarm.")
    graded(of_quality(5), name="of owls", owner=ada)
    graded(of_quality(4), name="of larks", owner=bob)
    clock.move("2027-05-03 10:00")
    people.propose_merge(ada, larks.code)
    people.merge(bob, owls.pk, accepted=True)
    assert names(client) == ["of owls", "of larks"]
    bob.refresh_from_db()
    assert graded(of_quality(6), name="late", owner=bob).late
    ada.refresh_from_db()
    assert team_for(ada.pk, None) == team_for(bob.pk, None) is not None
    assert not graded(of_quality(6), name="better", owner=ada).late
    assert names(client) == ["better", "of larks"]
    assert Team.objects.filter(pk=owls.pk).exists()


@pytest.mark.usefixtures("per_team")
def test_merging_before_the_deadline_makes_one_entry_of_two(
    ada: Any, person: Any, phase: Make, clock: Clock, graded: Graded, client: Client
) -> None:
    bob = person("bob@example.org")
    clock.move("2027-05-01 10:00")
    owls, larks = people.create_team(ada, "Owls"), people.create_team(bob, "Larks")
    phase("Test", OPENS, CLOSES, counting="best")
    graded(of_quality(5), name="of owls", owner=ada)
    graded(of_quality(4), name="of larks", owner=bob)
    people.propose_merge(ada, larks.code)
    people.merge(bob, owls.pk, accepted=True)
    assert names(client) == ["of owls"]
    assert not Team.objects.filter(pk=owls.pk).exists()


@pytest.mark.parametrize("rule", ["best", "last", "chosen"])
@pytest.mark.usefixtures("per_team")
def test_new_teams_of_one_person_are_no_new_entries(
    ada: Any, phase: Make, clock: Clock, graded: Graded, client: Client, rule: str
) -> None:
    phase("Test", OPENS, CLOSES, counting=rule)
    clock.move("2027-05-01 10:00")
    graded(of_quality(1), name="alone")
    for number in range(3):
        people.create_team(ada, f"Team {number}")
        graded(of_quality(2 + number), name=f"for team {number}")
        people.leave_team(ada)
        clock.move(f"2027-05-01 1{number + 1}:00")
    assert names(client) == ["for team 2"]
    clock.move("2027-05-04 00:00")
    grading.phases_due()
    assert names(client) == ["for team 2"]
    before = places()
    delete_account(ada)
    grading.recount(Phase.objects.get())
    assert places() == before


@pytest.mark.usefixtures("per_team")
def test_whoever_joins_a_team_of_one_before_the_deadline_makes_it_a_team_of_several(
    ada: Any, person: Any, phase: Make, clock: Clock, graded: Graded, client: Client
) -> None:
    bob, late = person("bob@example.org"), person("late@example.org")
    phase("Test", OPENS, CLOSES, counting="best")
    clock.move("2027-05-01 10:00")
    graded(of_quality(1), name="alone")
    owls = people.create_team(ada, "Owls")
    graded(of_quality(5), name="of owls")
    assert names(client) == ["of owls"]
    people.join_team(bob, owls.code)
    clock.move("2027-05-01 11:00")
    assert names(client) == ["of owls", "alone"]
    people.leave_team(bob)
    assert names(client) == ["of owls"], "who was there for a moment makes no team of several"
    people.join_team(person("eve@example.org"), owls.code)
    larks = people.create_team(bob, "Larks")
    graded(of_quality(3), name="bob for larks", owner=bob)
    people.leave_team(bob)
    graded(of_quality(4), name="bob alone", owner=bob)
    clock.move("2027-05-03 10:00")
    people.join_team(late, larks.code)
    grading.recount(Phase.objects.get())
    assert names(client) == ["of owls", "bob alone", "alone"]
    before = places()
    delete_account(bob)
    grading.recount(Phase.objects.get())
    assert places() == before


@pytest.mark.usefixtures("per_team")
def test_two_who_join_each_others_teams_for_a_moment_stay_two(
    ada: Any, person: Any, phase: Make, clock: Clock, graded: Graded, client: Client
) -> None:
    bob = person("bob@example.org")
    phase("Test", OPENS, CLOSES, counting="best")
    clock.move("2027-05-01 10:00")
    for host, guest in ((ada, bob), (bob, ada)):
        graded(of_quality(1), name=f"alone {host.pk}", owner=host)
        team = people.create_team(host, f"Team of {host.pk}")
        graded(of_quality(5), name=f"team of {host.pk}", owner=host)
        people.join_team(guest, team.code)
        clock.move(f"2027-05-02 1{host.pk % 5}:00")
        for one in (host, guest):
            people.leave_team(one)
    assert that_count() == {f"team of {ada.pk}", f"team of {bob.pk}"}
    board = Submission.objects.on_board(Benchmark.objects.get()).order_by("-value")
    assert len(leaders(board)) == 2
    everything = Submission.objects.update(public=True, counts=True)
    assert everything == 4
    board = Submission.objects.on_board(Benchmark.objects.get()).order_by("-value")
    assert len(leaders(board)) == 2, "who sent for a team that is none any more is a person"
    attempted = [row["people"] for row in attempts(at_phase(Benchmark.objects.get(), Phase.objects.get()))]
    assert attempted == [2, 2]


@pytest.mark.usefixtures("per_team")
def test_an_account_deleted_before_the_deadline_leaves_its_team(
    ada: Any, person: Any, phase: Make, clock: Clock, graded: Graded
) -> None:
    bob = person("bob@example.org")
    phase("Test", OPENS, CLOSES, counting="best")
    clock.move("2027-05-01 10:00")
    graded(of_quality(1), name="alone")
    owls = people.create_team(ada, "Owls")
    people.join_team(bob, owls.code)
    graded(of_quality(5), name="of owls")
    assert that_count() == {"alone", "of owls"}
    delete_account(bob)
    assert that_count() == {"of owls"}


@pytest.mark.usefixtures("per_team")
def test_a_merge_after_the_deadline_makes_no_team_of_several(
    ada: Any, person: Any, phase: Make, clock: Clock, graded: Graded, client: Client
) -> None:
    bob, eve = person("bob@example.org"), person("eve@example.org")
    phase("Test", OPENS, CLOSES, counting="best")
    clock.move("2027-05-01 10:00")
    graded(of_quality(4), name="alone")
    owls, larks = people.create_team(ada, "Owls"), people.create_team(bob, "Larks")
    graded(of_quality(5), name="of owls")
    people.join_team(eve, larks.code)
    people.leave_team(eve)
    clock.move("2027-05-03 10:00")
    people.propose_merge(bob, owls.code)
    people.merge(ada, larks.pk, accepted=True)
    grading.recount(Phase.objects.get())
    assert names(client) == ["of owls"]


@pytest.mark.usefixtures("per_team")
def test_a_member_without_a_record_was_always_in_the_team(
    ada: Any, person: Any, phase: Make, clock: Clock, graded: Graded, client: Client
) -> None:
    phase("Test", OPENS, CLOSES, counting="best")
    clock.move("2027-05-01 10:00")
    bob, owls = person("bob@example.org"), Team.objects.create(name="Owls")
    owls.invitations.create(uses=9, expires=at("2999-01-01 00:00"))
    for member in (ada, bob):
        member.date_joined = at("2027-04-01 00:00")
        member.save()
    Membership.objects.create(user=bob, team=owls, since=bob.date_joined)
    graded(of_quality(4), name="alone")
    people.join_team(ada, owls.code)
    ada.refresh_from_db()
    graded(of_quality(5), name="of owls", owner=ada)
    assert names(client) == ["of owls", "alone"]
    clock.move("2027-05-03 10:00")
    people.leave_team(bob)
    grading.recount(Phase.objects.get())
    assert names(client) == ["of owls", "alone"]


def test_a_general_deadline_past_an_extension_is_everybodys(
    tiny: Any, ada: Any, phase: Make, clock: Clock
) -> None:
    row = phase("Test", OPENS, CLOSES)
    extend(row, closes=at(CLOSES) + timedelta(days=1), who=ada, actor=None, reason="Ill.")
    row.refresh_from_db()
    extend(row, closes=at(CLOSES) + timedelta(days=2), who=None, actor=None, reason="The site was down.")
    assert not slot_of(tiny, ada, at(CLOSES) + timedelta(days=1, hours=12)).late


def test_the_page_of_what_counts_is_the_table() -> None:
    text = (Path(__file__).parents[2] / "docs/reference/counting.md").read_text()
    assert text == page().rstrip("\n") + "\n"


def test_every_act_has_a_cell_and_a_reason_for_every_moment() -> None:
    for act in TABLE.values():
        assert [*act.cells] == [*Moment]
        assert {cell.outcome for cell in act.cells.values()} <= SIGNS.keys()
        assert all(cell.reason.endswith(".") for cell in act.cells.values())
        closed = [act.cells[moment] for moment in (Moment.AFTER, Moment.REVEALED, Moment.ARCHIVED)]
        assert act.by != "author" or all(cell.outcome != "changes" for cell in closed), act.title


def test_an_organizer_reads_what_the_results_wait_for_and_shows_them(
    both: Phase, clock: Clock, send: Graded, person: Any, tiny: Any
) -> None:
    grace, browser = person("grace@example.org"), Client()
    tiny.organizers.add(grace)
    browser.force_login(grace)
    address = f"{BOARD}/organize/phases/{both.pk}"
    clock.move("2027-05-02 10:00")
    send(of_quality(3))
    assert "The results wait" not in browser.get(address).content.decode()
    clock.move("2027-05-03 00:05")
    assert "may end until 3 May 2027, 00:11 UTC" in browser.get(address).content.decode()
    assert "The results wait. Uploads that began" in Client().get(BOARD).content.decode()
    sent = {"act": "settle", "reason": "The workers are down."}
    assert "may still come" in browser.post(address, sent, follow=True).content.decode()
    clock.move("2027-05-03 00:12")
    waits = "1 submission in the queue may count. No worker gives signs of life."
    assert waits in browser.get(address).content.decode()
    grading.phases_due()
    assert "1 submission in the queue may count." in Client().get(BOARD).content.decode()
    assert "do not wait any more" in browser.post(address, sent, follow=True).content.decode()
    assert Phase.objects.get().is_settled
    assert "The results wait" not in browser.get(address).content.decode()
    entry = Entry.objects.get(action="results shown")
    assert (entry.actor, entry.reason, entry.detail["waiting"]) == (grace.pk, "The workers are down.", 1)


def test_results_that_wait_after_they_were_announced_are_shown_by_the_organizer(
    both: Phase, clock: Clock, graded: Graded, send: Graded, ada: Any, client: Client
) -> None:
    clock.move("2027-05-02 10:00")
    graded(of_answers(answers(3, 0)), name="best on the public share")
    send(of_answers(answers(1, 3)), name="waits")
    clock.move("2027-05-03 00:05")
    announce(Benchmark.objects.get(), ada, labels=False)
    assert not Phase.objects.get().is_settled
    settle_phase(Phase.objects.get(), ada, "The workers are down.")
    grade_all()
    assert names(client) == ["best on the public share"]
    with pytest.raises(ActError, match="settled already"):
        settle_phase(Phase.objects.get(), ada, "Again.")


def test_results_announced_in_the_grace_leave_the_phase_hidden_until_its_close(
    phase: Make, clock: Clock, graded: Graded, ada: Any, client: Client
) -> None:
    row = phase("Test", OPENS, CLOSES, shown="closed")
    clock.move("2027-05-02 10:00")
    graded(of_quality(3), name="first")
    clock.move("2027-05-03 00:05")
    announce(Benchmark.objects.get(), ada, labels=False)
    assert names(client) == ["first"]
    row.refresh_from_db()
    extend(row, closes=at("2027-05-05 00:00"), who=None, actor=None, reason="The site was down.")
    assert not Submission.objects.filter(counts=True).exists()


def test_the_preview_of_a_rule_names_whom_it_moves(
    phase: Make, clock: Clock, graded: Graded, person: Any, tiny: Any
) -> None:
    grace, browser = person("grace@example.org"), Client()
    tiny.organizers.add(grace)
    browser.force_login(grace)
    row = phase("Test", OPENS, CLOSES, counting="best")
    clock.move("2027-05-02 10:00")
    graded(of_quality(6), name="the better one")
    graded(of_quality(2), name="the later one")
    values = {"name": "Test", "zone": "UTC", "opens": "2027-05-01T00:00", "closes": "2027-05-03T00:00"}
    choices = {"most": "1", "otherwise": "best", "shown": "always", "rows": "all", "late": "kept"}
    address = f"{BOARD}/organize/phases/{row.pk}"
    for rule, expected in (
        ("last", ["leave the board: the better one.", "come to the board: the later one."]),
        ("every", ["come to the board: the later one."]),
        ("chosen", ["Nobody would leave the board or come to it."]),
    ):
        form = {**values, **choices, "counting": rule, "act": "preview"}
        text = browser.post(address, form).content.decode()
        assert all(sentence in text for sentence in expected), rule
        assert ("leave the board:" in text) == (rule == "last")
    assert that_count() == {"the better one"}


def test_a_program_and_a_command_show_the_results(
    both: Phase, clock: Clock, send: Graded, person: Any, tiny: Any
) -> None:
    grace = person("grace@example.org")
    tiny.organizers.add(grace)
    clock.move("2027-05-02 10:00")
    secret = issue(grace, "a program", [Scope.ORGANIZE], timedelta(days=9))[1]
    program = Client(headers={"authorization": f"Bearer {secret}"})
    send(of_quality(3))
    address = f"/api/v1{BOARD}/organize/phases/{both.pk}/settle"
    sent = {"reason": "The workers are down."}
    refused = program.post(address, sent, content_type="application/json")
    assert (refused.status_code, "may still come" in refused.json()["detail"]) == (409, True)
    clock.move("2027-05-03 00:12")

    def run(phase: str) -> Result:
        words = ["leaderboard", "settle", "tiny", phase, "--reason", "The workers are down."]
        return CliRunner().invoke(main, [*words, "--site", str(django_settings.FOLDER.root)])

    wrong = run("Final")
    assert (wrong.exit_code, "has no phase 'Final'. It has: Test." in wrong.stderr) == (1, True)
    assert run("Test").output == "The results of Test do not wait any more.\n"
    again = run("Test")
    assert (again.exit_code, "settled already" in again.stderr) == (1, True)
    answer = program.post(address, sent, content_type="application/json")
    assert "settled already" in answer.json()["detail"]


def test_a_choice_is_not_doubled_by_a_withdrawal_and_a_new_deadline(
    phase: Make, clock: Clock, graded: Graded, ada: Any, client: Client
) -> None:
    row = phase("Test", OPENS, CLOSES, counting="chosen", most=1)
    clock.move("2027-05-02 10:00")
    first, second = graded(of_quality(1), name="first"), graded(of_quality(2), name="second")
    acts.choose(first, ada, chosen=True)
    clock.move("2027-05-03 10:00")
    acts.withdraw(first)
    row.refresh_from_db()
    extend(row, closes=at("2027-05-05 00:00"), who=None, actor=None, reason="The site was down.")
    acts.choose(second, ada, chosen=True)
    acts.restore(first)
    assert names(client) == ["second"]


def test_acts_that_would_do_nothing_are_refused(
    phase: Make, clock: Clock, graded: Graded, send: Graded, ada: Any
) -> None:
    phase("Test", OPENS, CLOSES, counting="best")
    clock.move("2027-05-02 10:00")
    counts, waits = graded(of_quality(1)), send(of_quality(2))
    acts.withdraw(waits)
    with pytest.raises(ActError, match="cannot be undone"):
        acts.restore(waits)
    clock.move("2027-05-03 10:00")
    grading.phases_due()
    announce(Benchmark.objects.get(), ada, labels=False)
    with pytest.raises(ActError, match="You could publish it through"):
        acts.publish(counts, public=True)


def test_announcing_the_results_names_whose_extension_it_ends(
    tiny: Any, phase: Make, clock: Clock, ada: Any, person: Any
) -> None:
    grace = person("grace@example.org")
    tiny.organizers.add(grace)
    row = phase("Test", OPENS, CLOSES)
    clock.move("2027-05-02 10:00")
    extend(row, closes=at("2027-05-05 00:00"), who=ada, actor=None, reason="Ill.")
    clock.move("2027-05-04 10:00")
    whose = f"Account {ada.pk} (until 5 May 2027, 00:00 UTC)"
    browser = Client()
    browser.force_login(grace)
    assert whose in browser.get(f"{BOARD}/organize/results").content.decode()
    secret = issue(grace, "a program", [Scope.ORGANIZE], timedelta(days=9))[1]
    program = Client(headers={"authorization": f"Bearer {secret}"})
    address = f"/api/v1{BOARD}/organize/results/announce"
    refused = program.post(address, {}, content_type="application/json")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "sure")
    assert whose in refused.json()["errors"][0]["message"]
    assert Benchmark.objects.get().open
    assert program.post(address, {"sure": True}, content_type="application/json").status_code == 200


def test_the_document_of_the_api_lists_no_reason_for_a_new_phase(tiny: Any) -> None:
    paths = Client().get("/api/v1/openapi.json").json()["paths"]
    for path, expected in (("phases", False), ("phases/{pk}", True)):
        body = paths[f"/api/v1/benchmarks/{{name}}/organize/{path}"]["post"]["requestBody"]
        fields = body["content"]["application/json"]["schema"]["properties"]
        assert ("reason" in fields) is expected
