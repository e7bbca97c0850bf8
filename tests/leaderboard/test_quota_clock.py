"""How much remains and when the next is possible: worked by hand, and against trying every second."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from leaderboard.quota_cases import CASES

from gluebench.leaderboard.apps.limits.models import Override
from gluebench.leaderboard.apps.limits.quota import WINDOWS, LimitCount, first_allowed, precise, usage
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status

NONE = {"per_day": None, "per_month": None, "total": None, "at_once": None, "invalid_per_day": None}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


Put = Callable[..., Submission]


@pytest.fixture
def put(tiny: Any, ada: Any) -> Put:
    """A row as it would stand in the database; no file is behind it."""

    def row(sent: str, status: str = Status.GRADED, **values: Any) -> Submission:
        values.setdefault("finished", None if status in (Status.QUEUED, Status.RUNNING) else at(sent))
        made = Submission.objects.create(
            **{
                "owner": ada,
                "benchmark": tiny,
                "name": "A",
                "model": "B",
                "size": 1,
                "status": status,
                **values,
            }
        )
        Submission.objects.filter(pk=made.pk).update(submitted=at(sent))
        return made

    return row


def ask(tiny: Any, who: Any, now: str, **policy: Any) -> Any:
    tiny.settings = {**NONE, **policy}
    tiny.save()
    return usage(tiny, who, at(now))


@pytest.mark.parametrize("case", CASES)
def test_what_remains_and_when_the_next_is_possible(case: str, tiny: Any, ada: Any, put: Put) -> None:
    policy, sent, now, remaining, moment = CASES[case]
    for one in sent:
        put(one)
    found = ask(tiny, ada, now, **policy)
    assert found.remaining == remaining
    assert found.next == (None if moment is None else at(moment))
    assert bool(found.blocked) == (remaining == 0)
    if moment is not None:
        assert usage(tiny, ada, at(moment)).remaining, "what is promised holds"
        assert not usage(tiny, ada, at(moment) - timedelta(microseconds=1)).remaining, "and not sooner"
        assert precise(at(moment)) in " ".join(found.blocked)


NOW, SENT = "2027-03-10T12:00", "2027-03-10T08:00"
# status, further values, whether it costs quota, whether it is a rejected upload, at once
STATES: dict[str, tuple[str, dict[str, Any], int, int, int]] = {
    "waiting": (Status.QUEUED, {}, 1, 0, 1),
    "being graded": (Status.RUNNING, {}, 1, 0, 1),
    "graded": (Status.GRADED, {}, 1, 0, 0),
    "graded and withdrawn": (Status.GRADED, {"withdrawn": at("2027-03-10T11:00")}, 1, 0, 0),
    "graded and private": (Status.GRADED, {"public": False}, 1, 0, 0),
    "invalid": (Status.INVALID, {"verdict": "invalid"}, 0, 1, 0),
    "failed": (Status.FAILED, {"failure": "It took too long."}, 0, 1, 0),
    "withdrawn before its grading": (
        Status.FAILED,
        {"failure": "Withdrawn.", "withdrawn": at(SENT)},
        0,
        1,
        0,
    ),
    "waits to be graded again": (
        Status.QUEUED,
        {"finished": at("2027-03-10T09:00"), "verdict": "valid", "why": "labels"},
        1,
        0,
        0,
    ),
    "being graded again": (Status.RUNNING, {"finished": at("2027-03-10T09:00"), "verdict": "valid"}, 1, 0, 0),
    "an invalid one that is graded again": (
        Status.RUNNING,
        {"finished": at("2027-03-10T09:00"), "verdict": "invalid"},
        0,
        1,
        0,
    ),
    "a failed one that is graded again": (
        Status.QUEUED,
        {"finished": at("2027-03-10T09:00"), "failure": "It took too long."},
        0,
        1,
        0,
    ),
    "handed out again after a worker died": (Status.QUEUED, {"attempts": 2}, 1, 0, 1),
}


@pytest.mark.parametrize("state", STATES)
def test_what_counts(state: str, tiny: Any, ada: Any, put: Put) -> None:
    status, values, cost, nothing, waiting = STATES[state]
    put(SENT, status, **values)
    found = ask(tiny, ada, NOW, per_day=2, per_month=2, total=2, at_once=2, invalid_per_day=2)
    used = {limit.name: limit.used for limit in found.limits}
    assert used == {"day": cost, "month": cost, "total": cost, "at_once": waiting, "invalid": nothing}


def test_uploads_that_came_to_nothing_have_a_cap_of_24_hours_in_any_window(
    tiny: Any, ada: Any, put: Put
) -> None:
    for hour in (8, 9):
        put(f"2027-03-10T{hour:02}:00", Status.INVALID)
    for window in ("sliding", "calendar"):
        found = ask(tiny, ada, "2027-03-11T07:00", invalid_per_day=2, per_day=2, window=window)
        assert (found.remaining, found.next) == (0, at("2027-03-11T08:00"))
        assert "rejected" in found.blocked[0]


def test_waiting_ones_block_until_one_is_done_and_nobody_knows_when(tiny: Any, ada: Any, put: Put) -> None:
    put(SENT, Status.QUEUED)
    put(SENT, Status.RUNNING)
    found = ask(tiny, ada, NOW, at_once=2, per_day=5)
    assert (found.remaining, found.next) == (0, None)
    assert "until one is done" in found.blocked[0]
    found = ask(tiny, ada, NOW, at_once=2, per_day=2)
    assert found.next == at("2027-03-11T08:00"), "the day ends later at any rate"


OVERRIDES: dict[str, tuple[dict[str, Any], list[str], str, int | None, str | None]] = {
    "more": ({"per_day": 3}, [SENT, SENT], NOW, 1, None),
    "fewer": ({"per_day": 1}, [SENT], NOW, 0, "2027-03-11T08:00"),
    "none at all": ({"per_day": 0}, [], NOW, 0, None),
    "none until a day": ({"per_day": 0, "until": at("2027-03-12T00:00")}, [], NOW, 0, "2027-03-12T00:00"),
    "none until a day that comes before the window ends": (
        {"per_day": 0, "until": at("2027-03-10T18:00")},
        [SENT, SENT],
        NOW,
        0,
        "2027-03-11T08:00",
    ),
    "run out": ({"per_day": 9, "until": at("2027-03-10T12:00")}, [SENT, SENT], NOW, 0, "2027-03-11T08:00"),
    "one microsecond left": (
        {"per_day": 9, "until": at("2027-03-10T12:00:00.000001")},
        [SENT, SENT],
        NOW,
        7,
        None,
    ),
    "a limit where the policy has none": (
        {"total": 2},
        ["2020-01-01T00:00", "2021-01-01T00:00"],
        NOW,
        0,
        None,
    ),
    "that one, until a day": (
        {"total": 1, "until": at("2027-04-01T00:00")},
        ["2020-01-01T00:00"],
        NOW,
        0,
        "2027-04-01T00:00",
    ),
}


@pytest.mark.parametrize("case", OVERRIDES)
def test_exceptions_win_while_they_hold(case: str, tiny: Any, ada: Any, put: Put) -> None:
    limits, sent, now, remaining, moment = OVERRIDES[case]
    Override.objects.create(benchmark=tiny, user=ada, reason="a workshop", **limits)
    for one in sent:
        put(one)
    found = ask(tiny, ada, now, per_day=2)
    assert (found.remaining, found.next) == (remaining, None if moment is None else at(moment))


def test_of_several_exceptions_one_s_own_wins_then_the_newest(tiny: Any, ada: Any, put: Put) -> None:
    from gluebench.leaderboard.apps.limits import acts

    team = acts.create_team(ada, "Lovelace")
    ada.refresh_from_db()
    Override.objects.create(benchmark=tiny, team=team, per_day=9, per_month=9, reason="the team's")
    assert ask(tiny, ada, NOW, per_day=2)["day"].limit == 9
    Override.objects.create(benchmark=tiny, user=ada, per_day=4, reason="her own")
    Override.objects.create(benchmark=tiny, user=ada, per_day=5, reason="her newer one")
    Override.objects.create(benchmark=tiny, team=team, per_day=7, reason="the team's newer one")
    found = ask(tiny, ada, NOW, per_day=2, per_month=1)
    assert (found["day"].limit, found["month"].limit) == (5, 9)


def test_a_benchmark_that_is_closed_takes_nothing(tiny: Any, ada: Any) -> None:
    tiny.open = False
    found = ask(tiny, ada, NOW)
    assert (found.remaining, found.next, found.blocked) == (
        0,
        None,
        ["This benchmark takes no submissions now."],
    )


def test_usage_as_json(tiny: Any, ada: Any, put: Put) -> None:
    put(SENT)
    shown = ask(tiny, ada, NOW, per_day=1).as_dict()
    assert shown["limits"][0] == {
        "name": "day",
        "used": 1,
        "limit": 1,
        "remaining": 0,
        "next": "2027-03-11T08:00:00+00:00",
    }
    assert shown["next"] == "2027-03-11T08:00:00+00:00"
    assert shown["blocked"] == [
        "Your limit is 1 submission in 24 hours; 0 remain. The next one is possible from "
        "11 March 2027, 08:00:00 UTC."
    ]


def test_a_moment_in_words_is_never_too_early() -> None:
    assert precise(at("2027-03-10T23:59:59.000001")) == "11 March 2027, 00:00:00 UTC"
    assert precise(at("2027-03-10T23:59:59")) == "10 March 2027, 23:59:59 UTC"


START = at("2028-02-28T00:00")
HOURS = st.integers(-50, 60)


@given(
    sent=st.lists(HOURS, max_size=6),
    day=st.integers(0, 4),
    window=st.sampled_from(["sliding", "calendar"]),
    special=st.none() | st.tuples(st.integers(0, 6), st.integers(1, 72)),
)
def test_the_first_moment_is_the_one_that_trying_every_hour_finds(
    sent: list[int], day: int, window: str, special: tuple[int, int] | None
) -> None:
    until = None if special is None else START + timedelta(hours=special[1])

    def cap(moment: datetime) -> int:
        return special[0] if special is not None and until is not None and moment < until else day

    def counted(moment: datetime) -> int:
        """By the words of the manual, not by the moments at which something ends."""
        times = [START + timedelta(hours=hour) for hour in sent]
        if window == "calendar":
            return sum(time.date() >= moment.date() for time in times)
        return sum(moment - time < timedelta(hours=24) for time in times)

    span = WINDOWS["day", window]
    tally = LimitCount(cap, [span.end(START + timedelta(hours=hour)) for hour in sent])
    tried = (START + timedelta(hours=hour) for hour in range(24 * 8))
    expected = next((moment for moment in tried if counted(moment) < cap(moment)), None)
    assert first_allowed([tally], START, [until] if until else []) == expected
