"""Kills a process of a site at a chosen statement of its database, and looks at what is left.

`python -m leaderboard.kills ACT POINT...` on the site of GLUEBENCH_SITE: for each point a child does the act
(`accept` a file, `grade` what was accepted, or `relabel` what was graded) and ends itself by kill -9 before
its n-th statement, or after it for a negative n. Another child then does what a worker does when it starts.
Files go to the newest benchmark; the labels are those of "tiny", and change between the two folders of
LABELS. Prints JSON lines.
"""

# ruff: noqa: E402  Django is set up before models are imported
from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import django

django.setup()

from django.core.files.base import ContentFile
from django.db import connection
from django.utils import timezone
from leaderboard.material import MANIFEST, PREDICTIONS, zip_bytes

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark, digest_of
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.submissions import grading
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import OPEN
from gluebench.leaderboard.apps.uploads.accept import accept


def in_child(act: Callable[[], Any]) -> int:
    """Do it in a process of its own; returns how that ended."""
    connection.close()
    pid = os.fork()
    if pid == 0:
        act()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def dying(act: Callable[[], Any], point: int) -> Callable[[], None]:
    """The act, with the end at a statement of the database."""
    seen = 0

    def count(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal seen
        seen += 1
        if seen == point:
            os.kill(os.getpid(), signal.SIGKILL)
        found = execute(sql, params, many, context)
        if seen == -point:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    def run() -> None:
        with connection.execute_wrapper(count):
            act()

    return run


def send() -> None:
    benchmark, owner = Benchmark.objects.latest("added"), User.objects.get()
    file = ContentFile(zip_bytes(PREDICTIONS), name="predictions.zip")
    accept(Submission(owner=owner, benchmark=benchmark, name="A", model="B", public=True), file)


def relabel() -> None:
    """Give the benchmark the labels of the other folder."""
    now = Benchmark.objects.get(name="tiny").gold_digest
    folders = [Path(folder) for folder in os.environ["LABELS"].split(":")]
    add_benchmark(str(MANIFEST), next(folder for folder in folders if digest_of(folder) != now))


def grade_all() -> None:
    for pk in Submission.objects.waiting().values_list("pk", flat=True):
        grading.grade(pk)


def recover() -> None:
    """What a worker does in the 20 seconds after a restart, the time of day set back by 20 minutes."""
    now, monotonic = timezone.now, time.monotonic
    timezone.now = lambda: now() - timedelta(minutes=20)
    grading.sweep()
    time.monotonic = lambda: monotonic() + 15
    grading.sweep()
    grade_all()


def look(act: str, point: int, ended: int) -> dict[str, Any]:
    rows = list(Submission.objects.all())
    return {
        "act": act,
        "point": point,
        "killed": ended == -signal.SIGKILL,
        "rows": len(rows),
        "files": sum(row.file.storage.exists(row.file.name) for row in rows),
        "open": sum(row.status in OPEN for row in rows),
        "statuses": sorted({row.status for row in rows}),
        "results": [row.results.count() for row in rows],
        "values": [row.value for row in rows],
        "labels": Benchmark.objects.get(name="tiny").gold_digest,
    }


ACTS: dict[str, Callable[[], None]] = {"accept": send, "grade": grade_all, "relabel": relabel}


def main(act: str, points: list[int]) -> None:
    in_child(lambda: User.objects.get_or_create(email="ada@example.org"))
    for point in points:
        in_child(lambda: Submission.objects.all().delete())
        if act != "accept":
            in_child(send)
        if act == "relabel":
            in_child(grade_all)
        ended = in_child(dying(ACTS[act], point))
        in_child(recover)
        print(json.dumps(look(act, point, ended)), flush=True)
        connection.close()


if __name__ == "__main__":
    main(sys.argv[1], [int(point) for point in sys.argv[2:]])
