"""What keeps the site as the model says, each as a change that takes it out: the model has to find it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest
from django.db.models import Q

from gluebench.leaderboard.apps.accounts.models import Team, move_to, team_for
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.limits import acts as limits
from gluebench.leaderboard.apps.limits import models as participation
from gluebench.leaderboard.apps.limits import quota, registration
from gluebench.leaderboard.apps.limits.models import Invitation
from gluebench.leaderboard.apps.phases import moments
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.phases.table import TABLE, Moment
from gluebench.leaderboard.apps.submissions import acts, counting, feedback, grading
from gluebench.leaderboard.apps.submissions.models import Submission, SubmissionQuerySet
from gluebench.leaderboard.apps.submissions.queries import is_scored

Change = Callable[[pytest.MonkeyPatch], None]


def without(act: str) -> Change:
    """No deadline for an act of authors."""
    required = acts._require

    def change(patch: pytest.MonkeyPatch) -> None:
        free = TABLE[act].cells[Moment.OPEN]._replace(outcome="keeps")
        patch.setattr(acts, "_require", lambda name, row: free if name == act else required(name, row))

    return change


def chosen_among(**conditions: bool) -> Change:
    """The rule chooses among more than a board may show."""
    wider = Q(**conditions) & is_scored()
    return lambda patch: patch.setattr(counting, "is_eligible", lambda: wider)


def with_teams_of_today(patch: pytest.MonkeyPatch) -> None:
    for module in (moments, quota):
        patch.setattr(module, "team_in", lambda phase, user: team_for(user, phase.benchmark_id))


def with_a_merge_of_all(patch: pytest.MonkeyPatch) -> None:
    def take_in(own: Team, other: Team) -> None:
        for person in other.members:
            move_to(person, own)
        Submission.objects.filter(group=other).update(group=own)
        other.delete()

    patch.setattr(limits, "_take_in", take_in)


def with_the_own_deadline(patch: pytest.MonkeyPatch) -> None:
    def ends_for(phase: Phase, user: int) -> datetime | None:
        whose = Q(user=user) | Q(team=moments.team_in(phase, user), team__isnull=False)
        own = phase.extensions.filter(whose).order_by("closes").last()
        return own.closes + timedelta(minutes=1) if own else phase.ends

    for module in (moments, counting, acts):
        patch.setattr(module, "ends_for", ends_for)


def with_choices_that_return(patch: pytest.MonkeyPatch) -> None:
    restored = acts.restore

    def restore(row: Submission) -> Submission:
        restored(row)
        Submission.objects.filter(pk=row.pk).update(chosen=row.chosen)
        counting.recount(Phase.objects.get())
        return row

    patch.setattr(acts, "restore", restore)


def without_time_for_uploads(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Phase, "complete", property(lambda row: row.over))


def without_waiting(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(grading, "waiting_in", lambda phase: Submission.objects.none())


def with_any_key(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(feedback.ScoreKey, "difference", lambda one, other: "")


def with_ranks_taken_for_good(patch: pytest.MonkeyPatch) -> None:
    set_apart = feedback.set_apart

    def take(submissions: SubmissionQuerySet) -> None:
        set_apart(submissions.filter(apart=""))

    patch.setattr(feedback, "set_apart", take)


def without_a_count(module: Any) -> Change:
    """What counts is not stored again by the acts of a module."""
    return lambda patch: patch.setattr(module, "recount", lambda phase: None)


def with_one_part(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(feedback, "parts_of", lambda row: feedback.rows_to_grade(row.benchmark, row.phase))


def with_the_final_score_as_public(patch: pytest.MonkeyPatch) -> None:
    """As it was: the best is the best by the column that a board ranks by."""
    with_one_part(patch)
    show = feedback.show

    def shown(submission: Submission) -> bool:
        done = show(submission)
        missing = Submission.objects.filter(pk=submission.pk, public_value=None)
        missing.update(public_value=submission.value)
        return done

    patch.setattr(feedback, "show", shown)


def with_archives_that_wait(patch: pytest.MonkeyPatch) -> None:
    """Results that are announced are settled, whatever waits."""
    moment_of = moments.moment_of

    def moment(phase: Phase | None, ends: datetime | None) -> Moment:
        now = moment_of(phase, ends)
        announced = hasattr(phase and phase.benchmark, "results")
        return Moment.ARCHIVED if now == Moment.AFTER and announced else now

    patch.setattr(moments, "moment_of", moment)


def with_moves_after_the_deadline(patch: pytest.MonkeyPatch) -> None:
    """What is withdrawn after the deadline lets another count."""
    patch.setattr(counting, "ends_for", lambda phase, user: None)


def with_blocked_people_who_act(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(participation, "registrations_blocked_in", lambda benchmark: benchmark.registrations.none())


def with_everybody_who_sends(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(quota, "obstacle_for", lambda benchmark, user: None)


def with_invitations_for_all(patch: pytest.MonkeyPatch) -> None:
    def use(benchmark: Benchmark, code: str) -> Invitation | None:
        return benchmark.invitations.filter(code=code).first()

    patch.setattr(registration, "_use_invitation", use)


def without_phases_elsewhere(patch: pytest.MonkeyPatch) -> None:
    """The labels of another benchmark change unnoticed."""
    patch.setattr(Benchmark, "phases_elsewhere", property(lambda benchmark: Phase.objects.none()))


def with_other_tasks_unnoticed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(grading, "GRADED_BY", ("rows", "ladder"))


class Mutant(NamedTuple):
    """The site without a fix, and where the model looks for what is wrong then."""

    take_out: Change
    acts: str = ""
    """Names of rules of the machine, besides uploads, gradings and time."""
    given: Mapping[str, Any] = {}
    """What of the beginning is given; all else is drawn."""


SHOWN = {"hidden": False, "approval": False, "late_files": "kept"}
BEST = SHOWN | {"rule": "best"}
EVERY = SHOWN | {"rule": "every"}
CHOSEN = SHOWN | {"rule": "chosen", "most": 1}
BOTH = BEST | {"both": True}
TEAMS = BEST | {"per_team": True}
TWO_TEAMS = TEAMS | {
    "teams": "ab",
    "minutes": 12,
    "sent": [
        {"who": who, "answers": answers, "public": True, "graded": True}
        for who, answers in (("a", 0), ("b", 3), ("c", 4))
    ],
}
"""Two teams of one person each, which have sent a file each."""
MOVES = "moves_the_deadline extends"
MUTANTS = {
    "both parts of what is graded late": Mutant(with_one_part, "shows_the_results", BOTH),
    "the public share alone finds the best": Mutant(
        with_the_final_score_as_public, "shows_the_results", BOTH
    ),
    "ten minutes for uploads": Mutant(without_time_for_uploads, "", BOTH),
    "an empty queue": Mutant(without_waiting, "", BOTH),
    "a deadline for undoing withdrawals": Mutant(without("restore"), "withdraws_or_restores", SHOWN),
    "a deadline for publishing": Mutant(without("publish"), "publishes", EVERY),
    "a deadline for making private": Mutant(without("unpublish"), "publishes", EVERY),
    "a deadline for choosing": Mutant(without("choose"), "chooses", CHOSEN),
    "what counts cannot be hidden": Mutant(without("hide"), "publishes", BEST),
    "a late withdrawal moves nobody up": Mutant(with_moves_after_the_deadline, "withdraws_or_restores", BEST),
    "an undone withdrawal is no choice": Mutant(
        with_choices_that_return, "withdraws_or_restores chooses", CHOSEN
    ),
    "approved ones alone": Mutant(
        chosen_among(public=True, late=False), "decides", BEST | {"approval": True}
    ),
    "public ones alone": Mutant(chosen_among(approved=True, late=False), "changes_the_rule", EVERY),
    "late ones never": Mutant(chosen_among(approved=True, public=True), "", BEST | {"late_files": "graded"}),
    "one key": Mutant(with_any_key, "grades_all_again", BOTH),
    "a rank again with the same key": Mutant(with_ranks_taken_for_good, MOVES, BOTH),
    "other labels count again": Mutant(without_a_count(grading), "grades_all_again loses_a_file", BEST),
    "teams of the deadline": Mutant(with_teams_of_today, "founds_or_leaves_a_team joins extends", TWO_TEAMS),
    "merging moves nothing later": Mutant(
        with_a_merge_of_all, "joins merge grades_all_again withdraws_or_restores", TWO_TEAMS
    ),
    "merging counts again": Mutant(without_a_count(limits), "founds_or_leaves_a_team joins merge", TEAMS),
    "the later of two deadlines": Mutant(with_the_own_deadline, MOVES, BEST),
    "the blocked do nothing": Mutant(
        with_blocked_people_who_act, "decides_on_a_person withdraws_or_restores publishes", EVERY
    ),
    "whom an organizer admits": Mutant(
        with_everybody_who_sends, "decides_on_a_person registers", BEST | {"registration": "approval"}
    ),
    "an invitation for so many": Mutant(
        with_invitations_for_all, "invites registers", BEST | {"registration": "invitation", "admitted": ""}
    ),
    "labels of another benchmark": Mutant(
        without_phases_elsewhere, "grades_all_again", BEST | {"data": "other"}
    ),
    "other tasks, another grading": Mutant(with_other_tasks_unnoticed, "changes_the_tasks", BEST),
    "announced results may wait": Mutant(
        with_archives_that_wait, "announces_the_results_or_takes_them_back shows_the_results", BOTH
    ),
}
