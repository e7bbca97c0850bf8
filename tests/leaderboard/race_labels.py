"""Labels, the tasks of a phase, uploads and gradings that change at once, in processes of their own.

Run by test_race.py as a program, on the site and the database that the environment names: `race_labels.py
MANIFEST TIMES FOLDER FOLDER` with two versions of the labels. Prints what is left as one line of JSON.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

SENT = 6
PART = ["Para"]


def _setup() -> None:
    import django

    django.setup()
    from gluebench.leaderboard.apps.submissions import grading
    from gluebench.leaderboard.serving import grader

    # In this process: another one for each grading would take longer than all that they race with.
    grading.run_grader = lambda job, **_: grader._result(dict(job))


def _prepare(manifest: str, folders: list[str]) -> None:
    """A benchmark with the labels, and one with a phase that uses them."""
    _setup()
    from datetime import timedelta

    from django.core.management import call_command
    from django.db import connections
    from django.utils import timezone
    from leaderboard.material import write_copy

    from gluebench.leaderboard.apps.accounts.models import User
    from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.limits.phase_acts import save_phase
    from gluebench.leaderboard.apps.phases.models import Phase

    call_command("migrate", verbosity=0)
    add_benchmark(manifest, Path(folders[0]))
    add_benchmark(str(write_copy(Path(folders[0]).with_name("host.toml"))), Path(folders[1]))
    opens = timezone.now() - timedelta(days=1)
    save_phase(Phase(benchmark=Benchmark.objects.get(name="host"), name="Elsewhere", opens=opens))
    Benchmark.objects.filter(name="host").update(settings={"per_day": None, "at_once": None})
    for number in range(SENT):
        User.objects.create_user(f"{number}@example.org")
    connections.close_all()


def _relabel(times: int, manifest: str, folders: list[str], done: Any) -> None:
    from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark

    for turn in range(times):
        add_benchmark(manifest, Path(folders[turn % 2]))


def _change_the_phase(times: int, manifest: str, folders: list[str], done: Any) -> None:
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.limits.phase_acts import save_phase
    from gluebench.leaderboard.apps.phases.models import Phase

    tiny = Benchmark.objects.get(name="tiny")
    for turn in range(times):
        phase = Phase.objects.select_related("benchmark").get()
        phase.tasks_of = [None, tiny][turn % 2]
        phase.tasks = [[], PART][turn // 2 % 2]
        save_phase(phase)


def _send(times: int, manifest: str, folders: list[str], done: Any) -> None:
    from django.core.files.base import ContentFile
    from leaderboard.material import PREDICTIONS, zip_bytes

    from gluebench.leaderboard.apps.accounts.models import User
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.submissions.models import Submission
    from gluebench.leaderboard.apps.uploads.accept import accept

    host = Benchmark.objects.get(name="host")
    for owner in User.objects.order_by("pk"):
        row = Submission(owner=owner, benchmark=host, name="A", model="B", public=True)
        accept(row, ContentFile(zip_bytes(PREDICTIONS), name="a.zip"))


def _grade(times: int, manifest: str, folders: list[str], done: Any) -> None:
    """Grade what waits, until all others are done and nothing waits."""
    from gluebench.leaderboard.apps.submissions import grading
    from gluebench.leaderboard.apps.submissions.models import Submission

    others_are_done = False
    while not others_are_done:
        others_are_done = done.is_set()
        for pk in Submission.objects.waiting().values_list("pk", flat=True):
            grading.grade(pk)


def _run(work: Callable[..., None], start: Any, *arguments: Any) -> None:
    _setup()
    start.wait()
    work(*arguments)


def main(manifest: str, times: str, *folders: str) -> None:
    """Let them race, then print what there is."""
    _prepare(manifest, list(folders))
    context = multiprocessing.get_context("spawn")
    works = [_relabel, _change_the_phase, _send, _grade, _grade]
    start = context.Barrier(len(works))
    done = context.Event()
    children = []
    for work in works:
        arguments = (work, start, int(times), manifest, list(folders), done)
        children.append(context.Process(target=_run, args=arguments))
        children[-1].start()
    for child in children[:3]:
        child.join()
    done.set()
    for child in children[3:]:
        child.join()

    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.phases.models import Phase
    from gluebench.leaderboard.apps.submissions.models import Submission

    phase = Phase.objects.get()
    owner = phase.tasks_of or phase.benchmark
    rows = Submission.objects.values_list("status", "apart", "value")
    left = {
        "ended": [child.exitcode for child in children],
        "labels": Benchmark.objects.get(pk=owner.pk).gold_digest,
        "tasks": phase.tasks,
        "rows": list(rows),
    }
    print(json.dumps(left))


if __name__ == "__main__":
    main(*sys.argv[1:])
