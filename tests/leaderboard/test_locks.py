"""Authors, organizers and workers at the same moment: each waits for another, and none for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection

from gluebench.leaderboard.apps.ledger import models as ledger
from gluebench.leaderboard.apps.limits.acts import change_policy
from gluebench.leaderboard.apps.submissions import acts, grading
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.leaderboard.keeping import integrity

ROUNDS = 30
GRADED = {"status": Status.GRADED, "verdict": "valid"}


def together(acts: Sequence[Callable[[int], object]]) -> list[BaseException]:
    """Do each of these many times, all at once; returns what went wrong."""
    failures: list[BaseException] = []

    def loop(act: Callable[[int], object]) -> None:
        try:
            for turn in range(ROUNDS):
                act(turn)
        except BaseException as failure:
            failures.append(failure)
        finally:
            connection.close()

    threads = [threading.Thread(target=loop, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


@pytest.mark.django_db(transaction=True)
def test_acts_policies_and_gradings_do_not_block_each_other(send: Callable[..., Any], tiny: Any) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite lets one transaction write at a time; `make test-postgres` runs this")
    rows = [send(name=f"System {number}") for number in range(3)]

    def publish(turn: int) -> None:
        acts.publish(rows[turn % 3], public=bool(turn % 2))

    def policy(turn: int) -> None:
        change_policy(tiny, {"feedback": ("full", "on-publish")[turn % 2]})

    def again(turn: int) -> None:
        grading.regrade(tiny, f"turn {turn}")

    def finish(turn: int) -> None:
        pk = rows[turn % 3].pk
        if Submission.objects.claim(pk):
            row = Submission.objects.select_related("benchmark").get(pk=pk)
            grading._finish(row, Submission.objects.with_lease(pk, row.attempts), GRADED)

    assert together([publish, policy, again, finish, finish]) == []
    assert set(Submission.objects.values_list("status", flat=True)) <= {Status.QUEUED, Status.GRADED}


@pytest.mark.django_db(transaction=True)
def test_the_ledger_stays_whole(graded: Callable[..., Any], ada: Any) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite lets one transaction write at a time; `make test-postgres` runs this")
    rows = [graded(name=f"System {number}") for number in range(3)]

    def publish(turn: int) -> None:
        acts.publish(rows[turn % 3], public=bool(turn // 3 % 2))

    def rename(turn: int) -> None:
        acts.edit(rows[turn % 3], ada, {"name": f"System {turn}"})

    assert together([publish, publish, rename, rename]) == []
    assert [check.state for check in integrity.examine() if check.fix] == []
    assert ledger.is_signed(ledger.signer().key)
    assert ledger.Leaf.objects.count() == ledger.Leaf.objects.latest("index").index + 1 > 3
