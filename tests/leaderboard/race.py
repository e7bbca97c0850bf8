"""Many submissions at the same moment, in processes and threads of their own, against one site.

Run by test_race.py as a program: `race.py KIND TRIALS AT_ONCE` on the site and the database that the
environment names. Prints one JSON line for each trial.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import threading
import time
from typing import Any

LIMIT = 3
PROCESSES = 2
POLICIES: dict[str, dict[str, Any]] = {
    "day": {"per_day": LIMIT},
    "month": {"per_month": LIMIT, "window": "calendar"},
    "total": {"total": LIMIT},
    "team": {"per_day": LIMIT, "per": "team"},
    "at_once": {"at_once": LIMIT},
}
INVITATION = "invitation"
"""The kind of trial in which people register with an invitation for fewer of them."""
GUESTS = 16
"""The people who register at once in a trial of an invitation, one for each thread."""
PEOPLE = 4
"""In a trial of teams: the people of one team, who all send."""


def main(kind: str, trials: int, at_once: int) -> None:
    """Set the site up, then run the trials one after another."""
    people = _prepare(kind, trials)
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(at_once)
    results: Any = context.Queue()
    share = at_once // PROCESSES
    children = [
        context.Process(target=_sender, args=(people, number, share, start, results))
        for number in range(PROCESSES)
    ]
    for child in children:
        child.start()
    answers = [results.get(timeout=600) for _ in range(trials * at_once)]
    for child in children:
        child.join()
    for trial in range(trials):
        said = [answer for number, answer in answers if number == trial]
        print(json.dumps({"kept": _kept(people[trial]), "said": sorted(said)}))


def _setup() -> None:
    import django

    django.setup()


def _prepare(kind: str, trials: int) -> list[list[int]]:
    """The benchmark, and for each trial the people who send; returns their numbers."""
    _setup()
    from django.core.management import call_command
    from django.db import connections

    from gluebench.leaderboard.apps.accounts.models import User
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.limits import acts

    call_command("migrate", verbosity=0)
    unlimited = {"per_day": None, "at_once": None}
    Benchmark.objects.create(name="race", title="Race", settings={**unlimited, **POLICIES.get(kind, {})})
    if kind == INVITATION:
        return _prepare_guests(trials)
    people = []
    for trial in range(trials):
        count = PEOPLE if kind == "team" else 1
        found = [User.objects.create_user(f"{trial}-{number}@example.org") for number in range(count)]
        if kind == "team":
            team = acts.create_team(found[0], f"Team {trial}")
            for user in found[1:]:
                acts.join_team(user, team.code)
        people.append([user.pk for user in found])
    connections.close_all()
    return people


def _prepare_guests(trials: int) -> list[list[int]]:
    """People, and for each trial an invitation for some of them."""
    from datetime import timedelta

    from django.utils import timezone

    from gluebench.leaderboard.apps.accounts.models import User
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.limits.models import Invitation

    benchmark = Benchmark.objects.get()
    benchmark.settings = {**benchmark.settings, "registration": "invitation"}
    benchmark.save()
    people = []
    for trial in range(trials):
        expires = timezone.now() + timedelta(days=1)
        Invitation.objects.create(benchmark=benchmark, code=f"trial-{trial}", uses=LIMIT, expires=expires)
        guests = [User.objects.create_user(f"{trial}-{number}@example.org") for number in range(GUESTS)]
        people.append([user.pk for user in guests])
    return people


def _sender(people: list[list[int]], process: int, share: int, start: Any, results: Any) -> None:
    _setup()
    threads = [
        threading.Thread(target=_send, args=(people, process * share + number, start, results))
        for number in range(share)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _send(people: list[list[int]], number: int, start: Any, results: Any) -> None:
    """One of those who send at the same moment, once in each trial."""
    from django.core.files.base import ContentFile
    from django.db import connections

    from gluebench.leaderboard.apps.accounts.models import User
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.limits.quota import QuotaError
    from gluebench.leaderboard.apps.submissions.models import Submission
    from gluebench.leaderboard.apps.uploads.accept import accept

    benchmark = Benchmark.objects.get()
    for trial, senders in enumerate(people):
        owner = User.objects.get(pk=senders[number % len(senders)])
        if benchmark.policy.registration == INVITATION:
            start.wait()
            results.put((trial, _register(benchmark, owner, f"trial-{trial}")))
            continue
        submission = Submission(owner=owner, benchmark=benchmark, name="A", model="B")
        start.wait()
        try:
            accept(submission, ContentFile(b"a submission", name="a.zip"))
            said = "taken"
        except QuotaError as error:
            said = "refused" if "0 remain" in str(error) else f"odd: {error}"
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        results.put((trial, said))
    connections.close_all()


def _register(benchmark: Any, user: Any, code: str) -> str:
    """Register with an invitation; returns what came of it."""
    from gluebench.leaderboard.apps.limits.models import version_of
    from gluebench.leaderboard.apps.limits.registration import register
    from gluebench.leaderboard.apps.phases.table import ActError

    try:
        register(benchmark, user, version=version_of(benchmark), code=code)
    except ActError:
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "taken"


def _kept(people: list[int]) -> dict[str, int]:
    """Rows, tasks and files there are for these people, and files without a row anywhere on the site."""
    from django.conf import settings
    from django_tasks_db.models import DBTaskResult

    from gluebench.leaderboard.apps.limits.models import Registration
    from gluebench.leaderboard.apps.submissions.models import Submission

    if guests := Registration.objects.filter(user__in=people).count():
        return {"guests": guests}
    rows = Submission.objects.filter(owner__in=people)
    stored = {str(path.relative_to(settings.FOLDER.submissions)) for path in _files(settings)}
    tasks = {task.args_kwargs["args"][0] for task in DBTaskResult.objects.all()}
    return {
        "rows": rows.count(),
        "tasks": len(tasks & set(rows.values_list("pk", flat=True))),
        "files": len(stored & set(rows.values_list("file", flat=True))),
        "orphans": len(stored - set(Submission.objects.values_list("file", flat=True))),
    }


def _files(settings: Any) -> list[Any]:
    return [path for path in settings.FOLDER.submissions.rglob("*") if path.is_file()]


if __name__ == "__main__":
    begun = time.monotonic()
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    print(f"{time.monotonic() - begun:.1f} s", file=sys.stderr)
