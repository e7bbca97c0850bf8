"""Who is graded next: benchmarks take turns, and within a benchmark people do."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status

pytestmark = pytest.mark.django_db


@pytest.fixture
def other(tiny: Benchmark) -> Benchmark:
    row = Benchmark.objects.get(pk=tiny.pk)
    row.pk, row.name = None, "other"
    row.save()
    return row


def wait(benchmark: Benchmark, owner: User, number: int = 1) -> list[Submission]:
    rows = [
        Submission(benchmark=benchmark, owner=owner, name=f"{number}", model="M", file="x", size=1)
        for number in range(number)
    ]
    made = Submission.objects.bulk_create(rows)
    for row in made:  # a new row has the time of its transaction
        Submission.objects.filter(pk=row.pk).update(submitted=row.submitted + timedelta(milliseconds=row.pk))
    return made


def served() -> list[int]:
    """The keys in the order in which one worker takes them."""
    order = []
    while (pk := next(Submission.objects.turns(), None)) is not None:
        assert Submission.objects.claim(pk)
        begun = timezone.now() + timedelta(seconds=len(order))  # a database may tell only milliseconds apart
        Submission.objects.filter(pk=pk).update(status=Status.GRADED, begun=begun)
        order.append(pk)
    return order


def round_robin(waiting: list[tuple[int, int, int]]) -> list[int]:
    """The same by queues in memory: (benchmark, owner, key) by age."""
    last: dict[Any, int] = {}
    order: list[int] = []
    queues: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for benchmark, owner, key in waiting:
        queues[benchmark][owner].append(key)
    while queues:
        b = min(queues, key=lambda b: (last.get(b, -1), min(min(keys) for keys in queues[b].values())))
        owner = min(queues[b], key=lambda owner: (last.get((b, owner), -1), queues[b][owner][0]))
        order.append(queues[b][owner].pop(0))
        last[b] = last[b, owner] = len(order)
        queues[b] = defaultdict(list, {owner: keys for owner, keys in queues[b].items() if keys})
        if not queues[b]:
            del queues[b]
    return order


def test_benchmarks_and_people_take_turns(tiny: Benchmark, other: Benchmark, person: Any) -> None:
    people = [person(f"p{number}@example.org") for number in range(4)]
    chance = random.Random(5)
    rows = [
        wait(chance.choice([tiny, tiny, tiny, other]), chance.choice([people[0], *people]))[0]
        for _ in range(40)
    ]
    expected = round_robin([(row.benchmark_id, row.owner_id, row.pk) for row in rows])
    places = {row.pk: Submission.objects.get(pk=row.pk).queue_position() for row in rows}
    order = served()
    assert order == expected
    assert all(order.index(pk) < place for pk, place in places.items()), "the place on the page is a bound"
    assert max(places.values()) == 40


def test_a_flood_elsewhere_delays_nobody(tiny: Benchmark, other: Benchmark, person: Any) -> None:
    flood, ada = person("flood@example.org"), person("ada2@example.org")
    first = wait(tiny, flood, 300)[0]
    assert Submission.objects.claim(first.pk)
    alone, beside = wait(other, ada)[0], wait(tiny, ada)[0]
    with CaptureQueriesContext(connection) as queries:
        assert next(Submission.objects.turns()) == alone.pk
    assert len(queries) <= 3, "the cost does not grow with the people who wait"
    assert Submission.objects.claim(alone.pk)
    assert next(Submission.objects.turns()) == beside.pk
    places = [Submission.objects.get(pk=row.pk).queue_position() for row in (alone, beside)]
    assert places == [2, 3]
